"""No estimate that is noise is returned in silence."""

from __future__ import annotations

import math
from typing import Any

import pytest

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.intervals.noise_limit import require_signal


def test_an_error_up_to_the_limit_passes_and_a_hair_more_does_not() -> None:
    require_signal("share", 1.0, 1.0)
    require_signal("share", 0.5, 1.0, 0.5)
    require_signal("moment", 6.0, 3.0, 2.0)
    for error, largest, limit in ((1.0, 1.0, 0.999), (math.nextafter(1.0, 2), 1.0, 1.0), (6.1, 3.0, 2.0)):
        with pytest.raises(NoiseError):
            require_signal("share", error, largest, limit)


def test_no_finite_error_is_above_an_infinite_limit() -> None:
    require_signal("share", 1e300, 1.0, math.inf)
    require_signal("constant", 1e300, 0.0, math.inf)


def test_what_can_only_be_0_may_have_no_error() -> None:
    require_signal("constant", 0.0, 0.0)
    with pytest.raises(NoiseError, match=r"noise_limit=math\.inf"):
        require_signal("constant", 1e-9, 0.0)


@pytest.mark.parametrize("error", [math.nan, math.inf])
@pytest.mark.parametrize("limit", [1.0, math.inf])
def test_an_error_that_is_no_number_never_passes(error: float, limit: float) -> None:
    with pytest.raises(NoiseError, match=r"standard error is (nan|inf)"):
        require_signal("share", error, 1.0, limit)


def test_what_is_refused_is_told_with_its_error_its_limit_and_the_ways_out() -> None:
    with pytest.raises(NoiseError) as caught:
        require_signal("smoker x income", 12.5, 4.0, 2.0)
    error = caught.value
    assert (error.what, error.standard_error, error.limit) == ("smoker x income", 12.5, 8.0)
    told = str(error)
    assert told.startswith(
        "smoker x income: the standard error is 12.5, the limit 8, and no value that there can be is further "
        "than 4"
    )
    for way in ("more rows", "larger epsilon", "noise_limit=3.13 or more"):
        assert way in told
    assert error.exit_code == 2
    # the limit that is named lets it pass
    require_signal("smoker x income", 12.5, 4.0, 3.13)


@pytest.mark.parametrize("limit", [0, -1.0, math.nan, "1", None, True, [1.0]])
def test_what_is_no_limit_is_refused(limit: Any) -> None:
    with pytest.raises(InputError, match=r"noise_limit: is .*, must be a number above 0"):
        require_signal("share", 0.1, 1.0, limit)
