"""What one point of an axis proves about another, where one allows every split that the other allows.

With a larger total, or a lower floor, all splits of the point before stay possible: the optimal value cannot
get worse. So a split found earlier is also an answer later, and a bound proved later also holds earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from budget_opt.model.arrays import MINIMIZED, Objective
from budget_opt.model.objectives import relative_gap
from budget_opt.solvers.answer import Candidate

SAME = 1e-9
"""Relative difference of values that solvers do not tell apart."""


def consistent(objective: Objective, candidates: Sequence[Candidate], gap: float) -> list[Candidate]:
    """The candidates of ever larger feasible sets: values in order, every bound as good as the ones after.

    A gap of at most `gap` is optimal.
    """
    sign = -1.0 if objective in MINIMIZED else 1.0
    best: list[Candidate] = []
    for candidate in candidates:
        overtaken = bool(best) and _better(best[-1], candidate, sign)
        best.append(_with_split_of(best[-1], candidate) if overtaken else candidate)
    for k in range(len(best) - 2, -1, -1):
        tighter = best[k + 1].certificate.bound
        if sign * tighter < sign * best[k].certificate.bound:
            proved = replace(best[k].certificate, bound=tighter, multipliers=None, proof=None)
            best[k] = replace(best[k], certificate=proved)
    return [_judged(candidate, gap) for candidate in best]


def _better(before: Candidate, candidate: Candidate, sign: float) -> bool:
    ahead = sign * (before.certificate.value - candidate.certificate.value)
    return ahead > SAME * abs(candidate.certificate.value)


def _with_split_of(before: Candidate, candidate: Candidate) -> Candidate:
    certificate = replace(candidate.certificate, value=before.certificate.value)
    return replace(candidate, epsilon=before.epsilon, certificate=certificate)


def _judged(candidate: Candidate, gap: float) -> Candidate:
    certificate = candidate.certificate
    left = relative_gap(certificate.value, certificate.bound)
    return replace(
        candidate,
        certificate=replace(certificate, relative_gap=left),
        status="optimal" if left <= gap else "feasible",
    )
