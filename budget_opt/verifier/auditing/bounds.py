"""The largest epsilon that the tests of one audit show, for every attribute or cluster and for the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from budget_opt.mechanisms.exact import exact_sum, float_at_least
from budget_opt.verifier.auditing import kept, pairs
from budget_opt.verifier.auditing.across import Carrier
from budget_opt.verifier.auditing.events import Counts, Event, counted
from budget_opt.verifier.auditing.judged import Judged
from budget_opt.verifier.auditing.kept import KeptGroup, log_others
from budget_opt.verifier.auditing.power import noticeable
from budget_opt.verifier.auditing.result import Bound
from budget_opt.verifier.auditing.rows import Rows
from budget_opt.verifier.auditing.settings import Settings
from budget_opt.verifier.auditing.whole import record_loss_at_least


@dataclass(frozen=True)
class Evidence:
    """What random records showed: counts by place, the events chosen, and what carries values elsewhere."""

    explored: Rows
    groups: Sequence[KeptGroup]
    events: Sequence[Event]
    carriers: Mapping[int, Carrier]


Shown = tuple[float, str]
"""A bound of epsilon (nats), and the test that shows it."""


def block_bounds(
    judged: Sequence[Judged],
    found: Evidence,
    tested: Rows,
    settings: Settings,
) -> list[Bound]:
    """One bound an attribute or cluster, the largest of all its tests."""
    count = len(judged)
    each = settings.share / count
    bounds = []
    for b, (one, event) in enumerate(zip(judged, found.events, strict=True)):
        shown = [
            _by_kept(found.groups, b, [one.cardinality], count, settings),
            _by_event(event, judged, tested, each),
        ]
        table = counted(found.explored, b)
        if table is not None:
            shown.append(_by_pairs(table, one, each))
        if b in found.carriers:
            shown.append(_by_carrier(found.carriers[b], each))
        lower, shown_by = max(shown)
        noticed = noticeable(one, settings, count)
        bounds.append(Bound(one.name, one.epsilon, lower, shown_by, *noticed))
    return bounds


def record_bound(
    judged: Sequence[Judged],
    found: Evidence,
    pair: tuple[Rows, npt.NDArray[np.bool_]],
    settings: Settings,
) -> Bound:
    """The bound of the whole record: kept records by place, and a product test over the worst pair."""
    count = len(judged)
    shown = [
        _by_kept(found.groups, count, list(found.explored.cardinalities), count, settings),
        (
            record_loss_at_least(found.explored, *pair, found.events, settings.share),
            f"a worst pair of records, all reports together, {len(pair[0]) // 2:,} records",
        ),
    ]
    allowed = float_at_least(exact_sum(one.epsilon for one in judged))
    return Bound(None, allowed, *max(shown))


def _by_kept(
    groups: Sequence[KeptGroup], column: int, cardinalities: list[int], attributes: int, settings: Settings
) -> Shown:
    """The worst place; all records together have as much of the error as all other places."""
    others = log_others(cardinalities)
    places = max(1, len(groups) - 1)
    shown = []
    for group in groups:
        everywhere = group.place == kept.ALL
        error = settings.share_of_all(attributes) / (1 if everywhere else places)
        bound = kept.loss_at_least(int(group.kept[column]), group.records, others, error)
        shown.append((bound, f"share of reports that are the truth, {group.place} ({group.records:,})"))
    return max(shown)


def _by_event(event: Event, judged: Sequence[Judged], tested: Rows, error: float) -> Shown:
    one = judged[event.b]
    between = f"{one.label(event.truth)} against {one.label(event.other)}"
    beside = {
        "alone": "its reports alone",
        "others": "its reports, with the number of other cells that are the truth",
        "report": f"its reports, with those of {judged[event.companion.of].name}",
        "noise": f"its reports, with the noise of {judged[event.companion.of].name}",
    }[event.companion.kind]
    return event.loss_at_least(tested, error), f"{between} by {beside}, {len(tested):,} records"


def _by_carrier(carrier: Carrier, error: float) -> Shown:
    return carrier.loss_at_least(error), f"{carrier.words}, {int(carrier.second.sum()):,} records"


def _by_pairs(table: Counts, one: Judged, error: float) -> Shown:
    lower, (truth, other, report) = pairs.loss_at_least(table, error)
    what = f"{one.label(truth)} against {one.label(other)} by the report {one.label(report)}"
    return lower, f"all pairs of categories and all reports: {what}, {int(table.sum()):,} records"
