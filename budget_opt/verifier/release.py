"""A release judged with the originals at hand, in the original order (internal, DESIGN 3.3).

Every statistical check is exact or a proved bound given the originals, and they share `false_alarm` by
Bonferroni: a sound release fails with at most that probability, whatever the data.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from budget_opt.allocation import Allocation
from budget_opt.errors import DataError, InputError
from budget_opt.tables.counting import AnyCodes
from budget_opt.tables.source import listed
from budget_opt.verifier.channels import AnyChannel, Channel
from budget_opt.verifier.evening import Evening
from budget_opt.verifier.joint import JointTally, by_block
from budget_opt.verifier.noise.evidence import NoiseEvidence, count_in_words
from budget_opt.verifier.noise.judge import NoiseJudge
from budget_opt.verifier.noise.runs import OF_ROWS
from budget_opt.verifier.release_report import (
    INTERNAL_NOTICE,
    ReleaseReport,
    retention_checks,
    transition_checks,
)
from budget_opt.verifier.report import Check
from budget_opt.verifier.retentions import RetentionEvidence
from budget_opt.verifier.streams import columns_of, streams_of, with_retention
from budget_opt.verifier.transitions import TransitionCounts, TransitionEvidence, judge_transitions

FALSE_ALARM = 1e-9


class ReleaseJudge:
    """Takes a release batch by batch, beside its originals and in their order, and judges it at the end.

    `released` names the attributes of the release, by default those that are released. The members of a
    cluster are judged as one column, of their joint categories. Memory: 8 r^2 bytes an attribute or cluster
    up to r = 2048 (32 r above), 1 MB a moment, and some blocks of rows: it does not grow with the rows.
    `public` are the columns that are released as they are and take part in moments (`public_values`); their
    codes are among those of the originals and of the release. Raises `InputError` for a `false_alarm` outside
    (0, 1).
    """

    def __init__(
        self,
        allocation: Allocation,
        *,
        false_alarm: float = FALSE_ALARM,
        released: Collection[str] | None = None,
        public: Mapping[str, Channel] | None = None,
    ) -> None:
        if not 0 < false_alarm < 1:
            raise InputError(
                f"false_alarm: is {false_alarm!r}, must be above 0 and below 1, for instance 1e-9."
            )
        wanted = [
            a.name
            for a in allocation.attributes
            if (a.is_released if released is None else a.name in released)
        ]
        self._name = allocation.name
        self._false_alarm = false_alarm
        self._streams = streams_of(allocation, wanted)
        self._blocks = [stream for stream in self._streams if stream.channel.is_whole]
        self._columns = columns_of(self._streams)
        self._counts = [TransitionCounts(block.channel.cardinality) for block in self._blocks]
        self._seen: dict[str, AnyChannel] = {**with_retention(self._columns), **(public or {})}
        self._moments = {
            moment.attributes: JointTally([self._seen[name] for name in moment.attributes])
            for moment in allocation.moments
            if set(moment.attributes) <= set(self._seen)
        }
        # half of the rate for single blocks and moments, half for what must not go together
        self._noise = NoiseJudge([stream.channel.even for stream in self._streams], false_alarm / 2)
        self._evening = {
            i: Evening(stream.channel)
            for i, stream in enumerate(self._streams)
            if not isinstance(stream.channel, Channel)
        }
        known = {*self._columns, *allocation.public}
        self._left_out = [m.label for m in allocation.moments if not set(m.attributes) <= known]
        self._unseen = [
            m.label
            for m in allocation.moments
            if m.attributes not in self._moments and m.label not in self._left_out
        ]
        self._rows = 0

    def add(self, original: Mapping[str, AnyCodes], released: Mapping[str, AnyCodes]) -> None:
        """Take the codes of one batch of rows by column; columns beside the attributes are not looked at.

        Raises `DataError` for an absent column, columns of different lengths, or codes outside the domain.
        """
        rows = _rows_of(self._columns, original, released)
        self._rows += rows
        for name, channel in self._columns.items():
            _check_codes(name, channel.cardinality, original[name], released[name])
        truths, reports = ([stream.codes(side) for stream in self._streams] for side in (original, released))
        # the streams of whole blocks come first
        for counts, truth, report in zip(self._counts, truths, reports, strict=False):
            counts.add(truth, report)
        for names, tally in self._moments.items():
            tally.add([original[name] for name in names], [released[name] for name in names])
        if rows:
            for i, evening in self._evening.items():
                reports[i] = evening.reports(truths[i], reports[i])
            self._noise.add(truths, reports)

    def report(
        self, checks: Iterable[Check] = (), *, not_judged: Mapping[str, str] | None = None
    ) -> ReleaseReport:
        """The verdict on all batches, after `checks` made elsewhere; no batch may come after it.

        `not_judged` are attributes to leave out, and why.
        """
        not_judged = not_judged or {}
        names = [name for name in self._columns if name not in not_judged]
        moments = [wanted for wanted in self._moments if not set(wanted) & set(not_judged)]
        how = f"judged given the originals, {count_in_words(self._rows, 'row')}"
        notes = [f"{how}; rows are taken as independent of each other"]
        if self._left_out:
            notes.append(f"not judged, a member is not released: {', '.join(self._left_out)}")
        if self._unseen:
            notes.append(
                "not judged, the values of a public column are too many, cannot be told apart, or were not "
                f"given: {', '.join(self._unseen)}"
            )
        notes += [f"{name}: not judged, {why}" for name, why in not_judged.items()]
        if self._rows == 0:
            notes.append("no row was judged, so nothing statistical was checked")
            names, moments = [], []
        judged = [i for i, stream in enumerate(self._streams) if set(stream.attributes) <= set(names)]
        blocks = [i for i in judged if i < len(self._blocks)]
        share = self._false_alarm / 2 / max(1, len(blocks) + len(moments))
        transitions = tuple(
            judge_transitions(self._blocks[i].channel, self._counts[i].totals(), share) for i in blocks
        )
        retentions = tuple(self._retention(wanted, share) for wanted in moments)
        noise = self._noise.evidence(judged)
        notes += [*self._not_noticed(transitions, noise), *self._blurred(judged)]
        return ReleaseReport(
            subject=f"release under {self._name}" if self._name else "release",
            checks=(
                *checks,
                *transition_checks(transitions, {one.channel.name: one.attributes for one in self._blocks}),
                *retention_checks(retentions),
                *(evidence.check() for evidence in noise),
            ),
            notes=tuple(notes),
            false_alarm=self._false_alarm,
            notice=INTERNAL_NOTICE,
            releasable=False,
            transitions=transitions,
            retentions=retentions,
            noise=noise,
        )

    def _blurred(self, judged: Collection[int]) -> list[str]:
        """A note on the columns whose reports are made even (`evening`), if there are any."""
        names = [self._streams[i].channel.name for i in self._evening if i in judged]
        if not names:
            return []
        note = (
            f"{listed(names, 5)}: replaced cells are not drawn uniformly, so that noise which stands a "
            "second time is seen at the distances that are looked at, up to 10,000 rows, and not elsewhere"
        )
        return [note]

    def _not_noticed(
        self, transitions: Collection[TransitionEvidence], noise: Collection[NoiseEvidence]
    ) -> list[str]:
        """A note of what so few rows cannot show, if there is anything."""
        names = [evidence.name for evidence in transitions if not evidence.untouched_is_noticed]
        if not names:
            return []
        which = "every attribute" if len(names) == len(self._blocks) > 1 else listed(names, 5)
        kept = math.prod(float(1 - block.channel.even.changed) for block in self._blocks)
        whole = [one for one in noise if one.claim == OF_ROWS]
        if any(one.tests * kept**self._rows > one.alarm for one in whole):
            which += ", even the table as a whole"
        few = "1 row is" if self._rows == 1 else f"{self._rows:,} rows are"
        return [f"{few} too few to show for sure that this was released untouched: {which}"]

    def _retention(self, attributes: tuple[str, ...], share: float) -> RetentionEvidence:
        columns = [self._seen[name] for name in attributes]
        blocks = by_block(columns)
        kept = math.prod((columns[axes[0]].retention for axes in blocks), start=Fraction(1))
        factor = float(kept) if len(blocks) == len(attributes) else None
        return RetentionEvidence(attributes, self._moments[attributes].projection(), factor, share)


def judge_release(
    allocation: Allocation,
    original: Mapping[str, AnyCodes],
    released: Mapping[str, AnyCodes],
    *,
    false_alarm: float = FALSE_ALARM,
) -> ReleaseReport:
    """As `verify_release`, from the codes of the attributes, in one piece."""
    judge = ReleaseJudge(allocation, false_alarm=false_alarm, released=set(released))
    judge.add(original, released)
    return judge.report()


def verify_release(
    allocation: Allocation, original: Any, released: Any, *, false_alarm: float = FALSE_ALARM
) -> ReleaseReport:
    """Whether `released` is what the allocation makes of `original`, row by row.

    Both are tables or paths; the release is in the original order, before any shuffle. Checked are columns,
    row count, domains, public columns, the transition counts of each attribute or cluster against its matrix,
    for each moment the observed against the predicted retention, that nothing is attached to the release, and
    that the noise of a cell goes together with nothing that is looked at: the noise of another attribute, in
    the same row and 1 to 4 rows apart; its own, and what any attribute says, at 1 to 8, 10, 16, … up to
    10,000 rows apart (`noise.lags`, `noise.elsewhere`); its place; what the row says. A sound release fails
    with probability at most `false_alarm`, in (0, 1). The report is internal: it is computed from the
    originals. Raises `DataError` where the originals do not fit the allocation, `InputError` for another
    rate.
    """
    from budget_opt.verifier.comparison import compare_tables

    return compare_tables(allocation, original, released, false_alarm)


def _rows_of(names: Iterable[str], original: Mapping[str, AnyCodes], released: Mapping[str, AnyCodes]) -> int:
    """The number of rows of all columns; 0 for none."""
    sizes = set()
    for name in names:
        for side, columns in (("original", original), ("released", released)):
            if name not in columns:
                raise DataError(f"column {name!r}: is not among the {side} codes.", column=name)
            sizes.add(columns[name].size)
    if len(sizes) > 1:
        raise DataError(
            f"the columns have different numbers of rows, {sorted(sizes)}. Give the same rows on both sides."
        )
    return sizes.pop() if sizes else 0


def _check_codes(name: str, cardinality: int, *columns: AnyCodes) -> None:
    for column in columns:
        if column.size and (int(column.min()) < 0 or int(column.max()) >= cardinality):
            outside = int(np.count_nonzero((column < 0) | (column >= cardinality)))
            raise DataError(
                f"column {name!r}: {outside} rows have a code outside 0 .. {cardinality - 1}. "
                "Encode the column against the domain of the allocation.",
                column=name,
                count=outside,
            )
