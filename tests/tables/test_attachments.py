"""What is attached to a table beside its columns is found, in memory and in Parquet files (R15)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import budget_opt as bo
from budget_opt.tables.attachments import attachments
from budget_opt.verifier.unaided import verify_unaided

LABELS = {"a": ("no", "yes"), "b": (0, 1, 2)}
N = 60
CLAIM = "nothing is attached to the release beside its columns"


def frame() -> pd.DataFrame:
    return pd.DataFrame({"a": ["no", "yes"] * (N // 2), "b": [0, 1, 2] * (N // 3)})


def table(metadata: dict[str, str] | None = None, of_field: dict[str, str] | None = None) -> pa.Table:
    plain = pa.Table.from_pandas(frame(), preserve_index=False).replace_schema_metadata(metadata)
    fields = [plain.schema.field("a").with_metadata(of_field or {}), plain.schema.field("b")]
    return plain.cast(pa.schema(fields, metadata=metadata))


def with_attrs() -> pd.DataFrame:
    told = frame()
    told.attrs = {"originals": [1, 2, 3]}
    return told


def nested() -> pa.Table:
    inner = pa.field("x", pa.int64(), metadata={"told": "canary"})
    column = pa.array([{"x": 1}] * N, pa.struct([inner]))
    return pa.table([column], schema=pa.schema([pa.field("wave", pa.struct([inner]))]))


ATTACHED: dict[str, Any] = {
    "an index of originals": lambda: frame().set_index(pd.Index(range(7, 7 + N))),
    "the rows in another order": lambda: frame().sample(frac=1, random_state=1),
    "a named index": lambda: frame().rename_axis("canary"),
    "an index of two levels": lambda: frame().set_index([frame()["a"], frame()["b"]]),
    "a name of the columns": lambda: frame().rename_axis("canary", axis=1),
    "attrs": with_attrs,
    "a category of pandas": lambda: frame().assign(
        a=pd.Categorical(frame()["a"], categories=["no", "yes", "canary"])
    ),
    "an unused category of a public column": lambda: frame().assign(
        wave=pd.Categorical(["one"] * N, categories=["one", "canary"])
    ),
    "a value of a dictionary": lambda: pa.table(
        {"a": pa.DictionaryArray.from_arrays(pa.array([0] * N), pa.array(["no", "canary"]))}
    ),
    "metadata of the schema": lambda: table({"told": "canary"}),
    "metadata of a column": lambda: table(of_field={"told": "canary"}),
    "metadata inside a column": nested,
    "more in what pandas notes": lambda: table({"pandas": '{"columns": [], "told": "canary"}'}),
    "a name in what pandas notes": lambda: table(
        {"pandas": '{"index_columns": [], "columns": [{"name": "canary"}]}'}
    ),
}


@pytest.mark.parametrize("what", ATTACHED)
def test_r15_whatever_is_attached_to_a_release_is_told_without_its_value(what: str) -> None:
    found = attachments(ATTACHED[what](), LABELS)
    assert found
    assert "canary" not in " ".join(found)


@pytest.mark.parametrize("what", [of for of in ATTACHED if "metadata" in of or "notes" in of])
def test_r15_metadata_is_found_in_parquet_files_and_folders_of_them(what: str, tmp_path: Path) -> None:
    parquet.write_table(ATTACHED[what](), tmp_path / "part.parquet")
    assert attachments(tmp_path / "part.parquet", LABELS)
    assert attachments(str(tmp_path), LABELS)


def test_what_pandas_polars_arrow_and_spark_themselves_note_is_no_attachment(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    labels = {"a": ("no", "yes", 'more; "than" one'), "b": (0, 1, 2)}
    enum = polars.from_pandas(frame()).with_columns(polars.col("a").cast(polars.Enum(labels["a"])))
    enum.write_parquet(tmp_path / "polars.parquet")
    polars.from_pandas(frame().astype({"a": "category"})).write_parquet(tmp_path / "categorical.parquet")
    frame().astype({"a": "category"}).to_parquet(tmp_path / "pandas.parquet")
    frame().to_parquet(tmp_path / "without_index.parquet", index=False)
    parquet.write_table(table(), tmp_path / "arrow.parquet")
    fields = ",".join(
        f'{{"name":"{name}","type":"{of}","nullable":true,"metadata":{{}}}}'
        for name, of in (("a", "string"), ("b", "long"))
    )
    row = f'{{"type":"struct","fields":[{fields}]}}'
    spark = {"org.apache.spark.version": "4.0.1", "org.apache.spark.sql.parquet.row.metadata": row}
    parquet.write_table(table(spark), tmp_path / "spark.parquet")
    for file in [
        *tmp_path.iterdir(),
        frame(),
        frame().astype("category"),
        table(),
        enum,
        table().to_batches()[0],
    ]:
        assert attachments(file, labels) == [], file
    told = row.replace("{}", '{"comment": "canary"}')
    assert attachments(table({"org.apache.spark.sql.parquet.row.metadata": told}), labels)
    assert attachments(tmp_path / "polars.parquet", {"a": ("no", "yes")})


def test_r15_a_release_with_an_index_or_metadata_fails_with_and_without_its_originals() -> None:
    problem = bo.Problem(
        attributes=[bo.Attribute("a", categories=["no", "yes"]), bo.Attribute("b", categories=3)],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=4.0,
    )
    allocation = bo.uniform(problem)
    released = bo.randomize(frame(), allocation, row_order="public")
    assert bo.verify_release(allocation, frame(), released).holds
    told = table({"told": "canary"})
    indexed = released.set_index(pd.Index(frame()["a"]))
    for given in (indexed, told):
        for report in (bo.verify_release(allocation, frame(), given), verify_unaided(allocation, given)):
            failed = [check.claim for check in report.failed if check.name == CLAIM]
            assert failed
            assert "canary" not in str(report)
