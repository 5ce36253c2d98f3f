"""LoPub (Ren et al. 2018) as a peer: randomized bits of Bloom filters, and Lasso regression on their counts.

A category of attribute m is a codeword of 64 bits, of which 5 hashes set at most 5. Each bit of a record
goes through binary randomized response (its own mechanism: keep with lambda, else a fair coin).

**What an attribute costs.** Two categories' codewords differ in at most 10 bits, in d_m bits at most for
the public codewords of attribute m. Bits are randomized independently, so a change of value costs the sum
over these: epsilon = d_m times the epsilon of a bit. The bits get epsilon / d_m, d_m the exact largest
distance, which is never worse for LoPub than its own 2 x 5. Wherever the stated epsilon of an attribute is
the same, so is its loss.

**Estimation.** z = (bit - (1 - lambda) / 2) / lambda is unbiased for the bit. Two regressions of the same
release:

- `concatenated`, as published: the means of z of all attributes, side by side, on the codewords of the D
  candidate cells. These means are functions of the marginals alone, so no regression on them can see
  dependence.
- `pairs`, more than published: for every pair of attributes the means of z z', the 64 x 64 bits that are set
  together. These see the pairs' dependence, and are what LoPub has to say about it at its best.

Both are non-negative Lasso regressions of scikit-learn; shares are divided by their sum. Least squares sees
only the projection on a codebook's columns, so that a codebook of 64 x r stands as the r x r triangle of
its QR decomposition: the same solution from fewer rows. The penalty is that of the noise, `PENALTY` times
sigma |column| sqrt(2 log D) over the rows, with the factor that was best on Adult at epsilon 1: a choice
made in LoPub's favour with the truth in hand.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from budget_opt.mechanisms.randomized_response import retention

FloatArray = npt.NDArray[np.float64]
Regression = Literal["concatenated", "pairs"]

BITS, HASHES = 64, 5
PENALTY = 0.3
LARGEST_DESIGN = 10**7
"""Entries of a design matrix (80 MB) up to which the regression is run."""


@dataclass(frozen=True)
class Filters:
    """One attribute as it was released: `codebook` of shape (r, 64), unbiased `bits` of shape (n, 64)."""

    codebook: FloatArray
    kept: float
    bits: npt.NDArray[np.float32]

    @property
    def cardinality(self) -> int:
        """r, the number of categories."""
        return int(self.codebook.shape[0])

    @property
    def noise(self) -> float:
        """The largest standard error of the mean of a bit."""
        return 1 / (2 * self.kept * math.sqrt(self.bits.shape[0]))


@cache
def is_possible() -> bool:
    """Whether scikit-learn is there (the extra `test`); it is loaded now, not when it is timed."""
    if find_spec("sklearn") is None:
        return False
    import_module("sklearn.linear_model")
    return True


def codebook_of(name: str, cardinality: int) -> FloatArray:
    """The public codewords of an attribute, shape (r, 64), of zeros and ones."""
    codewords = np.zeros((cardinality, BITS))
    for category in range(cardinality):
        for number in range(HASHES):
            digest = blake2b(f"{name}/{category}/{number}".encode(), digest_size=8).digest()
            codewords[category, int.from_bytes(digest) % BITS] = 1.0
    return codewords


def largest_distance(codebook: FloatArray) -> int:
    """The largest number of bits in which two codewords differ, at most 10."""
    return int(np.abs(codebook[:, None, :] - codebook[None, :, :]).sum(axis=2).max())


def release(
    rng: np.random.Generator, name: str, codes: npt.NDArray[Any], cardinality: int, epsilon: float
) -> Filters:
    """The filters of a column of codes, released at `epsilon` (nats) an attribute."""
    codebook = codebook_of(name, cardinality)
    kept = float(retention(epsilon / largest_distance(codebook), 2))
    ones = (1 - kept) / 2 + kept * codebook
    reported = rng.random((codes.size, BITS), dtype=np.float32) < ones.astype(np.float32)[codes]
    return Filters(
        codebook, kept, (reported.astype(np.float32) - np.float32((1 - kept) / 2)) / np.float32(kept)
    )


def fits(cardinalities: Sequence[int], regression: Regression) -> bool:
    """Whether the design matrix of a table of these attributes is within `LARGEST_DESIGN`."""
    parts = [[r] for r in cardinalities] if regression == "concatenated" else combinations(cardinalities, 2)
    return sum(math.prod(part) for part in parts) * math.prod(cardinalities) <= LARGEST_DESIGN


def estimate(filters: Sequence[Filters], regression: Regression, *, penalty: float = PENALTY) -> FloatArray:
    """The shares of every cell, an axis an attribute, >= 0 with sum 1."""
    shape = tuple(one.cardinality for one in filters)
    triangles = [np.linalg.qr(one.codebook.T) for one in filters]
    cells = np.indices(shape).reshape(len(shape), -1)
    size = 1 if regression == "concatenated" else 2
    seen, design, noise = [], [], []
    for part in combinations(range(len(filters)), size):
        projected = _means([filters[m] for m in part])
        columns = np.ones((1, cells.shape[1]))
        for m in part:
            projected = np.tensordot(projected, triangles[m].Q, axes=(0, 0))
            entries = triangles[m].R[:, cells[m]]
            columns = (columns[:, None, :] * entries[None, :, :]).reshape(-1, cells.shape[1])
        seen.append(projected.ravel())
        design.append(columns)
        noise.append(_noise([filters[m] for m in part]))
    return _regressed(np.concatenate(seen), np.concatenate(design), max(noise) * penalty).reshape(shape)


def _means(part: Sequence[Filters]) -> FloatArray:
    """The means over the records of the products of the bits, an axis an attribute."""
    if len(part) == 1:
        means: FloatArray = part[0].bits.mean(axis=0, dtype=np.float64)
        return means
    together: FloatArray = (part[0].bits.T @ part[1].bits).astype(np.float64) / part[0].bits.shape[0]
    return together


def _noise(part: Sequence[Filters]) -> float:
    """The largest standard error of a mean of products of bits."""
    rows = part[0].bits.shape[0]
    return math.prod(one.noise * math.sqrt(rows) for one in part) / math.sqrt(rows)


def _regressed(seen: FloatArray, design: FloatArray, noise: float) -> FloatArray:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso

    rows, cells = design.shape
    longest = float(np.sqrt((design**2).sum(axis=0).max()))
    alpha = noise * longest * math.sqrt(2 * math.log(cells)) / rows
    # the largest penalty that leaves anything is |design' seen| / rows
    alpha = min(alpha, 0.5 * float(np.max(design.T @ seen)) / rows)
    model = Lasso(alpha=max(alpha, 1e-12), positive=True, fit_intercept=False, max_iter=500, tol=1e-3)
    with warnings.catch_warnings():
        # on noise it ends at its largest number of steps, where no step helps any more
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(design, seen)
    shares: FloatArray = np.asarray(model.coef_, dtype=np.float64)
    total = shares.sum()
    return shares / total if total > 0 else np.full(cells, 1 / cells)


def filters_of(
    rng: np.random.Generator, codes: Mapping[str, npt.NDArray[Any]], shape: Mapping[str, int], epsilon: float
) -> dict[str, Filters]:
    """The filters of several columns, each at `epsilon`."""
    return {name: release(rng, name, codes[name], r, epsilon) for name, r in shape.items()}
