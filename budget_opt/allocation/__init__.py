"""The answer that is kept: epsilons, sampler integers, retentions, and the file that carries them."""

from budget_opt.allocation.allocation import AllocatedMoment, Allocation, Outcome
from budget_opt.allocation.blocks import AllocatedAttribute, AllocatedBlock
from budget_opt.allocation.build import Statement, allocate, uniform
from budget_opt.allocation.given import allocation_from

__all__ = [
    "AllocatedAttribute",
    "AllocatedBlock",
    "AllocatedMoment",
    "Allocation",
    "Outcome",
    "Statement",
    "allocate",
    "allocation_from",
    "uniform",
]
