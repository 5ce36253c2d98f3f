"""`randomize` once more into a folder that holds a release, or an unfinished one: R28, R35."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import budget_opt as bo
from tests.cli.desk import PROBLEM, Desk
from tests.cli.killable import Killable


@pytest.mark.parametrize("options", [(), ("--internal", "inside"), ("--json",)])
def test_r28_a_release_that_is_complete_is_told_of_again_so_that_a_loop_of_runs_ends(
    killable: Killable, tmp_path: Path, inputs: Path, options: tuple[str, ...]
) -> None:
    desk = Desk(killable, tmp_path, inputs, "csv", *options)
    first = desk.run()
    (desk.folder / "data.csv").rename(desk.folder / "gone")  # nobody asks for it any more
    again = desk.run()
    (desk.folder / "gone").rename(desk.folder / "data.csv")
    assert (first.code, again.code) == (0, 0)
    assert "public/r.csv is complete already (its manifest agrees); nothing was drawn" in again.said
    assert ("its internal report is inside/verification.json" in again.said) == ("inside" in options)
    told = [
        line for line in first.said.splitlines() if not line.startswith("note: ") and "checks" not in line
    ]
    assert [line for line in again.said.splitlines() if not line.startswith("note: ")] == told
    desk.require_whole()


def test_r28_a_release_that_is_placed_needs_no_original_to_be_ended(desk: Desk) -> None:
    desk.run(kill_before="os.remove key.json")
    (desk.folder / "data.csv").rename(desk.folder / "gone")
    assert desk.run().code == 0
    (desk.folder / "gone").rename(desk.folder / "data.csv")
    desk.require_whole()


def test_a_complete_release_without_its_internal_report_says_that_there_is_none(desk: Desk) -> None:
    desk.run()
    assert "inside/verification.json is no report of it" in desk.run("--resume", "--internal", "inside").said
    assert desk.run("--resume", "--internal", "public/inside").code == 2


@pytest.mark.parametrize(
    "change", ["plain", "allocation", "copy", "order", "name", "table", "digest", "manifest"]
)
def test_what_is_not_the_same_command_or_not_complete_is_refused_as_another_release(
    desk: Desk, change: str
) -> None:
    desk.run()
    more, public = ("--resume",), desk.target.parent
    if change == "plain":
        more = ("--row-order", "shuffle")
    elif change == "allocation":
        bo.uniform(PROBLEM.with_total(5.0)).write(desk.folder / "allocation.json")
    elif change == "copy":
        (public / "allocation.json").write_text("{}")
    elif change == "order":
        more = ("--resume", "--row-order", "public")
    elif change == "name":
        more = ("--resume", "-o", "public/s.csv")
    elif change == "table":
        desk.target.unlink()
    elif change == "digest":
        manifest = json.loads((public / "manifest.json").read_text())
        (public / "manifest.json").write_text(json.dumps({**manifest, "allocation_sha256": "0" * 64}))
    else:
        (public / "manifest.json").write_text("{}")
    before = {path: path.read_bytes() for path in public.iterdir()}
    refused = desk.run(*more)
    assert refused.code == 2
    assert "manifest.json" in refused.said
    assert {path: path.read_bytes() for path in public.iterdir()} == before
    assert desk.state() == []


@pytest.mark.parametrize(
    "more", [("-o", "public/s.csv"), ("-o", "public/s.csv", "--resume"), ("-o", "public/r.csv")]
)
def test_r35_beside_an_unfinished_release_no_other_is_drawn(desk: Desk, more: tuple[str, ...]) -> None:
    desk.run(kill_at=31)
    before = desk.state()
    refused = desk.run(*more)
    assert refused.code == 2
    assert "public: holds the unfinished release r.csv (stopped with " in refused.said
    assert "rows done" in refused.said
    for way in ("with --resume", "with --abandon", "another folder"):
        assert way in refused.said
    assert [path.name for path in desk.target.parent.iterdir()] == [desk.workplace.name]
    assert desk.state() == before
    assert desk.run().code == 0
    desk.require_whole()


def test_a_folder_with_a_manifest_tells_of_the_unfinished_release_too(desk: Desk) -> None:
    desk.run(kill_before="os.remove key.json")
    assert "unfinished" not in desk.run("-o", "public/s.csv").said
    desk.workplace.mkdir(mode=0o700)
    refused = desk.run("-o", "public/s.csv")
    assert "It holds the unfinished release r.csv" in refused.said
    assert "clear that away: the same command with --resume, or --abandon" in refused.said


def test_abandon_says_what_is_there_of_another_release_of_the_same_table(desk: Desk) -> None:
    desk.run(kill_at=31)
    desk.workplace.rename(desk.folder / "aside")
    assert desk.run("-o", "public/r.csv").code == 0
    (desk.folder / "aside").rename(desk.workplace)
    refused = desk.run("-o", "public/r.csv")
    assert "give it up, by its own command with --abandon" in refused.said
    said = desk.run("--abandon").said
    assert "is there with a manifest that names it, and stays" in said
    assert "without" not in said
    (desk.target.parent / "manifest.json").unlink()
    desk.workplace.mkdir()
    assert "no manifest names it" in desk.run("--abandon").said
    assert f"nothing to abandon for {desk.target}" in desk.run("--abandon").said
