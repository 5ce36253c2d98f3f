"""Degrees and triangles of a graph whose edges were randomized, corrected by the retention.

Every pair of nodes is an attribute of two categories, reported once: Y_ij is A_ij with lambda, a fair coin
with 1 - lambda. a_ij = (Y_ij - (1 - lambda) / 2) / lambda is unbiased for A_ij (DESIGN 2.2 for one
attribute), and products of a over different pairs are unbiased for products of A, with retention lambda a
pair:

    degree        d_i = sum_j a_ij                       first order
    triangles     T_i = sum_{j < k} a_ij a_ik a_jk       third order

Given the graph the a are independent with one variance s2 = (1 - lambda^2) / (4 lambda^2), whatever A is.
With a = A + noise, the terms with one, two and three noises are uncorrelated, and counting them gives exactly

    Var d_i = (n - 1) s2
    Var T_i = s2 [sum_j c_ij^2 + d_i (d_i - 1) / 2] + s2^2 [m - d_i + (n - 2) d_i] + s2^3 (n-1)(n-2)/2
    Var T   = s2 sum_{i < j} c_ij^2 + s2^2 m (n - 2) + s2^3 n (n-1) (n-2) / 6

with c_ij the common neighbours of i and j, m the edges. The analyst has unbiased estimates of all of these:
(a a)_ij for c_ij, its square less Var (a a)_ij = s2 (d_i + d_j - 2 A_ij) + s2^2 (n - 2) for c_ij^2.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Adjacency = npt.NDArray[np.float32]
_BLOCK = 512


def read_graph(folder: Path, nodes: int = 4_039) -> Adjacency:
    """The adjacency matrix of `facebook_ego`, or of its first `nodes` nodes."""
    with gzip.open(folder / "facebook_ego.edges.csv.gz", "rt") as lines:
        edges = np.loadtxt(lines, delimiter=",", skiprows=1, dtype=np.int64)
    edges = edges[(edges < nodes).all(axis=1)]
    adjacency = np.zeros((nodes, nodes), dtype=np.float32)
    adjacency[edges[:, 0], edges[:, 1]] = 1.0
    return adjacency + adjacency.T


def released(adjacency: Adjacency, kept: float, random: np.random.Generator) -> Adjacency:
    """Every pair once through a binary channel of retention `kept`; a simulation, not private."""
    n = adjacency.shape[0]
    changed = np.zeros((n, n), dtype=np.bool_)
    for rows in _blocks(n):
        changed[rows] = random.random((rows.stop - rows.start, n)) < (1.0 - kept) / 2.0
    changed = np.triu(changed, 1)
    changed |= changed.T
    return np.abs(adjacency - changed).astype(np.float32)


@dataclass(frozen=True)
class Motifs:
    """Degrees and triangles a node, of a graph or corrected, and what the variances need.

    `paths` are sum_j c_ij^2 and `neighbours` d_i (d_i - 1) / 2 a node, or their unbiased estimates.
    """

    degrees: FloatArray
    triangles: FloatArray
    paths: FloatArray
    neighbours: FloatArray

    @property
    def total(self) -> float:
        """The number of triangles of the graph."""
        return float(self.triangles.sum() / 3.0)


def noise(kept: float) -> float:
    """s2, the variance of a corrected edge."""
    return (1.0 - kept**2) / (4.0 * kept**2)


def motifs(reported: Adjacency, kept: float = 1.0) -> Motifs:
    """Corrected counts of a graph that was reported with retention `kept`; 1 counts it as it is."""
    n = reported.shape[0]
    shift, s2 = (1.0 - kept) / 2.0, noise(kept)
    raw = reported.sum(axis=1, dtype=np.float64)
    degrees = (raw - shift * (n - 1)) / kept
    triangles, paths = np.zeros(n), np.zeros(n)
    for rows in _blocks(n):
        edges = reported[rows].astype(np.float64)
        # sums of at most n < 2^24 ones: exact in single precision
        common = (reported[rows] @ reported).astype(np.float64)
        common += shift**2 * (n - 2) - shift * (raw[rows, None] + raw - 2.0 * edges)
        common /= kept**2
        own = (np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop))
        common[own] = 0.0
        edges -= shift
        edges /= kept
        edges[own] = 0.0
        triangles[rows] = np.einsum("ij,ij->i", common, edges) / 2.0
        paths[rows] = np.einsum("ij,ij->i", common, common)
    paths -= s2 * ((n - 4) * degrees + degrees.sum()) + (n - 1) * (n - 2) * s2**2
    neighbours = (degrees**2 - (n - 1) * s2 - degrees) / 2.0
    return Motifs(degrees, triangles, paths, neighbours)


@dataclass(frozen=True)
class Variances:
    """Of the corrected counts, given the graph."""

    degree: float
    triangles: FloatArray
    total: float


def variances(of: Motifs, kept: float) -> Variances:
    """Exact from the motifs of the true graph, unbiased from corrected ones."""
    n, s2 = of.degrees.size, noise(kept)
    edges = of.degrees.sum() / 2.0
    first = s2 * (of.paths + of.neighbours)
    second = s2**2 * (edges + (n - 3) * of.degrees)
    total = s2 * of.paths.sum() / 2.0 + s2**2 * edges * (n - 2) + s2**3 * n * (n - 1) * (n - 2) / 6.0
    return Variances((n - 1) * s2, first + second + s2**3 * (n - 1) * (n - 2) / 2.0, float(total))


def standard_errors(of: Motifs, kept: float) -> tuple[float, FloatArray, float]:
    """Of a degree, of every node's triangles and of their total, from corrected counts.

    The part that no graph is without, the noise of three edges, is the least they can be.
    """
    n, s2 = of.degrees.size, noise(kept)
    found = variances(of, kept)
    least = s2**3 * (n - 1) * (n - 2) / 2.0
    return (
        float(np.sqrt(found.degree)),
        np.sqrt(np.maximum(found.triangles, least)),
        float(np.sqrt(max(found.total, least * n / 3.0))),
    )


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK))
