"""One HTML file that explains a split: question, answer, what it is worth, and sliders to play with."""

from budget_opt.report.writing import report

__all__ = ["report"]
