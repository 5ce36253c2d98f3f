"""The type of a released column: the original's, by the declared domain and never by the cells (R12, R15)."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from itertools import product
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.model.domain import Domain
from budget_opt.tables.frames import FrameSource
from budget_opt.tables.label_types import Labels
from budget_opt.tables.reading import read_codes
from tests.tables.one_column import (
    LABELS,
    arrow,
    cells_of,
    coded,
    domain_of,
    pandas,
    polars,
    released,
    type_of,
)

INFERRED_TEXT = str(pd.Series(["a", None]).dtype)  # object in pandas 2, str in pandas 3

SAME: dict[str, tuple[str, Callable[[list[Any]], Any]]] = {
    "pandas string": ("text", pandas("string")),
    "pandas string of Arrow": ("text", pandas("string[pyarrow]")),
    "pandas inferred text": ("text", pandas(None)),
    "pandas Int64": ("integer", pandas("Int64")),
    "pandas Int8": ("integer", pandas("Int8")),
    "pandas UInt16": ("integer", pandas("UInt16")),
    "pandas Float64": ("integer", pandas("Float64")),
    "pandas float32": ("integer", pandas("float32")),
    "pandas float64": ("integer", pandas("float64")),
    "pandas objects of booleans": ("boolean", pandas(object)),
    "pandas boolean": ("boolean", pandas("boolean")),
    **{
        f"pandas {kind} in Arrow": (of, pandas(pd.ArrowDtype(kind)))
        for of, kind in [
            ("text", pa.string()),
            ("text", pa.large_string()),
            ("integer", pa.int16()),
            ("boolean", pa.bool_()),
        ]
    },
    "polars String": ("text", polars(pl.String)),
    "polars Categorical": ("text", polars(pl.Categorical)),
    **{
        f"polars {kind}": ("integer", polars(kind))
        for kind in (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
    },
    "polars Boolean": ("boolean", polars(pl.Boolean)),
    **{str(kind): ("text", arrow(kind)) for kind in (pa.string(), pa.large_string(), pa.string_view())},
    **{
        str(kind): ("integer", arrow(kind))
        for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64())
    },
    "bool": ("boolean", arrow(pa.bool_())),
    **{
        f"dictionary {index} {values}": (of, coded(index, values))
        for index in (pa.int8(), pa.uint8(), pa.int32(), pa.uint64())
        for of, values in [
            ("text", pa.string()),
            ("text", pa.large_string()),
            ("integer", pa.int8()),
            ("integer", pa.uint32()),
        ]
    },
    "ordered dictionary": ("text", coded(pa.int16(), pa.string(), ordered=True)),
    "dictionary of views": ("text", coded(pa.int16(), pa.string_view())),
    "batch": ("text", lambda cells: pa.record_batch({"x": cells})),
}
"""Kinds whose type comes back with and without a declared missing category."""

PLAIN: dict[str, tuple[str, Callable[[list[Any]], Any]]] = {
    "pandas objects of text": ("text", pandas(object)),
    "pandas objects of integers": ("integer", pandas(object)),
    "pandas bool": ("boolean", pandas("bool")),
    "polars Float64": ("integer", polars(pl.Float64)),
    "double": ("integer", arrow(pa.float64())),
    **{
        f"pandas {kind}": ("integer", pandas(kind))
        for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    },
}
"""Kinds whose type comes back where missing is refused: the cells may choose it otherwise."""


@pytest.mark.parametrize("name", [*SAME, *PLAIN])
@pytest.mark.parametrize("missing", [False, True])
def test_r12_r15_the_same_type_comes_back(name: str, missing: bool) -> None:
    if missing and name in PLAIN:
        return
    kind, make = (SAME | PLAIN)[name]
    domain = domain_of(kind, missing=missing)
    labels = list(LABELS[kind])
    original = make(labels[::-1])
    assert read_codes(original, {"x": domain})["x"].tolist() == list(range(len(labels)))[::-1]
    for codes in ([0, 1, 0], [domain.cardinality - 1] * 3, []):
        back = released(original, domain, codes)
        assert type(back) is type(original)
        assert type_of(back) == type_of(original)
        assert cells_of(back) == [domain.labels[code] for code in codes]
        assert read_codes(back, {"x": domain}, released=True)["x"].tolist() == codes


@pytest.mark.parametrize(
    ("kind", "dtypes", "expected"),
    [
        ("text", ["object"], INFERRED_TEXT),
        ("integer", ["int8", "uint16", "int64", "uint64", "float64", "object"], "float64"),
        ("integer", ["float32"], "float32"),
        ("boolean", ["bool", "object"], "object"),
    ],
)
def test_r12_where_missing_is_declared_pandas_types_are_those_of_labels_with_a_gap(
    kind: str, dtypes: list[str], expected: str
) -> None:
    domain = domain_of(kind, missing=True)
    for dtype in dtypes:
        back = released(pandas(dtype)(list(LABELS[kind])), domain, [0, len(LABELS[kind]), 1])
        assert str(back["x"].dtype) == expected
        assert cells_of(back) == [domain.labels[0], None, domain.labels[1]]


READERS: dict[str, Callable[[list[Any]], Any]] = {
    "pandas": lambda cells: pd.DataFrame({"x": cells}),
    "pandas from csv": lambda cells: pd.read_csv(csv(cells)),
    "pandas from csv in Arrow": lambda cells: pd.read_csv(csv(cells), dtype_backend="pyarrow"),
    "pandas from Arrow": lambda cells: pa.table({"x": cells}).to_pandas(),
    "pandas categories": lambda cells: pd.DataFrame({"x": pd.Series(cells).astype("category")}),
    "pandas categories of objects": lambda cells: pd.DataFrame({"x": pd.Categorical(cells)}),
    "polars": lambda cells: pl.DataFrame({"x": cells}),
    "polars from csv": lambda cells: pl.read_csv(csv(cells)),
    "Arrow": lambda cells: pa.table({"x": cells}),
    "Arrow dictionary": lambda cells: pa.table({"x": pa.array(cells).dictionary_encode()}),
}
"""Ways in which a column gets its type from its cells."""


def csv(cells: list[Any]) -> io.BytesIO:
    text = ["" if cell is None else str(cell).lower() for cell in cells]
    return io.BytesIO("\n".join(["x,y", *(f"{cell},1" for cell in text), ""]).encode())


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("reader", READERS)
def test_r12_the_type_does_not_tell_which_cells_are_there_or_missing(reader: str, kind: str) -> None:
    """Every column that comes of some cells is read, and released in the type of a full column."""
    domain = domain_of(kind, missing=True)
    full = READERS[reader](list(LABELS[kind]))
    for codes in map(list, product(range(domain.cardinality), repeat=2)):
        table = READERS[reader]([domain.labels[code] for code in codes])
        assert read_codes(table, {"x": domain})["x"].tolist() == codes
        back = released(table, domain, codes)
        assert type_of(back) == type_of(released(full, domain, codes))
        assert read_codes(back, {"x": domain}, released=True)["x"].tolist() == codes


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "int64"])
def test_r12_a_gap_that_is_cut_into_integers_does_not_show(dtype: str) -> None:
    domain = domain_of("integer", missing=True)
    whole = pd.DataFrame({"x": np.array([4, 1], dtype)})
    for rows in ([0, 1], [0, 9], [8, 9]):
        cut = whole.reindex(rows)
        assert read_codes(cut, {"x": domain})["x"].tolist() == [row if row < 2 else 3 for row in rows]
        assert type_of(released(cut, domain, [0])) == type_of(released(whole, domain, [0]))


def test_r12_integers_with_a_gap_that_went_through_pandas_do_not_tell_it() -> None:
    domain = domain_of("integer", missing=True)
    for cells in ([4, 1], [4, None], [None, None]):
        frame = pd.DataFrame({"x": cells})
        assert type_of(released(pa.Table.from_pandas(frame, preserve_index=False), domain, [3])) == "int64"
        assert type_of(released(pl.from_pandas(frame), domain, [3])) == "Int64"


@pytest.mark.parametrize(
    ("narrow", "labels", "wide"),
    [
        (pa.int8(), (1, 300), pa.int16()),
        (pa.int8(), (1, 2**40), pa.int64()),
        (pa.uint8(), (1, 300), pa.uint16()),
        (pa.uint8(), (-1, 2), pa.int8()),
        (pa.uint32(), (-1, 2**31), pa.int64()),
        (pa.int64(), (1, 300), pa.int64()),
        (pa.float16(), (1, 3000), pa.float32()),
        (pa.float32(), (1, 2**24), pa.float64()),
    ],
    ids=str,
)
def test_r12_a_type_too_narrow_for_the_labels_is_widened_by_the_domain_alone(
    narrow: pa.DataType, labels: tuple[int, ...], wide: pa.DataType
) -> None:
    domain = Domain("integer", labels)
    column = pa.array(np.array([2, 2], narrow.to_pandas_dtype()), narrow)
    originals = {
        "arrow": pa.table({"x": column}),
        "pandas": pd.DataFrame({"x": np.array([2, 2], narrow.to_pandas_dtype())}),
    }
    if narrow != pa.float16():
        originals["polars"] = pl.DataFrame(originals["arrow"])
        originals["nullable"] = pd.DataFrame({"x": pd.array(originals["pandas"]["x"])})
        originals["ArrowDtype"] = originals["arrow"].to_pandas(types_mapper=pd.ArrowDtype)
    for original in originals.values():
        back = released(original, domain, [1, 0])
        assert cells_of(back) == [labels[1], labels[0]]
        found = nw.from_native(back, eager_only=True).to_arrow().schema.field("x").type
        assert found == wide


NUMBERS: dict[str, Callable[[pa.Array], Any]] = {
    "pandas": lambda cells: pd.DataFrame({"x": cells.to_numpy()}),
    "nullable": lambda cells: pd.DataFrame({"x": pd.array(cells.to_numpy())}),
    "pandas in Arrow": lambda cells: pa.table({"x": cells}).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": lambda cells: pd.DataFrame({"x": pd.Categorical(cells.to_numpy())}),
    "polars": lambda cells: pl.DataFrame(pa.table({"x": cells})),
    "Arrow": lambda cells: pa.table({"x": cells}),
    "Arrow dictionary": lambda cells: pa.table({"x": cells.dictionary_encode()}),
}


@settings(max_examples=50)
@given(
    st.sampled_from(sorted(NUMBERS)),
    st.sampled_from([pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64(), pa.uint64(), pa.float64()]),
    st.sets(st.integers(-300, 300) | st.integers(1 - 2**53, 2**53 - 1), min_size=2, max_size=5),
    st.booleans(),
    st.data(),
)
def test_r12_any_integers_come_back_in_a_type_that_the_cells_do_not_choose(
    kind: str, given_type: pa.DataType, integers: set[int], missing: bool, data: st.DataObject
) -> None:
    """Whichever of the labels that the original's type holds are in it."""
    labels = tuple(data.draw(st.permutations(sorted(integers))))
    domain = Domain("integer", (*labels, None) if missing else labels)
    numpy = np.dtype(given_type.to_pandas_dtype())
    held = [x for x in labels if numpy.kind == "f" or np.iinfo(numpy).min <= x <= np.iinfo(numpy).max]
    codes = data.draw(st.lists(st.integers(0, domain.cardinality - 1), max_size=4))
    types = set()
    for _ in range(2):
        cells = data.draw(st.lists(st.sampled_from(held), max_size=4)) if held else []
        original = NUMBERS[kind](pa.array(np.array(cells, numpy), given_type))
        assert read_codes(original, {"x": domain})["x"].tolist() == [labels.index(cell) for cell in cells]
        back = released(original, domain, codes)
        assert cells_of(back) == [domain.labels[code] for code in codes]
        assert read_codes(back, {"x": domain}, released=True)["x"].tolist() == codes
        types.add(type_of(back))
    assert len(types) == 1


