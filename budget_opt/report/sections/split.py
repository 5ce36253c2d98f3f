"""The answer: who gets how much, and what that does to a single value."""

from __future__ import annotations

from budget_opt.accounting.words import odds_text
from budget_opt.allocation import AllocatedAttribute, Allocation
from budget_opt.allocation.show import group_lines
from budget_opt.report import figures
from budget_opt.report.blocks import Block, Paragraph, Section, Table, Warned
from budget_opt.report.subject import Subject
from budget_opt.report.words import column, listed, share, share_at_most
from budget_opt.tables.printing import NOTHING, at_most


def split(subject: Subject) -> Section:
    """The split as a figure and a table, with what randomizing means."""
    allocation = subject.allocation
    blocks: list[Block] = [
        Paragraph(
            "Before the release every value is randomized on its own: with the probability called retention "
            "(lambda) it is kept, otherwise a category is drawn evenly from all, the true one included. "
            "More epsilon means a larger retention, and less protection of that value."
        ),
        *figures.split_figures(subject),
        _table(allocation),
    ]
    left_out = [attribute.name for attribute in allocation.attributes if attribute.sampler is None]
    if left_out:
        them = "it" if len(left_out) == 1 else "them"
        why = f"because the split gives {them} nothing, or too little for any sampler"
        blocks.append(Warned(f"Not released, {why}: {listed(left_out)}."))
    blocks += [Paragraph(line) for line in group_sentences(allocation)]
    return Section("split", "The split", tuple(blocks))


def _table(allocation: Allocation) -> Table:
    total = allocation.spent_epsilon
    rows = [_row(attribute, total) for attribute in allocation.attributes]
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


def _row(attribute: AllocatedAttribute, total: float) -> tuple[str, ...]:
    released = attribute.sampler is not None
    return (
        attribute.name,
        column(attribute.epsilon),
        share(attribute.epsilon / total) if total else NOTHING,
        odds_text(attribute.loss),
        share(attribute.retention),
        share_at_most(attribute.truth_probability) if released else "not released",
    )


def group_sentences(allocation: Allocation) -> list[str]:
    """What every group spends of its budget."""
    return [f"{line[:1].upper()}{line[1:]}." for line in group_lines(allocation)]
