"""What all reports of a record give away of one of its attributes, under a public joint distribution.

Letters: pi a joint distribution over attributes S, a one of them, v and w two of its values; c the members of
a's own cluster in S, none where a is randomized alone, and the rest those of other blocks. The columns of a
block that are in S are randomized by a matrix K 1{y = x} + q_y, over their joint categories (DESIGN 2.9). The
reports y of all of S change the odds of a = v against a = w by P(y | a = v) / P(y | a = w), where

    P(y | a = v)   = K 1{y_a = v} G_v(y_c, y_rest) + q_y G_v(y_rest),
    G_v(x_c, y_rest) = sum over x_rest of pi(x_c, x_rest | v) prod over blocks of their matrices,

and G_v(y_rest) is its sum over x_c. It is largest against w at y_a = v:

    (K G_v(y_c, y_rest) + q_y G_v(y_rest)) / (q_y G_w(y_rest)),

for which v and w are looked for at every (y_c, y_rest). G takes one small matrix along the axes of one block
in turn, never a Kronecker matrix. It is computed in whole numbers, the table in its smallest unit and the
matrices as the counts of the samplers, so the figures are exact, and only rounded up at the end. A value of
probability 0 is believed by nobody, whatever is reported, and has no odds.

The reports of the whole record add at most the losses of the blocks outside S. A block of which S has some
members only adds its whole loss too: given the reports of these, those of its others move by at most that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.accounting.joint_matrix import ToldByMatrix
from budget_opt.allocation.allocation import Allocation
from budget_opt.allocation.blocks import AllocatedAttribute, AllocatedBlock
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least, log_at_least
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.samplers import other_words
from budget_opt.model.domain import Label

MOST_CELLS = 2**17
"""Cells of a joint table: exact whole numbers of any length take about 0.2 s for each attribute there."""

Whole = npt.NDArray[np.object_]
"""Python's integers, which never overflow."""


@dataclass(frozen=True)
class LearnedOfAttribute:
    """What the reports of all attributes of a joint give away of one; logarithms in nats, all rounded up.

    - `own_loss`: what the attribute's own column does to its odds.
    - `log_odds`: the most that all reports of the joint's attributes do to them: at least `own_loss`, at
      most the sum of the losses. It is reached for the value `more` against the value `less`.
    - `log_odds_with_others`: a bound for the reports of the whole record, whatever the attributes outside
      the joint have to do with it: `log_odds` and the losses of these, and at most the record's loss.
    - `guess_without`, `guess_own`, `guess_with`: how probable the best guess of its value is right under
      the joint: without any report, from its own column, and from all reports of the joint's attributes.
    - `impossible`: values of probability 0 in the joint, which are left out.
    """

    name: str
    own_loss: float
    log_odds: float
    log_odds_with_others: float
    more: Label | None
    less: Label | None
    guess_without: float
    guess_own: float
    guess_with: float
    impossible: tuple[Label | None, ...]


@dataclass(frozen=True)
class LearnedUnderJoint:
    """The same for every attribute of a joint; `sum_loss` is the loss of a change of all of them.

    `others` is what the reports outside the joint may add: the losses of the blocks not wholly in it.
    """

    attributes: tuple[str, ...]
    sum_loss: float
    others: float
    learned: tuple[LearnedOfAttribute, ...]


def learned_under(allocation: Allocation, names: Sequence[str], table: Whole) -> LearnedUnderJoint:
    """The figures under a joint of distinct attributes: whole numbers >= 0, not all 0, an axis each."""
    others = exact_sum(block.loss for block in allocation.blocks if not set(block.names) <= set(names))
    seen = [_Seen.of(block, names) for block in allocation.touched(names)]
    return LearnedUnderJoint(
        attributes=tuple(names),
        sum_loss=float_at_least(exact_sum(block.loss for block in allocation.touched(names))),
        others=float_at_least(others),
        learned=tuple(
            _learned(allocation, allocation[name], axis, seen, table, others)
            for axis, name in enumerate(names)
        ),
    )


