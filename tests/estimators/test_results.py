"""Every result of `bo.estimate` has rows, JSON and a print of its intervals at any level, in the same way."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.estimate import Estimate, normal_quantile
from budget_opt.estimators.moments.moment_estimates import MomentEstimates
from budget_opt.estimators.number_texts import estimates_columns
from tests.estimators.survey_release import originals, problem

PAIR = ("income", "age")


@cache
def release() -> tuple[Any, bo.Allocation]:
    allocation = bo.uniform(problem(total_epsilon=12.0))
    return bo.randomize(originals(), allocation), allocation


def means() -> Any:
    return bo.estimate.group_means(*release(), "income", by="wave")


def unbiased() -> Any:
    return bo.estimate.table(*release(), *PAIR, method="unbiased")


RESULTS: dict[str, Callable[[], Any]] = {
    "moment": lambda: bo.estimate.moment(*release(), *PAIR),
    "moments": lambda: bo.estimate.moments(*release(), [PAIR, ("income",)]),
    "covariance": lambda: bo.estimate.covariance(*release(), *PAIR),
    "one covariance": lambda: bo.estimate.covariance(*release(), *PAIR)[PAIR],
    "correlation": lambda: bo.estimate.correlation(*release(), *PAIR),
    "one correlation": lambda: bo.estimate.correlation(*release(), *PAIR)[PAIR],
    "group means": means,
    "one group mean": lambda: means()["first"],
    "difference": lambda: means().difference("first", "second"),
    "marginals": lambda: bo.estimate.marginals(*release(), "income"),
    "table": lambda: bo.estimate.table(*release(), "income", "smoker", "age", method="unbiased"),
    "share": lambda: unbiased().share({"income": 0}),
    "ratio": lambda: unbiased().share({"income": 0}, given={"age": "[18, 30)"}),
    "statistic": lambda: bo.estimate.entropy(*release(), "income"),
    "associations": lambda: bo.estimate.associations(*release()),
    "regression": lambda: bo.estimate.regress(*release(), "income ~ age"),
}


def found_levels(document: Any) -> set[float]:
    """Every number that is called a level, however deep."""
    if isinstance(document, dict):
        own = {document["level"]} if "level" in document else set()
        return own.union(*map(found_levels, document.values()))
    return set().union(*map(found_levels, document)) if isinstance(document, list) else set()


@pytest.mark.parametrize("name", RESULTS)
def test_rows_json_and_print_have_intervals_at_the_level(name: str) -> None:
    found = RESULTS[name]()
    for level in (0.5, 0.95, 0.99):
        document = json.loads(json.dumps(found.to_dict(level), allow_nan=False))
        assert found_levels(document) == {level}
        json.dumps(found.rows(level), allow_nan=False)
    assert found.to_dict() == found.to_dict(0.95)
    assert found.rows() == found.rows(0.95)
    assert "95 % interval" in str(found)
    first, wider = (found.rows(level)[0] for level in (0.5, 0.99))
    assert wider["low"] <= first["low"] <= first["high"] <= wider["high"]
    assert (wider["low"], wider["high"]) != (first["low"], first["high"])
    for refuse in (found.rows, found.to_dict, found.renderable):
        with pytest.raises(InputError, match=r"level: is 1\.5"):
            refuse(1.5)


def test_a_row_and_the_json_of_an_estimate_have_its_own_interval() -> None:
    for name in ("one group mean", "difference", "share", "ratio", "one correlation", "moment"):
        found = RESULTS[name]()
        (row,) = found.rows(0.8)
        assert found.to_dict(0.8)["interval"] == [row["low"], row["high"]] == list(found.interval(0.8))


def test_moments_are_used_as_a_tuple_was() -> None:
    found = RESULTS["moments"]()
    first, second = found
    assert isinstance(found, MomentEstimates)
    assert (len(found), found[0], found[-1], found[:1]) == (2, first, second, (first,))
    assert [one.label for one in found] == ["income x age", "income"]
    assert first in found
    assert found.rows(0.9) == [*first.rows(0.9), *second.rows(0.9)]
    assert (found.n, found.target, found.weighted_by) == (first.n, "population", "share")
    assert "Survey weights: share." in str(found)
    assert bo.estimate.moments(*release(), [PAIR], weight=False).weighted_by is None


def test_the_levels_nearest_to_their_ends_have_a_quantile() -> None:
    assert normal_quantile(math.nextafter(1.0, 0.0)) == pytest.approx(8.2, abs=0.1)
    assert normal_quantile(5e-324) == 0
    assert normal_quantile(0.95) == pytest.approx(1.959963984540054, rel=1e-15)


def test_an_interval_without_an_end_is_null_in_json_and_inf_for_people() -> None:
    class Open(Estimate):
        def interval(self, level: float = 0.95) -> tuple[float, float]:
            return -math.inf, 2.0

    one = Open(label="x", value=1.0, standard_error=0.5, n=9, target="data", notes=("a note.",))
    assert one.to_dict()["interval"] == [None, 2.0]
    assert one.rows()[0]["low"] is None
    assert str(one).endswith("\nA note.")
    texts = {column.heading: column.cells[0] for column in estimates_columns("value", one.rows(), 0.9)}
    assert texts["90 % interval"] == "-inf to 2.00"


def test_numbers_are_printed_to_the_second_digit_of_their_error() -> None:
    def texts(value: float, error: float) -> list[str]:
        one = Estimate(label="x", value=value, standard_error=error, n=9, target="data")
        return [column.cells[0] for column in estimates_columns("value", one.rows(), 0.95)][:3]

    assert texts(3.06634, 0.029) == ["3.066", "0.029", "3.010 to 3.123"]
    assert texts(-0.0001, 0.3) == ["0.00", "0.3", "-0.59 to 0.59"]
    assert texts(123456.7, 5432.1) == ["123457", "5.43e+03", "112810 to 134103"]
    assert texts(1.25, 0.0) == ["1.25", "0", "1.25 to 1.25"]
    assert texts(2e12, 3e10)[0] == "2e+12"


def test_a_pair_that_would_be_noise_is_withheld_and_the_others_are_told() -> None:
    noisy = problem(
        total_epsilon=8.2,
        attributes=[
            bo.Attribute("smoker", categories=["no", "yes"], epsilon=4.0),
            bo.Attribute("income", categories=3, ordered=True, epsilon=4.0),
            bo.Attribute("age", bins=[18, 30, 65], missing="category", missing_score=40, epsilon=0.01),
            bo.Attribute("silent", categories=2, epsilon=0.0),
        ],
    )
    allocation = bo.uniform(noisy)
    released = bo.randomize(originals(), allocation)
    found = bo.estimate.associations(released, allocation, weight=False, noise_limit=0.5)
    assert [one.attributes for one in found.pairs] == [("smoker", "income")]
    assert np.isnan(found.values[2, :2]).all()
    assert found.to_dict()["values"][2] == [None, None, 1.0]
    assert "smoker x age, income x age. A larger noise limit shows them." in " ".join(str(found).split())
    with pytest.raises(InputError, match="Withheld, since the error"):
        found["smoker", "age"]
    with pytest.raises(NoiseError):
        bo.estimate.associations(released, allocation, "smoker", "age", weight=False, noise_limit=0.5)


def test_names_are_never_read_as_markup() -> None:
    allocation = bo.uniform(
        bo.Problem(
            attributes=[bo.Attribute(name, categories=2) for name in ("[b]", "[/i]")],
            total_epsilon=8.0,
            moments=[bo.CrossMoment("[b]", "[/i]")],
        )
    )
    counts = bo.Counts(("[b]", "[/i]"), [[400, 300], [200, 350]])
    told = (
        bo.estimate.independence_test(counts, allocation, "[b]", "[/i]"),
        bo.estimate.cramers_v(counts, allocation, "[b]", "[/i]"),
        bo.estimate.associations(counts, allocation),
        bo.estimate.moments(counts, allocation, [("[b]", "[/i]")]),
        bo.estimate.correlation(counts, allocation),
        bo.estimate.group_means(counts, allocation, "[b]", by="[/i]"),
    )
    for one in told:
        assert "[b]" in str(one)


TABLES = ("moments", "covariance", "correlation", "group means", "marginals", "table", "statistic")


@pytest.mark.parametrize("name", [*TABLES, "associations", "regression"])
def test_a_result_says_once_which_survey_weights_it_rests_on(name: str) -> None:
    assert str(RESULTS[name]()).count("Survey weights: share.") == 1
