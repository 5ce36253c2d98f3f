"""Do reports go with the values of other records? They must not, at all.

All values are drawn apart. So the reports of some records are independent of the truths of others, however
each report depends on its own record, and whatever the matrices are: given the reports, the truths are
uniform draws. A report, and its noise (report - truth mod r), are looked at beside another record's truth:

- of a record at some distance, at the mirrored place, or at the same place of the call before. The records
  whose reports, and those whose truths are taken have none in common, so the pairs are independent;
- at one fixed place against another, over all batches;
- the crowd of a batch, that is the category with the most reports above its usual share, against the truth
  of the first and of the last record. Any function of the other records' reports may be such a witness.

Each table of witness and truth has a test of its cells, given its margins, and one of the number of equal
codes. The tail of each of them holds for any sound sampler (`dependence`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from budget_opt.tables.counting import AnyCodes, joint_counts
from budget_opt.verifier.auditing.dependence import either, often
from budget_opt.verifier.auditing.events import Counts, best_in, quantile
from budget_opt.verifier.auditing.intervals import loss_at_least
from budget_opt.verifier.auditing.pairings import Pairing
from budget_opt.verifier.auditing.rows import Codes, Rows, joined

LARGEST_TABLE = 2**16
"""Cells of a table of which each is looked at; of larger ones only the equal codes are."""
PLACES = 32
"""Rows from the first one that are looked at one against another."""
_TWO = math.log(2)

Couples = Sequence[tuple[int, int]]
"""Numbers of attributes (a, b): reports of a beside the truths of b."""
Triples = Sequence[tuple[int, int, int]]
"""Numbers of attributes (a, c, b): reports of a and c together beside the truths of b."""


@dataclass(frozen=True)
class Link:
    """What was looked at, in `words`, and a bound of the log of the chance of so much agreement."""

    words: str
    tail: float


@dataclass(frozen=True)
class Agreement:
    """Counts of a table by truth and witness, from which its chance is told.

    `equal`: equal codes, records that could have them, and the number of truths. `cells`: of two cells, the
    count, the sums of its line and its column, and of the table. `size` is the number of cells.
    """

    equal: tuple[int, int, int]
    cells: tuple[tuple[int, int, int, int], tuple[int, int, int, int]]
    size: int


@dataclass(frozen=True)
class Carrier:
    """Tables by the truth of `b` and by a witness in other records: one to choose from, one to test on."""

    b: int
    words: str
    score: float
    first: Counts
    second: Counts

    def loss_at_least(self, error: float) -> float:
        """A bound of the loss (nats) of b; what is chosen on the first table is tested on the second."""
        event = best_in(self.first, self.b, quantile(error))
        if event is None:
            return -math.inf
        more, fewer = (
            (int(self.second[code, event.reports].sum()), int(self.second[code].sum()))
            for code in (event.truth, event.other)
        )
        return loss_at_least(more, fewer, error)


def by_pairing(
    names: Sequence[str], rows: Rows, pairings: Sequence[Pairing], couples: Couples, triples: Triples
) -> tuple[list[Link], dict[int, Carrier]]:
    """All links in every pairing, and for each attribute the carrier that says most of it."""
    looked_at: list[tuple[str, Agreement]] = []
    carriers: dict[int, Carrier] = {}
    witnesses, r = _witnesses(rows), rows.cardinalities
    for pairing in pairings:
        truths = rows.truths[:, pairing.truths]
        for kind, values in witnesses.items():
            seen = values[:, pairing.reports]
            singles = [(b, f"{kind} of {names[a]}", seen[a], r[a] + 1) for a, b in couples]
            for b, witness, codes, width in [*singles, *_together(names, kind, seen, r, triples)]:
                words = f"{witness} with {names[b]} of {pairing.words}"
                agreement, carrier = _pair_link(words, codes, truths[b], b, (r[b], width))
                looked_at.append((words, agreement))
                if carrier is not None and (b not in carriers or carrier.score > carriers[b].score):
                    carriers[b] = carrier
    return _linked(looked_at), carriers


def links_across(
    names: Sequence[str],
    batches: Sequence[Rows],
    pairings: Sequence[Pairing],
    couples: Couples,
    triples: Triples,
    *,
    batched: bool,
) -> tuple[dict[str, list[Link]], dict[int, Carrier]]:
    """All links, by what they would show; and the carriers of `by_pairing`."""
    links, carriers = by_pairing(names, joined(batches), pairings, couples, triples)
    kinds = {"reports that go with the value of another record": links}
    if batched:
        kinds["reports at one place that are the value at another"] = by_place(names, batches, couples)
        kinds["most reports of a batch go with one record's value"] = by_crowd(names, batches, couples)
    return kinds, carriers


def by_place(names: Sequence[str], batches: Sequence[Rows], couples: Couples) -> list[Link]:
    """The report at one fixed row of a batch that is the value of another row, over all batches."""
    here = np.stack([np.arange(PLACES) < len(batch) for batch in batches])
    apart = ~np.eye(PLACES, dtype=np.bool_) & here[:, :, None] & here[:, None, :]
    truths = np.stack([_first_rows(batch.truths) for batch in batches], axis=1)
    kinds: dict[str, list[Codes]] = {}
    for batch in batches:
        for kind, values in _witnesses(batch).items():
            kinds.setdefault(kind, []).append(_first_rows(values))
    links = []
    for kind, parts in kinds.items():
        seen = np.stack(parts, axis=1)
        for a, b in couples:
            r = batches[0].cardinalities[b]
            can = apart & (seen[a] < r)[:, :, None]
            equal = (can & (seen[a][:, :, None] == truths[b][:, None, :])).sum(axis=0)
            tails = often(equal, can.sum(axis=0), r)
            row, other = (int(place) for place in np.unravel_index(int(tails.argmin()), tails.shape))
            words = f"{kind} of {names[a]} in row {row} with {names[b]} of row {other}"
            links.append(Link(words, float(tails[row, other]) + math.log(PLACES * (PLACES - 1))))
    return links


def by_crowd(names: Sequence[str], batches: Sequence[Rows], couples: Couples) -> list[Link]:
    """What most reports of a batch say beside its first and its last record's truth."""
    several = [batch for batch in batches if len(batch) > 1]
    witnesses = [_witnesses(batch) for batch in several]
    histograms = _histograms(witnesses, batches[0].cardinalities)
    cardinalities = batches[0].cardinalities
    looked_at = []
    for place, words in ((0, "the first record of a batch"), (-1, "the last record of a batch")):
        truths = np.stack([batch.truths[:, place] for batch in several], axis=1)
        for kind, counts in histograms.items():
            crowd = _crowd(counts, [values[kind][:, place] for values in witnesses])
            for a, b in couples:
                agreement = _agreement(crowd[a], truths[b], (cardinalities[b], cardinalities[a] + 1))
                looked_at.append((f"{kind} of {names[a]} in a batch with {names[b]} of {words}", agreement))
    return _linked(looked_at)


