"""Sound samplers pass: ours in every form, OpenDP's, and multi-freq-ldpy's (error 1e-9 each)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Literal

import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.mechanisms.odds import largest_odds
from tests.verifier.sample_samplers import ALLOCATION, LABELS

TRIALS = 20_000
MIXED = bo.uniform(
    bo.Problem(
        attributes=[
            bo.Attribute("region", categories=["north", "south", "other"], other="other"),
            bo.Attribute(
                "age", bins=[18, 30, 45, None], scores=[24, 37, 55], missing="category", missing_score=0
            ),
            bo.Attribute("rooms", bins=[0, 2, 9]),
            bo.Attribute("works", categories=[False, True], epsilon=0),
        ],
        moments=[bo.CrossMoment("region", "rooms")],
        public=[bo.PublicColumn("wave", why="the same for everybody")],
        dropped=["person"],
        total_epsilon=3.0,
    )
)


@pytest.mark.parametrize("takes", ["pandas", "polars", "pyarrow"])
def test_our_tables_pass_with_bins_missing_and_other_categories(
    takes: Literal["pandas", "polars", "pyarrow"],
) -> None:
    pytest.importorskip(takes)
    given: list[Any] = []

    def ours(table: Any) -> Any:
        given.append(table)
        return bo.randomize(table, MIXED, row_order="public")

    audit = bo.audit(ours, MIXED, TRIALS, bo.AuditOptions(takes=takes, calls=40, seed=1)).require()
    assert [bound.name for bound in audit.bounds] == ["region", "age", "rooms", None]
    assert all(0.5 < bound.lower < 1 for bound in audit.bounds[:-1])
    assert {type(table).__module__.partition(".")[0] for table in given} == {takes}
    assert audit.calls == len(given)
    assert audit.trials == sum(len(table) for table in given)
    assert audit.largest_batch == max(len(table) for table in given)


def test_r36_a_column_without_budget_is_judged_where_it_comes_back() -> None:
    def with_all(table: pa.Table) -> pa.Table:
        made = bo.randomize(table, MIXED, row_order="public")
        return made.append_column("works", table["works"])

    audit = bo.audit(with_all, MIXED, 2_000, bo.AuditOptions(takes="pyarrow", calls=8, seed=1))
    assert {check.claim for check in audit.findings} >= {"works: epsilon at least, by the worst test"}
    assert audit.bounds[3].allowed == 0


def test_our_randomizer_of_one_record_passes() -> None:
    local = bo.LocalRandomizer(MIXED)
    audit = bo.audit(local.report, MIXED, TRIALS, bo.AuditOptions(takes="record", seed=1)).require()
    assert audit.largest_batch == 1
    assert audit.calls == audit.trials


def test_a_keyed_release_repeats_its_noise_for_the_same_cells_and_for_no_others() -> None:
    """R34: that is what it is for; a new release in every call passes."""
    release = bo.KeyedRelease("survey")

    def same(table: pa.Table) -> pa.Table:
        return bo.randomize(table, ALLOCATION, "public", release=release)

    def fresh(table: pa.Table) -> pa.Table:
        return bo.randomize(table, ALLOCATION, "public", release=bo.KeyedRelease("survey"))

    options = bo.AuditOptions(takes="pyarrow", calls=20, seed=1)
    claims = [check.claim for check in bo.audit(same, ALLOCATION, 5_000, options).findings]
    assert any(claim.startswith("two calls with the same records gave the same noise") for claim in claims)
    assert not any("other records" in claim for claim in claims)
    assert bo.audit(fresh, ALLOCATION, 5_000, options).holds


def kept_by_formula(name: str) -> float:
    """exp(e) / (exp(e) + r - 1), a hair lower, as other libraries get it."""
    attribute = ALLOCATION[name]
    odds = largest_odds(attribute.epsilon)
    return odds / (odds + attribute.cardinality - 1) * (1 - 1e-12)


@pytest.fixture
def opendp() -> Iterator[Any]:
    dp = pytest.importorskip("opendp.prelude", reason="the extra opendp is not installed")
    features = sys.modules["opendp.mod"].GLOBAL_FEATURES
    before = set(features)
    dp.enable_features("contrib")
    yield dp
    features.clear()
    features.update(before)


def test_opendp_passes_and_draws_for_an_undeclared_category_in_silence(opendp: Any) -> None:
    made = {
        name: opendp.m.make_randomized_response(labels.tolist(), kept_by_formula(name))
        for name, labels in LABELS.items()
    }

    def report(record: dict[str, Any]) -> dict[str, Any]:
        return {name: made[name](value) for name, value in record.items()}

    audit = bo.audit(report, ALLOCATION, 2_000, bo.AuditOptions(takes="record", seed=1)).require()
    assert "taken in silence, not refused" in str(audit)


@pytest.mark.slow
def test_multi_freq_ldpy_passes() -> None:
    module = pytest.importorskip(
        "multi_freq_ldpy.pure_frequency_oracles.GRR", reason="multi-freq-ldpy is not installed"
    )

    def report(record: dict[str, Any]) -> dict[str, Any]:
        codes = {name: LABELS[name].tolist().index(value) for name, value in record.items()}
        return {
            name: LABELS[name][int(module.GRR_Client(code, LABELS[name].size, ALLOCATION[name].epsilon))]
            for name, code in codes.items()
        }

    bo.audit(report, ALLOCATION, 2_000, bo.AuditOptions(takes="record", seed=1)).require()
