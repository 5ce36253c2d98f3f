"""Are certain records randomized otherwise than the rest? Rows are grouped by all that they say.

Given the originals a row is left as it is in every attribute with probability k, the product over what is
randomized as one, independent of all other rows. So the rows left whole among any that are chosen by looking
at the originals only are binomial with k: among all rows, among those where an attribute has a certain
category, and among those with a certain record. Of the changed cells of an attribute the number in the rows
with a certain record is hypergeometric.

Records are known by a hash, in `BUCKETS` groups, so that memory is bounded: where there are many different
records a group holds several, which is as exact and notices less.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from budget_opt.tables.binomial import acceptance, two_sided
from budget_opt.tables.counting import AnyCodes, IntArray
from budget_opt.verifier import hypergeometric
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.noise.blocks import Block
from budget_opt.verifier.noise.content import LARGEST_GROUPS, grouped
from budget_opt.verifier.noise.evidence import NoiseEvidence, combined, count_in_words

BUCKETS = 2**12
_KINDS = 2


class RecordTally:
    """Changed cells and rows left whole, by record; the latter also by category and in all."""

    def __init__(self, channels: Sequence[Channel], alarm: float) -> None:
        self._channels, self._alarm = channels, alarm / _KINDS
        self._rows = np.zeros(BUCKETS, dtype=np.int64)
        self._changed = np.zeros((len(channels), BUCKETS), dtype=np.int64)
        self._whole = np.zeros(BUCKETS, dtype=np.int64)
        # of each attribute's groups of categories: all rows, and those left whole
        self._by_category = np.zeros((2, len(channels), LARGEST_GROUPS), dtype=np.int64)

    def add(self, block: Block) -> None:
        """Take the rows of one block."""
        bucket = (block.records >> np.uint64(52)).astype(np.intp)
        whole = block.whole_rows
        self._rows += _counts(bucket, BUCKETS)
        self._whole += _counts(bucket[whole], BUCKETS)
        for i, changed in enumerate(block.changed):
            self._changed[i] += _counts(bucket[changed], BUCKETS)
            group = grouped(block.truths[i], self._channels[i].cardinality)
            for side, chosen in enumerate((group, group[whole])):
                self._by_category[side, i] += _counts(chosen, LARGEST_GROUPS)

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """Evidence on the changes of these attributes, and where all are judged on whole rows."""
        of = sorted(judged)
        present = np.flatnonzero(self._rows)
        changed, rows = self._changed[of][:, present], self._rows[present]
        yield combined(
            "the changes of an attribute do not depend on the whole record",
            hypergeometric.two_sided(changed, self._changed[of].sum(axis=1)[:, None], rows, rows.sum()),
            self._alarm,
            lambda test: self._channels[of[test // present.size]].name,
            notices=self._changes_in_words(of, int(rows.max()), changed.size),
            source=f"hypergeometric given all changes, by record in up to {BUCKETS:,} groups",
        )
        if len(of) == len(self._channels):
            yield self._whole_evidence(present)

    def _whole_evidence(self, present: IntArray) -> NoiseEvidence:
        wholes = [channel for channel in self._channels if channel.is_whole]
        kept = math.exp(sum(math.log1p(-float(channel.changed)) for channel in wholes))
        all_rows, whole = self._by_category.reshape(2, -1)
        n = np.concatenate([[self._rows.sum()], all_rows[all_rows > 0], self._rows[present]])
        k = np.concatenate([[self._whole.sum()], whole[all_rows > 0], self._whole[present]])
        return combined(
            "records are left as they are in every attribute as often as they should be",
            two_sided(k, n, kept),
            self._alarm,
            lambda test: self._rows_in_words(test, all_rows),
            notices=_whole_in_words(int(self._rows.max()), kept, self._alarm / k.size),
            source="exact binomial tests, of all rows, by category and by record",
        )

    def _rows_in_words(self, test: int, all_rows: IntArray) -> str:
        categories = np.flatnonzero(all_rows)
        if test == 0:
            return "the rows as a whole"
        if test <= categories.size:
            return f"a category of {self._channels[categories[test - 1] // LARGEST_GROUPS].name}"
        return "a certain record"

    def _changes_in_words(self, of: Sequence[int], rows: int, tests: int) -> str:
        """Of the most frequent group of records, where the chance of a change is nearest 1/2."""
        changed = max((float(self._channels[i].changed) for i in of), key=lambda one: min(one, 1 - one))
        low, high = acceptance(rows, changed, self._alarm / tests / 2)
        if low == 0 and high == rows:
            return "nothing: no record is frequent enough"
        return f"in the most frequent group of records, {count_in_words(rows, 'row')}, " + " or ".join(
            ([f"fewer than {low:,} changed cells"] if low > 0 else [])
            + ([f"more than {high:,} changed cells"] if high < rows else [])
        )


def _whole_in_words(rows: int, kept: float, alarm: float) -> str:
    _, high = acceptance(rows, kept, alarm / 2)
    if high >= rows:
        return "nothing: no record is frequent enough"
    return f"more than {high:,} of the {count_in_words(rows, 'row')} of the most frequent group of records"


def _counts(codes: AnyCodes, groups: int) -> IntArray:
    return np.bincount(codes, minlength=groups)
