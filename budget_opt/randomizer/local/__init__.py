"""Randomizing one record at a time, where it is collected; runs with numpy and cryptography alone."""

from budget_opt.randomizer.local.randomizer import LocalRandomizer

__all__ = ["LocalRandomizer"]
