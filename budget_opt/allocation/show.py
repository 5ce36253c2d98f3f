"""An allocation as the tables that people read."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.tables.printing import WIDTH, percent, plain_text

if TYPE_CHECKING:
    from budget_opt.allocation.allocation import AllocatedMoment, Allocation, Outcome

PRICES = 5
"""Prices of each kind that are shown."""


def as_text(allocation: Allocation, width: int = WIDTH) -> str:
    """Both tables and the summary as plain text without colours."""
    return plain_text(renderable(allocation), width)


def renderable(allocation: Allocation) -> RenderableType:
    """The same for a rich console."""
    parts: list[RenderableType] = [Text(headline(allocation)), attribute_table(allocation)]
    if allocation.moments:
        parts.append(moment_table(allocation))
    parts += [Text(line) for line in (*group_lines(allocation), outcome_sentence(allocation.objective))]
    after = (*level_lines(allocation), *price_lines(allocation), *lost_sentences(allocation))
    return Group(*parts, *(Text(line) for line in after))


def group_lines(allocation: Allocation) -> list[str]:
    """What every group spends of its budget."""
    lines = []
    for group in allocation.question.groups:
        spent = float_at_least(
            sum((exact(allocation[name].epsilon) for name in group.attributes), Fraction(0))
        )
        lines.append(f"group {group.name}: epsilon {spent:g} of {group.epsilon_max:g}")
    return lines


def lost_sentences(allocation: Allocation) -> list[str]:
    """Moments with a weight that the split gives up, and what would keep them."""
    lost = [moment.label for moment in allocation.moments if moment.weight > 0 and moment.retention == 0]
    if not lost:
        return []
    way_out = "A floor or an epsilon_min would keep it, where budgets and pins leave room."
    if allocation.objective.kind == "weighted_sum":
        way_out = "A floor, an epsilon_min, or the objective geometric_mean would keep it."
    return [f"given up, nothing of it survives: {', '.join(lost)}. {way_out}"]


def level_lines(allocation: Allocation) -> list[str]:
    """What every level after the first has reached, and what is proved of it."""
    lines = []
    for reached in allocation.levels[1:]:
        value = "undefined" if reached.value is None else f"{reached.value:.6g}"
        line = f"level {reached.level}: {allocation.objective.kind} {value}"
        if reached.bound is not None:
            line += f"; proved: no split that does as well on the levels before is beyond {reached.bound:.6g}"
        lines.append(line)
    return lines


def price_lines(allocation: Allocation) -> list[str]:
    """What a little more of what binds does to the value, the dearest constraints of each kind first."""
    moments = allocation.moments
    kinds = (
        ("per nat more", 1.0, dict(allocation.sensitivity)),
        ("per 1 % more of a floor", 0.01, {moment.label: moment.floor_price for moment in moments}),
        ("per 1 % more of a ceiling", 0.01, {moment.label: moment.ceiling_price for moment in moments}),
    )
    lines = []
    for kind, unit, prices in kinds:
        binding = [(name, unit * price) for name, price in prices.items() if price]
        dearest = sorted(binding, key=lambda item: -abs(item[1]))[:PRICES]
        if dearest:
            lines.append(f"value {kind}: {', '.join(f'{name} {price:+.3g}' for name, price in dearest)}")
    return lines


def headline(allocation: Allocation) -> str:
    """Name, what is spent of what, and the loss that the sampler implements."""
    total = "" if allocation.total_epsilon is None else f" of {allocation.total_epsilon:g}"
    name = allocation.name or "allocation"
    return f"{name}: epsilon {allocation.spent_epsilon:g}{total} a record, loss {allocation.loss:.9g}"


def attribute_table(allocation: Allocation) -> Table:
    """Epsilon, lambda and the probability that a true value is reported, an attribute a row."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("attribute", overflow="fold")
    for heading in ("categories", "epsilon", "retention", "true value reported"):
        table.add_column(heading, justify="right")
    for attribute in allocation.attributes:
        if attribute.sampler is None:
            table.add_row(Text(attribute.name), str(attribute.cardinality), "0", "0", "not released")
            continue
        table.add_row(
            Text(attribute.name),
            str(attribute.cardinality),
            f"{attribute.epsilon:.4g}",
            percent(attribute.retention),
            percent(attribute.truth_probability),
        )
    return table


def moment_table(allocation: Allocation) -> Table:
    """Retention, floor and variance inflation, a moment a row; the basis of the inflation in the heading."""
    bases = {moment.variance_basis for moment in allocation.moments}
    single = bases.pop() if len(bases) == 1 else None
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("moment", overflow="fold")
    table.add_column("weight", justify="right")
    table.add_column("retention", justify="right")
    table.add_column("floor", justify="right")
    table.add_column(f"variance x\n({single})" if single else "variance x", justify="right")
    if single is None:
        table.add_column("by")
    if allocation.levels:
        table.add_column("level", justify="right")
    for moment in allocation.moments:
        inflation = "-" if moment.variance_inflation is None else f"{moment.variance_inflation:.4g}"
        cells = [f"{moment.weight:g}", percent(moment.retention), _bounds(moment), inflation]
        basis = [] if single else [moment.variance_basis]
        level = [str(moment.stated.level)] if allocation.levels else []
        table.add_row(Text(moment.label), *cells, *basis, *level)
    return table


def _bounds(moment: AllocatedMoment) -> str:
    words = []
    if moment.floor is not None:
        words.append(f">= {percent(moment.floor)}{'' if moment.keeps_floor else ' missed'}")
    if moment.ceiling is not None:
        words.append(f"<= {percent(moment.ceiling)}{'' if moment.keeps_ceiling else ' exceeded'}")
    return ", ".join(words) or "-"


def outcome_sentence(outcome: Outcome) -> str:
    """Value, bound and what they prove."""
    value = "undefined" if outcome.value is None else f"{outcome.value:.6g}"
    if outcome.bound is None:
        return f"{outcome.kind} {value}; no bound: this split was given, not optimized"
    optimal, gap = outcome.status == "optimal", outcome.relative_gap
    shown = "undefined" if gap is None else f"{gap:.1e}" if optimal else f"{gap:.2g}"
    proof = (
        f"optimal, proved to a relative gap of {shown}"
        if optimal
        else f"feasible; the proved bound leaves a relative gap of {shown}"
    )
    by = f"{outcome.solver}, {outcome.seconds:.2g} s"
    return f"{outcome.kind} {value}, bound {outcome.bound:.6g}\n{proof} ({by})"
