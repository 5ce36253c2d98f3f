"""`bo.verify_release` with and without the originals, and the manifest that lies beside a released file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.api.releasing.publishing import Place, publish

N = 500


def problem(total: float = 2.0) -> bo.Problem:
    return bo.Problem(
        attributes=[bo.Attribute("smoker", categories=["no", "yes"]), bo.Attribute("income", categories=3)],
        moments=[bo.CrossMoment("smoker", "income")],
        total_epsilon=total,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An allocation, originals, and a published release of them."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"smoker": rng.choice(["no", "yes"], N), "income": rng.integers(0, 3, N)})
    table.to_csv(tmp_path / "data.csv", index=False)
    bo.uniform(problem()).write(tmp_path / "allocation.json")
    publish(tmp_path / "allocation.json", tmp_path / "data.csv", Place(tmp_path / "public" / "released.csv"))
    return tmp_path


def test_a_published_release_is_judged_with_its_manifest_and_without_the_originals(folder: Path) -> None:
    allocation = bo.Allocation.read(folder / "allocation.json")
    report = bo.verify_release(allocation, released=folder / "public" / "released.csv")
    assert report.holds, str(report)
    assert report.releasable
    assert {"the release has the rows of its manifest", "the manifest names this allocation"} <= {
        check.claim for check in report.checks
    }


def test_a_release_that_lost_a_row_does_not_agree_with_its_manifest(folder: Path) -> None:
    released = folder / "public" / "released.csv"
    released.write_text("".join(released.read_text().splitlines(keepends=True)[:-1]))
    report = bo.verify_release(bo.Allocation.read(folder / "allocation.json"), released=str(released))
    assert [check.claim for check in report.failed] == ["the release has the rows of its manifest"]


def test_a_release_under_another_allocation_is_told(folder: Path) -> None:
    other = bo.uniform(problem(2.5))
    report = bo.verify_release(other, released=folder / "public" / "released.csv")
    assert "the manifest names this allocation" in [check.claim for check in report.failed]


def test_a_folder_whose_manifest_names_another_table_says_so(folder: Path) -> None:
    other = folder / "public" / "other.csv"
    other.write_text((folder / "public" / "released.csv").read_text())
    report = bo.verify_release(bo.Allocation.read(folder / "allocation.json"), released=other)
    assert report.holds
    assert [note for note in report.notes if "the manifest.json beside it names another table" in note]
    assert not any("no manifest was given" in note for note in report.notes)


def test_a_table_in_memory_has_no_manifest(folder: Path) -> None:
    allocation = bo.Allocation.read(folder / "allocation.json")
    released = pd.read_csv(folder / "public" / "released.csv")
    report = bo.verify_release(allocation, released=released)
    assert report.holds
    assert any("no manifest" in note for note in report.notes)


def test_without_a_release_there_is_nothing_to_verify(folder: Path) -> None:
    allocation = bo.Allocation.read(folder / "allocation.json")
    with pytest.raises(bo.InputError, match="released: is not given"):
        bo.verify_release(allocation, original=folder / "data.csv")


def test_r35_the_report_on_originals_is_internal_and_the_one_without_is_not(folder: Path) -> None:
    allocation = bo.Allocation.read(folder / "allocation.json")
    kept = bo.randomize(pd.read_csv(folder / "data.csv"), allocation, row_order="public")
    internal = bo.verify_release(allocation, original=folder / "data.csv", released=kept).to_dict()
    alone = bo.verify_release(allocation, released=kept).to_dict()
    assert (internal["releasable"], alone["releasable"]) == (False, True)
    assert json.dumps(internal).startswith('{"notice": "Computed from the originals')
    assert "notice" not in alone