@dataclass(frozen=True)
class _Seen:
    """The columns of one block in a joint, by their `axes`, and their matrix.

    Of 2^b words `kept` leave the truth, and `drawn` lead to each of their joint categories whatever it is: an
    array with as many axes as the joint, which are 1 long where they are no axes of this block. Where none
    leave the truth, the report tells nothing. `rows` are the counts by truth of a matrix that was chosen for
    a known source, which has no such form.
    """

    axes: tuple[int, ...]
    kept: int
    drawn: Whole
    rows: Whole | None = None

    @classmethod
    def of(cls, block: AllocatedBlock, names: Sequence[str]) -> _Seen:
        inside = {block.names.index(name): axis for axis, name in enumerate(names) if name in block.names}
        if isinstance(block.sampler, MatrixSampler):
            rows = np.array(block.sampler.counts, dtype=object)
            return cls(tuple(inside.values()), 0, rows[0], rows)
        words, counts = 1, np.ones(block.cardinality, dtype=object)
        if block.sampler is not None:
            words, counts[:] = 2**block.sampler.bits, other_words(block.sampler)
        absent = tuple(member for member in range(len(block.names)) if member not in inside)
        drawn = np.asarray(counts.reshape(block.shape).sum(axis=absent), dtype=object)
        # from the order of the members to that of the joint
        drawn = drawn.transpose(np.argsort([inside[member] for member in sorted(inside)]))
        axes = tuple(sorted(inside.values()))
        shape = dict(zip(axes, drawn.shape, strict=True))
        kept = 0 if block.sampler is None else words - int(counts.sum())
        return cls(axes, kept, drawn.reshape([shape.get(axis, 1) for axis in range(len(names))]))

    def through(self, counts: Whole) -> Whole:
        """The counts as the reports of these columns show them, times 2^b; summed out where none tells."""
        if self.rows is not None:
            seen: Whole = np.moveaxis(np.tensordot(counts, self.rows, (self.axes[0], 0)), -1, self.axes[0])
            return seen
        total: Whole = counts.sum(axis=self.axes, keepdims=True)
        if self.kept == 0:
            return total
        mixed: Whole = counts * self.kept + total * self.drawn
        return mixed