def _together(
    names: Sequence[str], kind: str, seen: Codes, cardinalities: Sequence[int], triples: Triples
) -> Iterator[tuple[int, str, AnyCodes, int]]:
    """Two witnesses of a record as one, which may tell what neither tells."""
    for a, c, b in triples:
        width = cardinalities[c] + 1
        both = seen[a] * np.int64(width) + seen[c]
        yield b, f"{kind} of {names[a]} and {names[c]}", both, (cardinalities[a] + 1) * width


def _witnesses(rows: Rows) -> dict[str, Codes]:
    """Reports and noise by attribute; r stands for a report outside the domain in both."""
    r = np.array(rows.cardinalities, dtype=np.int32)[:, None]
    noise = np.where(rows.reports == r, r, (rows.reports - rows.truths) % r).astype(np.int32)
    return {"report": rows.reports, "noise": noise}


def _histograms(
    witnesses: Sequence[dict[str, Codes]], cardinalities: Sequence[int]
) -> dict[str, list[Counts]]:
    """By kind and attribute: how often each code is in each batch."""
    return {
        kind: [
            np.stack([np.bincount(values[kind][a], minlength=r + 1) for values in witnesses])
            for a, r in enumerate(cardinalities)
        ]
        for kind in witnesses[0]
    }


def _crowd(histograms: Sequence[Counts], without: Sequence[npt.NDArray[np.int32]]) -> list[Codes]:
    """By attribute, the code that stands out in each batch, `without` one record of each."""
    left_out = np.stack(without, axis=1)
    return [_standing_out(counts, codes) for counts, codes in zip(histograms, left_out, strict=True)]


