"""Estimates of one release: exact identities, the same number by every way of counting, and clear errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.allocation import Allocation, uniform
from budget_opt.errors import DataError, InputError
from budget_opt.estimators.estimate import MomentEstimate, Target
from budget_opt.estimators.moments.designs import designs_of
from budget_opt.estimators.moments.moment import moment_from_cells, moment_from_codes, moment_from_counts
from budget_opt.estimators.moments.options import MomentOptions
from budget_opt.estimators.moments.released_moments import moments
from budget_opt.estimators.releases.counting import cells_of_codes
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.tables.counting import joint_counts
from tests.estimators.release_model import allocation_like, design, matrix, moment_of, released_shares, skewed

TARGETS: tuple[Target, ...] = ("population", "data")


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_expected_release_of_any_table_gives_back_its_own_moment(order: int, seed: int) -> None:
    """Theorem 1 (Ruiz 2026) divided out, for orders 1 to 4, any scores and non-uniform backgrounds."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(r) for r in rng.integers(2, 5, order))
    designs = [
        design(f"a{m}", float(rng.uniform(0.2, 1)), rng.normal(size=r), rng.dirichlet(np.ones(r) * 5))
        for m, r in enumerate(shape)
    ]
    table = skewed(rng, shape)
    n = 10**15
    expected = np.rint(n * released_shares(table, designs)).astype(np.int64)
    estimate = moment_from_counts(expected, designs)
    scale = math.prod(float(np.abs(one.scores).max()) / one.retention for one in designs)
    assert estimate.value == pytest.approx(moment_of(table, designs), abs=1e-9 * scale)


@given(st.integers(2, 6), st.floats(0.01, 1), st.integers(0, 2**32 - 1))
def test_the_noise_of_a_category_is_an_unbiased_variance_given_the_truth(
    r: int, kept: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    one = design("a", kept, rng.normal(size=r), rng.dirichlet(np.ones(r)))
    given_truth = matrix(one) @ one.scores**2 - (matrix(one) @ one.scores) ** 2
    assert matrix(one) @ one.noise == pytest.approx(given_truth, abs=1e-12)
    assert np.all(one.noise >= 0)


def test_counting_first_and_reading_row_by_row_give_the_same_estimate() -> None:
    rng = np.random.default_rng(3)
    designs = [design("a", 0.4, [0, 1, 4]), design("b", 0.5, [1, 0]), design("c", 0.6, [0, 1, 2, 3, 4])]
    n = 300_000  # several blocks
    codes = {one.name: rng.integers(0, one.cardinality, n).astype(np.uint8) for one in designs}
    shape = {one.name: one.cardinality for one in designs}
    counted = cells_of_codes(codes, shape)
    rows = cells_of_codes(codes, shape, largest_table=0)
    assert counted.codes[0].size == 30
    assert rows.codes[0].size == n
    for order in (1, 2, 3):
        for target in TARGETS:
            parts = [
                moment_from_cells(type(c)(c.codes[:order], c.rows), designs[:order], target)
                for c in (counted, rows)
            ]
            assert parts[0].n == parts[1].n == n
            assert parts[0].value == pytest.approx(parts[1].value, rel=1e-9, abs=1e-12)
            assert parts[0].standard_error == pytest.approx(parts[1].standard_error, rel=1e-9)


def test_counts_of_parts_add_up_to_the_counts_of_the_whole() -> None:
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, r, 1_000).astype(np.uint8) for r in (3, 200)]
    parts = [
        joint_counts([column[part] for column in columns], (3, 200))
        for part in (slice(400), slice(400, None))
    ]
    assert np.array_equal(parts[0] + parts[1], joint_counts(columns, (3, 200)))


def test_counts_beyond_2_to_the_31_keep_their_digits() -> None:
    """R30: a table a million million times as large has the same moment and a millionth of the error."""
    designs = [design("a", 0.4, [0, 1]), design("b", 0.5, [0, 1])]
    small = np.array([[400, 100], [150, 350]])
    one, many = (moment_from_counts(table, designs) for table in (small, small * 10**12))
    assert many.n == 10**15
    assert many.value == pytest.approx(one.value, rel=1e-12)
    assert many.standard_error * 1e6 == pytest.approx(one.standard_error, rel=1e-3)


def test_the_error_measured_from_the_data_is_the_smaller_one_even_in_tiny_tables() -> None:
    rng = np.random.default_rng(6)
    designs = [design("a", 0.95, [0, 1]), design("b", 0.95, [0, 1, 2])]
    for _ in range(500):
        counts = rng.multinomial(4, rng.dirichlet(np.ones(6))).reshape(2, 3)
        errors = [
            moment_from_counts(counts, designs, target=t).standard_error for t in ("population", "data")
        ]
        assert errors[0] >= errors[1] >= 0


