"""Weights from the data: seen, and then outside the guarantee; or measured, and then paid for."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import budget_opt as bo
from budget_opt.accounting.words import assumption_sentences
from budget_opt.estimators.strengths.result import INTERNAL
from budget_opt.model.provenance import provenance_epsilon

CANARY = "Zanzibar"


def study(**fields):
    """Five attributes of four categories, as in Ruiz (2026, section 5); all pairs alike."""
    names = ["X1", "X2", "X3", "X4", "X5"]
    attributes = [bo.Attribute(name, categories=4) for name in names]
    return bo.Problem(
        **{"attributes": attributes, "moments": bo.all_pairs(names), "total_epsilon": 5.0, **fields}
    )


def table(n=4096):
    """X1 and X2 are linked; the others are exactly independent of all."""
    row = np.arange(n)
    codes = {f"X{m + 1}": row // 4**m % 4 for m in range(5)}
    codes["X2"] = np.where(row // 1024 % 2 == 0, codes["X1"], codes["X2"])
    return pd.DataFrame(codes)


def one_link(**fields):
    """X1 and X2 alone: a pilot at epsilon 0.5 finds their link by 80 noise levels."""
    return study(moments=[bo.CrossMoment("X1", "X2")], **fields)


def public(problem):
    return problem.with_fields(provenance=dict.fromkeys(bo.Provenance.model_fields, "public"))


def test_section_4_of_ruiz_the_budget_goes_to_the_attributes_with_a_strong_relationship():
    seen = bo.observed_strengths(table(), study())
    assert seen.strengths["X1", "X2"] > 0.4
    allocation = bo.solve(seen.apply(study()))
    spent = {attribute.name: attribute.epsilon for attribute in allocation.attributes}
    assert spent["X1"] + spent["X2"] > 4.99
    assert allocation.retention("X1", "X2") > 0.4


def test_a_link_that_is_not_there_gets_no_weight():
    seen = bo.observed_strengths(table(), study())
    weights = {moment.attributes: moment.weight for moment in seen.apply(study()).moments}
    assert weights["X3", "X4"] == weights["X4", "X5"] == 0.0
    assert weights["X1", "X2"] == seen.strengths["X1", "X2"]


def test_strengths_below_the_least_are_no_strengths():
    limit = bo.observed_strengths(table(), one_link()).strengths["X1", "X2"]
    assert bo.observed_strengths(table(), one_link(), least=limit).strengths["X1", "X2"] == limit
    above = np.nextafter(limit, 1)
    assert bo.observed_strengths(table(), one_link(), least=above).strengths["X1", "X2"] == 0.0


def test_stated_weights_stay_as_priorities_and_floors_stay():
    moments = [bo.CrossMoment("X1", "X2", weight=3.0), bo.CrossMoment("X1", "X3", weight=0.0, floor=0.05)]
    problem = study(moments=moments)
    seen = bo.observed_strengths(table(), problem)
    applied = seen.apply(problem)
    assert list(seen.strengths) == [("X1", "X2")]
    assert applied.moments[0].weight == 3.0 * seen.strengths["X1", "X2"]
    assert (applied.moments[1].weight, applied.moments[1].floor) == (0.0, 0.05)
    assert applied.with_fields(moments=problem.moments, provenance=problem.provenance) == problem


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "csv", "parquet"])
def test_every_kind_of_table_has_the_same_strengths(kind, tmp_path):
    frame = table()
    if kind == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
    elif kind == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
    given = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame),
        "csv": tmp_path / "t.csv",
        "parquet": str(tmp_path / "t.parquet"),
    }[kind]
    assert bo.observed_strengths(given, study()) == bo.observed_strengths(frame, study())


# --- provenance, and what the verifier makes of it ---


def applied_to(stated, strengths):
    problem = one_link(provenance=bo.Provenance(weights=stated))
    return strengths.apply(problem).provenance.weights


@pytest.mark.parametrize(
    ("stated", "after_seeing", "after_a_pilot"),
    [
        ("unstated", "private data", "private data, epsilon 0.5"),
        ("public", "private data", "private data, epsilon 0.5"),
        ("private data", "private data", "private data"),
        ("private data, epsilon 0.3", "private data", "private data, epsilon 0.8"),
    ],
)
def test_the_weights_say_where_they_come_from(stated, after_seeing, after_a_pilot):
    assert applied_to(stated, bo.observed_strengths(table(), one_link())) == after_seeing
    assert applied_to(stated, bo.pilot_strengths(table(), one_link(), epsilon=0.5)) == after_a_pilot


def test_a_small_epsilon_is_written_without_an_exponent():
    problem = one_link()
    found = bo.pilot_strengths(table(), problem, epsilon=1e-5, noise_levels=0.0)
    strong = bo.observed_strengths(table(), problem)
    stated = type(found)(strong.strengths, found.noise, found.n, found.epsilon).apply(problem)
    assert stated.provenance.weights == "private data, epsilon 0.00001"
    assert provenance_epsilon(stated) == Fraction(1, 10**5)


def test_the_verifier_says_that_an_allocation_by_observed_strengths_is_outside_the_guarantee():
    problem = bo.observed_strengths(table(), public(study())).apply(public(study()))
    allocation = bo.solve(problem)
    for found in (bo.verify(allocation), bo.verify(allocation, problem=problem)):
        assert found.holds
        assert found.notes[0].startswith("the allocation itself is outside the guarantee: weights were made")
        assert not any("assumes that weights" in note for note in found.notes)
        assert found.to_dict()["provenance"] == {
            "assumed_public": ["weights"],
            "from_the_data": ["weights"],
            "allocation_outside_guarantee": True,
            "priced": {},
            "epsilon": 0.0,
            "price_of_record": None,
        }
        json.dumps(found.to_dict(), allow_nan=False)


def test_the_verifier_adds_the_epsilon_of_a_pilot_to_the_price_of_a_record():
    asked = public(one_link())
    problem = bo.pilot_strengths(table(), asked, epsilon=0.5).apply(asked)
    found = bo.verify(bo.solve(problem.with_total(4.5)))
    stated = found.to_dict()["provenance"]
    assert not stated["allocation_outside_guarantee"]
    assert stated["priced"] == {"weights": 0.5}
    assert stated["price_of_record"] == 5.0
    assert "the price of a record is 5 nats: 4.5 for the release and 0.5" in str(found)
    assert "outside the guarantee" not in str(found)


def test_the_provenance_survives_the_files(tmp_path):
    problem = bo.observed_strengths(table(), study()).apply(study())
    problem.write(tmp_path / "p.json")
    allocation = bo.uniform(bo.Problem.read(tmp_path / "p.json"))
    allocation.write(tmp_path / "a.json")
    stated = bo.verify(bo.Allocation.read(tmp_path / "a.json")).provenance
    assert stated is not None
    assert stated["allocation_outside_guarantee"]


@pytest.mark.parametrize(
    ("origin", "told"), [("private data", 2), ("private data, epsilon 0.5", 1), ("public", 0)]
)
def test_show_and_the_report_say_what_came_from_the_data(origin, told, tmp_path):
    problem = public(one_link())
    stated = problem.with_fields(provenance=problem.provenance.with_fields(weights=origin))
    page = bo.report(bo.uniform(stated), tmp_path / "report.html").read_text("utf-8")
    words = " ".join(assumption_sentences(bo.uniform(stated)))
    for text in (page, words):
        assert ("the allocation itself is outside the guarantee" in text.lower()) == (told == 2)
        assert ("record pays besides what the release costs" in text) == (told == 1)
    assert ("The price of a record is 5.5 nats" in words) == (told == 1)


def test_bounds_from_the_data_are_found_without_the_problem():
    """An allocation does not carry pins; what it states to come from the data counts all the same."""
    pinned = [bo.Attribute("X1", categories=4, epsilon=0.5), *study().attributes[1:]]
    problem = study(attributes=pinned, provenance=bo.Provenance(floors="private data"))
    found = bo.verify(bo.uniform(problem)).provenance
    assert found is not None
    assert found["from_the_data"] == ["floors"]


# --- what leaves the house ---


def test_observed_strengths_say_that_they_are_internal():
    seen = bo.observed_strengths(table(), study())
    assert str(seen).startswith(INTERNAL)
    assert next(iter(seen.to_dict())) == "notice"
    assert (seen.releasable, seen.kind, seen.epsilon) == (False, "proved", None)
    found = bo.pilot_strengths(table(), study(), epsilon=0.5)
    assert "notice" not in found.to_dict()
    assert (found.releasable, found.kind, found.epsilon) == (True, "estimated", 0.5)
    assert "has paid epsilon 0.5" in str(found)
    for strengths in (seen, found):
        json.dumps(strengths.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    "strengths", [bo.observed_strengths, lambda *given: bo.pilot_strengths(*given, epsilon=1)]
)
def test_r35_errors_tell_no_value_and_no_count_of_the_originals(strengths):
    frame = table().astype(object)
    frame.loc[7, "X1"] = CANARY
    with pytest.raises(bo.DataError) as caught:
        strengths(frame, study())
    assert CANARY not in str(caught.value)
    constant = table().assign(X1=2)
    only = study(moments=[bo.CrossMoment("X1", "X2")])
    found = strengths(constant, only)
    with pytest.raises(bo.InputError) as caught:
        type(found)({("X1", "X2"): 0.0}, found.noise, found.n, found.epsilon).apply(only)
    assert "2" not in str(caught.value).replace("X2", "")


@pytest.mark.parametrize(
    ("problem", "options", "told"),
    [
        (study(), {"epsilon": 0.0}, "epsilon: is 0, must be from 1e-06 to 10000 nats"),
        (study(), {"epsilon": float("nan")}, "epsilon: is nan"),
        (study(), {"epsilon": -1}, "epsilon: is -1"),
        (study(), {"epsilon": "1"}, "epsilon: is a str, must be a number"),
        (study(), {"epsilon": 1, "noise_levels": -0.5}, "noise_levels: is -0.5"),
        (study(), {"epsilon": 1, "noise_levels": float("inf")}, "noise_levels: is inf"),
        ("p.json", {"epsilon": 1}, "problem: is a str, must be a Problem"),
        (
            study(moments=[bo.CrossMoment("X1", "X2", weight=0, floor=0.1)], objective="min_epsilon"),
            {"epsilon": 1},
            "no moment of attributes alone with a weight above 0",
        ),
    ],
)
def test_r13_arguments_that_mean_nothing_are_refused_by_name(problem, options, told):
    with pytest.raises(bo.InputError, match=told.replace("(", r"\(")):
        bo.pilot_strengths(table(8), problem, **options)


def test_tables_beyond_reach_are_refused_by_the_moment_before_the_data_are_read():
    wide = study(attributes=[bo.Attribute(f"X{m}", categories=100) for m in range(1, 6)])
    high = wide.with_fields(moments=[bo.CrossMoment("X1", "X2", "X3", "X4")])
    with pytest.raises(bo.InputError, match="X1 x X2 x X3 x X4 has 100,000,000 cells"):
        bo.observed_strengths(None, high)
    third = wide.with_fields(moments=[bo.CrossMoment("X1", "X2", "X3"), bo.CrossMoment("X2", "X3", "X4")])
    with pytest.raises(bo.InputError, match="2 moments have 2,000,000 cells"):
        bo.pilot_strengths(None, third, epsilon=1.0)


def test_r14_an_empty_table_has_no_links():
    with pytest.raises(bo.DataError, match="has no rows"):
        bo.observed_strengths(table().head(0), study())


def test_strengths_of_another_problem_are_refused():
    seen = bo.observed_strengths(table(), study(moments=[bo.CrossMoment("X1", "X2")]))
    with pytest.raises(bo.InputError, match="no strength was measured for X1 x X3"):
        seen.apply(study())


# --- the ledger ---


@pytest.fixture
def payer(tmp_path, monkeypatch):
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    ledger = bo.Ledger.create(tmp_path / "ledger.db")
    ledger.register("study", bo.Caps(total=6.0, attributes={"X1": 3.0}))
    told: list[str] = []
    return bo.Payer("study", ledger, tell=told.append), told


def left(payer):
    return payer.ledger.left("study").total


def test_a_pilot_is_charged_to_the_record_and_to_each_attribute_that_it_reads(payer):
    payer, _ = payer
    problem = study(moments=[bo.CrossMoment("X1", "X2")])
    bo.pilot_strengths(table(), problem, epsilon=0.7, charge_to=payer)
    assert left(payer) == 5.3
    assert payer.ledger.left("study").attributes["X1"] == 2.3
    assert [release.status for release in payer.ledger.releases("study")] == ["confirmed"]


def test_a_pilot_that_nobody_can_pay_draws_nothing(payer, monkeypatch):
    payer, _ = payer
    monkeypatch.setattr("os.urandom", lambda count: pytest.fail("drawn"))
    with pytest.raises(bo.BudgetExceededError):
        bo.pilot_strengths(table(), study(), epsilon=3.5, charge_to=payer)
    assert left(payer) == 6.0


def test_r10_bad_input_of_a_pilot_costs_nothing(payer):
    payer, _ = payer
    with pytest.raises(bo.DataError):
        bo.pilot_strengths(table().assign(X1="x"), study(), epsilon=0.5, charge_to=payer)
    assert payer.ledger.releases("study") == ()


def test_r7_a_pilot_whose_random_source_fails_stays_charged(payer, monkeypatch):
    payer, told = payer
    monkeypatch.setattr("budget_opt.randomizer.entropy.os.urandom", lambda count: b"")
    with pytest.raises(bo.RandomSourceError):
        bo.pilot_strengths(table(), study(), epsilon=0.5, charge_to=payer)
    assert left(payer) == 5.5
    assert any("the charge stays" in line for line in told)


def test_a_release_after_a_pilot_on_record_pays_for_itself_alone(payer):
    payer, told = payer
    pilot = bo.pilot_strengths(table(), one_link(), epsilon=0.5, charge_to=payer)
    allocation = bo.uniform(pilot.apply(one_link(total_epsilon=2.0)))
    bo.randomize(table(), allocation, charge_to=payer)
    assert left(payer) == 3.5
    assert not any("no pilot on record" in line for line in told)


def test_a_pilot_that_is_on_no_record_is_charged_with_the_first_release_and_once(payer):
    payer, told = payer
    pilot = bo.pilot_strengths(table(), one_link(), epsilon=0.5)
    allocation = bo.uniform(pilot.apply(one_link(total_epsilon=2.0)))
    bo.randomize(table(), allocation, charge_to=payer)
    assert left(payer) == 3.5
    bo.randomize(table(), allocation, charge_to=payer)
    assert sum("no pilot on record" in line for line in told) == 1
    assert left(payer) == 1.5
    small = bo.uniform(pilot.apply(one_link(total_epsilon=1.1)))
    bo.randomize(table(), small, charge_to=payer)  # of the same weights, so it was made once
    assert left(payer) == 0.4


def test_persons_with_too_many_records_are_refused_before_a_pilot_is_charged(payer):
    payer, _ = payer
    person = study(unit={"of": "person", "id": "who", "max_rows": 2}, dropped=["who"])
    payer.ledger.change("study", bo.Caps(total=6.0, max_rows=2), why="persons")
    frame = table().assign(who=np.arange(4096) // 2)
    bo.pilot_strengths(frame, person, epsilon=0.5, charge_to=payer)
    assert left(payer) == 5.0
    with pytest.raises(bo.DataError, match="more than the 2 records"):
        bo.pilot_strengths(frame.assign(who=np.arange(4096) // 3), person, epsilon=0.5, charge_to=payer)
    assert left(payer) == 5.0


@pytest.mark.parametrize("private", [False, True])
def test_moments_with_a_public_column_are_not_measured_and_keep_their_weights(private):
    with_wave = study(
        moments=[bo.CrossMoment("X1", "X2", weight=2.0), bo.CrossMoment("X1", "wave", weight=0.25)],
        public=[bo.PublicColumn(name="wave", why="the same for everybody")],
    )
    rows = table()
    found = (
        bo.pilot_strengths(rows, with_wave, epsilon=8.0)
        if private
        else bo.observed_strengths(rows, with_wave)
    )
    assert list(found.strengths) == [("X1", "X2")]
    weights = [moment.weight for moment in found.apply(with_wave).moments]
    assert weights == [2.0 * found.strengths["X1", "X2"], 0.25]
    without = with_wave.with_fields(moments=[bo.CrossMoment("X1", "wave")])
    with pytest.raises(bo.errors.InputError, match="with a public column, whose categories nobody declared"):
        bo.observed_strengths(rows, without)