def whole_numbers(table: npt.NDArray[Any]) -> Whole:
    """Counts or shares >= 0 as whole numbers in proportion; a double stands for its decimal."""
    if np.issubdtype(table.dtype, np.integer):
        return table.astype(object)
    stated = [exact(share) for share in table.ravel().tolist()]
    unit = math.lcm(*(share.denominator for share in stated))
    counts = np.empty(len(stated), dtype=object)
    counts[:] = [share.numerator * (unit // share.denominator) for share in stated]
    return counts.reshape(table.shape)


def _learned(
    allocation: Allocation,
    attribute: AllocatedAttribute,
    axis: int,
    blocks: Sequence[_Seen],
    table: Whole,
    others: Fraction,
) -> LearnedOfAttribute:
    own = next(block for block in blocks if axis in block.axes)
    reports = table
    for block in blocks:
        if block is not own:
            reports = block.through(reports)
    labels = attribute.domain.labels
    weight = np.moveaxis(table, axis, 0).reshape(attribute.cardinality, -1).sum(axis=1)
    possible = [v for v in range(attribute.cardinality) if weight[v]]
    known = len(possible) < 2
    told, alone = _told(own, reports, axis, weight), _told(_column(own, axis), weight, 0, weight)
    odds = _Odds(Fraction(1), 0, 0) if known else _odds(told, alone, weight, possible)
    log_odds = log_at_least(odds.ratio)
    whole = min(exact(log_odds) + others, exact(allocation.loss))
    column = attribute.column_sampler
    return LearnedOfAttribute(
        name=attribute.name,
        own_loss=0.0 if column is None else column.loss,
        log_odds=log_odds,
        log_odds_with_others=0.0 if known else float_at_least(whole),
        more=None if known else labels[odds.more],
        less=None if known else labels[odds.less],
        guess_without=float_at_least(Fraction(max(weight), sum(weight))),
        guess_own=alone.guess(),
        guess_with=told.guess(),
        impossible=tuple(label for v, label in enumerate(labels) if not weight[v]),
    )


def _told(own: _Seen, reports: Whole, axis: int, weight: Whole) -> _Told | ToldByMatrix:
    """What is reported beside an attribute, and by its own column, in the form that its matrix allows."""
    if own.rows is not None:
        return ToldByMatrix.of(own.rows, reports, axis, weight)
    return _Told.of(reports, own, axis)


def _odds(
    told: _Told | ToldByMatrix, alone: _Told | ToldByMatrix, weight: Whole, possible: Sequence[int]
) -> _Odds:
    if isinstance(told, ToldByMatrix) or isinstance(alone, ToldByMatrix):
        assert isinstance(told, ToldByMatrix)
        return _Odds(*told.largest_odds(possible))
    return _largest_odds(told, alone, weight, possible)


def _column(own: _Seen, axis: int) -> _Seen:
    """One column of a block, alone."""
    if own.rows is not None:
        return _Seen((0,), own.kept, own.drawn, own.rows)
    others = tuple(other for other in own.axes if other != axis)
    return _Seen((0,), own.kept, own.drawn.sum(axis=others).ravel())


@dataclass(frozen=True)
class _Told:
    """What is reported beside an attribute, a column a combination, by the value v of the attribute, (r, …).

    With the report v of its own `kept` G_v(y_c, y_rest) is added to `drawn` G_v(y_rest): `true`, `drawn` and
    `every` = G_v(y_rest) are arrays of that shape. Another value w has `drawn` G_w(y_rest) with that report.
    """

    true: Whole
    drawn: Whole
    every: Whole

    @classmethod
    def of(cls, counts: Whole, own: _Seen, axis: int) -> _Told:
        """From counts that are seen through all other blocks."""
        r = counts.shape[axis]
        total = counts.sum(axis=tuple(other for other in own.axes if other != axis), keepdims=True)
        drawn, every = np.broadcast_to(own.drawn, counts.shape), np.broadcast_to(total, counts.shape)
        true = counts * own.kept + drawn * every
        return cls(*(np.moveaxis(of, axis, 0).reshape(r, -1) for of in (true, drawn, every)))

    def guess(self) -> float:
        """P(best guess is right): for every own report the largest of all values, over all."""
        right = np.maximum(self.true, self.drawn * self.every.max(axis=0)).sum()
        others = self.drawn * (self.every.sum(axis=0) - self.every)
        return float_at_least(Fraction(right, (self.true + others).sum()))


@dataclass(frozen=True)
class _Odds:
    """A change of odds, for the value with the number `more` against that of `less`."""

    ratio: Fraction
    more: int
    less: int


def _largest_odds(told: _Told, alone: _Told, weight: Whole, possible: Sequence[int]) -> _Odds:
    """The largest (true_v / drawn_v weight_v) / (every_w / weight_w) of one column, v != w.

    It is at least what the attribute's own column does, `alone`, whatever is beside it. The largest v and the
    least w of a column may be one value: then one of the two is the next best.
    """
    above = _extremes(told.true, told.drawn * weight[:, np.newaxis], possible, 1)
    below = _extremes(told.every, np.broadcast_to(weight[:, np.newaxis], told.every.shape), possible, -1)
    best = _own_odds(alone, weight, possible)
    same = above[0] == below[0]
    for i, j, columns in ((0, 0, ~same), (0, 1, same), (1, 0, same)):
        for column in np.flatnonzero(columns):
            v, w = int(above[i][column]), int(below[j][column])
            true, wrong = told.true[v, column] * weight[w], told.drawn[v, column] * told.every[w, column]
            if true * best.ratio.denominator > best.ratio.numerator * wrong * weight[v]:
                best = _Odds(Fraction(true, wrong * weight[v]), v, w)
    return best


def _own_odds(alone: _Told, weight: Whole, possible: Sequence[int]) -> _Odds:
    """What the own column does to the value that is drawn least often, against any other one."""
    v = min(possible, key=lambda value: alone.drawn[value, 0])
    w = possible[-1] if v != possible[-1] else possible[0]
    return _Odds(Fraction(alone.true[v, 0], alone.drawn[v, 0] * weight[v]), v, w)


def _extremes(
    seen: Whole, by: Whole, possible: Sequence[int], sign: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """By column the possible v with the largest (sign 1) or least (-1) seen_v / by_v, and the next."""
    columns = np.arange(seen.shape[1])
    first = np.full(columns.size, possible[0])
    second = np.full(columns.size, possible[1])

    def better(v: int, than: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        difference = seen[v] * by[than, columns] - seen[than, columns] * by[v]
        return np.asarray(sign * difference > 0, dtype=bool)

    for v in possible[1:]:
        leads = better(v, first)
        follows = ~leads & ((second == v) | better(v, second))
        second = np.where(leads, first, np.where(follows, v, second))
        first = np.where(leads, v, first)
    return first, second