def test_a_column_that_came_out_constant_still_has_an_error() -> None:
    """The sample variance is 0, and the randomization alone is known to be there."""
    for target in TARGETS:
        assert (
            moment_from_counts(np.array([5, 0]), [design("a", 0.9, [0, 1])], target=target).standard_error > 0
        )


def test_at_full_retention_the_estimate_is_the_released_moment() -> None:
    estimate = moment_from_counts(
        np.array([[40, 10], [15, 35]]), [design("a", 1.0, [0, 1]), design("b", 1.0, [0, 1])]
    )
    assert estimate.value == estimate.raw == pytest.approx(0.4 - 0.5 * 0.55 + 0.5 * 0.55 - 0.5 * 0.45 - 0.05)


def test_one_attribute_gives_its_mean() -> None:
    """P(y = v) - q_v = lambda (P(x = v) - q_v): 0.6 seen, noise at 0.5, a half kept, so 0.7."""
    estimate = moment_from_counts(np.array([40, 60]), [design("a", 0.5, [0, 1])])
    assert estimate.raw == pytest.approx(0.6)
    assert estimate.value == pytest.approx(0.7)


@pytest.mark.parametrize(("order", "least"), [(1, 2), (2, 3), (3, 4)])
def test_too_few_rows_are_refused_with_their_number_and_the_limit(order: int, least: int) -> None:
    designs = [design(f"a{m}", 0.5, [0, 1]) for m in range(order)]
    for n in (0, least - 1):
        codes = {one.name: np.arange(n) % 2 for one in designs}
        with pytest.raises(InputError, match=rf"has {n} rows, .* needs at least {least}"):
            moment_from_codes(codes, designs)


def test_a_code_outside_the_domain_is_refused_with_its_column_and_count_and_not_its_value() -> None:
    designs = [design("a", 0.5, [0, 1]), design("b", 0.5, [0, 1])]
    codes = {"a": np.zeros(10, np.uint8), "b": np.array([0] * 8 + [77, 77], np.uint8)}
    with pytest.raises(DataError, match="column 'b': 2 rows") as caught:
        moment_from_codes(codes, designs)
    assert "77" not in str(caught.value)


@pytest.mark.parametrize("counts", [np.array([-1, 4]), np.array([0.5, 4.0])])
def test_counts_are_whole_and_not_negative(counts: Any) -> None:
    with pytest.raises(InputError, match="whole numbers"):
        moment_from_counts(counts, [design("a", 0.5, [0, 1])])


def test_a_table_of_another_shape_and_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(3,\), the attributes need \(2,\)"):
        moment_from_counts(np.array([1, 2, 3]), [design("a", 0.5, [0, 1])])
    designs = [design("a", 0.5, [0, 1]), design("b", 0.5, [0, 1])]
    with pytest.raises(InputError, match="different numbers of rows"):
        moment_from_codes({"a": np.zeros(3, np.uint8), "b": np.zeros(4, np.uint8)}, designs)


def test_an_unknown_target_or_level_is_refused() -> None:
    counts, designs = np.array([4, 6]), [design("a", 0.5, [0, 1])]
    unknown: Any = "sample"
    with pytest.raises(InputError, match="'sample'"):
        moment_from_counts(counts, designs, target=unknown)
    for level in (0.0, 1.0, 95.0, math.nan):
        with pytest.raises(InputError, match="level"):
            moment_from_counts(counts, designs).interval(level)


def test_designs_carry_the_samplers_own_lambda_and_the_declared_scores() -> None:
    allocation = allocation_like()
    smoker, region = designs_of(allocation, ("smoker", "region"), {"region": [1, 0, 0]})
    assert smoker.retention == float(allocation.attributes[0].column_sampler.retention)
    assert smoker.scores.tolist() == [0, 1]
    assert region.scores.tolist() == [1, 0, 0]
    assert region.background.tolist() == [1 / 3] * 3


