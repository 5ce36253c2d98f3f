"""What users pass to estimates, and what they get and might write to: refused with a way out, or held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.errors import InputError
from tests.estimators.survey_release import allocation, frame

E = bo.estimate


@pytest.mark.parametrize(
    "estimate",
    [
        lambda weight: E.moment(frame(), allocation(), "smoker", weight=weight),
        lambda weight: E.moment(frame(), allocation(), "smoker", weight=weight, bootstrap=30),
        lambda weight: E.table(frame(), allocation(), "smoker", weight=weight),
        lambda weight: E.count(frame(), allocation(), "smoker", weight=weight),
        lambda weight: E.moment(
            E.count(frame(), allocation(), "smoker"), allocation(), "smoker", weight=weight
        ),
    ],
)
def test_weights_themselves_are_refused_with_the_name_that_is_wanted(
    estimate: Callable[[Any], object],
) -> None:
    for weight in (frame()["share"], frame()["share"].to_numpy(), True, 1.0):
        with pytest.raises(InputError, match="must be the name of a public column") as caught:
            estimate(weight)
        assert type(weight).__name__ in str(caught.value)


@pytest.mark.parametrize(
    "wanted",
    [5, None, [], [None], "smoker", ["smoker", "income"], [["smoker"], 5], [[["smoker"]]], np.array(1)],
    ids=repr,
)
def test_moments_take_lists_of_names(wanted: Any) -> None:
    with pytest.raises(InputError, match="must be lists of names, one a moment"):
        E.moments(frame(), allocation(), wanted)


def test_long_names_are_told_by_their_beginning() -> None:
    name = 10**5 * "s"
    for estimate in (E.moment, E.table, E.count):
        with pytest.raises(InputError, match="is not an attribute") as caught:
            estimate(frame(), allocation(), name)
        assert len(str(caught.value)) < 300


def test_many_scores_are_not_all_told() -> None:
    names = [f"a{m}" for m in range(40)]
    wide = bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute(name, categories=2) for name in names],
            moments=[bo.CrossMoment("a0", "a1")],
            total_epsilon=40.0,
        )
    )
    scores = {name: [0, 1e60] for name in names}
    with pytest.raises(InputError, match=r"'a9' up to 1e[+]60 and 30 more: their products"):
        E.moment(None, wide, *names, scores=scores)


def test_public_columns_are_not_counted_since_no_estimate_could_read_them() -> None:
    with pytest.raises(InputError, match=r"'wave' is a public column, .* Give the released table itself"):
        E.count(frame(), allocation(), "smoker", "wave")


def test_the_arrays_of_results_cannot_be_written_to() -> None:
    results = [
        E.covariance(frame(), allocation(), "smoker", "income"),
        E.correlation(frame(), allocation(), "smoker", "income"),
        E.group_means(frame(), allocation(), "income", by="smoker"),
        E.associations(frame(), allocation(), "smoker", "income", "age", noise_limit=np.inf),
    ]
    for result in results:
        arrays = [getattr(result, field.name) for field in fields(result)]  # type: ignore[arg-type]
        arrays = [one for one in arrays if isinstance(one, np.ndarray)]
        assert arrays
        for one in arrays:
            with pytest.raises(ValueError, match="read-only"):
                one[...] = 0.0
