"""Is the sum of epsilons the loss of the whole record? Ours, and other joint mechanisms of the same columns.

    python benchmarks/whole_record.py [--quick]

Writes `results/whole_record.md`. THEOREM 1. Independent attributes, matrix P_1 x ... x P_M: the largest
likelihood ratio is exactly the product of those of the P_m, so the loss of the record is exactly the sum, and
that of a change of the attributes S exactly the sum over S. Proof: Q(y | x) / Q(y | x') = prod_m P_m(x_m,
y_m) / P_m(x'_m, y_m), and the coordinates of x, x' and y are free, so the largest product is the product of
the largest. `enumerated` shows it in fractions. The sum is then no bound but the loss itself.

Yamamoto and Shibuya (2024, arXiv 2402.07584) ask for less: given that the report of each attribute alone is
randomized response with e_m, the least whole-record loss of any joint mechanism. Their linear program is
derived anew here. A mechanism may be averaged over all permutations of the categories of each attribute:
the constraints are linear, so none is lost. What is left depends on the set S of changed attributes only,
Q(y | x) = X_S, with t_S = prod_S (r_m - 1) reports for each S:

    minimize U:   1 <= X_S <= U,   sum_(S without m) t_S X_S = exp(e_m) sum_(S without m) t_S X_(S + m),

2^M variables up to a factor; the loss is log U. They also ask that no further change is more probable, X_S >=
X_(S + m): `ordered`. On functions of the attributes T that are centred in each, Q multiplies by one number,
rho_T = sum_S t_S X_S prod_(m in T) (1 outside S, -1 / (r_m - 1) inside), over sum_S t_S X_S.

THEOREM 2. If also a change of any one attribute alone, seen in the whole report, costs at most e_m, then Q is
the product, and the loss the sum. Proof: in the equation of m every term has X_S <= exp(e_m) X_(S + m); the
sums are equal, so each term is, hence X_S / X_(S + m) = exp(e_m) for all S. A smaller whole-record loss than
the sum is therefore paid for with a change of one attribute: the table says by how much. A cluster of DESIGN
2.9 is such a mechanism, and there the whole record's and the single attribute's loss are the same.
Numbers of the program are to HiGHS's tolerance. A second of one core.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.apart import use_one_thread

use_one_thread()  # before anything loads a BLAS

import numpy as np  # noqa: E402
from scipy.optimize import linprog  # noqa: E402

from benchmarks.results_files import FOLDER, versions  # noqa: E402
from budget_opt.mechanisms.randomized_response import (  # noqa: E402
    epsilon_for_retention,
    retention,
    transition_matrix,
)
from budget_opt.mechanisms.sampler import sampler_for  # noqa: E402

CASES: tuple[tuple[tuple[int, ...], tuple[float, ...]], ...] = (
    ((2, 2), (1.0, 1.0)),
    ((4, 4), (2.0, 2.0)),
    ((4, 4), (3.0, 1.0)),
    ((3, 3, 3), (1.0, 1.0, 1.0)),
    ((2, 4, 8), (1.0, 1.0, 1.0)),
    ((4, 4, 4, 4), (1.0, 1.0, 1.0, 1.0)),
    ((2, 2, 2, 2, 2), (1.0, 1.0, 1.0, 1.0, 1.0)),
    ((4, 4, 4, 4, 4), (1.0, 1.0, 1.0, 1.0, 1.0)),
    ((5, 5, 5, 5, 5), (3.0, 3.0, 3.0, 3.0, 3.0)),
)


@dataclass(frozen=True)
class Joint:
    """A joint mechanism by what changed: `shares[S]` = X_S, S a bit mask of the attributes, 1 is changed."""

    cardinalities: tuple[int, ...]
    shares: tuple[float, ...]

    @property
    def record_loss(self) -> float:
        """Of a change of the whole record, in nats."""
        return math.log(max(self.shares) / min(self.shares))

    @property
    def attribute_losses(self) -> tuple[float, ...]:
        """Of a change of one attribute alone, seen in the report of the whole record, in nats."""
        return tuple(
            max(abs(math.log(share / self.shares[s ^ 1 << m])) for s, share in enumerate(self.shares))
            for m in range(len(self.cardinalities))
        )

    def retention(self, attributes: Sequence[int]) -> float:
        """rho_T: the factor on functions that are centred in each of the attributes T."""
        numbers = _reports(self.cardinalities) * np.array(self.shares)
        for m in attributes:
            changed = np.arange(len(numbers)) >> m & 1
            numbers = numbers * np.where(changed, -1.0 / (self.cardinalities[m] - 1), 1.0)
        return float(numbers.sum() / (_reports(self.cardinalities) * np.array(self.shares)).sum())


def independent(cardinalities: Sequence[int], epsilons: Sequence[float]) -> Joint:
    """The product of the attributes' own matrices."""
    masks = range(2 ** len(cardinalities))
    exponents = (sum(e for m, e in enumerate(epsilons) if not mask >> m & 1) for mask in masks)
    return Joint(tuple(cardinalities), tuple(math.exp(exponent) for exponent in exponents))


