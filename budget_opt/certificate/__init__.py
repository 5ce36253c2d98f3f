"""Bounds from the problem alone: what makes an answer optimal (DESIGN 2.5). Imports no solver."""

from budget_opt.certificate.certify import Certificate, certify
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.model.objectives import relative_gap

__all__ = ["Certificate", "Multipliers", "certify", "relative_gap"]
