"""Joint tables with members of one cluster: errors against enumeration, every method, draws, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from budget_opt.estimators.bootstrap.redrawing import redrawn_reports
from budget_opt.estimators.channels import Channel, FloatArray, along_all, uniform
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.joint.agreement import largest_scores, power_factors
from budget_opt.estimators.joint.blend import squared_noise
from budget_opt.estimators.joint.cell_errors import cell_errors
from budget_opt.estimators.joint.drawing import drawn_reports
from budget_opt.estimators.joint.error_bounds import squared_error
from budget_opt.estimators.joint.methods import METHODS
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.joint.subtables import masks_of, share_of
from budget_opt.estimators.joint.unbiased import linear, unbiased
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.release_model import release, skewed
from tests.estimators.statistics.simulation import designs

SHAPE = (2, 3, 2)
NAMES = ("a", "c", "b")


def channels(*, is_uniform: bool = False) -> tuple[Channel, ...]:
    """The first and the last are members of one cluster."""
    rng = np.random.default_rng(1)
    laws = [uniform(r) if is_uniform else rng.dirichlet(np.full(r, 4.0)) for r in SHAPE]
    return (
        Channel("a", 0.6, laws[0], cluster="a + b"),
        Channel("c", 0.5, laws[1]),
        Channel("b", 0.6, laws[2], cluster="a + b"),
    )


def truth() -> FloatArray:
    return skewed(np.random.default_rng(2), SHAPE)


def reports_of(counts: FloatArray, several: tuple[Channel, ...]) -> Counts:
    return Counts(NAMES, np.rint(along_all(Channel.spread, several, counts)).astype(np.int64))


def scores(several: tuple[Channel, ...]) -> tuple[FloatArray, FloatArray]:
    """P, rows by the truth, and h_x(y), rows by the report: from the definition and its inverse."""
    size = math.prod(SHAPE)
    eye = np.eye(size).reshape(*SHAPE, size)
    law = along_all(Channel.spread, several, eye).reshape(size, size).T
    return law, np.linalg.inv(law)


@pytest.mark.parametrize("power", [2, 3, 4])
def test_moments_of_a_cells_score_are_those_of_the_dense_inverse(power: int) -> None:
    several = channels()
    law, inverse = scores(several)
    given = law @ inverse**power  # of every truth, and every cell
    factors = power_factors(several, power)
    assert factors.mean(truth()).ravel() == pytest.approx(truth().ravel() @ given, rel=1e-9)
    assert factors.whole.ravel() == pytest.approx(np.diag(given), rel=1e-9)
    squares = factors.squared.mean(truth()).ravel()
    assert squares == pytest.approx(truth().ravel() @ given**2, rel=1e-9)
    assert np.all(factors.least.ravel() <= given.min(axis=0) + 1e-12)
    assert largest_scores(several).ravel() == pytest.approx(np.diag(inverse), rel=1e-9)


def test_the_variances_of_cells_are_those_of_the_enumerated_reports() -> None:
    several, n = channels(), 10**12
    law, inverse = scores(several)
    counts = reports_of(n * truth(), several)
    second = truth().ravel() @ law @ inverse**2
    stated: dict[Target, FloatArray] = {
        "population": second - truth().ravel() ** 2,
        "data": second - truth().ravel(),
    }
    for target, variances in stated.items():
        found = cell_errors(counts, several, target)
        assert found.variances.ravel() == pytest.approx(variances, rel=1e-6)
        assert found.shares == pytest.approx(truth(), abs=1e-9)


def test_r29_the_squared_error_of_the_unbiased_table_is_the_proved_one() -> None:
    """Of a cluster as one attribute: with uniform backgrounds whatever the truth is."""
    several, n = channels(is_uniform=True), 10**12
    law, inverse = scores(several)
    counts = reports_of(n * truth(), several)
    exact = float((truth().ravel() @ law @ inverse**2).sum()) - 1
    assert squared_error(several, n) == pytest.approx(exact / n, rel=1e-9)
    assert squared_noise(counts, several).mean == pytest.approx(exact / n, rel=1e-6)


@pytest.mark.parametrize("draw", [drawn_reports, redrawn_reports])
def test_reports_of_a_cluster_are_drawn_together(draw) -> None:
    """From one cell of truths: the law of the reports is the joint one, at 6 standard deviations."""
    several, n = channels(), 10**6
    originals = np.zeros(SHAPE, dtype=np.int64)
    originals[1, 2, 0] = n
    expected = along_all(Channel.spread, several, originals / n)
    drawn = draw(originals, several, np.random.default_rng(3))
    assert drawn.shape == SHAPE
    assert drawn.sum() == n
    assert np.all(np.abs(drawn / n - expected) <= 6 * np.sqrt(expected * (1 - expected) / n))


@pytest.mark.parametrize("name", [name for name in METHODS if name != "independent"])
def test_every_method_comes_to_the_truth_of_members_of_a_cluster(name: str) -> None:
    """With ten million rows, dependence of two members included; the product of marginals leaves it out."""
    several = channels()
    counts = reports_of(10**7 * truth(), several)
    found = METHODS[name].run(counts, several, np.random.default_rng(4)).shares
    assert variation_distance(truth(), found) <= (0.05 if name == "default" else 0.005)
    own = METHODS[name].own_judge(
        counts,
        several,
        METHODS[name].run(counts, several, np.random.default_rng(4)),
        "population",
        np.random.default_rng(5),
    )
    assert 0 < own.expected_avd < 0.1


def test_shares_of_sub_tables_and_linear_functions_are_those_of_the_truth() -> None:
    """Categories of members that are asked for together are categories of a coarser cluster."""
    several = channels()
    counts = reports_of(10**14 * truth(), several)
    labels = (("no", "yes"), ("x", "y", "z"), ("n", "s"))
    for chosen in (
        {"a": "yes", "b": "s"},
        {"a": "yes", "c": ["x", "z"], "b": "n"},
        {"c": ["y", "z"], "b": "s"},
    ):
        masks = masks_of(chosen, NAMES, labels, "share")
        table = np.einsum("i,j,k->ijk", *(mask.astype(float) for mask in masks))
        found = share_of(counts, several, masks, "population", "share")
        assert found.value == pytest.approx(float((truth() * table).sum()), abs=1e-9)
        by_cells = linear(counts, several, [table])
        assert float(by_cells.values[0]) == pytest.approx(found.value, abs=1e-12)
        variance = float(by_cells.covariances.population[0, 0])
        assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-6)


@pytest.mark.slow
def test_r30_intervals_of_cells_of_a_cluster_cover() -> None:
    """10,000 releases of one table: 94 to 96 % of every cell with enough events, all errors within 5 %.

    From the population the variance is that of the enumerated reports (above).
    """
    target: Target = "data"
    several, n = channels(), 20_000
    rng = np.random.default_rng(6)
    shares = 0.7 * truth() + 0.3 / truth().size
    originals = rng.multinomial(n, shares.ravel()).reshape(SHAPE)
    true, tables = originals / n, release(rng, originals, designs(several), 10_000)
    found = []
    for table in tables:
        errors = cell_errors(Counts(NAMES, table), several, target)
        found.append([errors.shares, errors.standard_errors, *errors.interval()])
    values, stated, low, high = np.moveaxis(np.array(found), 1, 0)
    covered = np.mean((low <= true) & (true <= high), axis=0)
    assert np.all((covered >= 0.94) & (covered <= 0.96)), covered
    assert np.sqrt((stated**2).mean(axis=0)) == pytest.approx(values.std(axis=0), rel=0.05)
    assert np.abs(values.mean(axis=0) - true).max() <= 6 * values.std(axis=0).max() / 100


def test_the_unbiased_table_of_a_margin_is_the_margin_of_the_unbiased_table() -> None:
    """Whichever members are left."""
    several = channels()
    counts = Counts(NAMES, np.random.default_rng(7).multinomial(500, truth().ravel()).reshape(SHAPE))
    whole = unbiased(counts, several)
    for axes in ((0, 2), (0, 1), (2,), (2, 0)):
        names = [NAMES[axis] for axis in axes]
        part = unbiased(counts.marginal(*names), [several[axis] for axis in axes])
        others = tuple(axis for axis in range(3) if axis not in axes)
        margin = whole.sum(axis=others)
        assert part == pytest.approx(margin.T if axes == (2, 0) else margin, abs=1e-12)