@pytest.mark.parametrize(
    ("index", "labels", "wide"),
    [
        (pa.int8(), 128, pa.int8()),
        (pa.int8(), 129, pa.int16()),
        (pa.uint8(), 256, pa.uint8()),
        (pa.uint8(), 257, pa.uint16()),
        (pa.int64(), 3, pa.int64()),
    ],
    ids=str,
)
def test_r12_indices_too_narrow_for_the_labels_are_widened_by_the_domain_alone(
    index: pa.DataType, labels: int, wide: pa.DataType
) -> None:
    domain = Domain("text", tuple(f"c{i}" for i in range(labels)))
    back = released(coded(index, pa.string())(["c0", "c1"]), domain, [labels - 1])
    assert back.schema.field("x").type == pa.dictionary(wide, pa.string())
    assert back["x"].chunk(0).dictionary.to_pylist() == list(domain.labels)


def test_r12_where_other_takes_unseen_values_they_choose_no_type() -> None:
    domain = Domain("integer", (1, 2), None, 1)
    for cells in ([1, 2], [1, 2**63]):
        assert type_of(released(pd.DataFrame({"x": cells}), domain, [0])) == "int64"
        assert type_of(released(pa.table(pd.DataFrame({"x": cells})), domain, [0])) == "int64"
    domain = Domain("text", ("a", "b"), None, 1)
    for cells in (["a"], [f"c{i}" for i in range(300)]):
        original = pa.Table.from_pandas(pd.DataFrame({"x": pd.Categorical(cells)}), preserve_index=False)
        assert "indices=int8" in type_of(released(original, domain, [0]))


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("missing", [False, True])
def test_r12_a_pandas_category_has_the_declared_labels_and_its_own_order_flag(
    kind: str, missing: bool, ordered: bool
) -> None:
    """Whatever its categories were: unseen ones that no cell has are no fault, and do not come back."""
    domain = domain_of(kind, missing=missing)
    labels = list(LABELS[kind])
    for more in ({"text": ["CANARY", 7], "integer": [-1], "boolean": []}[kind], []):
        categories = pd.Index([*more, *labels[::-1]], dtype=object if more else None)
        original = pd.DataFrame({"x": pd.Categorical(labels, categories=categories, ordered=ordered)})
        assert read_codes(original, {"x": domain})["x"].tolist() == list(range(len(labels)))
        back = released(original, domain, [0, domain.cardinality - 1])
        assert type_of(back) == f"category {labels} {ordered}"
        assert cells_of(back) == [labels[0], domain.labels[-1]]
        assert b"CANARY" not in pickle.dumps(back)


