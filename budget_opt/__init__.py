"""The best split of a privacy budget over the attributes of a table, proved, released and verified.

    import budget_opt as bo

`Attribute`, `CrossMoment`, `Group`, `Problem` state the question. `solve` gives the best `Allocation` and
proves it, `uniform` the even one, `allocation_from` one by hand; `judge` says what any of them is worth,
`prices` what a little more would bring. `randomize` makes a release; `verify` and `verify_release` check what
was promised; `estimate.moment` reads.
"""

from budget_opt.allocation import Allocation, allocation_from, uniform
from budget_opt.api import estimate
from budget_opt.api.judging import Judgement, judge
from budget_opt.api.pricing import prices
from budget_opt.api.releasing import randomize, randomize_file
from budget_opt.api.solving import solve
from budget_opt.api.verifying import verify, verify_release
from budget_opt.errors import (
    AllocationError,
    BudgetOptError,
    CertificateError,
    DataError,
    InfeasibleError,
    InputError,
    NotSolvedError,
    ProblemError,
    RandomSourceError,
    VerificationError,
)
from budget_opt.model.attribute import Attribute
from budget_opt.model.moment import CrossMoment, Group, Provenance, PublicColumn
from budget_opt.model.problem import Problem
from budget_opt.version import __version__

__all__ = [
    "Allocation",
    "AllocationError",
    "Attribute",
    "BudgetOptError",
    "CertificateError",
    "CrossMoment",
    "DataError",
    "Group",
    "InfeasibleError",
    "InputError",
    "Judgement",
    "NotSolvedError",
    "Problem",
    "ProblemError",
    "Provenance",
    "PublicColumn",
    "RandomSourceError",
    "VerificationError",
    "__version__",
    "allocation_from",
    "estimate",
    "judge",
    "prices",
    "randomize",
    "randomize_file",
    "solve",
    "uniform",
    "verify",
    "verify_release",
]
