"""Budgets exact and certificates valid in N of N random problems of every kind.

    python benchmarks/random_problems.py [--count 10000] [--first SEED] [--jobs 1]

Problem number `seed` has a kind (`KINDS`, in turn): each objective under floors, groups, bounds and pins, the
same under ceilings too, and `crowded`, most of which are impossible; all with totals of 1e-6 to 1000, up to
800,000 categories and weights over twelve orders of magnitude, drawn by tests/solvers. What is judged:

- bounds, budgets, floors and ceilings hold, budgets in exact decimals; bounds and budgets also once the split
  is rounded to what an allocation states;
- value, bound, gap and status agree with each other and with the split;
- no feasible split beats the bound: random ones, points between these and the answer, and in every tenth
  problem where SLSQP climbs from the answer and from a random split; in these, the bounds that other splits
  prove by themselves hold for the answer too;
- what is called impossible is: cvxpy finds no margin, and all but `crowded` have a split by design.

Prints counts by kind and outcome, every fault with its seed, and versions; exits 1 where there is a fault.
10,000 take about 17 minutes on one core. How far it is goes to the standard error output, so that the rest
can be sent to `benchmarks/results/random_problems.txt`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.optimize import minimize

from budget_opt.allocation.rounding import fitted, tidied
from budget_opt.certificate import certify
from budget_opt.errors import InfeasibleError, NotSolvedError
from budget_opt.mechanisms import logit
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import MINIMIZED, OBJECTIVES, Arrays, FloatArray
from budget_opt.model.objectives import log_retentions, relative_gap, value
from budget_opt.solvers.answer import Candidate, Settings
from budget_opt.solvers.conflicts.constraints import constraints_of
from budget_opt.solvers.table import solve
from tests.solvers.impossible_problems import crowded_problem
from tests.solvers.independent_judge import UNCLEAR, margin_by_cvxpy
from tests.solvers.random_problems import broken, random_problem, random_split

CROWDED = "crowded"
KINDS = (*OBJECTIVES, *(f"{objective}, ceilings" for objective in OBJECTIVES), CROWDED)
SETTINGS = Settings(time_limit=0.5, explanation_limit=0.2)
"""Of a search; a convex solve ends long before."""
THOROUGH = 10
"""One problem in so many of a kind is judged by SLSQP and by other certificates as well."""
_SPLITS = 20
_BETWEEN = (1e-6, 1e-3, 0.1)
"""How far from the answer towards a random split."""
_ROUNDING = 1e-13
"""Relative, of the two values that are compared."""


@dataclass(frozen=True)
class Judged:
    """What became of a problem, and what is wrong with it.

    `outcome` is "optimal", "feasible", "NotSolved", "Infeasible" or, with a fault, "error".
    """

    seed: int
    kind: str
    outcome: str
    faults: tuple[str, ...]


def problem(seed: int) -> Arrays:
    """Problem number `seed`."""
    kind = kind_of(seed)
    if kind == CROWDED:
        return crowded_problem(seed)
    objective = OBJECTIVES[KINDS.index(kind) % len(OBJECTIVES)]
    return random_problem(seed, objective, ceilings=kind.endswith("ceilings"))


def kind_of(seed: int) -> str:
    """Its kind."""
    return KINDS[seed % len(KINDS)]


def judged(seed: int) -> Judged:
    """Solve and judge one problem; whatever is raised beyond the two errors of a solver is a fault."""
    kind = kind_of(seed)
    try:
        outcome, wrong = _outcome(problem(seed), seed)
    except Exception as error:  # noqa: BLE001 (reported with its seed)
        return Judged(seed, kind, "error", (f"{type(error).__name__}: {error}",))
    return Judged(seed, kind, outcome, wrong)


def _outcome(arrays: Arrays, seed: int) -> tuple[str, tuple[str, ...]]:
    try:
        found = solve(arrays, SETTINGS)
    except InfeasibleError:
        possible = kind_of(seed) != CROWDED or margin_by_cvxpy(arrays, constraints_of(arrays)) > UNCLEAR
        return "Infeasible", ("a split is possible",) if possible else ()
    except NotSolvedError:
        return "NotSolved", ()
    thorough = seed // len(KINDS) % THOROUGH == 0
    return found.status, tuple(faults(arrays, found, seed, thorough=thorough))


def faults(arrays: Arrays, found: Candidate, seed: int, *, thorough: bool) -> Iterator[str]:
    """What is wrong with an answer."""
    yield from (f"breaks {name}" for name in broken(arrays, found.epsilon))
    yield from _rounding_faults(arrays, found.epsilon)
    yield from _figure_faults(arrays, found)
    rng = np.random.default_rng([seed, 1])
    best = -np.inf
    splits = [random_split(arrays, rng) for _ in range(_SPLITS)]
    rivals = [*splits, *_between(arrays, found.epsilon, splits)]
    if thorough:
        rivals += [polished(arrays, found.epsilon), polished(arrays, splits[0])]
        for split in (splits[0], found.epsilon):
            if not broken(arrays, split):
                other = certify(arrays, split).bound
                if _sign(arrays) * found.certificate.value > _above(_sign(arrays) * other):
                    yield f"passes the bound {other!r} that another split proves"
    for rival in rivals:
        if not broken(arrays, rival):
            best = max(best, _sign(arrays) * value(arrays, rival))
    if best > _above(_sign(arrays) * found.certificate.bound):
        yield f"the bound {found.certificate.bound!r} is passed by a split of {_sign(arrays) * best!r}"


def _sign(arrays: Arrays) -> float:
    return -1.0 if arrays.objective in MINIMIZED else 1.0


def _above(number: float) -> float:
    return number + _ROUNDING * abs(number)


def _rounding_faults(arrays: Arrays, epsilon: FloatArray) -> Iterator[str]:
    for name, split in (("fitted", fitted(arrays, epsilon)), ("tidied", tidied(arrays, epsilon))):
        if split is None:
            continue
        if np.any(split < arrays.lower) or np.any(split > arrays.upper):
            yield f"{name}: breaks bounds"
        for budget in arrays.budgets:
            if sum((exact(e) for e in split[budget.members]), Fraction(0)) > budget.cap:
                yield f"{name}: breaks {budget.name}"


def _figure_faults(arrays: Arrays, found: Candidate) -> Iterator[str]:
    certificate = found.certificate
    attained, bound = certificate.value, certificate.bound
    if abs(attained - value(arrays, found.epsilon)) > _ROUNDING * abs(attained):
        yield f"states the value {attained!r} for a split of {value(arrays, found.epsilon)!r}"
    if _sign(arrays) * attained > _sign(arrays) * bound:
        yield f"the value {attained!r} passes the bound {bound!r}"
    if certificate.relative_gap != relative_gap(attained, bound):
        yield f"states the gap {certificate.relative_gap!r}"
    if (found.status == "optimal") != (certificate.relative_gap <= SETTINGS.gap):
        yield f"is called {found.status} at a gap of {certificate.relative_gap!r}"


def _between(arrays: Arrays, answer: FloatArray, splits: list[FloatArray]) -> Iterator[FloatArray]:
    """Points near the answer, in the direction of other splits: feasible more often than these."""
    for split in splits:
        for share in _BETWEEN:
            yield np.clip(answer + share * (split - answer), arrays.lower, arrays.upper)


def polished(arrays: Arrays, start: FloatArray) -> FloatArray:
    """Where SLSQP climbs from a split, in logit lambda, put back inside bounds and budgets."""
    r, floors, ceilings = arrays.cardinality, arrays.floors, arrays.ceilings
    leveled = arrays.objective == "max_min"
    low = logit.logit(np.maximum(arrays.lower, 1e-9), r)
    high = np.maximum(low, logit.logit(np.minimum(arrays.upper, 50.0), r))

    def kept(x: FloatArray) -> FloatArray:
        logs: FloatArray = arrays.incidence @ logit.log_retention(x[: r.size])
        return logs

    def left(x: FloatArray) -> list[float]:
        e = logit.epsilon(x[: r.size], r)
        return [1.0 - float(np.sum(e[b.members]) / float(b.cap)) for b in arrays.budgets]

    def inside(x: FloatArray) -> FloatArray:
        logs = kept(x)
        used = arrays.weight > 0
        parts: list[Any] = [
            left(x),
            logs[floors] - arrays.log_floor[floors],
            arrays.log_ceiling[ceilings] - logs[ceilings],
            logs[used] - np.log(arrays.target[used]) - x[-1] if leveled else [],
        ]
        return np.concatenate(parts)

    def goal(x: FloatArray) -> float:
        if leveled:
            return -float(x[-1])
        reached = value(arrays, logit.epsilon(x, r))
        return -_sign(arrays) * float(np.log(max(reached, 1e-300)))

    first = np.clip(logit.logit(np.clip(start, 1e-9, 50.0), r), low, high)
    level = [float(np.min((kept(first) - np.log(arrays.target))[arrays.weight > 0]))] if leveled else []
    limits = [*zip(low, high, strict=True), *([(-np.inf, np.inf)] if leveled else [])]
    settings: dict[str, Any] = {
        "method": "SLSQP",
        "bounds": limits,
        "constraints": {"type": "ineq", "fun": inside},
        "options": {"maxiter": 60, "ftol": 1e-14},
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        end = minimize(goal, np.append(first, level), **settings).x
    if not np.all(np.isfinite(end)):
        return start
    split = fitted(arrays, logit.epsilon(end[: r.size], r))
    short = log_retentions(arrays, split)[floors] - arrays.log_floor[floors]
    return split if np.all(short >= 0) else start


def main(arguments: list[str] | None = None) -> int:
    """Prints the counts; how many problems have a fault."""
    from benchmarks.results_files import versions

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args(arguments)
    seeds = range(asked.first, asked.first + asked.count)
    counts: Counter[tuple[str, str]] = Counter()
    faulty = 0
    with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
        for done, one in enumerate(pool.imap(judged, seeds, chunksize=8), start=1):
            counts[one.kind, one.outcome] += 1
            faulty += bool(one.faults)
            for fault in one.faults:
                print(f"seed {one.seed} ({one.kind}): {fault}", flush=True)
            if done % 500 == 0:
                print(f"{done} of {asked.count}, {faulty} with faults", file=sys.stderr, flush=True)
    print("\n".join(_table(counts)))
    print(f"{asked.count - faulty} of {asked.count} from seed {asked.first} on without a fault")
    print(", ".join(f"{name} {number}" for name, number in versions().items()))
    return faulty


def _table(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    outcomes = sorted({outcome for _, outcome in counts})
    yield f"{'kind':28}" + "".join(f"{outcome:>12}" for outcome in outcomes)
    for kind in KINDS:
        yield f"{kind:28}" + "".join(f"{counts[kind, outcome]:12}" for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
