"""An allocation as the tables that people read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from budget_opt.allocation.merging import AS_RELEASED, WITH_MERGING, grouping_sentences
from budget_opt.mechanisms.exact import exact_sum, float_at_least, float_at_most
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.backgrounds.background import Mixture
from budget_opt.model.declared import Declared
from budget_opt.model.provenance import decimal_text, from_the_data, nats, provenance_epsilon
from budget_opt.tables.printing import WIDTH, percent, percent_at_most, plain_text
from budget_opt.tables.wide import Column, WideTable

if TYPE_CHECKING:
    from budget_opt.allocation.allocation import AllocatedMoment, Allocation, Outcome
    from budget_opt.allocation.blocks import AllocatedAttribute, AllocatedBlock

PRICES = 5
"""Prices of each kind that are shown."""
_HELD = 1e-6
"""Relative distance from a least epsilon within which a split is held there."""
LOST = 12
"""Moments that are given up and named."""


def as_text(allocation: Allocation, width: int = WIDTH) -> str:
    """Both tables and the summary as plain text without colours."""
    return plain_text(renderable(allocation), width)


def renderable(allocation: Allocation) -> RenderableType:
    """The same for a rich console."""
    parts: list[RenderableType] = [Text(headline(allocation)), attribute_table(allocation)]
    merged = grouping_sentences(allocation.question.attributes)
    parts += [Text(line) for line in (*cluster_lines(allocation), *distortion_lines(allocation), *merged)]
    parts += [Text(line) for line in source_sentences(allocation)]
    if allocation.moments:
        parts.append(moment_table(allocation))
        parts += [Text(line) for line in touching_lines(allocation)]
    outcome = outcome_sentence(allocation.objective, is_stated=allocation.is_stated)
    parts += [Text(line) for line in (*group_lines(allocation), outcome)]
    after = (*level_lines(allocation), *price_lines(allocation), *lost_sentences(allocation))
    return Group(*parts, *(Text(line) for line in after))


def cluster_lines(allocation: Allocation) -> list[str]:
    """What is randomized together, and what a change of one member costs."""
    return [
        f"randomized together: {block.name}, {block.cardinality:,} joint categories, epsilon "
        f"{block.epsilon:.4g} for all; a change of one member alone costs all of it"
        for block in allocation.blocks
        if block.is_cluster
    ]


def distortion_lines(allocation: Allocation) -> list[str]:
    """Where the least epsilon that a `distortion_max` allows is what the split gives.

    A file that was read back does not carry any, and has no such line.
    """
    return [
        f"distortion_max {stating.distortion_max:g} of {stating.name} holds the epsilon of {block.name} up "
        f"at {block.epsilon:.4g}: with less, more of its cells would change"
        for block in allocation.blocks
        if (stating := block.block.most_distorted) is not None
        and block.epsilon <= block.block.lower_of_distortion * (1 + _HELD)
    ]


def touching_lines(allocation: Allocation) -> list[str]:
    """Which moments are not multiplied by their retention alone."""
    twice = [moment.label for moment in allocation.moments if moment.touches_twice]
    if not twice:
        return []
    more = f" and {len(twice) - LOST} more" if len(twice) > LOST else ""
    what = f"with two members of one cluster: {', '.join(twice[:LOST])}{more}"
    why = "Their retention is the factor on the function of the cluster; the members' means move them as well"
    return [f"{what}. {why}, and corrected estimates account for it"]


def source_sentences(allocation: Allocation) -> list[str]:
    """What a known source's matrix changes, what is never reported, and that no factor says its effect."""
    return [
        f"{one.name} is randomized by the best matrix for its source: of the cells at most "
        f"{percent_at_most(one.distortion)} are changed, as expected in the worst case of the source; never "
        f"reported: {', '.join(map(str, one.censored)) or 'none'}. Epsilon holds whatever the source is; its "
        "effect on a moment is no single factor, so that it is in none"
        for one in allocation.attributes
        if one.distortion is not None
    ]


def group_lines(allocation: Allocation) -> list[str]:
    """What every group spends of its budget."""
    lines = []
    for group in allocation.question.groups:
        spent = float_at_least(exact_sum(block.epsilon for block in allocation.touched(group.attributes)))
        lines.append(f"group {group.name}: epsilon {spent:g} of {group.epsilon_max:g}")
    return lines


def lost_sentences(allocation: Allocation) -> list[str]:
    """Moments with a weight that the split gives up, and what would keep them."""
    lost = [moment.label for moment in allocation.moments if moment.weight > 0 and moment.retention == 0]
    if not lost:
        return []
    them = "it" if len(lost) == 1 else "them"
    way_out = f"A floor or an epsilon_min would keep {them}, where budgets and pins leave room."
    if allocation.objective.kind == "weighted_sum":
        way_out = f"A floor, an epsilon_min, or the objective geometric_mean would keep {them}."
    more = f" and {len(lost) - LOST} more" if len(lost) > LOST else ""
    return [f"given up, nothing of {them} survives: {', '.join(lost[:LOST])}{more}. {way_out}"]


