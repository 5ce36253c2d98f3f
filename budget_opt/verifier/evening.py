"""Reports under a background as if all categories were alike, so that one set of tests judges all noise.

Under a background that is not uniform how often a cell is changed, and into what, depends on its truth, and
whatever goes with the truths goes with the changes too. Here x, its report y and a number v, uniform on [0,
1) and drawn for nothing else, make

    u = v t_x  where y = x,   else  t_x + sum of o_w over w < y, w != x, + v o_y

with o_y = P(report = y | another truth) and t_x = o_x + lambda. Given any x it is uniform on [0, 1), as P(y |
x) is t_x or o_y; and independent of all other cells where the reports are. So x turned by s, where s = 0 for
u < k and 1 + floor((u - k) / (1 - k) (r - 1)) else, is a report of the matrix that keeps every truth with
probability k and reports all others alike: exactly, whatever the originals. Noise that two cells share is
shared by their u as well.

A matrix Q that a known source chose has another law for every truth: with t_x = Q[x, x], and Q[x, w] in the
place of o_w, all of that holds as it stands.

The v are a fixed sequence for each column, so that a verdict can be repeated; the false-alarm rate of what is
judged from such reports is over the release and over these numbers. They blur what is the same twice: a
stretch of words that is used again is seen by the dependence at the distances that are looked at, and not, as
it is where the background is uniform, wherever it stands.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

import numpy as np

from budget_opt.tables.counting import AnyCodes, IntArray
from budget_opt.verifier.channels import BackgroundChannel, FloatArray, MatrixChannel

_LEAST_SHARE = 2.0**-53


class Evening:
    """Turns the reports of one column, batch by batch; the batches have no effect."""

    def __init__(self, channel: BackgroundChannel | MatrixChannel) -> None:
        self._stretches: _Stretches = (
            _OfMatrix(channel) if isinstance(channel, MatrixChannel) else _OfBackground(channel)
        )
        self._kept = float(1 - channel.even.changed)
        self._r = channel.cardinality
        # two columns with the same numbers would seem to share their noise
        seed = hashlib.sha256(channel.name.encode("utf-8", "surrogatepass")).digest()
        self._rng = np.random.default_rng(list(seed))

    def reports(self, truth: AnyCodes, report: AnyCodes) -> AnyCodes:
        """The reports of the next rows, under `channel.even`."""
        x, y = truth.astype(np.int64), report.astype(np.int64)
        begin, length = self._stretches.of(x, y)
        u = begin + self._rng.random(x.size) * length
        # where next to nothing is changed 1 - k may be no double above 0
        share = (u - self._kept) / max(1.0 - self._kept, _LEAST_SHARE)
        # the last digits of u may pass either end
        turned = np.clip(np.floor(share * (self._r - 1)), 0, self._r - 2).astype(np.int64) + 1
        shift = np.where(u < self._kept, 0, turned)
        evened: AnyCodes = ((x + shift) % self._r).astype(report.dtype)
        return evened


class _Stretches(Protocol):
    def of(self, x: IntArray, y: IntArray) -> tuple[FloatArray, FloatArray]:
        """Where the stretch of each report begins among all of its truth, and how long it is."""


class _OfBackground:
    def __init__(self, channel: BackgroundChannel) -> None:
        self._others = channel.others
        self._truth = channel.others + float(channel.retention)
        # where the stretch of y begins among all reports
        self._before = np.concatenate([[0.0], np.cumsum(channel.others)[:-1]])

    def of(self, x: IntArray, y: IntArray) -> tuple[FloatArray, FloatArray]:
        """As `_Stretches`."""
        after = self._truth[x] + self._before[y] - np.where(y > x, self._others[x], 0.0)
        kept = y == x
        return np.where(kept, 0.0, after), np.where(kept, self._truth[x], self._others[y])


class _OfMatrix:
    def __init__(self, channel: MatrixChannel) -> None:
        self._matrix, same = channel.matrix, np.diagonal(channel.matrix)
        before = np.cumsum(self._matrix, axis=1) - self._matrix
        codes = np.arange(channel.cardinality)
        after = same[:, None] + before - np.where(codes[None, :] > codes[:, None], same[:, None], 0.0)
        self._begin = np.where(np.eye(codes.size, dtype=bool), 0.0, after)

    def of(self, x: IntArray, y: IntArray) -> tuple[FloatArray, FloatArray]:
        """As `_Stretches`."""
        return self._begin[x, y], self._matrix[x, y]
