"""The stated value, bound and gap, and what one evaluation here proves of them from the problem alone.

How small a gap counts as optimal is whoever verifies to say, never the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from budget_opt.accounting.outer import as_sum, largest_sum
from budget_opt.allocation import Allocation, Statement
from budget_opt.allocation.build import outcome_of
from budget_opt.certificate.certify import certify
from budget_opt.model.arrays import MINIMIZED, Arrays
from budget_opt.model.differences import differences
from budget_opt.model.problem import Problem
from budget_opt.verifier.refuting import better_split, split_text
from budget_opt.verifier.report import EXPECTED, Check, Open, listed_figures

GAP = 1e-6
"""The relative gap that counts as optimal where nobody asks for another."""
SAME_GAP = 1e-12
"""Absolute; the last digits of a gap differ between machines."""
_WORK = 1_200_000
"""Members of moments times steps that the search for good multipliers may take: some seconds at most."""
_LEAST_STEPS = 4


def stated_outcome_checks(allocation: Allocation, gap: float) -> Iterator[Check]:
    """What the file says of its value and gap: whether it follows from its integers, and is small enough."""
    outcome = allocation.objective
    statement = Statement(outcome.bound, outcome.gap_tolerance, outcome.solver, outcome.seconds)
    made = outcome_of(allocation.question, allocation.blocks, statement)
    # the hash of a certificate is the only thing here that the integers do not say
    known = {**vars(made), "certificate_sha256": outcome.certificate_sha256}
    stated = vars(outcome)
    wrong = [name for name, due in known.items() if differences(stated[name], due, f"objective.{name}")]
    yield Check(
        claim=f"stated {outcome.kind}: value, gap and status",
        measured=listed_figures({name: stated[name] for name in wrong}) if wrong else outcome.value,
        limit=listed_figures({name: known[name] for name in wrong}) if wrong else made.value,
        holds=not wrong,
        source="recomputed from the sampler integers and the stated bound",
        name="outcome",
        word=EXPECTED,
    )
    if outcome.status == "optimal":
        limit, source = judged_gap(allocation, gap), "the gap that is asked for"
        yield gap_check("the stated relative gap", outcome.relative_gap, limit, source, "stated gap")


def judged_gap(allocation: Allocation, gap: float) -> float:
    """The gap that is asked for; where levels may give up more of the first, what the file says of that."""
    return max(gap, allocation.objective.gap_tolerance) if len(allocation.question.levels) > 1 else gap


def gap_check(claim: str, measured: float | None, gap: float, source: str, name: str = "gap") -> Check:
    """A relative gap against the one that counts as optimal."""
    holds = measured is not None and measured <= gap + SAME_GAP
    return Check(claim, measured, gap, holds, source, name=name)


def tolerance_notes(allocation: Allocation, gap: float) -> Iterator[str]:
    """That a file calls more optimal than was asked for."""
    stated = allocation.objective.gap_tolerance
    if allocation.objective.status != "optimal" or stated <= gap:
        return
    if len(allocation.question.levels) > 1:
        yield f"the file lets later levels cost the first a relative {stated:g}: its gap is judged by that"
    else:
        yield (
            f"the file calls a relative gap of up to {stated:g} optimal, which is looser than the {gap:g} "
            f"that is judged here; gap={stated:g} (--gap {stated:g}) judges by that"
        )


def bound_checks(allocation: Allocation, problem: Problem, gap: float) -> tuple[list[Check], list[Open]]:
    """The stated bound against the value and against a bound computed here, from the problem alone.

    A convex optimum must be confirmed here. A search proves more than one evaluation can: what only it can
    prove is no failure but open, as long as no split is found that passes the bound.
    """
    outcome = allocation.objective
    if outcome.bound is None or not randomizes_alike(allocation, problem):
        return [], []
    arrays, source = _relaxed(problem)
    certificate = certify(arrays, allocation.epsilons, proceed=_some_steps(arrays))
    proved, judged = certificate.bound, certificate.value
    minimized = outcome.kind in MINIMIZED
    checks = [within_check(outcome.kind, judged, proved, source)]
    # the last digits of the value may differ between machines
    past = (outcome.bound - judged) * (1 if minimized else -1) > 1e-12 * abs(judged)
    if past:
        claim, why = f"bound of {outcome.kind}", "the split itself passes it"
        checks.append(Check(claim, judged, outcome.bound, holds=False, source=why, name="bound"))
        return checks, []
    # the stated bound may come from better multipliers than those fitted here
    slack = abs(outcome.bound) * gap
    confirmed = proved >= outcome.bound - slack if minimized else proved <= outcome.bound + slack
    found = [Check(f"bound of {outcome.kind}", proved, outcome.bound, confirmed, source, name="bound")]
    if outcome.status == "optimal":
        claim = "the split is optimal: relative gap"
        found.append(gap_check(claim, certificate.relative_gap, judged_gap(allocation, gap), source))
    # with several levels the split is no optimum of the first alone, and hides its multipliers
    must_hold = outcome.status == "optimal" and problem.arrays.is_convex and len(problem.levels) <= 1
    if must_hold or all(check.holds for check in found):
        return checks + found, []
    better = better_split(problem, allocation.epsilons, outcome.bound)
    if better is not None:
        claim = f"bound of {outcome.kind}"
        why = f"a split within all limits passes it: {split_text(problem.block_names, better.epsilon)}"
        checks.append(Check(claim, better.value, outcome.bound, holds=False, source=why, name="bound"))
        return checks, []
    searched = "" if problem.total_delta > 0 else ", and a short search found no split that passes the bound"
    why = f"is not confirmed: one evaluation here proves {proved:.9g}{searched}; a certificate would prove it"
    return checks, [Open(stated_bound(allocation), f"{why} (--certificate)")]


def randomizes_alike(allocation: Allocation, problem: Problem) -> bool:
    """True where the problem has the same blocks, so that the epsilons are those of its arrays."""
    if problem.clusters == "auto":
        return False
    stated, asked = ([block.names for block in of.blocks] for of in (allocation.question, problem))
    return stated == asked


def stated_bound(allocation: Allocation) -> str:
    """The claim of a bound, and of an optimum where one is claimed, in words."""
    outcome = allocation.objective
    optimal = ", and that the split is optimal" if outcome.status == "optimal" else ""
    return f"the bound {outcome.bound:.9g} of {outcome.kind}{optimal}"


def _relaxed(problem: Problem) -> tuple[Arrays, str]:
    """What the bound is evaluated of, and its source; with a delta it is the largest sum that may keep it."""
    source = "weak duality, recomputed from the problem"
    if problem.total_delta == 0:
        return problem.arrays, source
    largest = largest_sum(problem)
    whence = f"{source} with a sum of {largest:.9g}, which no such split exceeds"
    return as_sum(problem, largest).arrays, whence


def within_check(kind: str, judged: float, proved: float, source: str) -> Check:
    """The value against a bound that was evaluated here."""
    within = judged >= proved if kind in MINIMIZED else judged <= proved
    return Check(f"value of {kind} is within its bound", judged, proved, within, source, name="value")


def _some_steps(arrays: Arrays) -> Callable[[], bool]:
    """Whether to go on: a number of steps that depends on the problem's size alone, not on the machine."""
    left = iter(range(max(_LEAST_STEPS, _WORK // max(1, arrays.incidence.nnz))))
    return lambda: next(left, None) is not None
