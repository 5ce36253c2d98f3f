"""`randomize --ledger FILE --dataset NAME`, in processes of their own: R10, R18, R19, R22, R24, R25.

The averaging attack of RELIABILITY: the same column randomized again and again, and majority-voted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.cli.commands_data import IN_NO_LEDGER
from tests.cli.killable import ROOT, Ended, Killable, Order

ROWS = 3000
COLUMN = bo.Problem(
    total_epsilon=1.0,
    attributes=[bo.Attribute("income", categories=5)],
    moments=[bo.CrossMoment("income")],
)


class House:
    """A folder with a table of one column, an allocation of epsilon 1, and a ledger with caps."""

    def __init__(self, killable: Killable, folder: Path, caps: bo.Caps) -> None:
        self._killable, self.folder = killable, folder
        table = pd.DataFrame({"income": np.random.default_rng(1).integers(0, 5, ROWS)})
        self.write(table)
        self.truth = table["income"]
        bo.uniform(COLUMN).write(folder / "column.json")
        self.ledger = bo.Ledger.create(folder / "ledger.db")
        self.ledger.register("people", caps)

    def write(self, table: pd.DataFrame, name: str = "data.csv") -> None:
        (table.to_parquet if name.endswith("parquet") else table.to_csv)(self.folder / name, index=False)

    def randomize(
        self, target: str, data: str = "data.csv", *more: str, dataset: str = "people", **order: object
    ) -> Ended:
        arguments = ("randomize", "column.json", data, "-o", target, "--ledger", "ledger.db")
        return self.run(*arguments, "--dataset", dataset, *more, **order)

    def run(self, *arguments: str, **order: object) -> Ended:
        return self._killable.run(Order(arguments, str(self.folder), **order))

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}

    def released(self) -> int:
        return len(list(self.folder.glob("*/manifest.json")))

    def spent(self) -> float:
        return self.ledger.spent("people").total


@pytest.fixture
def house(killable: Killable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    return House(killable, tmp_path, bo.Caps(total=5.0))


def test_r22_the_averaging_attack_stops_at_the_budget(house: House) -> None:
    for i in range(5):
        done = house.randomize(f"public{i}/r.csv", "data.csv", "--row-order", "public")
        assert done.code == 0
        assert f"its release {i + 1}" in done.said
        assert json.loads((house.folder / f"public{i}" / "manifest.json").read_text())["release"] == i + 1
    before = house.files()
    refused = house.randomize("public5/r.csv", "data.csv", "--row-order", "public")
    assert refused.code == 2
    assert refused.said.startswith("BudgetExceededError: people: this release would spend more than is left")
    assert "It asks for 1 of the total; 0 of 5 is left." in refused.said
    assert house.files() == before
    votes = np.stack([pd.read_csv(house.folder / f"public{i}" / "r.csv")["income"] for i in range(5)])
    majority = [np.bincount(column, minlength=5).argmax() for column in votes.T]
    # 40.5 % at one release, 98 % at fifty; at five the probability is below 0.62, and 0.75 is 14 sigma away
    assert np.mean(np.array(majority) == house.truth) < 0.75


@pytest.mark.parametrize("disguise", ["name", "order", "categories", "columns", "format", "rows"])
def test_r22_the_same_people_under_another_name_are_warned_of(house: House, disguise: str) -> None:
    house.ledger.register("others", bo.Caps(total=5.0))
    house.randomize("public/r.csv")
    table, data, problem = pd.read_csv(house.folder / "data.csv"), "other.csv", COLUMN
    if disguise == "order":
        table = table.sample(frac=1, random_state=1)
    elif disguise == "categories":
        problem = COLUMN.with_fields(attributes=[bo.Attribute("income", categories=[4, 3, 2, 1, 0])])
    elif disguise == "columns":
        table = table.rename(columns={"income": "salary"})
        problem = COLUMN.with_fields(
            attributes=[bo.Attribute("salary", categories=5)], moments=[bo.CrossMoment("salary")]
        )
    elif disguise == "format":
        data = "other.parquet"
    elif disguise == "rows":
        table = pd.concat([table, table.sample(300, random_state=1)])
    house.write(table, data)
    bo.uniform(problem).write(house.folder / "column.json")
    warned = house.randomize("elsewhere/r.csv", data, dataset="others")
    assert warned.code == 0
    assert "warning: 'others': its data " in warned.said
    assert "data that 'people' paid for" in warned.said
    assert any("acknowledge" in str(event) for event in house.ledger.events())
    house.write(pd.DataFrame({"income": np.random.default_rng(2).integers(0, 5, ROWS + 1)}))
    bo.uniform(COLUMN).write(house.folder / "column.json")
    house.ledger.register("strangers", bo.Caps(total=5.0))
    assert "warning" not in house.randomize("third/r.csv", dataset="strangers").said


@pytest.mark.slow
def test_r18_of_two_releases_at_the_same_moment_the_cap_lets_one_through(
    killable: Killable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    house = House(killable, tmp_path, bo.Caps(total=1.0))
    command = [sys.executable, "-m", "budget_opt", "randomize", "column.json", "data.csv"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    both = [
        subprocess.Popen(
            [*command, "-o", f"public{i}/r.csv", "--ledger", "ledger.db", "--dataset", "people"],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(2)
    ]
    said = [process.communicate()[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2]
    assert sum("BudgetExceededError" in one for one in said) == 1
    assert (house.released(), house.spent()) == (1, 1.0)
    assert len(list(tmp_path.glob("public*"))) == 1


@pytest.mark.parametrize("file_bytes", [10, 3000])
def test_r19_without_space_for_the_ledger_there_is_no_output(house: House, file_bytes: int) -> None:
    before, spent = house.files(), house.spent()
    refused = house.randomize("public/r.csv", file_bytes=file_bytes)
    assert refused.code == 2
    assert "ledger" in refused.said
    assert house.files() - before <= {"state/ledgers"}
    assert (house.spent(), house.released()) == (spent, 0)
    assert house.randomize("public/r.csv").code == 0


def test_r10_faulty_cells_are_charged_nothing(house: House) -> None:
    table = pd.read_csv(house.folder / "data.csv")
    table.loc[ROWS - 1, "income"] = 9
    house.write(table)
    for more in ((), ("--row-order", "public"), ("--resume",), ("--internal", "inside")):
        before = house.files()
        refused = house.randomize("public/r.csv", "data.csv", *more)
        assert refused.code == 2
        assert "note: nothing is charged to 'people'" in refused.said
        assert house.files() == before
    assert house.ledger.releases("people") == ()


def test_r25_a_restored_old_ledger_is_noticed_before_a_word_is_drawn(house: House) -> None:
    house.randomize("public0/r.csv")
    shutil.copy(house.folder / "ledger.db", house.folder / "old.db")
    house.randomize("public1/r.csv")
    shutil.copy(house.folder / "old.db", house.folder / "ledger.db")
    before = house.files()
    refused = house.randomize("public2/r.csv")
    assert refused.code == 2
    assert "restored from an older copy" in refused.said
    assert house.files() == before
    assert house.run("ledger", "accept", "ledger.db", "--why", "the newer one is lost").code == 0
    manifests = ("public0/manifest.json", "public1/manifest.json")
    found = house.run("ledger", "check", *manifests, "--ledger", "ledger.db")
    assert found.code == 1
    assert found.said.count("NOT KNOWN") == 1


@pytest.mark.parametrize("folder", [".", "public"])
def test_r35_a_ledger_in_the_folder_that_is_passed_on_is_refused(house: House, folder: str) -> None:
    (house.folder / folder).mkdir(exist_ok=True)
    (house.folder / "ledger.db").rename(house.folder / folder / "kept.db")
    for more in ((), ("--resume",)):
        refused = house.randomize(f"{folder}/r.csv", "data.csv", "--ledger", f"{folder}/kept.db", *more)
        assert refused.code == 2
        assert "the ledger lies in the folder of the release" in refused.said
    assert not (house.folder / folder / "r.csv").exists()


def test_a_data_set_alone_pays_in_the_default_ledger(house: House) -> None:
    command = ("randomize", "column.json", "data.csv", "-o", "public/r.csv")
    refused = house.run(*command, "--dataset", "people")
    assert refused.code == 2
    assert "ledger init" in refused.said
    assert house.run("ledger", "init").code == 0
    assert house.run("ledger", "add", "people", "--total", "1").code == 0
    done = house.run(*command, "--dataset", "people")
    assert done.code == 0
    assert "what is left of the total for the next release: 0" in done.said
    assert IN_NO_LEDGER not in done.said
    assert "--dataset" in house.run(*command, "--ledger", "ledger.db").said


def test_planned_waves_are_kept_unless_it_is_said(
    killable: Killable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    house = House(killable, tmp_path, bo.Caps(total=3.0, waves=4))
    assert house.randomize("public/r.csv").code == 2
    assert house.randomize("public/r.csv", "data.csv", "--ahead").code == 0


def test_a_person_with_several_rows_is_charged_for_each(
    killable: Killable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    house = House(killable, tmp_path, bo.Caps(total=5.0, max_rows=3))
    assert house.randomize("public0/r.csv").code == 0
    refused = house.randomize("public1/r.csv")
    assert refused.code == 2
    assert "3 of the total; 2 of 5 is left" in refused.said
