"""From a problem to the best clusters together with the best split, and a bound over all partitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require_listener
from budget_opt.api.certifying import require_place
from budget_opt.api.design import losses
from budget_opt.api.design.alternatives import Split, as_alternative, best_split, even_split, groupings_of
from budget_opt.api.design.asking import (
    Asked,
    Dependence,
    asked,
    dependence_of,
    stated_partition,
)
from budget_opt.api.design.certifying import certified, require_linear
from budget_opt.api.design.result import ALONE, CHOSEN, CHOSEN_EVEN, DEPENDENCE, EVEN, STATED, Design
from budget_opt.api.design.searching import Searched, searched
from budget_opt.api.design.splitting import Terms
from budget_opt.certificate.convex import in_objective_unit
from budget_opt.certificate.partitions.choice import Choice, Partition
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.objectives import relative_gap
from budget_opt.model.objectives import value as objective_value
from budget_opt.model.problem import Problem
from budget_opt.solvers.answer import Clock

if TYPE_CHECKING:
    from budget_opt.estimators.strengths.result import Strengths
    from budget_opt.solvers.answer import Callback
    from budget_opt.solvers.partitions.trying import Tried

_SEARCH = 0.6
"""Share of a time limit for the search; the final splits share what is left."""
LEVEL_GAP = 2e-3
"""With several levels the first may stay behind by the tolerance of `solve`."""


def design(  # noqa: PLR0913, PLR0917 (each a word that users type)
    problem: Problem,
    max_cells: int | None = None,
    gap: float = 1e-6,
    time_limit: float | None = None,
    dependence: Dependence | Strengths | None = None,
    n: float | None = None,
    progress: Callback | None = None,
    certificate: str | Path | None = None,
) -> Design:
    """What to randomize together, with the best split, and a bound of all partitions into clusters.

    A cluster has at most `max_cells` joint categories: as given, or as the problem says, or 64. The clusters
    that the problem states are a start, "auto" is none; where attributes have candidate `groupings`, those
    are chosen as well. The result's `problem` has the choice and its `allocation` the split, by no more than
    `gap` worse than the best split that `progress` was told of or that the table of alternatives has, but for
    clusters by a given `dependence`.

    The bound holds for every partition within `max_cells`, with every split: the status is `optimal` where it
    is within the relative `gap`, 1e-12 to 1. `certificate` is a file for what proves it, which `verify`
    evaluates again: a few prices, which bound every partition at once. It leaves ceilings out, so that its
    own bound, `certified_bound`, may be looser; a `weighted_sum` has no such file. Writing it is no part of
    `time_limit`, and may solve some hundreds of partitions. (The certificate of `solve` for the chosen
    problem proves the split within its clusters, not that no others are better.)

    All partitions are looked at while there are at most 500,000 of them, which is up to 10 attributes or so;
    beyond, the search climbs by merging, moving and exchanging attributes, and the gap of its bound is
    stated. 2,000 partitions are solved at most. Without a `time_limit` (seconds) the answer is always the
    same, unless a partition of a weighted sum takes more than 60 seconds to be ruled out. With one, 0.6 of
    it are for the search, and the final splits share what is left. Single steps are not interrupted (a first
    split, a list of neighbours, a linear program over blocks, the rounding of a split), so that it may take
    about 0.3 seconds longer with 30 attributes and a second or two with 70; under many floors and ceilings
    it takes as long as the first split needs.

    It is compared with the even split, no clusters, and clusters of attributes that depend on each other
    (Domingo-Ferrer and Soria-Comas 2022). `dependence` gives that of pairs of names, from 0 to 1, or what
    `pilot_strengths` measured: for that comparison alone, so that the choice tells nothing about it. Without
    it the weights of the moments stand in. With `n` records it says what they are worth for the marginals of
    the members. With several levels of moments the first one decides.

    Raises `InfeasibleError` where no partition meets the floors, with the total that the best would need;
    `NotSolvedError` where none was found; `InputError` for an argument outside its range, a `total_delta`,
    or more than 64 combinations of groupings.
    """
    question = asked(problem, max_cells, gap, time_limit, dependence, n)
    require_listener(progress)
    place = None if certificate is None else require_place(certificate)
    if place is not None:
        require_linear(question)
    clock = Clock(question.time_limit)
    limit = None if question.time_limit is None else _SEARCH * question.time_limit
    found = searched(question, Clock(limit), progress)
    made = _Finish(question, found, clock).design()
    if place is None:
        return made
    return made.with_certified(certified(question, found.proofs, attained(made.allocation), place))


@dataclass(eq=False)
class _Finish:
    """The final splits of what a search found, and of what that is compared with."""

    asked: Asked
    found: Searched
    clock: Clock
    splits: dict[tuple[Choice, Partition], Split] = field(default_factory=dict)

    def design(self) -> Design:
        """The best of all that were split to the end, whatever the search held to be best."""
        choice = self.found.choice
        together, basis = dependence_of(choice, self.asked.dependence)
        compared = {ALONE: choice.alone, DEPENDENCE: together}
        stated = stated_partition(choice, self.asked.problem)
        if stated is not None:
            compared[STATED] = stated
        # what a dependence says of data must not choose, not even by the time that it takes: it comes last
        last = [] if self.asked.dependence is None else [DEPENDENCE]
        first = self._candidate()
        names = [name for name in compared if name not in last]
        found = {
            name: self._best(choice, compared[name], len(compared) - done)
            for done, name in enumerate([*names, *last])
        }
        chosen = self._chosen([*first, *(found[name] for name in names)])
        assert chosen.allocation is not None
        question = chosen.allocation.question
        splits = {
            EVEN: even_split(partial(choice.with_partition, choice.alone)),
            **{name: found[name] for name in compared},
            CHOSEN_EVEN: even_split(lambda: question),
            CHOSEN: chosen,
        }
        return self._told(splits, chosen.allocation, basis)

    def _best(self, choice: Choice, partition: Partition, parts: int) -> Split:
        """The best split of a partition, in one of so many parts of the time that is left."""
        key = (choice, partition)
        if key not in self.splits:
            left = self.clock.left()
            terms = Terms(self.asked.gap, None if math.isinf(left) else left / parts, self._known(*key))
            self.splits[key] = best_split(partial(choice.with_partition, partition), terms)
        return self.splits[key]

    def _known(self, choice: Choice, partition: Partition) -> Tried | None:
        """What the search knows of it."""
        candidates = {(one.choice, one.tried.partition): one.tried for one in self.found.candidates}
        own = self.found.known.get(partition) if choice is self.found.choice else None
        return candidates.get((choice, partition), own)

    def _candidate(self) -> list[Split]:
        """The best candidate that can be rounded, in half of the time that is left; none where none can."""
        splits = (self._best(one.choice, one.tried.partition, 2) for one in self.found.candidates)
        return list(itertools.islice((split for split in splits if split.allocation is not None), 1))

    def _chosen(self, rivals: Sequence[Split]) -> Split:
        """The best of all, the first of equals."""
        best = reduce(lambda best, one: one if one.is_better(best) else best, rivals)
        if best.allocation is None:
            raise NotSolvedError(
                "splits were found, and none leaves room for the rounding of the sampler's integers. Raise "
                "total_epsilon a little, or lower the floors that bind."
            )
        return best

    def _told(self, splits: Mapping[str, Split], chosen: Allocation, basis: str) -> Design:
        problem, alone = chosen.question, splits[ALONE].allocation
        bound, gap = self._proved(chosen)
        best = [name for name in (ALONE, STATED, DEPENDENCE, CHOSEN) if name in splits]
        ratio_to = next(name for name in best if splits[name].allocation is not None)
        several = len(problem.levels) > 1
        tolerance = max(self.asked.gap, LEVEL_GAP) if several else self.asked.gap
        status: Literal["optimal", "feasible"] = "optimal" if gap <= tolerance else "feasible"
        return Design(
            problem=problem,
            allocation=chosen,
            bound=bound,
            relative_gap=gap,
            gap_tolerance=tolerance,
            status=status,
            max_cells=self.asked.max_cells,
            counts=self.found.considered,
            solved=self.found.solved,
            alternatives=tuple(
                as_alternative(name, split, splits[ratio_to].allocation) for name, split in splits.items()
            ),
            clusters=losses.joined(chosen, self.asked.n),
            members=losses.members(chosen, alone, self.asked.n),
            moments=losses.moments(chosen, alone),
            groupings=groupings_of(problem),
            ratio_to=ratio_to,
            dependence=basis,
            n=self.asked.n,
            seconds=self.clock.seconds,
        )

    def _proved(self, chosen: Allocation) -> tuple[float, float]:
        """The bound over all designs, in the objective's unit, and the gap of the chosen one."""
        arrays, value = chosen.question.arrays, attained(chosen)
        bound = in_objective_unit(arrays, self.found.bound)
        # what was attained is no worse than any bound, but for the digits of both
        bound = min(bound, value) if arrays.objective in MINIMIZED else max(bound, value)
        return bound, relative_gap(value, bound)


def attained(allocation: Allocation) -> float:
    """The objective at lambda(epsilon) of a split."""
    return objective_value(allocation.question.arrays, allocation.epsilons)
