"""`bo.randomize` and the folder that leaves the house: nothing is drawn, or left, when a promise fails."""

import inspect
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.api.releasing.publishing import Place, publish
from budget_opt.verifier.release import ReleaseJudge
from budget_opt.verifier.report import Check


@pytest.fixture
def problem():
    return bo.Problem(
        attributes=[bo.Attribute("a", categories=2), bo.Attribute("b", categories=["x", "y", "z"])],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=2.0,
        objective="geometric_mean",
    )


@pytest.fixture
def table():
    return pd.DataFrame({"a": [0, 1] * 60, "b": ["x", "y", "z"] * 40})


@pytest.fixture
def place(tmp_path, problem, table):
    bo.solve(problem).write(tmp_path / "allocation.json")
    table.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "public").mkdir()
    return tmp_path


def overspent(allocation: bo.Allocation) -> bo.Allocation:
    """The same split under a total that it exceeds by the least that decimals can say."""
    less = allocation.question.with_total(allocation.spent_epsilon - 1e-15)
    return replace(allocation, question=less)


def test_an_allocation_that_overspends_releases_nothing(problem, table, tmp_path):
    allocation = overspent(bo.solve(problem))
    with pytest.raises(bo.VerificationError, match="epsilon of a record"):
        bo.randomize(table, allocation)
    table.to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(bo.VerificationError, match="epsilon of a record"):
        bo.randomize_file(tmp_path / "data.csv", allocation, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    schema = pa.schema({"id": pa.int64(), "a": pa.int64(), "b": pa.string()})
    with pytest.raises(bo.VerificationError, match="epsilon of a record"):
        bo.BatchRandomizer(schema, allocation, bo.KeyedRelease("people"), row_id="id")
    with pytest.raises(bo.VerificationError, match="epsilon of a record"):
        bo.LocalRandomizer(allocation)


def test_a_split_that_only_misses_a_floor_may_be_released(problem, table):
    wished = bo.uniform(problem.with_fields(moments=[bo.CrossMoment("a", "b", floor=0.9)]))
    assert not wished.moments[0].keeps_floor
    assert len(bo.randomize(table, wished)) == len(table)


def test_r8_no_public_function_takes_words_or_a_seed():
    for function in (bo.randomize, bo.randomize_file, publish):
        assert not {"words", "seed", "key", "rng"} & set(inspect.signature(function).parameters)


def test_two_releases_of_one_table_are_drawn_apart(problem, table):
    allocation = bo.solve(problem)
    big = pd.concat([table] * 20)
    one, other = (bo.randomize(big, allocation, row_order="public") for _ in range(2))
    # equal with probability below 2^-100
    assert not one.equals(other)


def test_what_is_published_is_the_table_the_allocation_and_a_manifest(place):
    published = publish(place / "allocation.json", place / "data.csv", Place(place / "public" / "r.parquet"))
    assert {path.name for path in (place / "public").iterdir()} == {
        "r.parquet",
        "allocation.json",
        "manifest.json",
    }
    assert json.loads((place / "public" / "manifest.json").read_text()) == published.manifest
    assert published.report is None


def test_a_release_that_fails_its_verification_is_never_there(place, monkeypatch):
    sound = ReleaseJudge.report

    def convicted(self, *args, **kwargs):
        report = sound(self, *args, **kwargs)
        fault = Check("a: transition counts", 0.0, 1.0, holds=False, source="a test", kind="tested")
        return replace(report, checks=(*report.checks, fault))

    monkeypatch.setattr(ReleaseJudge, "report", convicted)
    target = Place(place / "public" / "r.csv", place / "internal")
    with pytest.raises(bo.VerificationError, match="a: transition counts"):
        publish(place / "allocation.json", place / "data.csv", target)
    assert list((place / "public").iterdir()) == []
    assert json.loads((place / "internal" / "verification.json").read_text())["holds"] is False


def test_a_manifest_that_cannot_be_written_takes_the_table_with_it(place, monkeypatch):
    def full(*_args, **_kwargs):
        raise bo.InputError("manifest.json: cannot be written (No space left on device).")

    monkeypatch.setattr("budget_opt.api.releasing.publishing.write_document", full)
    with pytest.raises(bo.InputError, match="No space"):
        publish(place / "allocation.json", place / "data.csv", Place(place / "public" / "r.csv"))
    assert list((place / "public").iterdir()) == []


def test_a_folder_with_another_allocation_is_refused(place, problem):
    bo.uniform(problem.with_total(1.0)).write(place / "public" / "allocation.json")
    with pytest.raises(bo.InputError, match="another allocation"):
        publish(place / "allocation.json", place / "data.csv", Place(place / "public" / "r.csv"))


def test_r35_nothing_from_the_originals_is_in_the_public_folder(place, table):
    """No count of the originals, only the number of rows, which is public."""
    publish(
        place / "allocation.json", place / "data.csv", Place(place / "public" / "r.csv", place / "inside")
    )
    internal = json.loads((place / "inside" / "verification.json").read_text())
    assert internal["transitions"]
    for name in ("allocation.json", "manifest.json"):
        text = Path(place / "public" / name).read_text()
        assert "observed" not in text
        assert "transitions" not in text
