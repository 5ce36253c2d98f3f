"""Ctrl-C may come right after a file got its place, before anything has noted that: it goes all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.api.releasing import publishing

PROBLEM = bo.Problem(
    attributes=[bo.Attribute("a", categories=2), bo.Attribute("b", categories=3)],
    moments=[bo.CrossMoment("a", "b")],
    total_epsilon=2.0,
    objective="geometric_mean",
)


@pytest.mark.parametrize("step", ["release_file", "write_text", "write_document"])
def test_r28_interrupted_right_after_a_file_got_its_place_a_release_leaves_nothing(
    tmp_path, monkeypatch, step
):
    bo.solve(PROBLEM).write(tmp_path / "split.json")
    (tmp_path / "data.csv").write_text("a,b\n" + "0,1\n1,2\n" * 50)
    really = getattr(publishing, step)

    def interrupted(*arguments, **options):
        really(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(publishing, step, interrupted)
    place = publishing.Place(tmp_path / "public" / "r.csv")
    with pytest.raises(KeyboardInterrupt):
        publishing.publish(tmp_path / "split.json", tmp_path / "data.csv", place)
    assert not (tmp_path / "public").exists()


def test_r28_interrupted_a_release_leaves_what_was_there_before(tmp_path, monkeypatch):
    bo.solve(PROBLEM).write(tmp_path / "split.json")
    there = tmp_path / "r.csv"
    there.write_text("mine")

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(publishing, "release_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publishing.publish(tmp_path / "split.json", Path("no matter"), publishing.Place(there))
    assert there.read_text() == "mine"