def least_record_loss(
    cardinalities: Sequence[int], epsilons: Sequence[float], *, ordered: bool = False
) -> Joint:
    """The joint mechanism with these columns and the least loss of the whole record.

    `ordered` asks that a further changed attribute never makes a report more probable.
    """
    count, size = len(cardinalities), 2 ** len(cardinalities)
    reports = _reports(cardinalities)
    equal = np.zeros((count, size + 1))
    for m, epsilon in enumerate(epsilons):
        for mask in (mask for mask in range(size) if not mask >> m & 1):
            equal[m, mask] = reports[mask]
            equal[m, mask | 1 << m] = -math.exp(epsilon) * reports[mask]
    limits = [np.hstack([np.eye(size), -np.ones((size, 1))])]
    if ordered:
        masks = np.arange(size)
        further = [np.eye(size + 1)[masks | 1 << m] - np.eye(size + 1)[masks] for m in range(count)]
        limits += further
    found = linprog(
        np.eye(1, size + 1, size)[0],
        A_ub=np.vstack(limits),
        b_ub=np.zeros(sum(len(rows) for rows in limits)),
        A_eq=equal / np.abs(equal).max(axis=1, keepdims=True),
        b_eq=np.zeros(count),
        bounds=(1.0, None),
        method="highs",
    )
    assert found.x is not None, found.message
    return Joint(tuple(cardinalities), tuple(found.x[:size].tolist()))


def cluster(cardinalities: Sequence[int], epsilons: Sequence[float]) -> Joint | None:
    """Randomized response on the joint code with these columns; None where their retentions differ."""
    kept = {round(float(retention(e, r)), 12) for e, r in zip(epsilons, cardinalities, strict=True)}
    if len(kept) > 1:
        return None
    loss = float(epsilon_for_retention(kept.pop(), math.prod(cardinalities)))
    others = [1.0] * (2 ** len(cardinalities) - 1)
    return Joint(tuple(cardinalities), (math.exp(loss), *others))


def _reports(cardinalities: Sequence[int]) -> Any:
    """t_S for every mask S."""
    masks = np.arange(2 ** len(cardinalities))
    return np.prod([np.where(masks >> m & 1, r - 1, 1) for m, r in enumerate(cardinalities)], axis=0)


def enumerated(cardinalities: Sequence[int], epsilons: Sequence[float]) -> tuple[Fraction, Fraction]:
    """The largest likelihood ratio over all records and reports, and the product of the attributes' own."""
    samplers = [sampler_for(e, r) for e, r in zip(epsilons, cardinalities, strict=True)]
    assert all(sampler is not None for sampler in samplers)
    used = [sampler for sampler in samplers if sampler is not None]
    records = list(product(*(range(r) for r in cardinalities)))

    def probability(record: tuple[int, ...], report: tuple[int, ...]) -> Fraction:
        return math.prod(
            (
                sampler.truth_probability if x == y else sampler.other_probability
                for sampler, x, y in zip(used, record, report, strict=True)
            ),
            start=Fraction(1),
        )

    columns = ([probability(record, report) for record in records] for report in records)
    largest = max(max(column) / min(column) for column in columns)
    return largest, math.prod((sampler.likelihood_ratio for sampler in used), start=Fraction(1))


