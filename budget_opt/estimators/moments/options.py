"""What holds for all estimates that are asked for together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from budget_opt.estimators.bootstrap.asked import Bootstrap
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.releases.released import Weight


@dataclass(frozen=True)
class MomentOptions:
    """The words of `bo.estimate.moment` that are not attributes; `bootstrap` is None for no replicates."""

    target: Target = "population"
    scores: Mapping[str, Any] | None = None
    weight: Weight = None
    noise_limit: float = 1.0
    bootstrap: Bootstrap | None = None
