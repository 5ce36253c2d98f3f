"""A release judged without the originals: from what may be passed on alone, so that anybody can.

Whatever the originals say, a cell reports a category with at least p and at most k, p the probability of
each wrong category and k that of the truth. So the reports of a category number at least as many as a
binomial (n, p) and at most as many as a binomial (n, k), in the stochastic order. In the same way no
corrected share of a joint table can be far below 0 (see `tables.joint_shares`). A cluster is one column of
its joint categories, and its members make no joint table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from budget_opt.allocation import Allocation
from budget_opt.errors import InputError
from budget_opt.tables.binomial import acceptance, least_of_possible
from budget_opt.tables.counting import IntArray, joint_counts
from budget_opt.tables.encoding import Codes
from budget_opt.tables.joint_shares import least_share
from budget_opt.tables.reading import encoders_for, open_table
from budget_opt.tables.source import Source
from budget_opt.verifier.channels import AnyChannel, MatrixChannel
from budget_opt.verifier.comparison import ReleasedCells, attachments_check, columns_check
from budget_opt.verifier.joint import LARGEST_JOINT
from budget_opt.verifier.report import EXPECTED, Check, VerificationReport
from budget_opt.verifier.streams import Stream, columns_of, streams_of, with_retention

_NOT_CHECKED = (
    "cannot be checked without the originals: that every cell was randomized, and with its matrix; that the "
    "noise of a cell depends on no other cell; that no row was left out, doubled or moved; "
    "that public columns are as they were"
)
_CLAIMED = "claimed by the manifest, not checked: that the random words of the release were secret"
_RELEASABLE = "computed from the release and the allocation alone: this report may be passed on"


def verify_unaided(
    allocation: Allocation,
    released: Any,
    manifest: Mapping[str, Any] | None = None,
    *,
    allocation_sha256: str | None = None,
    without_manifest: str = "no manifest was given",
    false_alarm: float = 1e-9,
) -> VerificationReport:
    """Whether `released`, a table or a path, can be what the allocation makes of any originals.

    Checked are columns, that nothing is attached to them, declared labels, what the `manifest` that lies
    beside it says (rows, columns, and the hash of the allocation where it is given), and that the reported
    shares and joint tables are possible. `without_manifest` is the note where there is no manifest. A sound
    release fails with probability at most `false_alarm`, in (0, 1). Raises `DataError` for a table that
    cannot be read, and `InputError` for another rate.
    """
    if not 0 < false_alarm < 1:
        raise InputError(f"false_alarm: is {false_alarm!r}, must be above 0 and below 1, for instance 1e-9.")
    reports = open_table(released)
    tally = _ReportTally(allocation, reports)
    cells = tally.read()
    checks = [columns_check(allocation, reports), attachments_check(allocation, released), *cells.checks()]
    notes = []
    if manifest is None:
        notes.append(f"not checked: {without_manifest}, which says how many rows there should be")
    else:
        checks += _manifest_checks(manifest, reports, tally.rows, allocation_sha256)
        notes += [_CLAIMED] if manifest["private"] else []
    unreadable = cells.unreadable
    notes += [f"{name}: not judged, it has cells outside its domain" for name in unreadable]
    if tally.rows:
        checks += tally.checks(unreadable, false_alarm)
    else:
        notes.append("the table has no rows, so nothing statistical was checked")
    return VerificationReport(
        subject=f"release under {allocation.name}" if allocation.name else "release",
        checks=tuple(checks),
        notes=(*notes, _NOT_CHECKED, _RELEASABLE),
        false_alarm=false_alarm,
    )


def _manifest_checks(
    manifest: Mapping[str, Any], released: Source, rows: int, allocation_sha256: str | None
) -> Iterator[Check]:
    source = "the manifest"
    stated = manifest["rows"]
    yield Check(
        "the release has the rows of its manifest", rows, stated, rows == stated, source, word=EXPECTED
    )
    same = list(manifest["columns"]) == list(released.names)
    yield Check(
        "the release has the columns of its manifest",
        f"{len(released.names)} columns",
        f"{len(manifest['columns'])} columns",
        same,
        source,
        word=EXPECTED,
    )
    if not manifest["private"]:
        claim = "the words of the release were secret, by its manifest"
        yield Check(claim, "they were not", "secret", holds=False, source=source, word=EXPECTED)
    if allocation_sha256 is not None:
        named = manifest["allocation_sha256"]
        yield Check(
            "the manifest names this allocation",
            named,
            allocation_sha256,
            named == allocation_sha256,
            "SHA-256",
            word=EXPECTED,
        )


class _ReportTally:
    """Counts of the reports by (joint) category, and by pairs of attributes that share a moment."""

    def __init__(self, allocation: Allocation, released: Source) -> None:
        self._released = released
        found = [a for a in allocation.attributes if a.name in released.names]
        self._domains = {a.name: a.domain for a in found}
        streams = streams_of(allocation, self._domains.keys())
        self._columns = with_retention(columns_of(streams))
        self._streams = [
            one for one in streams if len(one.attributes) == 1 or one.channel.cardinality <= LARGEST_JOINT
        ]
        self._counts = [np.zeros(one.channel.cardinality, dtype=np.int64) for one in self._streams]
        pairs = {pair for moment in allocation.moments for pair in combinations(moment.attributes, 2)}
        there = {pair: [self._columns[name] for name in pair] for pair in sorted(pairs) if self._has(pair)}
        self._tables: dict[tuple[str, str], IntArray] = {
            pair: np.zeros([channel.cardinality for channel in channels], dtype=np.int64)
            for pair, channels in there.items()
            if all(channel.retention > 0 for channel in channels)
            and math.prod(channel.cardinality for channel in channels) <= LARGEST_JOINT
        }
        self.rows = 0

    def _has(self, pair: tuple[str, str]) -> bool:
        """Whether both are in the release, and are not of one cluster, whose shares are judged as such."""
        return set(pair) <= set(self._columns) and (
            self._columns[pair[0]].block != self._columns[pair[1]].block
        )

    def read(self) -> ReleasedCells:
        """Count all rows; what is wrong with the cells comes back."""
        encoders = encoders_for(self._released, self._domains, released=True)
        cells = ReleasedCells(self._domains)
        for batch in self._released.batches(list(self._domains) or self._released.names[:1]):
            self._add(cells.codes(batch, encoders))
            self.rows += batch.num_rows
        cells.take_stock()
        return cells

    def _add(self, codes: Mapping[str, Codes]) -> None:
        for stream, counts in zip(self._streams, self._counts, strict=True):
            np.add(counts, np.bincount(stream.codes(codes), minlength=counts.size), out=counts)
        for pair, table in self._tables.items():
            np.add(table, joint_counts([codes[name] for name in pair], table.shape), out=table)

    def checks(self, unreadable: Sequence[str], false_alarm: float) -> Iterator[Check]:
        """Possible shares of each stream and joint tables, where all cells are declared labels."""
        judged = [
            (stream, counts)
            for stream, counts in zip(self._streams, self._counts, strict=True)
            if not set(stream.attributes) & set(unreadable)
        ]
        pairs = [pair for pair in self._tables if not set(pair) & set(unreadable)]
        alarm = false_alarm / max(1, len(judged) + len(pairs))
        for stream, counts in judged:
            yield _shares_check(stream, counts, alarm)
        for pair in pairs:
            yield _joint_check([self._columns[name] for name in pair], self._tables[pair], alarm)


def _shares_check(stream: Stream, counts: IntArray, alarm: float) -> Check:
    channel = stream.channel
    n, r = int(counts.sum()), channel.cardinality
    if isinstance(channel, MatrixChannel):
        fewest, most = channel.matrix.min(axis=0), channel.matrix.max(axis=0)
    else:
        fewest, most = channel.others, channel.others + float(channel.retention)
    least = least_of_possible(counts, fewest, most)
    low, _ = acceptance(n, float(fewest.max()), alarm / (2 * r))
    _, high = acceptance(n, float(most.min()), alarm / (2 * r))
    return Check(
        claim=f"{channel.name}: its reported shares are possible",
        measured=least,
        limit=f"above {alarm:.3g}",
        holds=least > alarm,
        source="binomial bounds for any originals, least probability times their number",
        kind="tested",
        notices=" or ".join(
            ([f"a category in fewer than {100 * low / n:.3g} % of the rows"] if low > 0 else [])
            + ([f"a category in more than {100 * high / n:.3g} % of the rows"] if high < n else [])
        )
        or "nothing: there are too few rows",
        name="possible shares",
        about=stream.attributes,
    )


def _joint_check(channels: Sequence[AnyChannel], table: IntArray, alarm: float) -> Check:
    kept = [(channel.others, float(channel.retention)) for channel in channels]
    least = least_share(table, kept, alarm)
    few = least.tolerance >= -least.lowest  # no table has a smaller share
    return Check(
        claim=f"{' x '.join(channel.name for channel in channels)}: its corrected joint table is possible",
        measured=least.share,
        limit=f"at least {-least.tolerance:.3g}",
        holds=least.is_possible,
        source="Bernstein's bound for any originals",
        kind="tested",
        notices="nothing: there are too few rows"
        if few
        else f"a corrected share of {-least.tolerance:.2g} or less",
        name="possible joint table",
        about=tuple(channel.name for channel in channels),
    )
