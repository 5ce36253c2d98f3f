"""The promises of an allocation, judged from the file's integers in exact arithmetic (DESIGN 2.7, 2.8).

Imports no solver and no randomizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from budget_opt.allocation import AllocatedAttribute, Allocation, Statement
from budget_opt.allocation.allocation import product
from budget_opt.allocation.build import assemble
from budget_opt.certificate.certify import certify
from budget_opt.mechanisms.exact import exact, float_at_least, float_at_most, log_at_least
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.differences import differences
from budget_opt.model.problem import Problem
from budget_opt.verifier.certificates import StatedCertificate
from budget_opt.verifier.pricing import price_checks
from budget_opt.verifier.report import Check, VerificationReport


def verify_allocation(
    allocation: Allocation, problem: Problem | None = None, certificate: StatedCertificate | None = None
) -> VerificationReport:
    """Every promise of the file: losses, budgets, floors, ceilings, the question, value and bound.

    `problem` is what the allocation was made from; without it pins, bounds and, where the problem had
    some, the bound are not checked, and a note says so. A `certificate` brings the problem along, and its
    bound takes the place of what can be found here from the split alone.
    """
    checks = [*_privacy_checks(allocation), *_moment_checks(allocation), _statement_check(allocation)]
    notes = []
    if problem is None and certificate is not None:
        problem = certificate.problem_of(allocation)
    judged = problem
    if problem is not None:
        checks += _question_checks(allocation, problem)
    elif allocation.question.sha256 == allocation.problem_sha256:
        judged = allocation.question
    else:
        notes.append(
            "not confirmed without the problem: public and dropped columns, row order, total, "
            "pins and bounds of single attributes, and the bound of the optimum"
        )
    if certificate is not None:
        checks += certificate.checks(allocation)
    elif judged is not None:
        found, unconfirmed = _bound_checks(allocation, judged)
        checks += found
        notes += unconfirmed
    if judged is not None:
        found, unconfirmed = price_checks(allocation, judged)
        checks += found
        notes += unconfirmed
    if len(allocation.question.levels) > 1:
        first = allocation.question.levels[0]
        notes.append(f"value, bound and gap are those of level {first}; the levels after it are not judged")
    if certificate is None and allocation.objective.certificate_sha256 is not None:
        notes.append("the certificate that the allocation names was not given, and is not evaluated")
    if allocation.objective.status == "given":
        notes.append("the split was given, not optimized: there is no bound to check")
    notes.append(_assumption(allocation))
    return VerificationReport(_subject(allocation), tuple(checks), tuple(notes))


def constraint_checks(allocation: Allocation, problem: Problem) -> tuple[Check, ...]:
    """Every constraint of the problem, named: total, groups, floors, ceilings, pins and bounds."""
    return (*_budget_checks(allocation), *_moment_checks(allocation), *_limit_checks(allocation, problem))


def verify_privacy(allocation: Allocation) -> VerificationReport:
    """Only the losses and budgets: what must hold before any value is randomized."""
    return VerificationReport(_subject(allocation), tuple(_privacy_checks(allocation)))


def _subject(allocation: Allocation) -> str:
    return f"allocation {allocation.name}" if allocation.name else "allocation"


def _privacy_checks(allocation: Allocation) -> Iterator[Check]:
    for attribute in allocation.attributes:
        yield _matrix_check(attribute)
        yield _loss_check(attribute)
    yield from _budget_checks(allocation)


def _budget_checks(allocation: Allocation) -> Iterator[Check]:
    if allocation.total_epsilon is not None:
        yield _budget_check("a record", allocation.attributes, allocation.total_epsilon, "total_epsilon")
    for group in allocation.question.groups:
        members = [allocation[name] for name in group.attributes]
        yield _budget_check(f"group {group.name}", members, group.epsilon_max, "its epsilon_max")


def matrix_values(attribute: AllocatedAttribute) -> tuple[Fraction, Fraction]:
    """The two distinct entries of the attribute's matrix (diagonal, off it), rebuilt from b and q."""
    if attribute.sampler is None:
        share = Fraction(1, attribute.cardinality)
        return share, share
    other = Fraction(attribute.sampler.q, 2**attribute.sampler.bits)
    return 1 - (attribute.cardinality - 1) * other, other


def _matrix_check(attribute: AllocatedAttribute) -> Check:
    truth, other = matrix_values(attribute)
    least = min(truth, other)
    return Check(
        claim=f"matrix of {attribute.name}: every report is possible",
        measured=float(least),
        limit="above 0, rows sum to 1",
        holds=least > 0 and truth + (attribute.cardinality - 1) * other == 1,
        source="sampler integers",
    )


def _loss_check(attribute: AllocatedAttribute) -> Check:
    truth, other = matrix_values(attribute)
    loss = log_at_least(max(truth, other) / min(truth, other)) if min(truth, other) > 0 else float("inf")
    return Check(
        claim=f"loss of {attribute.name}",
        measured=loss,
        limit=attribute.epsilon,
        holds=loss < float("inf") and exact(loss) <= exact(attribute.epsilon),
        source="largest log ratio of its matrix",
    )


def _budget_check(who: str, members: Iterable[AllocatedAttribute], cap: float, source: str) -> Check:
    spent = sum((exact(attribute.epsilon) for attribute in members), Fraction(0))
    return Check(
        claim=f"epsilon of {who}",
        measured=float_at_least(spent),
        limit=cap,
        holds=spent <= exact(cap),
        source=f"{source}, sum of decimals",
    )