@pytest.mark.parametrize(
    ("names", "scores", "words"),
    [
        (("smokr",), None, "Did you mean 'smoker'"),
        ((), None, "at least one"),
        (("smoker", "smoker"), None, "named twice"),
        (("smoker", "region"), None, r"scores=.*region.*ordered: true"),
        (("silent",), None, "nothing about it was released"),
        (("region",), {"region": [1, 2]}, "2 scores are given, the domain has 3"),
        (("region",), {"region": [1, 2, math.nan]}, "finite"),
        (("smoker",), {"region": [1, 2, 3]}, "'region' is not an attribute of the moment"),
    ],
)
def test_an_attribute_that_cannot_be_estimated_is_refused_with_the_way_out(
    names: tuple[str, ...], scores: dict[str, list[float]] | None, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        designs_of(allocation_like(), names, scores)


def test_an_estimate_prints_on_one_line_and_goes_to_json_and_to_a_table() -> None:
    estimate = MomentEstimate(
        label="a x b",
        attributes=("a", "b"),
        value=0.25,
        standard_error=0.01,
        n=1000,
        target="population",
        retention=0.5,
        raw=0.125,
    )
    assert "\n" not in str(estimate)
    assert str(estimate).startswith("a x b: 0.25, standard error 0.01, 95 % interval 0.2304 to 0.2696")
    written = json.loads(json.dumps(estimate.to_dict(), allow_nan=False))
    assert written["kind"] == "estimated"
    assert written["interval"] == pytest.approx([0.2304, 0.2696], abs=1e-5)
    (row,) = estimate.rows()
    assert list(row) == [
        "moment", "value", "standard_error", "low", "high", "raw", "effective_n", "useful", "mse_corrected",
        "mse_raw", "target", "n", "kind", "notes", "retention",
    ]  # fmt: skip
    assert (row["moment"], row["n"]) == ("a x b", 1000)


# Tables and files


@pytest.fixture(scope="module")
def allocation() -> Allocation:
    return uniform(
        Problem(
            attributes=[
                Attribute("smoker", categories=["no", "yes"], ordered=True),
                Attribute(
                    "age", bins=[18, 30, 45, None], scores=[24, 37, 60], missing="category", missing_score=40
                ),
                Attribute("region", categories=["north", "south", "west"]),
            ],
            moments=[CrossMoment("smoker", "age")],
            total_epsilon=3.0,
        )
    )


AGES = ["[18, 30)", "[30, 45)", "[45, inf)", None]


@pytest.fixture(scope="module")
def codes() -> dict[str, Any]:
    rng = np.random.default_rng(8)
    return {
        "smoker": rng.integers(0, 2, 500),
        "age": rng.integers(0, 4, 500),
        "region": rng.integers(0, 3, 500),
    }


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars", "csv", "parquet"])
def test_a_released_table_of_any_kind_gives_the_estimate_of_its_codes(
    allocation: Allocation, codes: dict[str, Any], kind: str, tmp_path: Path
) -> None:
    table = pa.table(
        {
            "region": pa.array([["north", "south", "west"][code] for code in codes["region"]]),
            "age": pa.array([AGES[code] for code in codes["age"]]),
            "smoker": pa.array([["no", "yes"][code] for code in codes["smoker"]]),
        }
    )
    released: Any = table
    if kind == "pandas":
        released = table.to_pandas()
    elif kind == "polars":
        released = polars.from_arrow(table)
    elif kind == "csv":
        released = tmp_path / "released.csv"
        pyarrow.csv.write_csv(table, released)
    elif kind == "parquet":
        released = tmp_path / "released.parquet"
        pyarrow.parquet.write_table(table, released)
    scores = {"region": [0.0, 1.0, 0.0]}
    got = moments(
        released, allocation, [("smoker", "age"), ("age", "region"), ("age",)], MomentOptions(scores=scores)
    )
    expected = [
        moment_from_codes(codes, designs_of(allocation, ("smoker", "age"))),
        moment_from_codes(codes, designs_of(allocation, ("age", "region"), scores)),
        moment_from_codes(codes, designs_of(allocation, ("age",))),
    ]
    assert list(got) == expected
    assert (
        moments(released, allocation, [("smoker", "age")], MomentOptions(target="data"))[0].target == "data"
    )


def test_a_table_that_was_not_released_under_the_allocation_is_refused(allocation: Allocation) -> None:
    sound = {"age": ["[18, 30)"] * 3, "region": ["north"] * 3}
    table = pa.table({"smoker": ["yes", "canary", "no"], **sound})
    with pytest.raises(DataError, match="smoker") as caught:
        moments(table, allocation, [("smoker",)], MomentOptions())
    assert "canary" not in str(caught.value)
    with pytest.raises(DataError, match="no column 'age'"):
        moments(table.drop_columns("age"), allocation, [("smoker",)], MomentOptions())


def test_scores_of_an_attribute_that_no_moment_has_are_refused(allocation: Allocation) -> None:
    with pytest.raises(InputError, match="'region' is not an attribute of the moments asked for"):
        moments(
            pa.table({"smoker": ["yes"]}),
            allocation,
            [("smoker",)],
            MomentOptions(scores={"region": [1, 2, 3]}),
        )
