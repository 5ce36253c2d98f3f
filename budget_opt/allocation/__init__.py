"""The answer that is kept: epsilons, sampler integers, retentions, and the file that carries them."""

from budget_opt.allocation.allocation import AllocatedAttribute, AllocatedMoment, Allocation, Outcome
from budget_opt.allocation.build import Statement, allocate, uniform

__all__ = [
    "AllocatedAttribute",
    "AllocatedMoment",
    "Allocation",
    "Outcome",
    "Statement",
    "allocate",
    "uniform",
]
