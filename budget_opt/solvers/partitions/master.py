"""Prices that suit all partitions of a convex objective: the best mixture of blocks, by column generation.

The prices of one partition are the best for that one. The best for the cover of all (`covering`) are the dual
of a linear program whose columns are blocks with an epsilon, of which a mixture covers every attribute once
(Dantzig and Wolfe 1960). Its columns are generated: a block's worth under the present prices says whether it
has one to add, and at which epsilon. Whatever the program ends with are prices like others: the bound is
proved by them, not by the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

from budget_opt.certificate.box import cap_at_least
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.partitions.choice import Blocks, Choice
from budget_opt.certificate.partitions.prices import LinearPrices, shares_at
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray, IntArray
from budget_opt.model.objectives import log_inflations, log_spread_at
from budget_opt.solvers.answer import Clock
from budget_opt.solvers.partitions.covering import cover_bound
from budget_opt.solvers.partitions.trying import Tried

_ROUNDS = 40
_ADDED = 150
"""Columns that one round adds, at most."""
_IDLE = 1e-7
"""What a column must add to be worth it."""
_PROGRESS = 1e-3
"""Of the gap that is left: less in a round is none, and so many such rounds are the end."""
_PATIENCE = 4
_TINY = 1e-9
"""An epsilon (nats) that stands for 0."""
_LEAST = -60.0
"""Stands for the logarithm of a lambda that is 0."""


@dataclass(eq=False)
class Master:
    """The program of one choice with its columns: blocks by index, and their epsilons.

    `shares` (K,) are those of `min_variance`: its logarithm lies above its tangent at them, and they follow
    the mixture that the program finds.
    """

    choice: Choice
    catalogue: Blocks
    arrays: Arrays
    reached: float
    shares: FloatArray
    block: list[int] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    spread: list[FloatArray] = field(default_factory=list)

    @classmethod
    def of(cls, choice: Choice, catalogue: Blocks, known: Sequence[Tried]) -> Master | None:
        """The program with the splits that are known as columns; None without any."""
        found = [one for one in known if one.epsilon is not None and one.arrays is not None]
        best = max(found, key=lambda one: one.score, default=None)
        if best is None or best.arrays is None or best.epsilon is None:
            return None
        shares = np.zeros(best.arrays.moments)
        if choice.objective == "min_variance":
            shares = shares_at(best.arrays, log_inflations(best.arrays, best.epsilon))
        master = cls(choice, catalogue, best.arrays, best.score, shares)
        at = catalogue.positions()
        for one in found:
            if one.epsilon is not None:
                master._append([at[block] for block in one.partition], one.epsilon)
        return master

    def run(self, clock: Clock) -> tuple[list[LinearPrices], float]:
        """Good prices, the best last, and the bound of all scores by the best; ends early with the clock."""
        prices: list[LinearPrices] = []
        bound, idle = np.inf, 0
        with clock.ending_early():
            for _ in range(_ROUNDS):
                clock.check()
                found = self._solved()
                if found is None:
                    break
                one, pi = found
                worth, epsilon = one.attained(self.catalogue)
                score = float(one.score(np.array([cover_bound(self.catalogue, worth)]))[0])
                gained, bound = bound - score, min(bound, score)
                if score <= bound:
                    prices.append(one)
                idle = 0 if gained > _PROGRESS * (bound - self.reached) else idle + 1
                if idle >= _PATIENCE or not self._add(worth - self.catalogue.member @ pi, epsilon):
                    break
        return prices, bound

    def _add(self, reduced: FloatArray, epsilon: FloatArray) -> bool:
        """New columns for the blocks that add most; False where none adds anything."""
        order: IntArray = np.argsort(-reduced, kind="stable")[:_ADDED]
        order = order[(reduced[order] > _IDLE) & np.isfinite(epsilon[order])]
        self._append(order.tolist(), epsilon[order])
        return bool(order.size)

    def _append(self, blocks: list[int], epsilon: FloatArray) -> None:
        self.block += blocks
        self.spent += epsilon.tolist()
        if self.arrays.objective == "min_variance":
            self.spread += [self._spread(n, e) for n, e in zip(blocks, epsilon, strict=True)]

    def _spread(self, n: int, epsilon: float) -> FloatArray:
        """What a block at an epsilon adds to the log inflation of every moment, (K,)."""
        spread = np.zeros(self.arrays.moments)
        log_tau = rr.log_tau(np.array([max(epsilon, _TINY)]), self.catalogue.cardinality[[n]])
        for k in np.flatnonzero((self.catalogue.counted[n] > 0) & (self.arrays.weight > 0)):
            a, b = self.choice.spread_of(int(k), self.catalogue.listed[n])
            spread[k] = log_spread_at(np.array([a]), np.array([b]), log_tau)[0]
        return spread

    def _solved(self) -> tuple[LinearPrices, FloatArray] | None:
        """The prices of the program with the present columns, and those of the attributes."""
        arrays, floors = self.arrays, self.arrays.floors
        rows = np.array(self.block)
        spent = np.array(self.spent)
        touched = (self.catalogue.counted[rows] > 0).astype(np.float64)
        r = self.catalogue.cardinality[rows]
        kept = np.maximum(rr.log_retention(spent, r), _LEAST)[:, None] * touched
        weighted = np.flatnonzero(arrays.weight > 0) if arrays.objective == "max_min" else floors[:0]
        limits = np.array([cap_at_least(budget.cap) for budget in arrays.budgets])
        level = np.concatenate([np.zeros(floors.size), np.ones(weighted.size), np.zeros(limits.size)])
        upper = np.hstack([-kept[:, floors], -kept[:, weighted], self.catalogue.paid[rows] * spent[:, None]])
        bounds = np.concatenate([-arrays.log_floor[floors], -np.log(arrays.target[weighted]), limits])
        gain = self._gain(kept, spent)
        member = self.catalogue.member[rows].astype(np.float64)
        answer = linprog(
            -np.append(gain, 1.0 if weighted.size else 0.0),
            A_ub=np.vstack([upper, level[None, :]]).T if level.size else None,
            b_ub=bounds if level.size else None,
            A_eq=np.vstack([member, np.zeros((1, member.shape[1]))]).T,
            b_eq=np.ones(member.shape[1]),
            bounds=[(0.0, None)] * rows.size + [(None, None) if weighted.size else (0.0, 0.0)],
            method="highs",
        )
        if answer.x is None:
            return None
        dual = np.maximum(-np.asarray(answer.ineqlin.marginals, dtype=np.float64), 0.0)
        found = Multipliers.zero(arrays)
        found.floors[floors] = dual[: floors.size]
        found.moments[weighted] = dual[floors.size : floors.size + weighted.size]
        found.budgets[:] = dual[floors.size + weighted.size :]
        pi = -np.asarray(answer.eqlin.marginals, dtype=np.float64)
        prices = LinearPrices.of(self.choice, arrays, found, self.shares)
        if self.spread:
            mixed = np.asarray(answer.x[:-1], dtype=np.float64) @ np.array(self.spread)
            self.shares = 0.5 * (self.shares + shares_at(arrays, mixed))
        return prices, pi

    def _gain(self, kept: FloatArray, spent: FloatArray) -> FloatArray:
        """What a column adds to the objective itself."""
        arrays = self.arrays
        if arrays.objective == "geometric_mean":
            share: FloatArray = kept @ (arrays.weight / np.sum(arrays.weight))
            return share
        if arrays.objective == "min_epsilon":
            return -spent
        if arrays.objective == "min_variance":
            lost: FloatArray = np.array(self.spread) @ self.shares
            return -lost
        return np.zeros(spent.size)
