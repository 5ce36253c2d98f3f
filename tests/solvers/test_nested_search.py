"""The search with terms of degree >= 3, whose budget is multiplied twice: the optimum is never lost."""

from __future__ import annotations

import numpy as np
import pytest

from tests.solvers.random_problems import build
from tests.solvers.test_global_search import never_lost


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "share"), [(0, 0.9), (1, 0.9999)])
def test_a_planted_optimum_is_never_lost_under_large_terms(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    moments = {
        tuple(sorted(rng.choice(7, int(rng.integers(2, 7)), replace=False).tolist())) for _ in range(14)
    }
    weight = rng.lognormal(0, 1, len(moments))
    cardinality = rng.integers(2, 20, 7)
    arrays = build("weighted_sum", cardinality, sorted(moments), float(rng.uniform(4, 12)), weight=weight)
    never_lost(arrays, share, 100)
