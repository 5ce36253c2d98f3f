"""Linear regression from corrected moments: least squares without noise, unbiased moments with it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import statsmodels.api as sm

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.regression.basis import basis_of
from budget_opt.estimators.regression.features import features_of
from budget_opt.estimators.regression.linear import linear
from budget_opt.estimators.regression.terms import function_of
from budget_opt.estimators.releases.counting import Cells, Counts
from tests.estimators.regression.made import matrix_of, one_cell, opened_of, records_of
from tests.estimators.release_model import design, matrix, release, skewed

SHAPE = (3, 3, 2, 3)
SCORES = {"y": [0.0, 1.0, 3.0], "x": [-2.0, 0.0, 5.0], "z": [0.0, 1.0], "g": None}
UNTOUCHED = dict.fromkeys("yxzg", 1.0)
NOISY = {"y": 0.6, "x": 0.8, "z": 0.7, "g": 0.75}
FORMULAS = ["y ~ x + z", "y ~ x*z + C(g)", "y ~ 0 + g + x:z", "I(y**2) ~ I(x**2) + g - 1", "y ~ 0 + x"]


def table(n: int = 4000, seed: int = 1):
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, skewed(rng, SHAPE).ravel()).reshape(SHAPE)


def released(retentions, n: int = 4000):
    """A release of the table, as joint counts."""
    designs = [
        design(name, kept, range(r)) for (name, kept), r in zip(retentions.items(), SHAPE, strict=True)
    ]
    return release(np.random.default_rng(5), table(n), designs, 1)[0]


@pytest.mark.parametrize("formula", FORMULAS)
def test_without_randomization_it_is_ordinary_least_squares_with_hc1_errors(formula: str) -> None:
    counts = table()
    opened = opened_of(formula, counts, UNTOUCHED, SCORES)
    codes = dict(zip(UNTOUCHED, records_of(counts).T, strict=True))
    outcome = function_of(opened.model.response.factors[0], opened.axes)[codes["y"]]
    fitted = sm.OLS(outcome, matrix_of(opened, codes)).fit(cov_type="HC1")
    found = linear(opened, "population")
    assert [one.value for one in found] == pytest.approx(list(fitted.params), rel=1e-10)
    assert [one.raw for one in found] == pytest.approx(list(fitted.params), rel=1e-10)
    assert [one.standard_error for one in found] == pytest.approx(list(fitted.bse), rel=1e-10)
    assert [one.interval()[0] for one in found] == pytest.approx(list(fitted.conf_int()[:, 0]), rel=0.01)
    assert found.r_squared == pytest.approx(fitted.rsquared, rel=1e-10)
    assert found.residual_variance == pytest.approx(fitted.mse_resid, rel=1e-10)
    assert max(one.standard_error for one in linear(opened, "data")) <= 1e-6
    assert [one.effective_n for one in found] == pytest.approx([4000 * 1.0] * len(found), rel=0.01)


def test_survey_weights_are_those_of_weighted_least_squares() -> None:
    counts = table()
    rng = np.random.default_rng(3)
    weight = rng.choice([0.5, 1.0, 2.0], counts.sum())
    records = records_of(counts)
    index = np.ravel_multi_index(tuple(records.T), SHAPE)

    def summed(power: int):
        return np.bincount(index, weight**power, counts.size).reshape(SHAPE)

    weighted = Counts(tuple(UNTOUCHED), counts, summed(1), summed(2))
    opened = opened_of("y ~ x*z + C(g)", weighted, UNTOUCHED, SCORES)
    codes = dict(zip(UNTOUCHED, records.T, strict=True))
    outcome = np.array(SCORES["y"])[codes["y"]]
    fitted = sm.WLS(outcome, matrix_of(opened, codes), weights=weight).fit(cov_type="HC1")
    found = linear(opened, "population")
    assert [one.value for one in found] == pytest.approx(list(fitted.params), rel=1e-9)
    assert [one.standard_error for one in found] == pytest.approx(list(fitted.bse), rel=1e-9)
    assert found.coefficients[0].effective_n < weighted.n
    assert max(one.standard_error for one in linear(opened, "data")) <= 1e-6


@pytest.mark.parametrize("formula", ["y ~ x*z + C(g)", "y ~ 0 + g + I(x**2)"])
def test_r29_moments_of_any_two_and_four_functions_are_unbiased_given_the_record(formula: str) -> None:
    """Over all reports of each record, by dense matrices."""
    opened = opened_of(formula, table(), NOISY, SCORES)
    outcome = function_of(opened.model.response.factors[0], opened.axes)
    columns = opened.columns
    functions = basis_of("y", outcome, columns.columns, intercept=columns.intercept).functions
    shape = [channel.cardinality for channel in opened.channels]
    records = [(0,) * len(shape), tuple(r - 1 for r in shape), tuple(min(1, r - 1) for r in shape)]
    every = [matrix(design(one.name, one.retention, range(one.cardinality))) for one in opened.channels]
    reports = list(product(*map(range, shape)))
    images = [features_of(functions, one_cell(report), opened.channels) for report in reports]
    names, places = [channel.name for channel in opened.channels], images[0].places
    for record in records:
        chances = [
            math.prod(p[x, y] for p, x, y in zip(every, record, report, strict=True)) for report in reports
        ]
        z = [math.prod(f[name][record[names.index(name)]] for name in f) for f in functions]
        pairs = np.zeros(images[0].first.size)
        pairs[places] = np.outer(z, z)
        first = sum(chance * image.first for chance, image in zip(chances, images, strict=True))
        original = sum(chance * image.original for chance, image in zip(chances, images, strict=True))
        assert first == pytest.approx(pairs, abs=1e-10)
        assert original == pytest.approx(np.outer(pairs, pairs), abs=1e-9)


def test_products_of_indicators_that_never_hold_together_are_left_out_and_others_are_not() -> None:
    """Of k indicators and a constant 2k + 1 products of two, and 4k + 1 of four, are not 0."""
    functions = [{}, *({"g": row} for row in np.eye(30))]
    channel = Channel("g", 0.5, uniform(30))
    found = features_of(functions, Cells((np.arange(30, dtype=np.uint8),)), (channel,))
    assert found.first.size == 2 * 30 + 2
    assert found.places[3, 4] == found.first.size - 1
    assert not found.gram[-1].any()
    assert not found.original[-1].any()
    assert found.matrix() == pytest.approx(found.matrix().T)
    assert found.matrix()[0, 0] == pytest.approx(1)
    assert np.diag(found.matrix())[1:] == pytest.approx(1 / 30)


def test_the_covariates_cells_may_be_counted_or_not() -> None:
    """Rows, their joint table, and blocks of rows give the same."""
    counts = released(NOISY, 40_000)
    counted = opened_of("y ~ x*z + C(g)", counts, NOISY, SCORES)
    rows = records_of(counts).T
    order = [list(NOISY).index(channel.name) for channel in counted.channels]
    listed = replace(counted, cells=replace(counted.cells, codes=tuple(rows[i] for i in order), rows=None))
    for one, other in zip(linear(counted, "data"), linear(listed, "data"), strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-9)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9)


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_scores_of_any_size_scale_the_coefficients_and_nothing_else(factor: float) -> None:
    counts = released(NOISY)
    plain = linear(opened_of("y ~ x + z", counts, NOISY, SCORES), "data")
    larger = {**SCORES, "y": [factor * f for f in SCORES["y"]], "x": [7 + f for f in SCORES["x"]]}
    scaled = linear(opened_of("y ~ x + z", counts, NOISY, larger), "data")
    for label in ("x", "z"):
        assert scaled[label].value == pytest.approx(factor * plain[label].value, rel=1e-9)
        assert scaled[label].interval() == pytest.approx(
            [factor * end for end in plain[label].interval()], rel=1e-9
        )
    assert scaled["Intercept"].value == pytest.approx(
        factor * (plain["Intercept"].value - 7 * plain["x"].value), rel=1e-9
    )
    assert scaled.r_squared == pytest.approx(plain.r_squared, rel=1e-9)


def test_columns_that_are_sums_of_others_are_refused() -> None:
    with pytest.raises(InputError, match="a sum of multiples of others"):
        linear(opened_of("y ~ x + I(2*x)", table(), UNTOUCHED, SCORES), "population")
    for formula in ("y ~ x + I(2*x)", "y ~ C(g) + x + C(x)", "y ~ x + z + x:z + I(x+1):z"):
        with pytest.raises(InputError, match="a sum of multiples of others"):
            linear(opened_of(formula, table(), NOISY, SCORES), "population", math.inf)


@pytest.mark.parametrize("target", ["population", "data"])
@pytest.mark.parametrize("column", ["I(x*1e200)", "I(x*1e-200)", "I(x*1e-320)", "x:I(z*1e51)"])
def test_columns_beyond_the_range_are_refused(column: str, target: Target) -> None:
    with pytest.raises(InputError, match="Multiply it by a constant"):
        linear(opened_of(f"y ~ {column}", table(), NOISY, SCORES), target, math.inf)
    with np.errstate(all="raise"):
        assert len(linear(opened_of("y ~ I(x*1e49)", released(NOISY), NOISY, SCORES), target)) == 2


def test_an_interval_without_ends_is_noted() -> None:
    little = dict.fromkeys("yxzg", 0.2)
    found = linear(opened_of("y ~ x + z", released(little, 1_500), little, SCORES), "population", math.inf)
    endless = [one.label for one in found if not all(map(math.isfinite, one.interval()))]
    assert endless
    (note,) = [note for note in found.notes if "is unbounded" in note]
    assert ", ".join(endless) in note
    clear = linear(opened_of("y ~ x + z", released(NOISY), NOISY, SCORES), "population")
    assert not any("unbounded" in note for note in clear.notes)


def test_noise_is_refused_and_returned_when_asked_for() -> None:
    little = dict.fromkeys("yxzg", 0.2)
    opened = opened_of("y ~ x + z", released(little), little, SCORES)
    with pytest.raises(NoiseError) as caught:
        linear(opened, "population")
    assert caught.value.standard_error > caught.value.limit
    assert "noise_limit=" in str(caught.value)
    assert len(linear(opened, "population", math.inf)) == 3


def test_the_outcome_is_one_function_of_one_attribute_that_is_not_on_the_right() -> None:
    counts = table()
    for formula, said in [
        ("y ~ x + I(y**2)", "y on both sides"),
        ("y:x ~ z", "must be a function of one"),
        ("g ~ x", "categories without scores"),
        ("I(0*y) ~ x", "one value only"),
    ]:
        with pytest.raises(InputError, match=said):
            linear(opened_of(formula, counts, NOISY, SCORES), "population")
    few = np.zeros(SHAPE, dtype=np.int64)
    few.reshape(-1)[[0, 20, 30, 50]] = 1
    with pytest.raises(InputError, match="4 rows"):
        linear(opened_of("y ~ x + z + g", few, NOISY, SCORES), "population")


@pytest.mark.parametrize(
    ("counts", "least", "most", "said"),
    [
        ([[78, 87], [29, 124], [40, 42]], -0.2, 0.0, "R^2 is estimated below 0, which is noise"),
        ([[58, 44], [122, 37], [57, 82]], 1.0, 2.0, "estimated below 0, and R^2 above 1, which is noise"),
        ([[53, 87], [122, 39], [41, 58]], 0.0, 1.0, None),
    ],
)
def test_an_r_squared_outside_its_range_is_shown_with_a_note(counts, least, most, said) -> None:
    opened = opened_of("y ~ x", np.array(counts), {"y": 0.3, "x": 0.5}, {})
    found = linear(opened, "population", math.inf)
    assert least < found.r_squared < most
    assert any("R^2" in note for note in found.notes) is (said is not None)
    assert said is None or said in " ".join(str(found).split())
    assert f"R^2 {found.r_squared:.4g}" in str(found)


def test_rows_that_carry_no_weight_are_no_rows() -> None:
    weights = np.zeros(SHAPE)
    weights[0, 0, 0, 0] = 1.0
    weighted = Counts(tuple(UNTOUCHED), table(), weights, weights)
    with pytest.raises(InputError, match="4000 rows, which their weights make worth 1"):
        linear(opened_of("y ~ x + z", weighted, NOISY, SCORES), "population")


def test_few_rows_of_a_category_are_told_and_widen_the_interval() -> None:
    """Student's t with as many degrees of freedom as its rows, less one."""
    counts = np.array([[100, 60, 40], [50, 20, 10], [4, 2, 1]])
    opened = opened_of("y ~ C(x)", counts.T, {"y": 0.9, "x": 1.0}, {})
    found = linear(opened, "population")
    (note,) = (note for note in found.notes if "rows tell" in note)
    assert "only about 7.5 rows tell the coefficient of C(x)[T.2]" in note
    one = found["C(x)[T.2]"]
    low, high = one.interval()
    assert (high - low) / 2 == pytest.approx(2.403 * one.standard_error, rel=0.02)  # t of 6.5 degrees
    assert not any("rows tell" in note for note in linear(opened, "data").notes)


