"""R25: a release is known by the cells of its table, not by a number that any manifest may say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.api.releasing.publishing import Place, publish
from budget_opt.errors import InputError

PROBLEM = bo.Problem(
    total_epsilon=2.0,
    attributes=[
        bo.Attribute("a", categories=5),
        bo.Attribute("b", categories=["x", "y"], missing="category"),
    ],
    moments=[bo.CrossMoment("a", "b")],
    public=[{"name": name, "why": "the same for everybody"} for name in ("wave", "share", "note", "day")],
)
ROWS = 60


class Desk:
    """A folder with a table and an allocation, and a ledger that pays for releases, or does not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        random = np.random.default_rng(1)
        self.table = pd.DataFrame(
            {
                "a": random.integers(0, 5, ROWS),
                "b": random.choice(["x", "y", None], ROWS),
                "wave": np.arange(ROWS) % 3,
                "share": np.where(np.arange(ROWS) % 4, np.arange(ROWS) / 7, np.nan),
                "note": np.where(np.arange(ROWS) % 5, 'a "b", c', ""),
                "day": pd.Timestamp("2026-11-30") + pd.to_timedelta(np.arange(ROWS), "s"),
            }
        )
        self.table.to_parquet(folder / "data.parquet", index=False)
        self.table.to_csv(folder / "data.csv", index=False)
        bo.uniform(PROBLEM).write(folder / "split.json")
        self.ledger = bo.Ledger.create(folder / "ledger.db")
        self.ledger.register("d", bo.Caps(total=40.0))

    def release(
        self, target: str = "r1/r.csv", source: str = "data.csv", *, charged: bool = True, **options: Any
    ) -> Path:
        payer = bo.Payer("d", self.ledger, tell=lambda line: None) if charged else None
        place = Place(self.folder / target)
        publish(self.folder / "split.json", self.folder / source, place, charge_to=payer, **options)
        return place.table.parent / "manifest.json"

    def check(self, *manifests: Path) -> list[tuple[bool, bool]]:
        return [(one.holds, one.certain) for one in self.ledger.check(manifests)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "desk").mkdir()
    return Desk(tmp_path / "desk")


@pytest.mark.parametrize("row_order", ["shuffle", "public"])
@pytest.mark.parametrize("source", ["data.csv", "data.parquet"])
@pytest.mark.parametrize("target", ["r.csv", "r.csv.gz", "r.parquet", "r"])
def test_r25_what_was_charged_is_known_by_its_table(
    desk: Desk, target: str, source: str, row_order: str
) -> None:
    assert desk.check(desk.release(f"r1/{target}", source, row_order=row_order)) == [(True, True)]


def test_r25_another_draw_with_the_number_and_allocation_of_a_charged_one_is_not_known(desk: Desk) -> None:
    """What a manifest says anybody can say: the cells tell."""
    charged, secret = desk.release("r1/r.csv"), desk.release("r2/r.csv", charged=False)
    found, other = desk.ledger.check([charged, secret])
    assert (found.holds, str(found).startswith("known ")) == (True, True)
    assert (other.number, other.holds, other.dataset) == (1, False, None)
    assert str(other).startswith("NOT KNOWN ")
    assert "this table was drawn without the ledger" in other.said
    assert f"budget-opt ledger record NAME {secret}" in other.said
    # the manifest of the charged one beside the table of the other
    shutil.copy(charged, secret)
    assert desk.check(secret) == [(False, True)]


def test_r25_a_changed_cell_makes_another_table(desk: Desk) -> None:
    manifest = desk.release("r1/r.csv", row_order="public")
    table = manifest.with_name("r.csv")
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join([lines[0], lines[2], lines[1], *lines[3:]]))
    assert desk.check(manifest) == [(False, True)]
    table.write_text("a,b\n9,x\n")
    (found,) = desk.ledger.check([manifest])
    assert not found.holds
    assert "cannot be read as a release under its allocation" in found.said


def test_r25_without_the_table_only_the_number_can_be_compared_and_once(desk: Desk) -> None:
    first, second = desk.release("r1/r.csv"), desk.release("r2/r.csv", charged=False)
    for manifest in (first, second):
        manifest.with_name("r.csv").unlink()
    found, other = desk.ledger.check([first, second])
    assert (found.holds, found.certain) == (True, False)
    assert "whether it is this one cannot be told without the table" in found.said
    assert str(found).startswith("counted ")
    assert not other.holds
    assert "another manifest has its number and allocation" in other.said
    assert desk.check(first, first) == [(True, False)]


def test_r25_the_allocation_must_lie_there_with_the_table(desk: Desk) -> None:
    manifest = desk.release("r1/r.csv")
    beside = manifest.with_name("allocation.json")
    beside.unlink()
    for other in (None, bo.uniform(PROBLEM.with_total(1.0))):
        if other is not None:
            other.write(beside)
        (found,) = desk.ledger.check([manifest])
        assert not found.holds
        assert "no allocation.json that it was released under" in found.said
        with pytest.raises(InputError, match=r"no allocation\.json"):
            desk.ledger.add_release("d", manifest, "made by hand")


def test_r25_after_a_restore_the_lost_release_is_not_the_new_one_with_its_number(
    desk: Desk, tmp_path: Path
) -> None:
    shutil.copy2(desk.ledger.path, tmp_path / "backup.db")
    lost = desk.release("lost/r.csv")
    shutil.copy2(tmp_path / "backup.db", desk.ledger.path)
    desk.ledger = bo.Ledger.open(desk.ledger.path, older="the disk broke")
    new = desk.release("new/r.csv")
    assert json.loads(lost.read_text())["release"] == json.loads(new.read_text())["release"] == 1
    assert desk.check(lost, new) == [(False, True), (True, True)]
    made = desk.ledger.add_release("d", lost, "lost with the disk")
    assert made.number == 2
    found, _ = desk.ledger.check([lost, new])
    assert found.holds
    assert "is release 2 of d (its manifest says 1)" in found.said
    with pytest.raises(InputError, match="its release 2 is this very table, and is counted"):
        desk.ledger.add_release("d", lost, "again")
    assert desk.ledger.spent("d").total == 4.0
    (shown,) = desk.ledger.shown()
    assert [(one.status, one.rows) for one in shown.releases] == [("confirmed", ROWS), ("outside", ROWS)]


def test_r25_what_was_counted_by_its_cost_alone_may_or_may_not_be_it(desk: Desk) -> None:
    manifest = desk.release("r1/r.csv", charged=False)
    allocation = bo.Allocation.read(desk.folder / "split.json")
    desk.ledger.add_release("d", bo.Charge.of(allocation), "made by hand")
    (found,) = desk.ledger.check([manifest])
    assert not found.holds
    assert "Release 1 of d (outside) has this number and allocation" in found.said


@pytest.mark.parametrize("name", ["../r1/r.csv", "/etc/passwd", "", "..", 3])
def test_r25_a_manifest_names_no_table_of_another_folder(desk: Desk, name: object) -> None:
    manifest = desk.release("r1/r.csv")
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "table": name}))
    with pytest.raises(InputError, match="is no manifest"):
        desk.ledger.check([manifest])


def test_r25_a_folder_or_a_table_is_no_manifest_and_the_words_say_what_to_give(desk: Desk) -> None:
    manifest = desk.release("r1/r.csv")
    for given in (manifest.parent, manifest.with_name("r.csv")):
        with pytest.raises(InputError, match=r"Give the manifest"):
            desk.ledger.check([given])
    with pytest.raises(InputError, match="Give a list"):
        desk.ledger.check(None)
