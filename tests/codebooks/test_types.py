"""Types of data frames: declared categories count, those of cells do not (R12)."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.errors import InputError

ORDERED = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
PANDAS = pd.DataFrame(
    {
        "level": pd.Categorical(["mid"], dtype=ORDERED),
        "made": pd.Categorical(["x"], categories=["x", "y"]),
        "flag": [True],
        "maybe": pd.array([None], dtype="boolean"),
        "code": pd.Categorical([1], categories=[1, 2]),
        "half": pd.Categorical([0.5], categories=[0.5, 1.5]),
        "age": [4711],
        "note": ["CANARY-4711"],
    }
)
POLARS = pl.DataFrame(
    {"level": ["mid"], "made": ["CANARY-4711"], "flag": [True], "age": [4711]},
    schema={
        "level": pl.Enum(["low", "mid", "high"]),
        "made": pl.Categorical,
        "flag": pl.Boolean,
        "age": pl.Int64,
    },
)


@pytest.mark.parametrize("source", [PANDAS, PANDAS.dtypes, PANDAS.iloc[:0]], ids=["frame", "types", "empty"])
def test_pandas_types_with_categories_become_attributes_with_a_warning(source: Any) -> None:
    codebook = bo.read_codebook(source)
    assert codebook.attributes == (
        bo.Attribute("level", categories=["low", "mid", "high"], ordered=True),
        bo.Attribute("made", categories=["x", "y"]),
        bo.Attribute("flag", categories=[False, True]),
        bo.Attribute("maybe", categories=[False, True]),
        bo.Attribute("code", categories=[1, 2]),
    )
    assert [other.name for other in codebook.others] == ["half", "age", "note"]
    _, number, text = codebook.others
    assert '"bins"' in number.advice
    assert text.advice.startswith("drop it: free text")
    warning = next(note for note in codebook.notes if "from the data" in note)
    assert warning.startswith("level, made, code: ")
    assert "provenance" in warning
    assert "4711" not in str(codebook) + str(codebook.to_dict())


@pytest.mark.parametrize(
    "source",
    [POLARS, POLARS.lazy(), POLARS.schema, dict(POLARS.schema)],
    ids=["frame", "lazy", "schema", "dict"],
)
def test_polars_enums_become_attributes_and_categoricals_do_not(source: Any) -> None:
    codebook = bo.read_codebook(source)
    assert codebook.attributes == (
        bo.Attribute("level", categories=["low", "mid", "high"]),
        bo.Attribute("flag", categories=[False, True]),
    )
    assert "come from the cells" in codebook.others[0].why
    assert "Enum" in codebook.others[0].advice
    assert "4711" not in str(codebook) + str(codebook.to_dict())


def test_dictionaries_of_arrow_declare_nothing() -> None:
    table = pa.table({"made": pa.array(["CANARY-4711"]).dictionary_encode(), "flag": [True]})
    for source in (table, table.schema):
        codebook = bo.read_codebook(source)
        assert codebook.attributes == (bo.Attribute("flag", categories=[False, True]),)
        assert "come from the cells" in codebook.others[0].why
        assert "4711" not in str(codebook)


@pytest.mark.parametrize(
    "source", [3, None, print, [1, 2], PANDAS["note"], PANDAS["age"], POLARS["age"]], ids=repr
)
def test_what_has_no_types_of_columns_is_refused_without_a_value(source: Any) -> None:
    with pytest.raises(InputError, match="is no codebook") as caught:
        bo.read_codebook(source)
    assert "4711" not in str(caught.value)


def test_a_mapping_of_data_declares_nothing_and_shows_nothing() -> None:
    codebook = bo.read_codebook({"a": [4711], "b": "CANARY-4711", "c": pl.Enum, "d": pd.CategoricalDtype()})
    assert codebook.attributes == ()
    assert "4711" not in str(codebook)