def test_a_release_near_the_limit_says_so_and_its_interval_is_wider() -> None:
    """What the rest leaves of x is 6 of its errors from 0: with less than 4 nothing is shown."""
    counts = np.array([[105, 38, 24], [12, 13, 18], [6, 8, 16]])
    opened = opened_of("y ~ x", counts.T, {"y": 0.8, "x": 0.8}, {})
    found = linear(opened, "population")
    assert any("from 4 on a regression is shown" in note for note in found.notes)
    error = math.sqrt(found["x"].left_variance)
    assert found["x"].least_left == pytest.approx(4 * error, rel=1e-12)
    far, near = (replace(found["x"], least_left=least) for least in (0.0, 1 - error))
    widths = [high - low for low, high in (one.interval() for one in (far, found["x"], near))]
    assert widths[0] < widths[1] < widths[2]


def test_where_the_noise_hides_a_category_it_is_named_and_no_count_is() -> None:
    """The released shares of g are (1 - lambda) / 3 of the second: its corrected share is below 0."""
    rows = np.zeros((3, 3, 2, 3), dtype=np.int64)
    rows[..., 0], rows[..., 1], rows[..., 2] = table(seed=2)[..., :].sum(axis=-1), 1, 30
    opened = opened_of("y ~ x + C(g)", rows, {**UNTOUCHED, "g": 0.4}, SCORES)
    with pytest.raises(NoiseError, match=r"the estimated share of 1 of g, 2 of g is not above 0") as caught:
        linear(opened, "population")
    assert "Merge such categories with others" in str(caught.value)
    # the reference itself has no column of its own
    opened = opened_of("y ~ C(g)", rows[..., ::-1], {**UNTOUCHED, "g": 0.4}, SCORES)
    with pytest.raises(NoiseError, match=r"the estimated share of 0 of g, 1 of g is not above 0"):
        linear(opened, "population")


def test_where_the_noise_hides_columns_they_are_named() -> None:
    """x and z go together as far as the release says, and nothing is known of g, which is left out."""
    rows = np.zeros((3, 2, 2), dtype=np.int64)
    rows[:, 0, 0], rows[:, 1, 1], rows[:, 0, 1], rows[:, 1, 0] = 500, 500, 20, 20
    scores = {"y": [0.0, 1.0, 3.0], "x": [0.0, 1.0], "z": [0.0, 1.0]}
    opened = opened_of("y ~ x + z", rows, {"y": 0.9, "x": 0.9, "z": 0.9}, scores)
    with pytest.raises(NoiseError, match=r"columns of the regression: .*x, z are not told apart"):
        linear(opened, "population")