def matrix(joint: Joint) -> Any:
    """All entries of a joint mechanism, records and reports row-major."""
    records = list(product(*(range(r) for r in joint.cardinalities)))
    rows = [
        [joint.shares[sum((x != y) << m for m, (x, y) in enumerate(zip(a, b, strict=True)))] for b in records]
        for a in records
    ]
    return np.array(rows) / np.sum(rows[0])


def column_matrix(epsilon: float, cardinality: int) -> Any:
    """What the report of one attribute alone must be."""
    return transition_matrix(float(retention(epsilon, cardinality)), np.full(cardinality, 1.0 / cardinality))


def main(folder: Path = FOLDER, *, quick: bool = False) -> None:
    """Run everything and write the page; `quick` prints it and writes nothing."""
    text = "\n".join(_lines())
    if quick:
        print(text)
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "whole_record.md").write_text(text, encoding="utf-8")


_WORDS = """
Nats. `sum` is the loss of independent attributes, exactly (theorem 1); `least` that of the joint mechanism
with the least loss whose columns, each alone, are the same randomized response, `ordered` if no further
change may be more probable; `cluster` that of randomized response on the joint code with the same columns,
where their retentions agree. `one` is what a change of a single attribute alone costs, the largest over the
attributes: where the loss is below the sum it is more than the epsilon for some attribute (theorem 2).
`pair` is the retention of the first pair's covariance in the mechanism that was found; others may be as good.
"""
_MAKERS: dict[str, Callable[[Sequence[int], Sequence[float]], Joint | None]] = {
    "sum": independent,
    "least": least_record_loss,
    "ordered": partial(least_record_loss, ordered=True),
    "cluster": cluster,
}


def _lines() -> Iterator[str]:
    yield from (
        "# Results of `benchmarks/whole_record.py`",
        "",
        "What is compared, and how: its docstring.",
        "",
    )
    yield from ("## Independent attributes: the sum is the loss", "")
    yield "The largest ratio over all records and reports, and the product of the attributes' own, exactly:"
    yield ""
    for cardinalities, epsilons in CASES[:4]:
        largest, ours = enumerated(cardinalities, epsilons)
        yield f"- {_named(cardinalities, epsilons)}: {'equal' if largest == ours else 'DIFFERENT'}"
    yield from ("", "## Other joint mechanisms with the same columns", "", *_WORDS.strip().splitlines(), "")
    heads = [*_MAKERS, *(f"one: {name}" for name in _MAKERS), *(f"pair: {name}" for name in _MAKERS)]
    yield f"| categories, epsilons | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    for cardinalities, epsilons in CASES:
        joints = [make(cardinalities, epsilons) for make in _MAKERS.values()]
        cells = [f"{joint.record_loss:.4f}" if joint else "-" for joint in joints]
        cells += [f"{max(joint.attribute_losses):.4f}" if joint else "-" for joint in joints]
        cells += [f"{joint.retention((0, 1)):.4f}" if joint else "-" for joint in joints]
        yield f"| {_named(cardinalities, epsilons)} | {' | '.join(cells)} |"
    stated = ", ".join(f"{name} {value}" for name, value in versions().items() if value is not None)
    yield from ("", f"{stated}.", "")


def _named(cardinalities: Sequence[int], epsilons: Sequence[float]) -> str:
    return f"{' x '.join(map(str, cardinalities))}, {' + '.join(f'{e:g}' for e in epsilons)}"


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="on the screen only")
    main(quick=options.parse_args().quick)
