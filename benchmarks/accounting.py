"""(epsilon, delta) of many mixed attributes: seconds of the CPU beside dp-accounting, and how close each is.

    python benchmarks/accounting.py

One line a case: attributes of mixed epsilons and cardinalities, one delta; our seconds, the proved bracket
and its relative width, the seconds of zCDP; then dp-accounting's seconds and epsilon on two grids. It rounds
every loss up to its grid and convolves by Fourier transforms, so that its error is of first order in the step
and its delta is good to about 1e-12. Both are timed in this one run by CPU time, without reading the
allocation.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp_accounting.pld import privacy_loss_distribution

import budget_opt as bo
from budget_opt.accounting import epsilon_at, zcdp
from budget_opt.allocation.allocation import Allocation

CASES = (10, 100, 500, 1000)
DELTA = 1e-6
THEIR_STEPS = (1e-3, 1e-4)
T = TypeVar("T")


def mixed(count: int) -> Allocation:
    """Attributes of 2 to 199 categories with epsilons from 0.01 to 1 nats."""
    random = np.random.default_rng(count)
    names = [f"a{i}" for i in range(count)]
    epsilons = np.round(random.uniform(0.01, 1.0, count), 4).tolist()
    cardinalities = random.integers(2, 200, count).tolist()
    problem = bo.Problem(
        attributes=[bo.Attribute(name, categories=r) for name, r in zip(names, cardinalities, strict=True)],
        moments=[bo.CrossMoment("a0")],
        total_epsilon=float(count),
    )
    return bo.allocation_from(problem, dict(zip(names, epsilons, strict=True)))


def theirs(allocation: Allocation, step: float) -> float:
    """epsilon by dp-accounting."""
    whole: Any = None
    for attribute in allocation.attributes:
        one = privacy_loss_distribution.from_randomized_response(
            float(1 - attribute.exact_retention), attribute.cardinality, value_discretization_interval=step
        )
        whole = one if whole is None else whole.compose(one)
    return float(whole.get_epsilon_for_delta(DELTA))


def timed(verb: Callable[[], T]) -> tuple[T, float]:
    """What it returns, and its seconds of the CPU."""
    start = time.process_time()
    return verb(), time.process_time() - start


def main() -> None:
    """Print the cases."""
    print(f"delta {DELTA:g}; seconds of the CPU")
    for count in CASES:
        allocation = mixed(count)
        pure = allocation.loss  # computes every attribute's loss, which both need
        found, seconds = timed(partial(epsilon_at, allocation, DELTA))
        _, for_rho = timed(partial(zcdp, allocation))
        width = (found.epsilon - found.lower) / found.epsilon
        print(
            f"{count:5} attributes, sum {pure:.4f}: {seconds:.2f} s, epsilon in [{found.lower:.8g}, "
            f"{found.epsilon:.8g}], width {width:.1e}; zCDP {for_rho:.2f} s"
        )
        for step in THEIR_STEPS:
            epsilon, their_seconds = timed(partial(theirs, allocation, step))
            print(f"      dp-accounting, step {step:g}: {their_seconds:.2f} s, epsilon {epsilon:.8g}")


if __name__ == "__main__":
    main()
