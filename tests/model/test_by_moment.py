"""Numbers by moment: every name means one moment, and none is named twice."""

from __future__ import annotations

from typing import Any

import pytest

from budget_opt import CrossMoment, InputError
from budget_opt.model.moments.by_moment import by_moment, told_apart

SAME_LABEL = (CrossMoment("a x b", "c"), CrossMoment("a", "b x c"), CrossMoment("d"))


def test_attributes_tell_moments_of_one_label_apart() -> None:
    given = {("c", "a x b"): 0.1, ("a", "b x c"): 0.2, "d": 0.3}
    assert by_moment(SAME_LABEL, given, "guess") == [0.1, 0.2, 0.3]
    assert told_apart(SAME_LABEL) == ["a x b x c (moment 1)", "a x b x c (moment 2)", "d"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"a x b x c": 0.1}, r"several moments. Name one as \('a x b', 'c'\) or \('a', 'b x c'\)"),
        ({("a x b", "c"): 0.1, ("c", "a x b"): 0.2}, r"is given already as \('a x b', 'c'\)"),
        ({"d": 0.1, ("d",): 0.1}, "is given already as 'd'"),
        ({("d", "d"): 0.1}, "is not of a moment"),
        ({("d", 5): 0.1}, "is not of a moment"),
        ({(): 0.1}, "is not of a moment"),
    ],
)
def test_a_name_that_does_not_mean_one_moment_is_refused(given: dict[Any, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        by_moment(SAME_LABEL, given, "guess")