def _moment_checks(allocation: Allocation) -> Iterator[Check]:
    kept = {attribute.name: _retention(attribute) for attribute in allocation.attributes}
    for moment in allocation.question.moments:
        exactly = product(kept[name] for name in moment.attributes)
        shown, source = float_at_most(exactly), "exact product"
        if moment.floor is not None:
            holds = exactly >= exact(moment.floor)
            yield Check(f"floor of {moment.label}", shown, moment.floor, holds, source)
        if moment.ceiling is not None:
            holds = exactly <= exact(moment.ceiling)
            yield Check(f"ceiling of {moment.label}", shown, moment.ceiling, holds, source)


def _retention(attribute: AllocatedAttribute) -> Fraction:
    """lambda: the diagonal less the rest."""
    truth, other = matrix_values(attribute)
    return truth - other


def _statement_check(allocation: Allocation) -> Check:
    """The stated retentions and objective are those of the question at these integers."""
    outcome = allocation.objective
    statement = Statement(outcome.bound, outcome.gap_tolerance, outcome.solver, outcome.seconds)
    chosen = [attribute.sampler for attribute in allocation.attributes]
    made = assemble(allocation.question, allocation.epsilons, chosen, statement)
    # the hash of a certificate is the only thing here that the integers do not say
    known = {**vars(made.objective), "certificate_sha256": outcome.certificate_sha256}
    kept = [moment.exact_retention for moment in allocation.moments]
    same = kept == [moment.exact_retention for moment in made.moments]
    return Check(
        claim=f"stated retentions and {outcome.kind}",
        measured=made.objective.value,
        limit=outcome.value,
        holds=same and not differences(vars(outcome), known, "objective"),
        source="recomputed from the sampler integers",
    )


def _question_checks(allocation: Allocation, problem: Problem) -> Iterator[Check]:
    yield Check(
        claim="the allocation was made from this problem",
        measured=allocation.problem_sha256[:12],
        limit=problem.sha256[:12],
        holds=allocation.problem_sha256 == problem.sha256,
        source="SHA-256 of the problem",
    )
    stated, asked = (_without_bounds(question) for question in (allocation.question, problem))
    yield Check(
        claim="the allocation states the problem's attributes, moments, groups and columns",
        measured="same" if stated == asked else "different",
        limit="same",
        holds=stated == asked,
        source="comparison of both files",
    )
    yield from _limit_checks(allocation, problem)


def _limit_checks(allocation: Allocation, problem: Problem) -> Iterator[Check]:
    known = set(problem.names)
    for attribute in (attribute for attribute in allocation.attributes if attribute.name in known):
        low, high = problem.attribute(attribute.name).lower, problem.attribute(attribute.name).upper
        if low == 0 and high == float("inf"):
            continue
        yield Check(
            claim=f"bounds of {attribute.name}",
            measured=attribute.epsilon,
            limit=f"{low!r} to {high!r}",
            holds=low <= attribute.epsilon <= high,
            source="pin, epsilon_min and epsilon_max of the problem",
        )


def _without_bounds(question: Problem) -> dict[str, object]:
    """The question without the bounds of single attributes, which an allocation does not carry."""
    document = question.to_dict()
    bounds = ("epsilon", "epsilon_min", "epsilon_max")
    attributes = [
        {name: value for name, value in attribute.items() if name not in bounds}
        for attribute in document["attributes"]
    ]
    return {**document, "attributes": attributes}


def _bound_checks(allocation: Allocation, problem: Problem) -> tuple[list[Check], list[str]]:
    """The stated bound against the value and against a bound computed here, from the problem alone.

    A convex optimum must be confirmed here. A search proves more than one evaluation can: what only
    it can prove is no failure but a note, as long as nothing here contradicts it.
    """
    outcome = allocation.objective
    if outcome.bound is None or allocation.question.names != problem.names:
        return [], []
    source = "weak duality, recomputed from the problem"
    certificate = certify(problem.arrays, allocation.epsilons)
    proved, judged = certificate.bound, certificate.value
    minimized = outcome.kind in MINIMIZED
    within = judged >= proved if minimized else judged <= proved
    checks = [Check(f"value of {outcome.kind} is within its bound", judged, proved, within, source)]
    # the last digits of the value may differ between machines
    past = (outcome.bound - judged) * (1 if minimized else -1) > 1e-12 * abs(judged)
    if past:
        claim = f"bound of {outcome.kind}"
        checks.append(Check(claim, judged, outcome.bound, holds=False, source="the split itself passes it"))
        return checks, []
    # the stated bound may come from better multipliers than those fitted here
    slack = abs(outcome.bound) * outcome.gap_tolerance
    confirmed = proved >= outcome.bound - slack if minimized else proved <= outcome.bound + slack
    found = [Check(f"bound of {outcome.kind}", proved, outcome.bound, confirmed, source)]
    if outcome.status == "optimal":
        gap = certificate.relative_gap
        holds = gap <= outcome.gap_tolerance + 1e-12
        found.append(Check("the split is optimal: relative gap", gap, outcome.gap_tolerance, holds, source))
    # with several levels the split is no optimum of the first alone, and hides its multipliers
    must_hold = outcome.status == "optimal" and problem.arrays.is_convex and len(problem.levels) <= 1
    if must_hold or all(check.holds for check in found):
        return checks + found, []
    note = f"one evaluation here proves {proved:.9g}, which does not contradict it"
    return checks, [f"the bound {outcome.bound:.9g} of {outcome.kind} is not confirmed: {note}"]


def _assumption(allocation: Allocation) -> str:
    """The sentence on provenance: what the guarantee takes for granted."""
    unsure = allocation.question.not_public
    if not unsure:
        return "weights, floors, domains, scores, marginals and total are stated to be public"
    return f"the guarantee assumes that {', '.join(unsure)} were fixed without looking at the data"
