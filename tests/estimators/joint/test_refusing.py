"""Which tables are refused as noise, or as too large, beside their expected AVD."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.joint.methods import METHODS
from budget_opt.estimators.joint.own_error import require_useful
from budget_opt.estimators.joint.refusing import require_room, require_sum

NAMES = ("a", "b", "c")


def allocation(epsilon: float) -> bo.Allocation:
    attributes = [
        bo.Attribute(name, categories=r, ordered=True) for name, r in zip(NAMES, (2, 3, 3), strict=True)
    ]
    moments = [bo.CrossMoment("a", "b"), bo.CrossMoment("b", "c")]
    return bo.uniform(bo.Problem(attributes=attributes, moments=moments, total_epsilon=3 * epsilon))


def counts(n: int = 10_000) -> bo.Counts:
    rows = np.random.default_rng(0).multinomial(n, np.full(18, 1 / 18)).reshape(2, 3, 3)
    return bo.Counts(NAMES, rows)


@pytest.mark.parametrize("method", METHODS)
def test_every_table_is_refused_where_its_attributes_are_noise(method: str) -> None:
    """Of uniform reports at epsilon near 0 the default gave one cell 99.8 %, and expected AVD 1 of it."""
    with pytest.raises(NoiseError, match="shares of a alone") as caught:
        bo.estimate.table(counts(), allocation(1e-6), *NAMES, method=method)
    assert caught.value.limit == 0.5
    assert caught.value.standard_error > 1000
    with pytest.raises(NoiseError, match="shares of"):
        bo.estimate.table(counts(), allocation(0.01), *NAMES, method=method)


def test_an_endless_limit_shows_any_noise() -> None:
    seen = bo.estimate.table(counts(), allocation(1e-6), *NAMES, method="simplex", noise_limit=math.inf)
    assert seen.shares.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("method", ["simplex", "truncated"])
def test_cut_tables_are_refused_where_the_cells_that_are_cut_are_noise(method: str) -> None:
    with pytest.raises(NoiseError, match="a cell of the unbiased table of a x b x c"):
        bo.estimate.table(counts(), allocation(0.1), *NAMES, method=method)
    assert bo.estimate.table(counts(), allocation(1.0), *NAMES, method=method).expected_avd < 0.5


@pytest.mark.parametrize("method", ["default", "likelihood", "independent"])
def test_sound_tables_of_little_epsilon_stay(method: str) -> None:
    found = bo.estimate.table(counts(), allocation(0.1), *NAMES, method=method)
    assert 0.5 * np.abs(found.shares - 1 / 18).sum() < 0.6


def test_the_limit_is_what_equal_shares_err_at_most() -> None:
    require_useful("the table", 0.9, 1.0, "", 18)
    with pytest.raises(NoiseError, match="equal shares of all cells are never further"):
        require_useful("the table", 0.95, 1.0, "", 18)
    require_useful("the table", 0.95, 1.01, "", 18)


def test_shares_that_add_up_to_nothing_are_refused() -> None:
    require_sum("the table", np.array([0.3, 0.21]), 1.0)
    with pytest.raises(NoiseError, match="add up to 0") as caught:
        require_sum("the table", np.zeros(3), 1.0)
    assert (caught.value.standard_error, caught.value.limit) == (1.0, 0.5)
    require_sum("the table", np.zeros(3), 2.0)


def test_a_table_too_large_for_the_method_is_refused_with_its_cells_and_bytes() -> None:
    channels = [Channel(name, 0.5, uniform(70)) for name in "pqrs"]
    with pytest.raises(InputError, match=r"24,010,000 cells, and method='default' takes 3,073,280,000 bytes"):
        require_room(METHODS["default"], channels)
    require_room(METHODS["unbiased"], channels[:3])
    pair = [Channel(name, 0.5, uniform(2_000)) for name in "pq"]
    require_room(METHODS["unbiased"], pair)
    with pytest.raises(InputError, match="4,000,000 cells"):
        require_room(METHODS["default"], pair)


@pytest.mark.parametrize("method", METHODS)
def test_results_can_be_pickled(method: str) -> None:
    found = bo.estimate.table(counts(), allocation(2.0), "a", "b", method=method)
    for one in (found, found.normalised()):
        again = pickle.loads(pickle.dumps(one))
        assert np.array_equal(again.shares, one.shares)
        assert np.array_equal(again.with_bootstrap(2).standard_errors, one.with_bootstrap(2).standard_errors)


def test_marginals_can_be_pickled() -> None:
    found = bo.estimate.marginals(counts(), allocation(2.0))
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
