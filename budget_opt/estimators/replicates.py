"""The replicates of a bootstrap, and what they say of an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError


@dataclass(frozen=True, eq=False)
class Replicates:
    """An estimate drawn again: `errors`, shape (B,), each replicate minus the truth that it was drawn from.

    `value` is the estimate itself and `how` says what was drawn. A replicate whose estimate is not defined
    is NaN and left out; `undefined` counts them.
    """

    value: float
    errors: npt.NDArray[np.float64]
    how: str

    @property
    def undefined(self) -> int:
        """How many replicates have no estimate."""
        return int(np.count_nonzero(~np.isfinite(self.errors)))

    @property
    def standard_error(self) -> float:
        """The standard deviation of the replicates."""
        return float(np.std(self._defined, ddof=1))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The percentile interval at `level` in (0, 1): the estimate plus the quantiles of the errors."""
        if not 0 < level < 1:
            raise InputError(f"level: is {level!r}, must be above 0 and below 1, for instance 0.95.")
        low, high = np.quantile(self._defined, [0.5 - level / 2, 0.5 + level / 2])
        return self.value + float(low), self.value + float(high)

    def to_dict(self) -> dict[str, Any]:
        """What they say as plain values for JSON, without the replicates themselves."""
        return {
            "how": self.how,
            "replicates": self.errors.size,
            "undefined": self.undefined,
            "standard_error": self.standard_error,
            "interval": list(self.interval()),
            "level": 0.95,
        }

    @property
    def _defined(self) -> npt.NDArray[np.float64]:
        defined = self.errors[np.isfinite(self.errors)]
        if defined.size < 2:
            raise InputError(
                f"bootstrap: {self.undefined} of {self.errors.size} replicates have no estimate, so that "
                "they say nothing of its error. Ask for more, or use the standard error by formula."
            )
        return defined