def _standing_out(counts: Counts, left_out: npt.NDArray[np.int32]) -> Codes:
    others = counts.astype(np.float64)
    others[np.arange(len(others)), left_out] -= 1
    usual = others.sum(axis=0) / others.sum()
    found: Codes = (others - others.sum(axis=1, keepdims=True) * usual).argmax(axis=1).astype(np.int32)
    return found


def _first_rows(values: Codes) -> Codes:
    """The first `PLACES` rows, filled up with -1."""
    filled = np.full((values.shape[0], PLACES), -1, dtype=np.int32)
    kept = values[:, :PLACES]
    filled[:, : kept.shape[1]] = kept
    return filled


def _pair_link(
    words: str,
    seen: AnyCodes,
    truths: npt.NDArray[np.int32],
    b: int,
    shape: tuple[int, int],
) -> tuple[Agreement, Carrier | None]:
    if math.prod(shape) > LARGEST_TABLE:
        return _agreement(seen, truths, shape), None
    first, second = (joint_counts((truths[half::2], seen[half::2]), shape) for half in (0, 1))
    score = float(_surprise(first).max())
    return _of_table(first + second), Carrier(b, words, score, first, second)


def _agreement(seen: AnyCodes, truths: npt.NDArray[np.int32], shape: tuple[int, int]) -> Agreement:
    """Of equal codes alone where the table is too large."""
    if math.prod(shape) <= LARGEST_TABLE:
        return _of_table(joint_counts((truths, seen), shape))
    equal, can = int(np.count_nonzero(seen == truths)), int(np.count_nonzero(seen < shape[0]))
    return Agreement((equal, can, shape[0]), ((0, 0, 0, 1),) * 2, 1)


def _of_table(table: Counts) -> Agreement:
    r, surprise = table.shape[0], _surprise(table)
    truths, seen, n = table.sum(axis=1), table.sum(axis=0), int(table.sum())
    # the tails of few cells need be known, those that are furthest from what is expected
    cells = [divmod(int(place), table.shape[1]) for place in (surprise.argmax(), surprise.argmin())]
    first, second = ((int(table[i, j]), int(truths[i]), int(seen[j]), n) for i, j in cells)
    return Agreement((int(np.trace(table)), int(seen[:r].sum()), r), (first, second), table.size)


def _surprise(table: Counts) -> npt.NDArray[np.float64]:
    """About how many standard deviations each count is above what is expected."""
    expected = table.sum(axis=1, keepdims=True) * (table.sum(axis=0) / max(1, table.sum()))
    surprise: npt.NDArray[np.float64] = (table - expected) / np.sqrt(expected + 1)
    return surprise


def _linked(looked_at: Sequence[tuple[str, Agreement]]) -> list[Link]:
    """The least tail of each: of its equal codes, or of a cell."""
    equal, can, r = np.array([one.equal for _, one in looked_at]).T
    cells = np.array([one.cells for _, one in looked_at])
    sizes = np.array([one.size for _, one in looked_at])
    of_cells = either(*np.moveaxis(cells, 2, 0)).min(axis=1) + _TWO + np.log(sizes)
    tails = _TWO + np.minimum(often(equal, can, r), of_cells)
    return [Link(words, float(tail)) for (words, _), tail in zip(looked_at, tails, strict=True)]
