"""What an allocation costs: the sum of losses, (epsilon, delta) and zCDP, from the sampler's integers.

Everything is rounded toward privacy and says how exactly it is known. Imports nothing above `allocation`.
"""

from budget_opt.accounting.composition import (
    Approximate,
    delta_at,
    epsilon_at,
    keeps_total,
    sum_loss,
    total_at,
    zcdp,
)
from budget_opt.accounting.loss import ThreePoint, three_point
from budget_opt.accounting.outer import largest_sum
from budget_opt.accounting.privacy import Privacy, privacy_of, summary_line
from budget_opt.accounting.zcdp import epsilon_of_zcdp

__all__ = [
    "Approximate",
    "Privacy",
    "ThreePoint",
    "delta_at",
    "epsilon_at",
    "epsilon_of_zcdp",
    "keeps_total",
    "largest_sum",
    "privacy_of",
    "sum_loss",
    "summary_line",
    "three_point",
    "total_at",
    "zcdp",
]
