"""Small problems with clusters, and a reading of them that shares no code with the package.

The reading knows attributes, clusters and marginals from the problem's document alone, and takes variance
inflations from the matrix itself: E g^2 / E F^2 over all truths and reports, where F is the product of the
centred scores of a block's members and g(y) = (F(y) - (1 - L) E_q F) / L its unbiased score (DESIGN 2.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

import budget_opt as bo
from budget_opt.model.arrays import Objective

MARGINALS = {2: (0.8, 0.2), 3: (0.5, 0.3, 0.2), 4: (0.7, 0.1, 0.1, 0.1)}
CLUSTERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "a pair": (("smoker", "income"),),
    "two pairs": (("age", "sex"), ("smoker", "income")),
    "three and one": (("income", "sex", "smoker"),),
}


def survey(
    objective: Objective,
    clusters: Sequence[Sequence[str]] = CLUSTERS["a pair"],
    *,
    marginals: bool = True,
    **fields: Any,
) -> bo.Problem:
    """Four attributes, moments inside a cluster, across, and of an outsider; `fields` of the problem."""
    sizes = {"smoker": 2, "age": 3, "income": 4, "sex": 2}
    stated: dict[str, Any] = {
        "attributes": [
            bo.Attribute(name, categories=r, marginal=MARGINALS[r] if marginals else None)
            for name, r in sizes.items()
        ],
        "moments": [
            bo.CrossMoment("smoker", "income", weight=2.0, target=2.0),
            bo.CrossMoment("smoker", "age", variance=2.0),
            bo.CrossMoment("age", "income", floor=0.05),
            bo.CrossMoment("income", "sex", "smoker", weight=0.5),
            bo.CrossMoment("age", "sex"),
            bo.CrossMoment("income", weight=0.3),
        ],
        "total_epsilon": 4.0,
    }
    return bo.Problem(objective=objective, clusters=clusters, **(stated | fields))


@dataclass(frozen=True)
class Reading:
    """What a problem's document says, by the formulas of DESIGN 2.1 to 2.4 in their plainest form."""

    document: dict[str, Any]

    @classmethod
    def of(cls, problem: bo.Problem) -> Reading:
        """The reading of a problem."""
        return cls(problem.to_dict())

    @cached_property
    def attributes(self) -> dict[str, dict[str, Any]]:
        """Attributes by name."""
        return {one["name"]: one for one in self.document["attributes"]}

    @cached_property
    def blocks(self) -> list[list[str]]:
        """Members of each block as its cluster lists them, in the order of first members."""
        clusters = self.document.get("clusters", [])
        found: list[list[str]] = []
        for name in self.attributes:
            own = next((list(cluster) for cluster in clusters if name in cluster), [name])
            if own not in found:
                found.append(own)
        return found

    def size(self, block: int) -> int:
        """Joint categories of a block."""
        return math.prod(self.attributes[name]["categories"] for name in self.blocks[block])

    def kept(self, block: int, epsilon: float) -> float:
        """Its lambda."""
        return math.expm1(epsilon) / (math.exp(epsilon) + self.size(block) - 1)

    def touched(self, moment: dict[str, Any]) -> dict[int, list[str]]:
        """The blocks of a moment, with the members that it has of each."""
        inside = {
            i: [name for name in moment["attributes"] if name in one] for i, one in enumerate(self.blocks)
        }
        return {i: names for i, names in inside.items() if names}

    def retention(self, moment: dict[str, Any], epsilons: Sequence[float]) -> float:
        """The product over touched blocks, each once."""
        return math.prod(self.kept(i, epsilons[i]) for i in self.touched(moment))

    def inflation(self, moment: dict[str, Any], epsilons: Sequence[float]) -> float:
        """Variance of the corrected moment over that of the moment, all attributes independent."""
        return math.prod(self._factor(i, names, epsilons[i]) for i, names in self.touched(moment).items())

    def _factor(self, block: int, names: list[str], epsilon: float) -> float:
        members = [self.attributes[name] for name in self.blocks[block]]
        sizes = [one["categories"] for one in members]
        shares = [one.get("marginal") or [1 / r] * r for one, r in zip(members, sizes, strict=True)]
        means = [sum(p * v for v, p in enumerate(share)) for share in shares]
        joint = list(product(*(range(r) for r in sizes)))
        law = [math.prod(share[v] for share, v in zip(shares, x, strict=True)) for x in joint]
        score = [
            math.prod(
                v - mean for one, v, mean in zip(members, x, means, strict=True) if one["name"] in names
            )
            for x in joint
        ]
        other = 1 / (math.exp(epsilon) + len(joint) - 1)
        lam = self.kept(block, epsilon)
        noise = sum(score) / len(joint)
        corrected = [(f - (1 - lam) * noise) / lam for f in score]
        second = sum(
            p * (math.exp(epsilon) * other if x == y else other) * corrected[y] ** 2
            for x, p in enumerate(law)
            for y in range(len(joint))
        )
        return second / sum(p * f**2 for p, f in zip(law, score, strict=True))

    def powers_of_tau(self, block: int, names: list[str]) -> tuple[float, float]:
        """The coefficients of tau and tau^2 in a block's factor 1 + ..., from two values of it."""
        points = (0.5, 2.0)
        tau = np.array([1 / self.kept(block, epsilon) - 1 for epsilon in points])
        factor = np.array([self._factor(block, names, epsilon) for epsilon in points])
        linear, square = np.linalg.solve(np.column_stack([tau, tau**2]), factor - 1)
        return float(linear), float(square)

    def value(self, epsilons: Sequence[float]) -> float:
        """The objective at epsilons of the blocks; all above 0 but for sums."""
        kind, moments = self.document.get("objective", "weighted_sum"), self.document["moments"]
        if kind == "min_epsilon":
            return math.fsum(epsilons)
        weights = [one.get("weight", 1.0) for one in moments]
        if kind == "min_variance":
            inflated = [one.get("variance", 1.0) * self.inflation(one, epsilons) for one in moments]
            return sum(w * v for w, v in zip(weights, inflated, strict=True))
        kept = [self.retention(one, epsilons) for one in moments]
        if kind == "weighted_sum":
            return sum(w * r for w, r in zip(weights, kept, strict=True))
        if kind == "geometric_mean":
            return math.exp(sum(w * math.log(r) for w, r in zip(weights, kept, strict=True)) / sum(weights))
        return min(r / one.get("target", 1.0) for r, one in zip(kept, moments, strict=True))

    def keeps_all(self, epsilons: Sequence[float], hair: float = 1e-9) -> bool:
        """Total, groups, pins, bounds, floors and ceilings, each cluster counted once."""
        names = self.blocks
        groups = [(group["attributes"], group["epsilon_max"]) for group in self.document.get("groups", [])]
        if (total := self.document.get("total_epsilon")) is not None:
            groups.append((list(self.attributes), total))
        for members, most in groups:
            touched = [e for e, one in zip(epsilons, names, strict=True) if set(one) & set(members)]
            if math.fsum(touched) > most + hair:
                return False
        for e, one in zip(epsilons, names, strict=True):
            for name in one:
                stated = self.attributes[name]
                low, high = stated.get("epsilon_min", 0.0), stated.get("epsilon_max", math.inf)
                if "epsilon" in stated:
                    low = high = stated["epsilon"]
                if not low - hair <= e <= high + hair:
                    return False
        for moment in self.document["moments"]:
            kept = self.retention(moment, epsilons)
            if not moment.get("floor", 0.0) - hair <= kept <= moment.get("ceiling", 1.0) + hair:
                return False
        return True

    def splits(self, step: float, most: int, *, positive: bool = False) -> Iterator[tuple[float, ...]]:
        """All splits of at most `most` steps a block that keep everything.

        Of none at all only where the objective is defined there, and never where all shall be `positive`.
        """
        defined = self.document.get("objective", "weighted_sum") in ("weighted_sum", "min_epsilon")
        least = 0 if defined and not positive else 1
        counts = product(range(least, most + 1), repeat=len(self.blocks))
        for count in counts:
            split = tuple(float(np.round(step * k, 12)) for k in count)
            if self.keeps_all(split):
                yield split
