"""What the printed associations say of estimates that no V can be."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

import budget_opt as bo


def test_associations_above_1_are_named() -> None:
    asked = bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in "abc"],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("b", "c")],
        total_epsilon=0.6,
    )
    split = bo.uniform(asked)
    drawn = np.random.default_rng(0)
    for _ in range(50):
        released = pd.DataFrame(drawn.integers(0, 4, (400, 3)), columns=list("abc"))
        found = bo.estimate.associations(released, split, noise_limit=math.inf)
        beyond = [" x ".join(one.attributes) for one in found.pairs if one.value > 1]
        told = f"Above 1, which no V can be, as it may be by chance: {', '.join(beyond)}."
        assert (told in " ".join(str(found).split())) is bool(beyond)
        if beyond:
            return
    raise AssertionError("no pair was above 1")
