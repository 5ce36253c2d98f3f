"""SPSS and Stata files give their labels and never a value (R10, R12, R15)."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pyreadstat
import pytest

import budget_opt as bo
from budget_opt.errors import InputError

CANARY = "CANARY-4711"
ROWS = pd.DataFrame(
    {
        "sex": [1.0, 2.0, 1.0],
        "health": [1.0, 3.0, 99.0],
        "income": [31.5, 4711.25, 99.0],
        "opinion": [1.0, -9.0, 4711.0],
        "grade": ["a", "b", "a"],
        "note": [CANARY, "x", "y"],
        "steps": [1.0, 2.0, 3.0],
        "halves": [0.5, 1.0, 0.5],
    }
)
LABELS: dict[str, Any] = {
    "sex": {2: "female", 1: "male"},
    "health": {1: "good", 2: "fair", 3: "poor", 99: "refused"},
    "income": {99: "refused"},
    "opinion": {1: "agree", 2: "disagree", -9: "no answer", 8: "do not know"},
    "grade": {"a": "first", "b": "second"},
    "steps": {1: "one", 2: "two"},
    "halves": {0.5: "half", 1: "whole"},
}


def sav(folder: Path, name: str = "survey.sav") -> Path:
    pyreadstat.write_sav(
        ROWS,
        str(folder / name),
        variable_value_labels=LABELS,
        missing_ranges={"health": [99], "sex": [{"lo": 7, "hi": 9}]},
        variable_measure={"health": "ordinal", "steps": "scale", "sex": "nominal"},
        note=f"{CANARY} in the notes of the file",
    )
    return folder / name


def test_value_labels_of_spss_become_categories(tmp_path: Path) -> None:
    codebook = bo.read_codebook(sav(tmp_path))
    assert codebook.attributes == (
        bo.Attribute("sex", categories=[1, 2], missing="category"),
        bo.Attribute("health", categories=[1, 2, 3], ordered=True, missing="category", missing_score=1),
        bo.Attribute("opinion", categories=[-9, 1, 2, 8]),
        bo.Attribute("grade", categories=["a", "b"]),
    )
    assert {other.name: other.why for other in codebook.others} == {
        "income": "a label for one value only",
        "note": "no value labels",
        "steps": "measured on a scale, with labels for 2 values, which may not be all",
        "halves": "codes that are not whole numbers",
    }
    assert all("drop it" in other.advice for other in codebook.others)


def test_labels_are_taken_where_the_table_holds_them(tmp_path: Path) -> None:
    codebook = bo.read_codebook(sav(tmp_path), released="labels")
    assert codebook.attributes[1].categories == ("good", "fair", "poor")
    assert codebook.attributes[3].categories == ("first", "second")
    assert any("letter by letter" in note for note in codebook.notes)
    with pytest.raises(InputError, match='"codes" or "labels"'):
        bo.read_codebook(tmp_path / "survey.sav", released="values")


def test_what_is_assumed_and_what_cannot_be_known_is_said(tmp_path: Path) -> None:
    notes = bo.read_codebook(sav(tmp_path)).notes
    for words in (
        "the categories are the codes",
        "1 and not 1.0",
        "health: 99 'refused' declared missing",
        "sex: 7 to 9 declared missing",
        "health: the score of a missing answer is assumed to be the middle, 1",
        "opinion: -9 'no answer', 8 'do not know' may stand for a missing answer",
        "an empty cell is an error",
    ):
        assert any(note.startswith(words) or words in note for note in notes), words


def test_value_labels_and_lettered_missing_values_of_stata_are_read(tmp_path: Path) -> None:
    rows = pd.DataFrame({"sex": [1, 2, 1], "age": [4711, 30, 31]}).astype({"sex": object})
    rows.loc[0, "sex"] = "a"
    pyreadstat.write_dta(
        rows,
        str(tmp_path / "survey.dta"),
        variable_value_labels={"sex": {1: "male", 2: "female", "a": "refused"}},
        missing_user_values={"sex": ["a"]},
    )
    codebook = bo.read_codebook(str(tmp_path / "survey.dta"))
    assert codebook.attributes == (bo.Attribute("sex", categories=[1, 2], missing="category"),)
    assert [other.name for other in codebook.others] == ["age"]
    assert any("'refused' declared missing" in note for note in codebook.notes)
    assert "4711" not in str(codebook) + str(codebook.to_dict())


def test_a_portable_file_without_labels_declares_nothing(tmp_path: Path) -> None:
    pyreadstat.write_por(ROWS, str(tmp_path / "survey.por"))
    codebook = bo.read_codebook(tmp_path / "survey.por")
    assert codebook.attributes == ()
    assert len(codebook.others) == len(ROWS.columns)


def test_no_value_of_the_table_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R15: values that occur in the rows alone appear nowhere, and the rows are never asked for."""
    path = sav(tmp_path)
    asked: list[dict[str, Any]] = []
    original = pyreadstat.read_sav

    def spy(*arguments: Any, **options: Any) -> Any:
        asked.append(options)
        return original(*arguments, **options)

    monkeypatch.setattr(pyreadstat, "read_sav", spy)
    codebook = bo.read_codebook(path)
    assert [options["metadataonly"] for options in asked] == [True]
    text = str(codebook) + repr(codebook) + str(codebook.rows()) + str(codebook.to_dict())
    assert "4711" not in text
    assert "31.5" not in text


@pytest.mark.parametrize("content", [b"", b"no such thing", b"$FL2@(#) SPSS DATA FILE" + b"\xff" * 300])
@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".por", ".dta"])
def test_what_is_no_such_file_is_refused_without_its_bytes(
    content: bytes, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"broken{suffix}"
    path.write_bytes(content + CANARY.encode())
    with pytest.raises(InputError, match="cannot be read") as caught:
        bo.read_codebook(path)
    assert "4711" not in str(caught.value)
    with pytest.raises(InputError, match="cannot be read"):
        bo.read_codebook(tmp_path / f"absent{suffix}")


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    whole = sav(tmp_path).read_bytes()
    (tmp_path / "cut.sav").write_bytes(whole[: len(whole) // 8])
    with pytest.raises(InputError, match="cannot be read"):
        bo.read_codebook(tmp_path / "cut.sav")


def test_a_missing_pyreadstat_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sav(tmp_path)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(InputError, match=r"python -m pip install 'budget-opt\[codebooks\]'"):
        bo.read_codebook(path)


def test_pandas_is_not_imported_for_frictionless_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "schema.json").write_text('{"fields": [{"name": "a", "type": "boolean"}]}')
    original = builtins.__import__

    def guarded(name: str, *rest: Any, **options: Any) -> Any:
        assert name.split(".", maxsplit=1)[0] not in ("pandas", "polars", "pyreadstat"), name
        return original(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", guarded)
    assert bo.read_codebook(tmp_path / "schema.json").attributes == (
        bo.Attribute("a", categories=[False, True]),
    )


@pytest.mark.parametrize("released", ["codes", "labels"])
def test_labels_that_stata_made_from_the_data_come_with_the_caution(
    tmp_path: Path, released: Literal["codes", "labels"]
) -> None:
    """pandas writes the values of a text column as value labels, as encode and AUTORECODE do."""
    path = tmp_path / "made.dta"
    pd.DataFrame({"town": pd.Categorical(["Ulm", "Bonn", "Ulm"])}).to_stata(path, write_index=False)
    codebook = bo.read_codebook(path, released=released)
    assert [one.name for one in codebook.attributes] == ["town"]
    assert any(note.startswith("town: ") and "from the data" in note for note in codebook.notes)
