"""The graph's experiments: errors beside the truth over epsilon, and the coverage of the stated errors.

Compared as in figures 5 and 6 of the paper, by the mean absolute error of an entry: randomized response (RR)
and the Laplace design (LM) of every pair, corrected and raw, and Laplace noise of the global sensitivity on
the true counts (LM-global: 2 for the degrees, 3 (n - 2) for the triangles of all nodes, n - 2 for their
total). The mean absolute value of Laplace noise is its scale, so LM-global needs no simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.wang_designs import laplace, retention
from benchmarks.wang_graph import Adjacency, FloatArray, Motifs, motifs, released, standard_errors, variances

SEED = 2016
_NORMAL = 1.959963984540054


def edge_retention(mechanism: str, epsilon: float) -> float:
    """lambda of a pair's report: of the sampler, or of the binary Laplace design."""
    if mechanism == "RR":
        return retention(epsilon, 2)
    design = laplace(epsilon, 2)
    return float(design[0, 0] - design[1, 0])


@dataclass(frozen=True)
class GraphRow:
    """One statistic at one epsilon under one mechanism.

    `corrected`, `raw` are mean absolute errors of an entry, `noisy` that of LM-global; `exact` is the mean
    standard error by the formulas from the true graph, `covered` the share of 95 % intervals that hold the
    truth.
    """

    statistic: str
    epsilon: float
    mechanism: str
    corrected: float
    raw: float
    noisy: float
    exact: float
    covered: float

    @property
    def queries(self) -> float:
        """How many equal parts of epsilon give LM-global the expected error of the corrected counts."""
        return math.sqrt(2.0 / math.pi) * self.exact / self.noisy


def rows(
    adjacency: Adjacency,
    epsilons: Sequence[float],
    repetitions: int,
    mechanisms: Sequence[str] = ("RR", "LM"),
) -> Iterator[GraphRow]:
    """Every epsilon, mechanism and statistic; the raw counts are those of the first repetition."""
    true, n = motifs(adjacency), adjacency.shape[0]
    truths, sensitivity = _by_name(true), {"degree": 2.0, "triangles": 3.0 * (n - 2), "total": n - 2.0}
    for epsilon in epsilons:
        for mechanism in mechanisms:
            kept = edge_retention(mechanism, epsilon)
            known = variances(true, kept)
            exact: dict[str, float | FloatArray] = {
                "degree": known.degree,
                "triangles": known.triangles,
                "total": known.total,
            }
            random = np.random.default_rng([SEED, n, round(1000 * epsilon), ord(mechanism[0])])
            runs = [_run(adjacency, kept, random, truths, raw=k == 0) for k in range(repetitions)]
            for name in truths:
                yield GraphRow(
                    name,
                    epsilon,
                    mechanism,
                    corrected=float(np.mean([run.errors[name] for run in runs])),
                    raw=runs[0].raw[name],
                    noisy=sensitivity[name] / epsilon,
                    exact=float(np.mean(np.sqrt(exact[name]))),
                    covered=float(np.mean([run.covered[name] for run in runs])),
                )


@dataclass(frozen=True)
class _Run:
    """One release: mean absolute errors, raw ones, and the share of intervals that cover, by statistic."""

    errors: dict[str, float]
    raw: dict[str, float]
    covered: dict[str, float]


def _run(
    adjacency: Adjacency,
    kept: float,
    random: np.random.Generator,
    truths: dict[str, FloatArray],
    *,
    raw: bool,
) -> _Run:
    reported = released(adjacency, kept, random)
    found = motifs(reported, kept)
    degree, triangles, total = standard_errors(found, kept)
    stated: dict[str, float | FloatArray] = {"degree": degree, "triangles": triangles, "total": total}
    apart = {name: np.abs(values - truths[name]) for name, values in _by_name(found).items()}
    plain = _by_name(motifs(reported)) if raw else {}
    return _Run(
        {name: float(gap.mean()) for name, gap in apart.items()},
        {name: float(np.abs(values - truths[name]).mean()) for name, values in plain.items()},
        {name: float((gap <= _NORMAL * stated[name]).mean()) for name, gap in apart.items()},
    )


def _by_name(of: Motifs) -> dict[str, FloatArray]:
    return {"degree": of.degrees, "triangles": of.triangles, "total": np.array([of.total])}