@pytest.mark.parametrize("dtype", [pl.Enum(["hull", "CANARY", "york", "leeds"]), pl.Categorical], ids=str)
@pytest.mark.parametrize("missing", [False, True])
def test_r12_r15_polars_categories_are_the_declared_labels_in_their_order(dtype: Any, missing: bool) -> None:
    domain = domain_of("text", missing=missing)
    original = pl.DataFrame({"x": pl.Series(["CANARY", "hull", "york"], dtype=dtype)})[1:]
    back = released(original, domain, [2, domain.cardinality - 1])
    assert cells_of(back) == ["hull", domain.labels[-1]]
    if isinstance(dtype, pl.Enum):
        assert back.schema["x"] == pl.Enum(LABELS["text"])
    else:
        assert back.schema["x"] == pl.Categorical
    assert b"CANARY" not in pickle.dumps(back)
    assert "CANARY" not in repr(back.schema)


@pytest.mark.parametrize("missing", [False, True])
def test_r12_bins_come_back_as_categories_of_their_labels(missing: bool) -> None:
    labels = ("[0, 1)", "[1, 2]")
    domain = Domain("bins", (*labels, None) if missing else labels, (0.0, 1.0, 2.0))
    numbers = {"x": [0.5, 1.5]}
    frames = [pd.DataFrame(numbers), pd.DataFrame(numbers).astype("Float64"), pl.DataFrame(numbers)]
    frames += [pd.DataFrame(numbers).convert_dtypes(dtype_backend="pyarrow"), pa.table(numbers)]
    types = [type_of(released(frame, domain, [1, domain.cardinality - 1])) for frame in frames]
    category = "category ['[0, 1)', '[1, 2]'] False"
    assert types[:2] == [category, category]
    assert types[2] == str(pl.Enum(labels))
    assert types[3:] == [category, "dictionary<values=string, indices=int8, ordered=0>"]
    for frame in frames:
        codes = [1, domain.cardinality - 1]
        back = released(frame, domain, codes)
        assert read_codes(back, {"x": domain}, released=True)["x"].tolist() == codes


def test_a_long_column_of_text_comes_back_whole() -> None:
    """Beyond the rows that are made at a time."""
    domain = domain_of("text", missing=True)
    codes = np.arange(2**20 + 3, dtype=np.uint8) % 4
    for original in (pa.table({"x": ["york"]}), pa.record_batch({"x": ["york"]})):
        back = FrameSource(original).rebuilt(("x",), {"x": Labels(codes, domain)}, np.arange(codes.size))
        assert (read_codes(back, {"x": domain}, released=True)["x"] == codes).all()
