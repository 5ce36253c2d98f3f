"""The course of an audit: explore, choose, test, repeat, and try what is undeclared."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from budget_opt.allocation import Allocation
from budget_opt.verifier.auditing.across import Carrier, Link, links_across
from budget_opt.verifier.auditing.black_box import BlackBox
from budget_opt.verifier.auditing.bounds import Evidence, block_bounds, record_bound
from budget_opt.verifier.auditing.checks import (
    across_checks,
    chance_check,
    domain_checks,
    independence_checks,
    require_in_line,
    undeclared_checks,
)
from budget_opt.verifier.auditing.events import Event, chosen_event, companions, quantile
from budget_opt.verifier.auditing.kept import KeptCounts, KeptGroup
from budget_opt.verifier.auditing.pairings import LAGS, couples, left_out, pairings, triples
from budget_opt.verifier.auditing.power import calls_to_notice
from budget_opt.verifier.auditing.repeats import RECORDS, equal_records, repeated_noise, seeded_noise
from budget_opt.verifier.auditing.result import Audit
from budget_opt.verifier.auditing.rows import (
    Rows,
    batch_sizes,
    few_records,
    joined,
    one_or_other,
    random_records,
)
from budget_opt.verifier.auditing.samplers import Sampler
from budget_opt.verifier.auditing.settings import Settings
from budget_opt.verifier.auditing.undeclared import RECORDS as UNDECLARED_RECORDS
from budget_opt.verifier.auditing.undeclared import outcomes
from budget_opt.verifier.report import Check

MOST_COMPANIONS = 24
"""Attributes that are looked at one by one beside another; drawn at random where there are more."""


def audit_sampler(sampler: Sampler, allocation: Allocation, settings: Settings) -> Audit:
    """See `budget_opt.audit`. All choices come from the seed."""
    rng = np.random.default_rng(settings.seed)
    box = BlackBox(sampler, allocation, rng)
    judged = box.judged
    batches = _explored(box, settings, rng)
    explored = joined(batches)
    notes = require_in_line(judged, explored)
    beside = [_others(rng, len(judged), b) for b in range(len(judged))]
    events = _chosen(explored, beside, settings)
    pairs = np.array([[event.truth, event.other] for event in events], dtype=np.int32)
    tested = box.rows(one_or_other(rng, pairs, settings.tested))
    coins = rng.integers(0, 2, settings.paired)
    paired = box.rows(pairs[:, coins]), coins == 0
    links, carriers = _across(box, batches, rng)
    found = Evidence(explored, _kept(batches, batched=box.batched), events, carriers)
    bounds = block_bounds(judged, found, tested, settings)
    bounds.append(record_bound(judged, found, paired, settings))
    undeclared, more_notes = undeclared_checks(
        *outcomes(box, random_records(rng, box.cardinalities, UNDECLARED_RECORDS), settings.undeclared)
    )
    checks = [
        *(bound.check() for bound in bounds),
        *domain_checks(judged, joined([explored, tested, paired[0]])),
        *independence_checks(
            judged, batches, [(a, b) for b, others in enumerate(beside) for a in others], settings.share
        ),
        *across_checks(links, settings.share),
        *_repetition(box, settings, rng),
        *undeclared,
        *box.extras.checks(),
    ]
    return Audit(
        subject=f"audit of a sampler under {allocation.name!r}" if allocation.name else "audit of a sampler",
        checks=tuple(checks),
        notes=(*notes, *more_notes, *_limits(box, len(batches), bounds[-1].allowed, settings)),
        false_alarm=settings.error,
        bounds=tuple(bounds),
        trials=box.records,
        calls=box.calls,
        largest_batch=box.largest,
        seed=settings.seed,
    )


def _explored(box: BlackBox, settings: Settings, rng: np.random.Generator) -> list[Rows]:
    """Random records in small and in large batches; one by one where the sampler takes no more."""
    sizes = [settings.explored]
    if box.batched:
        sizes = [*few_records(rng, settings.calls), *batch_sizes(rng, settings.explored)]
    return [box.rows(random_records(rng, box.cardinalities, size)) for size in sizes]


def _kept(batches: list[Rows], *, batched: bool) -> list[KeptGroup]:
    counts = KeptCounts(len(batches[0].cardinalities) + 1)
    for batch in batches:
        counts.add(batch.kept, batched=batched)
    return counts.groups()


def _others(rng: np.random.Generator, count: int, b: int) -> list[int]:
    """The attributes that are looked at one by one beside attribute b."""
    others = rng.permutation(np.delete(np.arange(count), b))[:MOST_COMPANIONS]
    return [int(a) for a in np.sort(others)]


def _chosen(explored: Rows, beside: list[list[int]], settings: Settings) -> list[Event]:
    count = len(explored.cardinalities)
    z = quantile(settings.share / count)
    return [chosen_event(explored, b, [*companions(others)], z) for b, others in enumerate(beside)]


def _across(
    box: BlackBox, batches: list[Rows], rng: np.random.Generator
) -> tuple[dict[str, list[Link]], dict[int, Carrier]]:
    """Whether reports go with the values of other records."""
    names = [one.name for one in box.judged]
    beside = list(pairings([len(batch) for batch in batches], batched=box.batched))
    looked_at = couples(rng, len(names)), triples(rng, len(names))
    return links_across(names, batches, beside, *looked_at, batched=box.batched)


def _repetition(box: BlackBox, settings: Settings, rng: np.random.Generator) -> Iterator[Check]:
    """Whether calls repeat their noise, by themselves or after the global seeds were set."""
    names = [one.name for one in box.judged]
    one, other = equal_records(rng, box.cardinalities, RECORDS)
    share = settings.share / 3
    same, changed = repeated_noise(box.rows, one, other)
    yield chance_check("two calls with the same records gave the same noise", names, same, share)
    yield chance_check("two calls with other records gave the same noise", names, changed, share)
    if box.in_process:
        seeded = seeded_noise(box.rows, one)
        yield chance_check(
            "two calls after one global seed (random, numpy) gave the same noise", names, seeded, share
        )


def _limits(box: BlackBox, batches: int, total: float, settings: Settings) -> Iterator[str]:
    """What this audit could not see."""
    larger = f", in batches of more than {box.largest:,} records" if box.batched else ""
    yield (
        f"not seen: what a sampler does on real data only{larger}, by the clock or the process, or more "
        "rarely than these records show."
    )
    yield (
        f"not seen: values of other records that stand further away than {max(LAGS)} rows at no fixed place, "
        "or that only three reports or more tell together; what the storage of a table tells (its order of "
        "categories, quotes in a file)."
    )
    if len(box.judged) > MOST_COMPANIONS + 1:
        yield f"beside each attribute {MOST_COMPANIONS} others were looked at one by one, not all."
    yield from left_out(len(box.judged))
    if not box.batched:
        return
    needed = calls_to_notice(list(box.cardinalities), total, settings.share_of_all(len(box.judged)))
    if needed is None or needed > batches:
        yield (
            f"not noticed: a record left as it is in each of the {batches} batches, as the total {total:g} "
            f"is too large for so few; it takes {'over a million' if needed is None else needed} calls."
        )
