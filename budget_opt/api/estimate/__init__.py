"""`bo.estimate`: what a released table still says, with standard errors and intervals."""

from budget_opt.api.estimate.moments import moment, moments

__all__ = ["moment", "moments"]
