"""The command `strengths`: weights from the data, marked as such, and charged where they were measured."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.cli import main
from budget_opt.cli.commands_strengths import NOT_CHARGED


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A problem of three attributes, two of them the same in every record, and a ledger."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    attributes = [bo.Attribute(name, categories=3) for name in "abc"]
    moments = [bo.CrossMoment("a", "b"), bo.CrossMoment("b", "c")]
    bo.Problem(attributes=attributes, moments=moments, total_epsilon=2.0).write("problem.json")
    row = np.arange(3000)
    pd.DataFrame({"a": row % 3, "b": row % 3, "c": row // 3 % 3}).to_csv("data.csv", index=False)
    bo.Ledger.create("ledger.db").register("study", bo.Caps(total=3.0))
    return tmp_path


def run(capsys, *arguments):
    code = main(["strengths", "problem.json", "data.csv", "-o", "weighted.json", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_pilot_writes_a_problem_whose_weights_are_paid_for(place, capsys):
    code, printed, noted = run(capsys, "--epsilon", "0.5", "--dataset", "study", "--ledger", "ledger.db")
    weighted = bo.Problem.read("weighted.json")
    assert code == 0
    assert weighted.provenance.weights == "private data, epsilon 0.5"
    assert weighted.moments[0].weight > 0.9 > weighted.moments[1].weight
    assert "a x b" in printed
    assert "private data, epsilon 0.5" in printed
    assert NOT_CHARGED not in noted
    assert bo.Ledger.open("ledger.db").left("study").total == 2.5


def test_without_a_ledger_a_pilot_says_that_nobody_counts_it(place, capsys):
    code, printed, noted = run(capsys, "--epsilon", "0.5", "--json")
    assert code == 0
    assert NOT_CHARGED in noted
    assert json.loads(printed)["epsilon"] == 0.5


def test_observed_strengths_are_printed_as_internal(place, capsys):
    code, printed, _ = run(capsys, "--observed")
    assert code == 0
    assert printed.startswith("Computed from the originals: outside the guarantee")
    assert "(n = 3000, exact)" in printed
    assert bo.Problem.read("weighted.json").provenance.weights == "private data"


def test_a_split_by_observed_strengths_is_released_with_a_warning(place, capsys):
    run(capsys, "--observed")
    assert main(["solve", "weighted.json", "-o", "split.json"]) == 0
    capsys.readouterr()
    for number, more in enumerate(([], ["--resume"])):
        command = ["randomize", "split.json", "data.csv", "-o", f"out{number}/released.csv", "--json", *more]
        assert main(command) == 0
        said = capsys.readouterr()
        assert "warning: the allocation itself is outside the guarantee: weights were made from" in said.err
        assert "Pass neither the allocation nor this release on with a claim of epsilon" in said.err
        json.loads(said.out)
        assert Path(f"out{number}/allocation.json").exists()
    allocation, data = bo.Allocation.read("split.json"), pd.read_csv("data.csv")
    with pytest.warns(
        UserWarning, match="outside the guarantee: weights were made from private data"
    ) as told:
        bo.randomize(data, allocation)
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="outside the guarantee"):
        bo.randomize_file("data.csv", allocation, "released.csv")


def test_a_split_that_is_paid_for_is_released_without_a_warning(place, capsys):
    run(capsys, "--epsilon", "0.5")
    assert main(["solve", "weighted.json", "-o", "split.json"]) == 0
    capsys.readouterr()
    assert main(["randomize", "split.json", "data.csv", "-o", "out/released.csv"]) == 0
    assert "outside the guarantee" not in capsys.readouterr().err


def test_a_pilot_that_tells_nothing_says_what_would(place, capsys, monkeypatch):
    # one draw in twenty is beyond two root mean squares: this one is not
    monkeypatch.setattr("budget_opt.randomizer.entropy.fresh_below", random.Random(1).randrange)
    code, printed, _ = run(capsys, "--epsilon", "0.5")
    assert code == 0
    assert "1 link is not told from noise: weight 0." in printed
    assert "a larger epsilon or fewer moments would tell" in printed


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give one of them"),
        (["--observed", "--epsilon", "1"], "give one of them"),
        (["--observed", "--dataset", "study", "--ledger", "ledger.db"], "a ledger counts epsilons"),
        (["--epsilon", "9", "--dataset", "study", "--ledger", "ledger.db"], "study"),
        (["--epsilon", "1", "--ledger", "ledger.db"], "--dataset"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_and_writes_nothing(place, capsys, arguments, told):
    code, _, noted = run(capsys, *arguments)
    assert code == 2
    assert told in noted
    assert not Path("weighted.json").exists()


def test_a_file_that_is_there_is_refused_before_anything_is_paid(place, capsys):
    Path("weighted.json").write_text("mine")
    code, _, noted = run(capsys, "--epsilon", "0.5", "--dataset", "study", "--ledger", "ledger.db")
    assert code == 2
    assert noted.endswith("weighted.json: exists already, and is not overwritten. Choose another name.\n")
    assert Path("weighted.json").read_text() == "mine"
    assert bo.Ledger.open("ledger.db").left("study").total == 3.0


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("weak", [False, True])
def test_what_was_paid_for_is_printed_though_it_gives_no_file(place, capsys, monkeypatch, weak, as_json):
    """Either no link is strong enough for a weight, or the new problem cannot be written."""
    if weak:
        told, measure = "no link is strong enough for a weight", bo.pilot_strengths
        monkeypatch.setattr(bo, "pilot_strengths", lambda *of, **more: measure(*of, **more).without_weak(9))
    else:
        told = "the disk is full"

        def fail(*_):
            raise bo.InputError(told)

        monkeypatch.setattr(bo.Problem, "write", fail)
    paid = ("--epsilon", "0.5", "--dataset", "study", "--ledger", "ledger.db")
    code, printed, noted = run(capsys, *paid, *(["--json"] if as_json else []))
    assert code == 2
    assert noted.startswith("InputError: ")
    assert told in noted
    assert "written" not in printed
    if as_json:
        document = json.loads(printed)
        assert (document["epsilon"], len(document["moments"])) == (0.5, 2)
        assert ("problem" in document) is not weak
    else:
        assert "Every record of the table has paid epsilon 0.5 for these" in printed
    assert not Path("weighted.json").exists()
    assert bo.Ledger.open("ledger.db").left("study").total == 2.5


def test_moments_with_a_public_column_are_named_and_keep_their_weights(place, capsys):
    document = json.loads(Path("problem.json").read_text())
    document["public"] = [{"name": "wave", "why": "the same for everybody"}]
    document["moments"].append({"attributes": ["a", "wave"], "weight": 0.5})
    Path("problem.json").write_text(json.dumps(document))
    code, printed, _ = run(capsys, "--observed")
    assert code == 0
    assert "with a public column, not measured, and with the weight that it has: a x wave" in printed
    assert bo.Problem.read("weighted.json").moments[-1].weight == 0.5
