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
from budget_opt.accounting.zcdp import epsilon_of_zcdp
from budget_opt.allocation.allocation import Allocation
from budget_opt.tables.printing import at_most


@dataclass(frozen=True)
class Privacy:
    """What replacing one record's values may reveal, in nats: three proved statements about one release.

    `sum` is pure epsilon-DP; `approximate` is (epsilon, delta)-DP by exact convolution; `rho` is zCDP, which
    alone would give `epsilon_from_rho` at the same delta. `names` are the attributes counted, None for all: a
    figure for some does not bound what is learned about these, because other attributes carry it (DESIGN
    2.1).
    """

    sum: float
    approximate: Approximate
    rho: float
    epsilon_from_rho: float
    names: tuple[str, ...] | None = None

    def __str__(self) -> str:
        whose = "one record" if self.names is None else f"a change of {', '.join(self.names)} alone"
        found = self.approximate
        lines = [
            f"Privacy of {whose} (proved, rounded up):",
            f"  epsilon {at_most(self.sum)} for certain (the sum of losses)",
            f"  epsilon {at_most(found.epsilon)} with delta {found.delta:g} (exact convolution)",
            f"  rho {at_most(self.rho)} of zCDP (so epsilon {at_most(self.epsilon_from_rho)}, that delta)",
        ]
        if self.names is not None:
            lines.append(
                "  What can be learned about these attributes is bounded by the whole record's figures only."
            )
        return "\n".join(lines)


def privacy_of(allocation: Allocation, delta: float = DELTA, names: Iterable[str] | None = None) -> Privacy:
    """What one record's release really costs under each composition, from the sampler's integers.

    `delta` in [0, 1); `names` chooses attributes, all by default. Raises `InputError` for another delta, and
    for an unknown or repeated name.
    """
    require_delta(delta)
    kept = None if names is None else (names,) if isinstance(names, str) else tuple(names)
    pure, rho = sum_loss(allocation, kept), zcdp(allocation, kept)
    converted = min(pure, epsilon_of_zcdp(rho, delta)) if delta > 0 else pure
    return Privacy(pure, epsilon_at(allocation, delta, kept), rho, converted, kept)


def summary_line(allocation: Allocation, delta: float | None = None) -> str:
    """One line for `show` and `verify`: (epsilon, delta) beside the sum, proved and rounded up.

    The delta is the allocation's `total_delta` where it states one, else 1e-6.
    """
    if delta is None:
        delta = allocation.total_delta or DELTA
    found = epsilon_at(allocation, delta)
    return (
        f"Beside the sum, {at_most(sum_loss(allocation))} nats for certain: epsilon "
        f"{at_most(found.epsilon)} with delta {delta:g} (exact convolution of the losses)."
    )
