"""The command `export`: what is written is told, a bad one writes nothing, `verify` takes what comes back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.cli import main

pytest.importorskip("opendp.prelude", reason="the extra opendp is not installed")


@pytest.fixture
def allocation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bo.Allocation:
    monkeypatch.chdir(tmp_path)
    problem = bo.Problem(
        attributes=[
            bo.Attribute("smoker", categories=["no", "yes"]),
            bo.Attribute("children", categories=[0, 1, 2], missing="category"),
            bo.Attribute("works", categories=[False, True]),
        ],
        moments=[bo.CrossMoment("smoker", "works")],
        public=[bo.PublicColumn("wave", why="the same for everybody")],
        total_epsilon=4.5,
    )
    made = bo.uniform(problem)
    made.write("allocation.json")
    return made


@pytest.mark.parametrize(
    ("to", "name"),
    [("opendp", "m.json"), ("sdcmicro", "m.R"), ("matrices", "m.npz"), ("matrices", "m.csv")],
)
def test_every_kind_is_written_and_told(
    allocation: bo.Allocation, capsys: pytest.CaptureFixture[str], to: str, name: str
) -> None:
    command = ["export", "allocation.json", "--to", to, "-o"]
    assert main([*command, name, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["written"], said["to"]) == (name, to)
    assert said["attributes"] == ["smoker", "children", "works"]
    assert main([*command, f"second_{name}"]) == 0
    assert capsys.readouterr().out.startswith(f"written: second_{name}, for smoker, children, works\n")
    assert Path(name).read_bytes() == Path(f"second_{name}").read_bytes()
    assert main([*command, name]) == 2
    assert "exists already. Choose another name." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--to", "opendp", "-o", "m.csv"], "must end in .json for opendp"),
        (["--to", "excel", "-o", "m.csv"], "--to"),
        (["-o", "m.csv"], "--to"),
        (["--to", "matrices"], "--output"),
    ],
)
def test_a_bad_option_is_told_and_nothing_is_written(
    allocation: bo.Allocation, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert main(["export", "allocation.json", *options]) == 2
    assert told in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["allocation.json"]


def test_what_opendp_releases_goes_through_verify(
    allocation: bo.Allocation, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file without a manifest of ours; the exact tests have false-alarm rate 1e-9."""
    assert main(["export", "allocation.json", "--to", "opendp", "-o", "m.json"]) == 0
    room: dict[str, object] = {}
    exec("\n".join(json.loads(Path("m.json").read_text())["usage"]).replace("FILE", "m.json"), room)
    randomizers = room["randomizers"]
    assert isinstance(randomizers, dict)
    labels = {one.name: one.domain.labels for one in allocation.attributes}
    truths = [{name: known[i % len(known)] for name, known in labels.items()} for i in range(900)]
    reports = [{name: randomizers[name](cell) for name, cell in row.items()} for row in truths]
    for name, rows in (("data.csv", truths), ("released.csv", reports)):
        _write(name, rows)
    tables = ["--original", "data.csv", "--released"]
    assert main(["verify", "allocation.json", *tables, "released.csv"]) == 0, capsys.readouterr().out
    _write("nothing_done.csv", truths)
    assert main(["verify", "allocation.json", *tables, "nothing_done.csv"]) == 1


def _write(name: str, rows: list[dict[str, object]]) -> None:
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "wave"])
        words = {True: "true", False: "false", None: ""}
        for row in rows:
            texts = [words[cell] if isinstance(cell, bool) or cell is None else cell for cell in row.values()]
            writer.writerow([*texts, 2026])


def test_an_option_with_another_word_is_told_in_ours(
    allocation: bo.Allocation, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "allocation.json", "--to", "paper", "-o", "m.json"]) == 2
    said = capsys.readouterr().err
    assert "'paper' is not one of 'opendp', 'sdcmicro', 'matrices'" in said
    assert "Value error" not in said
