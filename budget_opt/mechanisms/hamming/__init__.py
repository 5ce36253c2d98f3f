"""Matrices for a source about which something is known: least epsilon, or least Hamming distortion, proved.

    bo.hamming.least_epsilon(source, 0.3)      the least epsilon with at most 30 % changed cells expected
    bo.hamming.least_distortion(source, 1.0)   the fewest changed cells at epsilon 1
    bo.hamming.thresholds(source)              distortions from which 1, 2, ... categories are reported
    bo.hamming.folding_bounds(pieces, 0.3)     a union of sources with different orders, between two bounds
    bo.hamming.sampler_of(optimum.matrix, 1.0) whole counts of words that draw it, within epsilon 1

`source` is a `Source`: a set of distributions, one of which holds. The guarantee does not depend on it,
only the expected share of changed cells does. After Kalantari, Sankar and Sarwate (2018); the theorem and its
proof stand in `hamming.theorem`.
"""

from __future__ import annotations

from budget_opt.mechanisms.hamming.folding import FoldingBounds, folding_bounds
from budget_opt.mechanisms.hamming.matrix import StochasticMatrix
from budget_opt.mechanisms.hamming.optimum import Optimum, least_distortion, least_epsilon, thresholds
from budget_opt.mechanisms.hamming.source import Source
from budget_opt.mechanisms.matrix_sampler import MatrixSampler, sampler_of

__all__ = [
    "FoldingBounds",
    "MatrixSampler",
    "Optimum",
    "Source",
    "StochasticMatrix",
    "folding_bounds",
    "least_distortion",
    "least_epsilon",
    "sampler_of",
    "thresholds",
]
