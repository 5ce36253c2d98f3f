"""The figures of one allocation under every composition, side by side, and the line that verbs print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from budget_opt.accounting.composition import (
    DELTA,
    Approximate,
    epsilon_at,
    require_delta,
    sum_loss,
    zcdp,
)
from budget_opt.accounting.price import paid_by
from budget_opt.accounting.words import cluster_sentences
from budget_opt.accounting.zcdp import epsilon_of_zcdp
from budget_opt.allocation.allocation import Allocation
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.model.problem import Problem
from budget_opt.model.provenance import decimal_text, nats
from budget_opt.tables.printing import at_most


@dataclass(frozen=True)
class Privacy:
    """What replacing one record's values may reveal, in nats: three proved statements about one release.

    `sum` is pure epsilon-DP; `approximate` is (epsilon, delta)-DP by exact convolution; `rho` is zCDP, which
    alone would give `epsilon_from_rho` at the same delta. `names` are the attributes counted, None for all: a
    figure for some does not bound what is learned about these, because other attributes carry it.
    `together` says which of them cost more than themselves, as they are randomized with others.
    """

    sum: float
    approximate: Approximate
    rho: float
    epsilon_from_rho: float
    names: tuple[str, ...] | None = None
    together: tuple[str, ...] = ()

    def __str__(self) -> str:
        whose = "one record" if self.names is None else f"a change of {', '.join(self.names)} alone"
        found = self.approximate
        agree = found.delta > 0 and at_most(found.epsilon) == at_most(self.sum)
        nothing = "; the delta buys nothing here: with few attributes the sum is what counts" if agree else ""
        lines = [
            f"Privacy of {whose} (proved, rounded up):",
            f"  epsilon {at_most(self.sum)} for certain (the sum of losses)",
            f"  epsilon {at_most(found.epsilon)} with delta {found.delta:g} (exact convolution{nothing})",
            f"  rho {at_most(self.rho)} of zCDP (so epsilon {at_most(self.epsilon_from_rho)}, that delta)",
        ]
        lines += [f"  {sentence}." for sentence in self.together]
        if self.names is not None:
            lines.append(
                "  What can be learned about these attributes is bounded by the whole record's figures only."
            )
        return "\n".join(lines)


def privacy_of(
    allocation: Allocation, delta: float | None = None, names: Iterable[str] | None = None
) -> Privacy:
    """What one record's release really costs under each composition, from the sampler's integers.

    `delta` in [0, 1), by default the allocation's own `total_delta` where it has one, else 1e-6; `names`
    chooses attributes, all by default; of clusters that they touch the whole cost counts. Raises `InputError`
    for another delta, and for an unknown or repeated name.
    """
    delta = _own(allocation) if delta is None else delta
    require_delta(delta)
    kept = None if names is None else (names,) if isinstance(names, str) else tuple(names)
    pure, rho = sum_loss(allocation, kept), zcdp(allocation, kept)
    converted = min(pure, epsilon_of_zcdp(rho, delta)) if delta > 0 else pure
    together = () if kept is None else cluster_sentences(allocation, kept)
    return Privacy(pure, epsilon_at(allocation, delta, kept), rho, converted, kept, together)


def summary_line(allocation: Allocation, delta: float | None = None, problem: Problem | None = None) -> str:
    """One line for `show` and `verify`: (epsilon, delta) beside the sum, proved and rounded up.

    The delta is the allocation's `total_delta` where it states one, else 1e-6. What was paid before the
    release for what was made from the data adds to both (`problem` is what the allocation was made from). An
    allocation that is to keep an epsilon with a delta has two guarantees, and both hold.
    """
    delta = _own(allocation) if delta is None else delta
    found, paid = epsilon_at(allocation, delta).epsilon, paid_by(allocation, problem)
    certain, epsilon = at_most(paid.record), at_most(float_at_least(exact(found) + paid.making))
    sure = f"{nats(certain)} for certain"
    if paid.making:
        sure += f", what was made from the data before with its {nats(decimal_text(paid.making))} included"
    if allocation.total_delta > 0:
        return (
            f"Two guarantees, both true: the sum, {sure}, with delta 0; and epsilon {epsilon} with delta "
            f"{delta:g} (exact convolution of the losses){paid.aside}."
        )
    if epsilon == certain:
        return (
            f"Beside the sum, {sure}, a delta of {delta:g} buys nothing here: with few attributes the sum is "
            f"what counts{', taken' if paid.aside else ''}{paid.aside}."
        )
    return (
        f"Beside the sum, {sure}: epsilon {epsilon} with delta {delta:g} (exact convolution of the losses)"
        f"{paid.aside}."
    )


def _own(allocation: Allocation) -> float:
    """The delta that is meant where none is named."""
    return allocation.total_delta or DELTA
