"""`bo.estimate.entropy`, `cramers_v` and the others: values, ranges, notes, refusals, and the truth files."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import budget_opt as bo
from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.statistics.estimating import entropy_estimate, pair_estimate
from budget_opt.model.moments.moment import Survey
from tests.estimators.release_model import IntArray, release, released_shares
from tests.estimators.statistics.simulation import channels_of, designs, strong

ROWS = np.array([[50, 4, 6], [3, 60, 7]])
PLAIN = channels_of((2, 3), (1.0, 1.0))
NOISY = channels_of((2, 3), (0.6, 0.7))
PLAIN_2 = channels_of((2, 2), (1.0, 1.0))
NAMES = ("mutual information", "chi-square", "G^2", "phi^2", "Cramer's V")


def counts(rows: IntArray, times: int = 1) -> Counts:
    return Counts(("a", "b"), rows * times)


def test_of_unrandomized_data_they_are_scipys() -> None:
    n = ROWS.sum()
    pearson = stats.chi2_contingency(ROWS, correction=False).statistic
    likelihood = stats.chi2_contingency(ROWS, correction=False, lambda_="log-likelihood").statistic
    expected = {
        "mutual information": likelihood / (2 * n),
        "chi-square": pearson,
        "G^2": likelihood,
        "phi^2": pearson / n,
        "Cramer's V": stats.contingency.association(ROWS),
    }
    for name in NAMES:
        found = pair_estimate(name, counts(ROWS), PLAIN, "data")
        assert found.value == pytest.approx(expected[name], rel=1e-12)
        assert found.raw == pytest.approx(expected[name], rel=1e-12)
        assert found.standard_error == 0
        for end in found.interval():
            assert end == pytest.approx(found.value)
    entropy = entropy_estimate(counts(ROWS), PLAIN, "data")
    assert entropy.value == pytest.approx(stats.entropy(ROWS.ravel()), rel=1e-12)
    bits = entropy_estimate(counts(ROWS), PLAIN, "data", unit="bits")
    assert bits.value == pytest.approx(stats.entropy(ROWS.ravel(), base=2), rel=1e-12)
    assert bits.largest == pytest.approx(math.log2(6))


def test_they_are_functions_of_each_other() -> None:
    found = {name: pair_estimate(name, counts(ROWS, 1000), NOISY) for name in NAMES}
    n = ROWS.sum() * 1000
    phi = found["phi^2"]
    assert found["chi-square"].value == pytest.approx(n * phi.value)
    assert found["chi-square"].standard_error == pytest.approx(n * phi.standard_error)
    assert found["Cramer's V"].value == pytest.approx(math.sqrt(phi.value))
    assert found["Cramer's V"].interval() == tuple(map(math.sqrt, phi.interval()))
    # the root's error is that of phi^2 by the delta method, where V is many errors from 0
    assert found["Cramer's V"].standard_error == pytest.approx(
        phi.standard_error / (2 * math.sqrt(phi.value)), rel=0.01
    )
    assert found["G^2"].value == pytest.approx(2 * n * found["mutual information"].value)


def test_r30_values_outside_their_range_are_flagged_and_intervals_stay_inside() -> None:
    even = Counts(("a", "b"), np.full((2, 3), 1000))
    for name in NAMES:
        found = pair_estimate(name, even, NOISY)
        low, high = found.interval()
        assert low == 0
        assert 0 < high <= found.largest
        assert any("below 0" in note for note in found.notes)
    assert pair_estimate("Cramer's V", even, NOISY).value == 0
    assert pair_estimate("phi^2", even, NOISY).value < 0
    entropy = entropy_estimate(even, NOISY)
    assert entropy.value > math.log(6)
    assert entropy.interval()[1] == pytest.approx(math.log(6))
    assert any("above its largest" in note for note in entropy.notes)
    wide = pair_estimate("Cramer's V", counts(ROWS), channels_of((2, 3), (0.5, 0.5)))
    assert wide.interval()[1] == 1
    assert any("cut off" in note for note in wide.notes)
    negative = entropy_estimate(
        counts(np.array([[800, 10, 10], [10, 10, 10]])), channels_of((2, 3), (0.4, 0.5)), noise_limit=9
    )
    assert any("negative" in note for note in negative.notes)


def test_a_category_that_never_occurs_counts_where_there_is_noise_only() -> None:
    rows = np.array([[50, 4], [3, 60], [0, 0]])
    public = (Channel("a", 1.0, uniform(3)), Channel("b", 1.0, uniform(2)))
    found = pair_estimate("Cramer's V", counts(rows), public, "data")
    assert found.value == pytest.approx(stats.contingency.association(rows[:2]))
    assert entropy_estimate(counts(rows), public, "data").largest == pytest.approx(math.log(6))
    shares = np.zeros((3, 3))
    shares[:2, :2] = [[0.4, 0.1], [0.1, 0.4]]
    noisy = channels_of((3, 3), (0.7, 0.7))
    drawn = release(np.random.default_rng(1), np.rint(shares * 20_000).astype(np.int64), designs(noisy), 1)[0]
    absent = pair_estimate("Cramer's V", counts(drawn), noisy, "data")
    assert sum("may not occur" in note for note in absent.notes) == 2
    assert any("may go together, 1 pairs" in note for note in absent.notes)
    assert absent.largest == 1
    # 3 categories are declared, so that V is at most sqrt(1/2) with 2 of them: (0.6^2 / 2)^0.5
    low, high = absent.interval()
    assert low <= math.sqrt(0.36 / 2) <= high


def test_noise_is_refused_by_name_and_no_limit_lets_it_pass() -> None:
    silent = channels_of((2, 3), (1e-3, 2e-3))
    for name in NAMES:
        with pytest.raises(NoiseError, match="standard error"):
            pair_estimate(name, counts(ROWS, 100), silent)
        assert pair_estimate(name, counts(ROWS, 100), silent, noise_limit=math.inf).standard_error > 0
    with pytest.raises(NoiseError, match="entropy of a x b"):
        entropy_estimate(counts(ROWS, 100), silent)


def test_r30_rows_beyond_32_bits_give_errors_that_fall_with_their_root() -> None:
    few, many = (pair_estimate("Cramer's V", counts(ROWS, times), NOISY) for times in (10**6, 10**12))
    assert many.n == 130 * 10**12
    assert many.standard_error == pytest.approx(few.standard_error / 1000, rel=1e-3)
    assert many.value == pytest.approx(few.value, rel=1e-4)


def test_survey_weights_count_by_their_effective_number() -> None:
    rows: IntArray = np.rint(released_shares(strong((2, 3)), designs(NOISY)) * 13_000).astype(np.int64)
    once = rows.astype(np.float64)
    twice = Counts(("a", "b"), rows, once + once, once + once + once + once)
    half = Counts(("a", "b"), rows, once, once + once)  # as if half of the rows weighed twice, half nothing
    for name in NAMES:
        bare = pair_estimate(name, counts(rows), NOISY)
        assert pair_estimate(name, twice, NOISY).value == pytest.approx(bare.value, rel=1e-9)
        assert pair_estimate(name, twice, NOISY).standard_error == pytest.approx(
            bare.standard_error, rel=1e-9
        )
    v, v_half = (pair_estimate("phi^2", one, NOISY) for one in (counts(rows), half))
    assert v_half.standard_error == pytest.approx(math.sqrt(2) * v.standard_error, rel=0.01)
    assert v.effective_n is not None
    assert v_half.effective_n == pytest.approx(v.effective_n / 2, rel=0.01)
    assert pair_estimate("chi-square", half, NOISY).largest == pytest.approx(rows.sum() / 2)


def test_the_effective_number_is_that_of_rows_without_noise_with_the_same_error() -> None:
    rows = np.rint(strong((3, 3)) * 10**6).astype(np.int64)
    channels = channels_of((3, 3), (0.5, 0.6))
    noisy = pair_estimate(
        "phi^2", counts(release(np.random.default_rng(2), rows, designs(channels), 1)[0]), channels
    )
    assert noisy.effective_n is not None
    fewer = np.rint(rows * noisy.effective_n / rows.sum()).astype(np.int64)
    same = pair_estimate("phi^2", counts(fewer), channels_of((3, 3), (1.0, 1.0)))
    assert same.standard_error == pytest.approx(noisy.standard_error, rel=0.05)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: pair_estimate("phi", counts(ROWS), NOISY), "statistic"),
        (lambda: pair_estimate("phi^2", counts(ROWS), NOISY[:1]), "two attributes"),
        (lambda: pair_estimate("phi^2", counts(ROWS), NOISY, "sample"), "target"),  # type: ignore[arg-type]
        (lambda: pair_estimate("mutual information", counts(ROWS), NOISY, unit="bytes"), "unit"),  # type: ignore[arg-type]
        (lambda: pair_estimate("phi^2", counts(np.array([[5, 4], [0, 0]])), PLAIN_2), "single category"),
        (
            lambda: entropy_estimate(Counts(("a",), np.array([1])), (Channel("a", 1.0, uniform(1)),)),
            "one category",
        ),
    ],
)
def test_what_is_no_statistic_is_refused(call: Callable[[], Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        call()


DIAGONAL = Counts(("a", "b"), np.array([[15, 0], [0, 15]]))


@pytest.mark.parametrize("target", ["population", "data"])
def test_few_rows_that_are_all_alike_are_not_certain(target: Target) -> None:
    """Their variance about their own mean is 0; that of the reports is not, whatever the truths are."""
    channels = channels_of((2, 2), (0.9, 0.9))
    alike = entropy_estimate(Counts(("a",), np.array([30, 0])), channels[:1], target)
    found = [alike, *(pair_estimate(name, DIAGONAL, channels, target) for name in NAMES)]
    for one in found:
        low, high = one.interval()
        assert one.standard_error > 0.05 * one.largest
        assert high - low > 0.005 * one.largest
        assert any("within 4 standard errors" in note for note in one.notes)
    for rows in ([[1, 0], [0, 1]], [[2, 0], [0, 1]]):
        with pytest.raises(NoiseError):
            pair_estimate("phi^2", Counts(("a", "b"), np.array(rows)), channels, target)


def test_fewer_than_4_rows_a_cell_near_0_are_refused() -> None:
    """Of 30 x 30 cells with 1,000 rows mutual information came out at twice the truth, 10 errors away."""
    shares = 0.7 / 900 + 0.3 * np.eye(30) / 30
    channels = channels_of((30, 30), (0.8, 0.8))
    rows = release(
        np.random.default_rng(3),
        np.random.default_rng(2).multinomial(1000, shares.ravel()).reshape(30, 30),
        designs(channels),
        1,
    )[0]
    for call in (
        lambda limit: pair_estimate("mutual information", counts(rows), channels, noise_limit=limit),
        lambda limit: entropy_estimate(counts(rows), channels, noise_limit=limit),
    ):
        with pytest.raises(NoiseError, match=r"4 for each.*Merge categories"):
            call(1.0)
        assert call(math.inf).standard_error > 0


def test_categories_that_may_go_together_unseen_are_refused_where_they_could_be_everything() -> None:
    """Two categories of 1 in 100 that always go together: phi^2 is 1, and its estimates were about 0.4."""
    shares = np.array([[0.99, 0.0], [0.0, 0.01]])
    channels = channels_of((2, 2), (0.9, 0.9))
    rows = np.rint(released_shares(shares, designs(channels)) * 300).astype(np.int64)
    for name in ("phi^2", "Cramer's V", "chi-square"):
        with pytest.raises(NoiseError, match="categories near 0 may hide"):
            pair_estimate(name, counts(rows), channels)
        assert pair_estimate(name, counts(rows), channels, noise_limit=math.inf).interval()[1] > 0


def test_noise_limits_and_units_are_checked() -> None:
    for wrong in (10**400, 0, math.nan, "1", True):
        with pytest.raises(InputError, match="noise_limit"):
            pair_estimate("phi^2", counts(ROWS), NOISY, noise_limit=wrong)  # type: ignore[arg-type]
    for unit in (["nats"], "bans", None):
        with pytest.raises(InputError, match="unit"):
            entropy_estimate(counts(ROWS), NOISY, unit=unit)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def allocation() -> bo.Allocation:
    problem = bo.Problem(
        attributes=[bo.Attribute("a", categories=2), bo.Attribute("b", categories=["x", "y", "z"])],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=6.0,
        objective="geometric_mean",
        public=[bo.PublicColumn("site", why="known"), bo.PublicColumn("w", why="design")],
        survey=Survey(weight="w"),
    )
    return bo.solve(problem)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 3000)
    b = np.where(rng.random(3000) < 0.7, a, rng.integers(0, 3, 3000))
    return pd.DataFrame(
        {"a": a, "b": np.array(["x", "y", "z"])[b], "site": rng.choice(["n", "s"], 3000), "w": 1.0 + a}
    )


def test_the_public_functions_read_tables_counts_weights_and_public_columns(
    allocation: bo.Allocation, table: pd.DataFrame
) -> None:
    e = bo.estimate
    weighted = e.cramers_v(table, allocation, "a", "b")
    bare = e.cramers_v(table, allocation, "a", "b", weight=False)
    assert bare.n == 3000
    assert weighted.value != bare.value
    assert 0.85 < bare.value < 0.95
    for call in (e.chi_square, e.g_square, e.phi_square, e.mutual_information):
        assert call(table, allocation, "a", "b", target="data").value > 0
    assert 0 < e.entropy(table, allocation, "a", "b").value < math.log(6)
    assert e.entropy(table, allocation, "b").attributes == ("b",)
    assert e.independence_test(table, allocation, "a", "b").p_value < 1e-9
    assert e.independence_test(table, allocation, "b", "site", weight=False).p_value > 1e-6
    parts = [e.count(part, allocation, "a", "b", weight=False) for part in (table[:1000], table[1000:])]
    both = e.cramers_v(parts[0] + parts[1], allocation, "a", "b", weight=False)
    assert both.value == pytest.approx(bare.value, rel=1e-12)
    for call in (e.cramers_v, e.mutual_information):
        with pytest.raises(bo.InputError, match="two must be"):
            call(table, allocation, "a")
    with pytest.raises(bo.InputError, match="one or more"):
        e.entropy(table, allocation)


def test_associations_are_the_pairs_as_a_matrix(allocation: bo.Allocation, table: pd.DataFrame) -> None:
    found = bo.estimate.associations(table, allocation, "a", "b", "site", weight=False)
    assert found.values == pytest.approx(found.values.T)
    assert np.diag(found.values).tolist() == [1, 1, 1]
    alone = bo.estimate.cramers_v(table, allocation, "a", "b", weight=False)
    assert found.values[0, 1] == found["b", "a"].value == alone.value
    assert found.standard_errors[0, 1] == alone.standard_error
    assert [(row["a"], row["b"]) for row in found.rows()] == [("a", "b"), ("a", "site"), ("b", "site")]
    assert "Cramer's V" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(bo.InputError, match="not one of the pairs"):
        found["a", "nobody"]
    assert bo.estimate.associations(table, allocation).attributes == ("a", "b")
    with pytest.raises(bo.InputError, match="fewer than two"):
        bo.estimate.associations(table, allocation, "a")


def test_results_print_and_are_strict_json(allocation: bo.Allocation, table: pd.DataFrame) -> None:
    found = bo.estimate.entropy(table, allocation, "a", "b", unit="bits", weight=False)
    assert str(found).startswith("Entropy of a x b, estimated (target population")
    assert "bits" in str(found)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["interval"] == list(found.interval())
    assert plain["kind"] == "estimated"
    assert set(found.rows()[0]) >= {"statistic", "value", "low", "high", "raw", "n", "effective_n", "target"}


@pytest.mark.parametrize("name", ["alcohol", "nursery"])
def test_cramers_v_of_releases_agrees_with_the_truth_file(shared_data: Path, name: str) -> None:
    """phi^2 of all pairs within 6 stated errors, and nine of ten in their intervals."""
    schema = json.loads((shared_data / f"{name}.schema.json").read_text())
    truth = json.loads((shared_data / f"{name}.truth.json").read_text())
    with gzip.open(shared_data / f"{name}.csv.gz", "rt", encoding="utf-8") as page:
        table = pd.read_csv(page, dtype=str, keep_default_na=False)
    categories = {
        column["name"]: column["categories"]
        for column in schema["columns"]
        if column.get("in_truth") and "categories" in column
    }
    codes = {
        one: pd.Categorical(table[one], [str(label) for label in labels]).codes
        for one, labels in categories.items()
    }
    rng = np.random.default_rng(12)
    covered = []
    for a, b in itertools.combinations(codes, 2):
        rows = np.zeros((len(categories[a]), len(categories[b])), dtype=np.int64)
        np.add.at(rows, (codes[a], codes[b]), 1)
        channels = channels_of(rows.shape, (0.6, 0.6))
        drawn = release(rng, rows, designs(channels), 1)[0]
        found = pair_estimate("phi^2", Counts(("a", "b"), drawn), channels, "data")
        true = truth["cramers_v"][a][b] ** 2 * (min(truth["cardinality"][a], truth["cardinality"][b]) - 1)
        assert abs(found.value - true) <= 6 * found.standard_error
        low, high = found.interval()
        covered.append(low <= true + 1e-12 and true <= high)
    assert np.mean(covered) >= 0.9


@pytest.mark.parametrize("statistic", ["Cramer's V", "phi^2", "mutual information", "entropy"])
@pytest.mark.parametrize("target", ["population", "data"])
def test_where_nothing_is_told_from_0_the_effective_number_is_that_of_rows_with_the_same_error(
    statistic: str, target: Target
) -> None:
    """The first derivative vanishes there: its ratio was 0.0055 rows beside an error that 20 rows have."""
    shape = (3, 4)
    free = np.full(shape, 1 / 12)
    noisy = channels_of(shape, (0.3, 0.4))
    rows = release(np.random.default_rng(7), np.rint(free * 24_000).astype(np.int64), designs(noisy), 1)[0]

    def estimate(rows: IntArray, channels: Any, target: Target) -> Any:
        if statistic == "entropy":
            return entropy_estimate(counts(rows), channels, target, noise_limit=math.inf)
        return pair_estimate(statistic, counts(rows), channels, target, noise_limit=math.inf)

    found = estimate(rows, noisy, target)
    assert found.interval()[0 if statistic != "entropy" else 1] == pytest.approx(
        0 if statistic != "entropy" else math.log(12)
    )
    assert found.effective_n == pytest.approx(estimate(rows, noisy, "population").effective_n)
    fewer = np.rint(free * found.effective_n).astype(np.int64)
    same = estimate(fewer, channels_of(shape, (1.0, 1.0)), "population")
    assert same.standard_error == pytest.approx(estimate(rows, noisy, "population").standard_error, rel=0.3)
    assert same.effective_n == pytest.approx(found.effective_n, rel=0.3)


def test_where_negative_cells_count_in_it_the_effective_number_is_not_known() -> None:
    """Of a strong link with cells that are far below 0 by noise."""
    rows = np.array([[400, 300, 20], [20, 200, 400], [170, 100, 10]])
    found = pair_estimate("phi^2", counts(rows), channels_of((3, 3), (0.45, 0.45)), noise_limit=math.inf)
    assert found.interval()[0] > 0
    assert any("corrected cells are negative" in note for note in found.notes)
    assert found.effective_n is None
