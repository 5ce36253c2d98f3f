"""The statistics of a table of shares as it is, by their definitions."""

from __future__ import annotations

import numpy as np

from budget_opt.estimators.channels import FloatArray


def plain_entropy(shares: FloatArray) -> float:
    """-sum p log p in nats; empty cells count 0."""
    present = shares[shares > 0]
    return float(-(present * np.log(present)).sum())


def plain_information(shares: FloatArray) -> float:
    """The mutual information of two attributes in nats."""
    return plain_entropy(shares.sum(axis=1)) + plain_entropy(shares.sum(axis=0)) - plain_entropy(shares)


def plain_phi_square(shares: FloatArray) -> float:
    """chi-square / n of two attributes; categories that do not occur take no part."""
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    occurs = expected > 0
    return float(((shares - expected)[occurs] ** 2 / expected[occurs]).sum())