def level_lines(allocation: Allocation) -> list[str]:
    """What every level after the first has reached, and what is proved of it."""
    kind, lines = allocation.objective.kind, []
    gets = "falls below" if kind in MINIMIZED else "gets above"
    for reached in allocation.levels[1:]:
        value = "undefined" if reached.value is None else f"{reached.value:.6g}"
        line = f"level {reached.level}: {kind} {value}"
        if reached.bound is not None:
            line += f"; proved: no split that does as well on the levels before {gets} {reached.bound:.6g}"
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
    besides = _besides(allocation)
    if allocation.total_delta > 0:
        return (
            f"{name}: epsilon {allocation.total_epsilon:g} with delta {allocation.total_delta:g} a record, "
            f"by exact convolution; sum of epsilons {allocation.spent_epsilon:g}, of losses "
            f"{allocation.loss:.9g}{besides}"
        )
    spent = f"epsilon {allocation.spent_epsilon:g}{total} a record"
    return f"{name}: {spent}, loss {allocation.loss:.9g}{besides}"


def _besides(allocation: Allocation) -> str:
    """What leaves with a release and its figures do not count: what was made from the data before it."""
    making, said = provenance_epsilon(allocation.question), ""
    if making:
        said = f"; {nats(decimal_text(making))} more for what was made from the data before"
    if from_the_data(allocation.question):
        said += "; the allocation itself is outside the guarantee"
    return said


def attribute_table(allocation: Allocation) -> WideTable:
    """Epsilon, lambda and the probability that a true value is reported, an attribute a row."""
    attributes = allocation.attributes

    def where_released(said: Callable[[AllocatedAttribute], str], otherwise: str) -> list[str]:
        return [said(one) if one.is_released else otherwise for one in attributes]

    columns = [
        Column("categories", [str(one.cardinality) for one in attributes]),
        Column("epsilon", [f"{one.epsilon:.4g}" for one in attributes]),
        Column(
            "retention",
            where_released(lambda one: percent(one.retention) if one.has_retention else "by source", "0 %"),
        ),
        Column(
            "true value reported",
            where_released(truth_told, "not released"),
        ),
    ]
    if not all(one.declared.background == "uniform" for one in attributes):
        columns.append(Column("replaced by", [background_told(one.declared) for one in attributes]))
    if any(one.cluster for one in attributes):
        columns.append(Column("together with", [_others(one) for one in attributes]))
    return WideTable(Column("attribute", [one.name for one in attributes]), columns)


def truth_told(part: AllocatedAttribute | AllocatedBlock) -> str:
    """How often the true value is reported: one number, or from the rarest value's to the commonest's."""
    least, most = map(percent_at_most, part.truth_range)
    return most if least == most else f"{least} to {most}"


def background_told(declared: Declared) -> str:
    """What a replaced cell is drawn from, in few words."""
    stated = declared.background
    if isinstance(stated, Mixture):
        return f"{percent(stated.mixture)} marginal, rest uniform"
    return stated if isinstance(stated, str) else "given shares"


def _others(attribute: AllocatedAttribute) -> str:
    return ", ".join(name for name in attribute.cluster if name != attribute.name) or "-"


def moment_table(allocation: Allocation) -> WideTable:
    """Retention, floor and variance inflation, a moment a row; the basis of the inflation in the heading."""
    moments = allocation.moments
    bases = {moment.variance_basis for moment in moments}
    single = bases.pop() if len(bases) == 1 else None
    columns = [
        Column("weight", [f"{moment.weight:g}" for moment in moments]),
        *retention_columns(moments),
        Column("floor", [_bounds(moment) for moment in moments]),
        Column(f"variance x\n({single})" if single else "variance x", [_inflation(one) for one in moments]),
    ]
    if single is None:
        columns.append(Column("by", [moment.variance_basis for moment in moments]))
    if allocation.levels:
        columns.append(Column("level", [str(moment.stated.level) for moment in moments]))
    return WideTable(Column("moment", [moment.label for moment in moments]), columns)


def retention_columns(moments: Sequence[AllocatedMoment]) -> list[Column]:
    """The retentions; where some count what merging leaves, beside those of the merged categories."""
    retentions = [percent(moment.retention) for moment in moments]
    if all(moment.detail == 1 for moment in moments):
        return [Column("retention", retentions)]
    kept = [percent(float_at_most(moment.kept)) for moment in moments]
    return [Column(WITH_MERGING.replace(" (", "\n("), retentions), Column(AS_RELEASED, kept)]


def _inflation(moment: AllocatedMoment) -> str:
    return "-" if moment.variance_inflation is None else f"{moment.variance_inflation:.4g}"


def _bounds(moment: AllocatedMoment) -> str:
    words = []
    if moment.floor is not None:
        words.append(f">= {percent(moment.floor)}{'' if moment.keeps_floor else ' missed'}")
    if moment.ceiling is not None:
        words.append(f"<= {percent(moment.ceiling)}{'' if moment.keeps_ceiling else ' exceeded'}")
    return ", ".join(words) or "-"


def outcome_sentence(outcome: Outcome, *, is_stated: bool = False) -> str:
    """Value, bound and what they prove; where a file only states them (`is_stated`), no more than that."""
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
    reached = f"{outcome.kind} {value}, bound {outcome.bound:.6g}"
    if is_stated:
        claim = f"{outcome.status} to a relative gap of {shown}"
        return f"{reached}\nstated: {claim} ({by})\nnot confirmed here: budget-opt verify judges it"
    return f"{reached}\n{proof} ({by})"
