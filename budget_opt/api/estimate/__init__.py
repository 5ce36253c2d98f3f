"""`bo.estimate`: what a released table still says, with standard errors and intervals.

Of an attribute with a `grouping` every estimate is of the merged categories, and a note says so: what the
originals were beyond these was not released, and no interval covers it.
"""

from budget_opt.api.estimate.counting import count
from budget_opt.api.estimate.groups import group_means
from budget_opt.api.estimate.matrices import correlation, covariance
from budget_opt.api.estimate.moments import moment, moments
from budget_opt.api.estimate.regressions import regress
from budget_opt.api.estimate.statistics import (
    associations,
    chi_square,
    cramers_v,
    entropy,
    g_square,
    independence_test,
    mutual_information,
    phi_square,
)
from budget_opt.api.estimate.tables import marginals, source_marginal, table

__all__ = [
    "associations",
    "chi_square",
    "correlation",
    "count",
    "covariance",
    "cramers_v",
    "entropy",
    "g_square",
    "group_means",
    "independence_test",
    "marginals",
    "moment",
    "moments",
    "mutual_information",
    "phi_square",
    "regress",
    "source_marginal",
    "table",
]
