"""The estimated table as people and programs read it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest

from budget_opt.allocation import Allocation, allocation_from
from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import Channel, along_all
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.joint.cell_errors import cell_errors
from budget_opt.estimators.joint.estimating import (
    TableOptions,
    effective_rows,
    estimate_marginals,
    estimate_table,
)
from budget_opt.estimators.joint.table import TableEstimate
from budget_opt.estimators.joint.unbiased import linear
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.releases.released import Released, open_released
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.priorities import all_pairs
from budget_opt.model.problem import Problem
from tests.estimators.joint.dense import channels, counts
from tests.estimators.release_model import FloatArray, skewed

ATTRIBUTES = (
    Attribute("smoker", categories=["no", "yes"]),
    Attribute("income", categories=[1, 2, 3], missing="category"),
    Attribute("share", categories=12),
)
SIZES = (2, 4, 12)


def allocation(epsilons: Sequence[float] = (2.0, 2.5, 3.0)) -> Allocation:
    names = [one.name for one in ATTRIBUTES]
    problem = Problem(attributes=ATTRIBUTES, moments=all_pairs(names), total_epsilon=sum(epsilons))
    return allocation_from(problem, dict(zip(names, epsilons, strict=True)))


def released(n: int = 20_000, epsilons: Sequence[float] = (2.0, 2.5, 3.0)) -> tuple[Released, FloatArray]:
    """What a release of n rows is expected to be, and the shares behind it."""
    given = allocation(epsilons)
    names = [one.name for one in ATTRIBUTES]
    truth = skewed(np.random.default_rng(41), SIZES)
    empty = Counts(tuple(names), np.ones(SIZES, dtype=int))
    given_channels = open_released(empty, given, names).channels_of(*names)
    rows = np.rint(n * along_all(Channel.spread, given_channels, truth)).astype(np.int64)
    return open_released(Counts(tuple(names), rows), given, names), truth


def table(method: str, *names: str, target: Target = "population", n: int = 20_000) -> TableEstimate:
    return estimate_table(released(n)[0], names, TableOptions(method, target, math.inf))


def test_a_table_knows_where_it_comes_from_and_what_it_cost() -> None:
    found = table("unbiased", "income", "smoker")
    assert found.attributes == ("income", "smoker")
    assert found.labels == ((1, 2, 3, None), ("no", "yes"))
    assert found.shares.shape == found.raw.shape == (4, 2)
    assert found.epsilon == 4.5
    assert found.kind == "estimated"
    assert found.shares == pytest.approx(released()[1].sum(axis=2).T, abs=2e-4)
    assert "No bias" in found.bias
    assert found.expected_avd == pytest.approx(found.own_error.expected_avd)


def test_rows_are_one_a_cell_in_order_with_labels_first() -> None:
    found = table("unbiased", "smoker", "income")
    rows = found.rows()
    assert [(row["smoker"], row["income"]) for row in rows[:5]] == [
        ("no", 1), ("no", 2), ("no", 3), ("no", None), ("yes", 1),
    ]  # fmt: skip
    low, high = found.interval()
    assert [row["share"] for row in rows] == found.shares.ravel().tolist()
    assert [row["low"] for row in rows] == low.ravel().tolist()
    assert [row["high"] for row in rows] == high.ravel().tolist()
    assert all(isinstance(row["standard_error"], float) for row in rows)
    share = rows[1]["share"]
    assert rows[1]["effective_n"] == pytest.approx(share * (1 - share) / rows[1]["standard_error"] ** 2)


def test_an_attribute_that_is_called_like_a_column_does_not_hide_it() -> None:
    rows = table("unbiased", "share", "smoker").rows()
    assert rows[0]["share"] == 0
    assert isinstance(rows[0]["estimated share"], float)
    assert released()[0].labels["share"][0] == 0
    found = estimate_marginals(released()[0], ["share"], TableOptions("unbiased"), named=True)
    assert found.rows()[0]["category"] == 0
    assert isinstance(found.rows()[0]["share"], float)


@pytest.mark.parametrize("method", ["unbiased", "simplex", "default"])
@pytest.mark.parametrize("target", ["population", "data"])
def test_a_table_as_a_document_is_strict_json_and_says_everything(method: str, target: Target) -> None:
    found = table(method, "smoker", "income", target=target)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["method"] == method
    assert document["target"] == target
    assert document["expected_avd"] > 0
    assert len(document["cells"]) == 8
    assert (document["cells"][0]["low"] is None) == (method != "unbiased")


def test_small_tables_are_printed_whole_and_of_large_ones_the_largest_cells() -> None:
    crossed = str(table("unbiased", "smoker", "income"))
    assert "smoker \\ income" in crossed
    assert "missing" in crossed
    assert crossed.count("+-") == 8
    listed = str(table("unbiased", "smoker"))
    assert "95 % interval" in listed
    large = str(table("simplex", "smoker", "income", "share"))
    assert "The 30 largest of 96 cells" in large
    assert "rows() and write() have all" in large
    assert "95 % interval" not in large
    for text in (crossed, listed, large):
        assert "Expected AVD" in text
        assert "epsilon" in text
        assert "n = 20,0" in text or "n = 19,9" in text


def test_r30_negative_cells_and_rough_intervals_are_flagged() -> None:
    found = table("unbiased", "smoker", "income", "share", n=600)
    negative = int(np.count_nonzero(found.shares < 0))
    assert negative > 0
    assert any(note.startswith(f"{negative} of 96 cells are negative") for note in found.notes)
    assert sum("negative" in row["note"] for row in found.rows()) == negative
    assert found.errors is not None
    few = int(np.count_nonzero(found.errors.few))
    assert few > 0
    assert any(note.startswith(f"{few} of 96 cells have fewer than 40") for note in found.notes)
    assert f"{negative} of 96 cells are negative" in str(found)


def test_the_normalised_table_is_the_nearest_distribution_and_has_no_errors() -> None:
    found = table("unbiased", "smoker", "income", "share", n=600)
    nearest = found.normalised()
    assert nearest.shares.min() == 0
    assert nearest.shares.sum() == pytest.approx(1)
    assert nearest.shares == pytest.approx(table("simplex", "smoker", "income", "share", n=600).shares)
    assert nearest.standard_errors is None
    assert nearest.expected_avd < found.expected_avd
    assert "Biased" in nearest.bias
    assert not any("negative" in note for note in nearest.notes)
    assert nearest.normalised() is nearest
    with pytest.raises(InputError, match="method='unbiased' only"):
        nearest.interval()
    cut = table("truncated", "income", "share", n=150).normalised()
    assert cut.shares.sum() == pytest.approx(1)
    assert cut.bias.count("Biased") == 2
    assert cut.method == "truncated, normalised"
    again = cut.with_bootstrap(20).standard_errors
    assert again is not None
    assert again.shape == cut.shares.shape
    assert "then the nearest distribution" in str(cut)


def test_bootstrap_errors_come_on_request_and_say_what_they_leave_out() -> None:
    found = table("simplex", "smoker", "income").with_bootstrap(300, seed=1)
    assert found.standard_errors is not None
    formula = table("unbiased", "smoker", "income").standard_errors
    assert found.standard_errors == pytest.approx(formula, rel=0.4)
    assert any("without bias" in note for note in found.notes)
    again = table("simplex", "smoker", "income").with_bootstrap(300, seed=1)
    assert np.array_equal(found.standard_errors, again.standard_errors)
    assert "+-" in str(found)


def test_combinations_and_shares_are_asked_of_the_table() -> None:
    found = table("unbiased", "smoker", "income")
    a = np.array([[0.0, 1, 2, 0], [0, 1, 2, 0]])
    combination = found.combination(a, "points")
    direct = linear(found.counts, found.channels, [a])
    assert combination.label == "points"
    assert combination.value == pytest.approx(direct.values[0])
    assert combination.standard_error**2 == pytest.approx(direct.covariances.population[0, 0])
    assert combination.effective_n is not None
    assert combination.effective_n < found.n
    assert found.covariance(a, a)[0, 1] == pytest.approx(combination.standard_error**2)
    share = found.share({"smoker": "yes", "income": [2, None]})
    assert share.label == "smoker = yes, income = 2 or missing"
    assert share.value == pytest.approx(found.shares[1, [1, 3]].sum())
    ratio = found.share({"smoker": "yes"}, given={"income": 2})
    assert ratio.label == "smoker = yes among income = 2"
    assert ratio.value == pytest.approx(found.shares[1, 1] / found.shares[:, 1].sum())
    for one in (share, ratio):
        json.dumps(one.to_dict(), allow_nan=False)
        assert "95 % interval" in str(one)
    with pytest.raises(InputError, match="method='unbiased' only"):
        table("simplex", "smoker").combination(np.ones(2))


def test_a_table_of_one_whole_share_has_the_interval_of_its_cell() -> None:
    found = table("unbiased", "smoker", "income")
    low, high = found.interval(0.9)
    assert found.share({"smoker": "no", "income": 1}).interval(0.9) == pytest.approx((low[0, 0], high[0, 0]))


def test_effective_rows_are_the_closed_form_and_all_rows_without_randomization() -> None:
    rows = np.rint(1e6 * skewed(np.random.default_rng(42), (3, 4))).astype(np.int64)
    assert effective_rows(counts(rows), channels((3, 4), (1.0, 1.0))) == pytest.approx(rows.sum(), rel=1e-6)
    given = channels((3, 4), (0.5, 0.7))
    spread = counts(np.rint(1e6 * along_all(Channel.spread, given, rows / rows.sum())).astype(np.int64))
    errors = cell_errors(spread, given, "population").standard_errors
    alone = (1 - np.sum((rows / rows.sum()) ** 2)) / np.sum(errors**2)
    assert effective_rows(spread, given) == pytest.approx(alone, rel=1e-4)
    assert effective_rows(counts(np.array([50, 0])), channels((2,), (1.0,))) is None


def test_a_table_of_noise_is_refused_and_its_default_is_not() -> None:
    given = released(1000, (1.0, 1.0, 1.0))[0]
    names = ("smoker", "income", "share")
    with pytest.raises(NoiseError, match='such as method="default"'):
        estimate_table(given, names, TableOptions("unbiased"))
    assert estimate_table(given, names, TableOptions("unbiased", noise_limit=math.inf)).expected_avd > 1
    assert estimate_table(given, names, TableOptions("default")).expected_avd < 0.5


def test_marginals_of_all_attributes_leave_noise_out_and_named_ones_refuse_it() -> None:
    given = released(2000, (2.0, 2.0, 0.05))[0]
    found = estimate_marginals(given, ["smoker", "income", "share"], TableOptions("unbiased"), named=False)
    assert found.attributes == ("smoker", "income")
    assert any("share" in note for note in found.notes)
    with pytest.raises(NoiseError):
        estimate_marginals(given, ["share"], TableOptions("unbiased"), named=True)
    with pytest.raises(NoiseError):
        estimate_marginals(given, ["share"], TableOptions("unbiased"), named=False)
    assert [row["attribute"] for row in found.rows()].count("income") == 4
    for row in found.rows():
        assert row["low"] <= row["nearest"] <= row["high"]
    text = str(found)
    assert "smoker = yes" in text
    assert "nearest" in text
    assert "Left out" in text
    json.dumps(found.to_dict(), allow_nan=False)
    assert found["income"].title == "income"
    with pytest.raises(InputError, match="not one of smoker, income"):
        found["share"]


def test_long_marginals_are_cut_with_a_sentence() -> None:
    many = Attribute("many", categories=40)
    problem = Problem(
        attributes=(many, ATTRIBUTES[0]), moments=all_pairs(["many", "smoker"]), total_epsilon=8
    )
    given = allocation_from(problem, {"many": 6.0, "smoker": 2.0})
    rows = Counts(("many", "smoker"), np.full((40, 2), 100))
    found = estimate_marginals(
        open_released(rows, given, ["many", "smoker"]),
        ["many", "smoker"],
        TableOptions("unbiased"),
        named=True,
    )
    assert "30 of 40 categories are shown" in str(found)
    assert len(found.rows()) == 42


def test_unknown_methods_and_targets_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="method"):
        table("best", "smoker")
    with pytest.raises(InputError, match="target"):
        estimate_table(released()[0], ["smoker"], TableOptions("unbiased", "sample"))
