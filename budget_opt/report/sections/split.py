"""The answer: who gets how much, and what that does to a single value."""

from __future__ import annotations

from budget_opt.accounting.words import odds_text
from budget_opt.allocation import AllocatedBlock, Allocation
from budget_opt.allocation.show import cluster_lines, group_lines, source_sentences, truth_told
from budget_opt.report import figures
from budget_opt.report.blocks import Block, Paragraph, Section, Table, Warned
from budget_opt.report.subject import Subject
from budget_opt.report.words import NO_BREAK, column, listed, share
from budget_opt.tables.printing import NOTHING, at_most


def split(subject: Subject) -> Section:
    """The split as a figure and a table, with what randomizing means."""
    allocation = subject.allocation
    blocks: list[Block] = [
        Paragraph(
            f"Before the release every value is randomized on its own{_together(allocation)}: with the "
            "probability called retention (lambda) it is kept, otherwise a category is drawn "
            f"{_drawn(allocation)}, the true one included. More epsilon means a larger retention, and less "
            "protection of that value."
        ),
        *figures.split_figures(subject),
        _table(allocation),
    ]
    left_out = [attribute.name for attribute in allocation.attributes if not attribute.is_released]
    if left_out:
        them = "it" if len(left_out) == 1 else "them"
        why = f"because the split gives {them} nothing, or too little for any sampler"
        blocks.append(Warned(f"Not released, {why}: {listed(left_out)}."))
    lines = (*cluster_sentences(allocation), *source_lines(allocation), *group_sentences(allocation))
    blocks += [Paragraph(line) for line in lines]
    return Section("split", "The split", tuple(blocks))


def _table(allocation: Allocation) -> Table:
    total = allocation.spent_epsilon
    rows = [_row(block, total) for block in allocation.blocks]
    rows.append(("All attributes together", at_most(total), share(1), odds_text(allocation.loss), "", ""))
    return Table(
        caption="The split of the budget",
        headings=(
            "Attribute",
            "Epsilon",
            "Of the total",
            "Odds factor",
            "Retention (lambda)",
            "True value reported",
        ),
        rows=tuple(rows),
    )


def _row(block: AllocatedBlock, total: float) -> tuple[str, ...]:
    return (
        block.name,
        column(block.epsilon),
        share(block.epsilon / total) if total else NOTHING,
        odds_text(block.loss),
        share(block.retention) if block.has_retention else "by source",
        truth_told(block).replace(" %", f"{NO_BREAK}%") if block.is_released else "not released",
    )


def _drawn(allocation: Allocation) -> str:
    """What a replaced value is drawn from."""
    others = [one.name for one in allocation.attributes if one.declared.background != "uniform"]
    if not others:
        return "evenly from all"
    shares = "by the shares that the problem gives as background"
    return (
        shares
        if len(others) == len(allocation.attributes)
        else f"evenly from all ({listed(others)} {shares})"
    )


def _together(allocation: Allocation) -> str:
    """Where there are clusters, that their values are randomized as one."""
    if not any(block.is_cluster for block in allocation.blocks):
        return ""
    return ", those of attributes joined by a plus sign as one value"


def cluster_sentences(allocation: Allocation) -> list[str]:
    """What is randomized together, and what that costs."""
    return [f"{line[:1].upper()}{line[1:]}." for line in cluster_lines(allocation)]


def source_lines(allocation: Allocation) -> list[str]:
    """What was randomized by the best matrix for a known source, and what that changes.

    Each begins with a name, which gets no capital: that would be another name.
    """
    return [f"{line}." for line in source_sentences(allocation)]


def group_sentences(allocation: Allocation) -> list[str]:
    """What every group spends of its budget."""
    return [f"{line[:1].upper()}{line[1:]}." for line in group_lines(allocation)]
