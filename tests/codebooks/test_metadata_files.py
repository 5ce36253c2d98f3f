"""Frictionless and CSVW metadata: declared values become categories, everything else is left to decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.errors import InputError


def read(folder: Path, document: Any, name: str = "schema.json", **options: Any) -> bo.Codebook:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return bo.read_codebook(path, **options)


def attribute(name: str, categories: Any, **fields: Any) -> bo.Attribute:
    return bo.Attribute(name, categories=categories, **fields)


FIELDS: list[tuple[dict[str, Any], bo.Attribute | str]] = [
    ({"type": "string", "constraints": {"enum": ["n", "s"]}}, attribute("x", ["n", "s"])),
    ({"constraints": {"enum": ["n", "s"]}}, attribute("x", ["n", "s"])),
    ({"type": "integer", "constraints": {"enum": [3, 1]}}, attribute("x", [3, 1])),
    ({"type": "integer", "constraints": {"enum": ["3", "1"]}}, attribute("x", [3, 1])),
    ({"type": "year", "constraints": {"enum": [2025, 2026]}}, attribute("x", [2025, 2026])),
    (
        {"type": "date", "constraints": {"enum": ["2025-01-01", "2026-01-01"]}},
        attribute("x", ["2025-01-01", "2026-01-01"]),
    ),
    ({"type": "number", "constraints": {"enum": [0.5, 1.5]}}, "not whole numbers"),
    ({"type": "string", "constraints": {"enum": ["n"]}}, "one declared value only"),
    ({"type": "string", "constraints": {"enum": ["n", "n"]}}, "distinct labels"),
    ({"type": "string", "constraints": {"enum": ["n", ""]}}, "not empty"),
    ({"type": "boolean"}, attribute("x", [False, True])),
    ({"type": "boolean", "trueValues": ["yes"], "falseValues": ["no"]}, attribute("x", ["no", "yes"])),
    ({"type": "boolean", "trueValues": ["y", "Y"], "falseValues": ["n"]}, attribute("x", [False, True])),
    (
        {"type": "integer", "constraints": {"minimum": 1, "maximum": 4}},
        attribute("x", [1, 2, 3, 4], ordered=True),
    ),
    (
        {"type": "integer", "constraints": {"minimum": "1", "maximum": "3"}},
        attribute("x", [1, 2, 3], ordered=True),
    ),
    (
        {"type": "integer", "constraints": {"exclusiveMinimum": 0, "exclusiveMaximum": 3}},
        attribute("x", [1, 2], ordered=True),
    ),
    ({"type": "integer", "constraints": {"minimum": 18, "maximum": 99}}, "82 whole numbers from 18 to 99"),
    ({"type": "integer", "constraints": {"minimum": 1}}, "without a lower and an upper limit"),
    ({"type": "integer", "constraints": {"minimum": 4, "maximum": 1}}, "without a lower and an upper limit"),
    ({"type": "integer"}, "without a lower and an upper limit"),
    ({"type": "number", "constraints": {"minimum": 1, "maximum": 2}}, "of type number"),
    ({"type": "string", "constraints": {"pattern": "a|b"}}, "of type string"),
    ({"type": "array", "constraints": {"enum": [[1], [2]]}}, "of type array"),
    (
        {"type": "string", "categories": ["low", "high"], "categoriesOrdered": True},
        attribute("x", ["low", "high"], ordered=True),
    ),
    (
        {"type": "integer", "categories": [{"value": 0, "label": "no"}, {"value": 1, "label": "yes"}]},
        attribute("x", [0, 1]),
    ),
    (
        {"type": "string", "constraints": {"enum": ["n", "s"]}, "missingValues": ["", "NA"]},
        attribute("x", ["n", "s"], missing="category"),
    ),
    (
        {"constraints": {"enum": ["n", "s"], "required": True}, "missingValues": ["", "NA"]},
        attribute("x", ["n", "s"]),
    ),
    (
        {
            "type": "integer",
            "constraints": {"minimum": 1, "maximum": 5},
            "missingValues": [{"value": "-9", "label": "refused"}],
        },
        attribute("x", [1, 2, 3, 4, 5], ordered=True, missing="category", missing_score=2),
    ),
]


@pytest.mark.parametrize(("field", "wanted"), FIELDS)
def test_a_field_of_a_table_schema_is_an_attribute_where_its_values_are_declared(
    field: dict[str, Any], wanted: bo.Attribute | str, tmp_path: Path
) -> None:
    codebook = read(tmp_path, {"fields": [{"name": "x", **field}]})
    if isinstance(wanted, bo.Attribute):
        assert codebook.attributes == (wanted,)
        assert codebook.others == ()
    else:
        assert codebook.attributes == ()
        assert wanted in codebook.others[0].why


PUBLIC = "public column"
UNIQUE: dict[str, dict[str, Any]] = {
    "unique": {"fields": [{"name": "x", "type": "integer", "constraints": {"unique": True}}]},
    "declared too": {
        "fields": [{"name": "x", "constraints": {"enum": ["a", "b"], "unique": True, "required": True}}]
    },
    "key": {"fields": [{"name": "x", "type": "integer"}], "primaryKey": "x"},
    "list": {"fields": [{"name": "x", "type": "boolean"}], "primaryKey": ["x"]},
    "csvw": {"tableSchema": {"columns": [{"name": "x", "titles": "X"}], "primaryKey": "x"}},
    "csvw list": {"tableSchema": {"columns": [{"name": "x", "datatype": "boolean"}], "primaryKey": ["x"]}},
}


@pytest.mark.parametrize("document", UNIQUE.values(), ids=UNIQUE)
def test_an_id_is_to_be_dropped_and_nothing_else(document: dict[str, Any], tmp_path: Path) -> None:
    codebook = read(tmp_path, document)
    assert codebook.attributes == ()
    assert codebook.others[0].why == "different in every row"
    assert codebook.others[0].advice.startswith("drop it:")


def test_a_part_of_a_key_of_several_columns_is_no_id(tmp_path: Path) -> None:
    fields = [{"name": name, "type": "boolean"} for name in "ab"]
    assert len(read(tmp_path, {"fields": fields, "primaryKey": ["a", "b"]}).attributes) == 2


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("string", "drop it: free text"),
        ("any", "drop it: free text"),
        ("integer", "bins"),
        ("number", "bins"),
    ],
)
def test_text_and_numbers_without_a_domain_are_not_offered_as_public(
    kind: str, words: str, tmp_path: Path
) -> None:
    (frictionless,) = read(tmp_path, {"fields": [{"name": "x", "type": kind}]}).others
    (csvw,) = read(tmp_path, column(name="x", datatype={"base": kind})).others
    for other in (frictionless, csvw):
        assert words in other.advice
        assert PUBLIC not in other.advice


def test_other_types_may_be_public_with_a_reason(tmp_path: Path) -> None:
    (other,) = read(tmp_path, {"fields": [{"name": "x", "type": "date"}]}).others
    assert PUBLIC in other.advice


def test_labels_of_version_2_are_taken_where_the_table_holds_them(tmp_path: Path) -> None:
    values = [{"value": 0, "label": "no"}, {"value": 1, "label": "yes"}]
    document = {"fields": [{"name": "x", "type": "integer", "categories": values}]}
    assert read(tmp_path, document, released="labels").attributes == (attribute("x", ["no", "yes"]),)


def test_missing_values_of_the_schema_hold_for_its_fields_and_are_told(tmp_path: Path) -> None:
    field = {"name": "x", "constraints": {"enum": ["n", "s"]}}
    codebook = read(tmp_path, {"fields": [field], "missingValues": ["", "NA"]})
    assert codebook.attributes == (attribute("x", ["n", "s"], missing="category"),)
    assert "x: 'NA' declared missing" in codebook.notes[0]


PACKAGE = {
    "name": "survey",
    "resources": [
        {"name": "people", "path": "people.csv", "schema": {"fields": [{"name": "a", "type": "boolean"}]}},
        {"name": "places", "path": "places.csv", "schema": "places.json"},
    ],
}


def test_a_data_package_has_the_schema_of_its_resource_inside_or_beside_it(tmp_path: Path) -> None:
    (tmp_path / "places.json").write_text('{"fields": [{"name": "b", "type": "boolean"}]}')
    with pytest.raises(InputError, match="2 tables, people, places"):
        read(tmp_path, PACKAGE)
    assert read(tmp_path, PACKAGE, table="people").attributes[0].name == "a"
    assert read(tmp_path, PACKAGE, table="places").attributes[0].name == "b"
    with pytest.raises(InputError, match="no table 'plants'"):
        read(tmp_path, PACKAGE, table="plants")
    single = {"resources": PACKAGE["resources"][:1]}
    assert read(tmp_path, single).attributes[0].name == "a"


@pytest.mark.parametrize(
    "place", ["../secret.json", "/etc/passwd.json", "https://example.org/s.json", "a/../../b.json"]
)
def test_only_files_beside_a_codebook_are_followed(place: str, tmp_path: Path) -> None:
    document = {"resources": [{"name": "r", "schema": place}]}
    with pytest.raises(InputError, match="Save it beside"):
        read(tmp_path, document)


def column(**fields: Any) -> dict[str, Any]:
    return {"@context": "http://www.w3.org/ns/csvw", "url": "t.csv", "tableSchema": {"columns": [fields]}}


COLUMNS: list[tuple[dict[str, Any], bo.Attribute | str]] = [
    ({"datatype": "boolean"}, attribute("x", [False, True])),
    ({"datatype": {"base": "boolean"}}, attribute("x", [False, True])),
    ({"datatype": {"base": "boolean", "format": "Y|N"}}, attribute("x", ["N", "Y"])),
    ({"datatype": {"base": "integer", "minimum": 1, "maximum": 3}}, attribute("x", [1, 2, 3], ordered=True)),
    (
        {"datatype": {"base": "byte", "minInclusive": "0", "maxExclusive": "3"}},
        attribute("x", [0, 1, 2], ordered=True),
    ),
    ({"datatype": {"base": "integer", "minimum": 0, "maximum": 99}}, "100 whole numbers"),
    ({"datatype": "integer"}, "without a lower"),
    ({"datatype": {"base": "string", "format": "^(north|south)$"}}, attribute("x", ["north", "south"])),
    ({"datatype": {"format": "north|south"}}, attribute("x", ["north", "south"])),
    ({"datatype": {"base": "string", "format": "[ns].*|x"}}, "of type string"),
    ({"datatype": "string"}, "of type string"),
    ({}, "of type string"),
    ({"datatype": "decimal"}, "of type decimal"),
    ({"datatype": "boolean", "null": ["", "-"]}, attribute("x", [False, True], missing="category")),
    ({"datatype": "boolean", "null": "-", "required": True}, attribute("x", [False, True])),
]


@pytest.mark.parametrize(("fields", "wanted"), COLUMNS)
def test_a_column_of_csvw_is_an_attribute_where_its_datatype_lists_its_values(
    fields: dict[str, Any], wanted: bo.Attribute | str, tmp_path: Path
) -> None:
    codebook = read(tmp_path, column(name="x", **fields))
    if isinstance(wanted, bo.Attribute):
        assert codebook.attributes == (wanted,)
    else:
        assert wanted in codebook.others[0].why


def test_csvw_names_are_those_of_the_header_and_properties_are_inherited(tmp_path: Path) -> None:
    columns = [
        {"name": "a", "titles": "Smoker"},
        {"name": "b", "titles": ["Born here", "born"]},
        {"name": "c", "titles": {"en": "Works", "es": "Trabaja"}, "null": []},
        {"name": "d", "datatype": "string"},
        {"name": "e", "virtual": True},
    ]
    tables = [
        {"url": "t.csv", "datatype": "boolean", "tableSchema": {"columns": columns}},
        {"url": "u.csv", "tableSchema": {"columns": [{"name": "z", "datatype": "boolean"}]}},
    ]
    document = {"@context": "http://www.w3.org/ns/csvw", "null": "?", "tables": tables}
    codebook = read(tmp_path, document, "t.csv-metadata.json", table="t.csv")
    assert [(one.name, one.missing) for one in codebook.attributes] == [
        ("Smoker", "category"),
        ("Born here", "category"),
        ("Works", "error"),
    ]
    assert [other.name for other in codebook.others] == ["d"]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "neither a Frictionless"),
        ({"format": "budget-opt/problem", "version": 1}, "neither a Frictionless"),
        ({"fields": []}, "fields must be a list of objects"),
        ({"fields": [1]}, "fields must be a list of objects"),
        ({"fields": [{"type": "boolean"}]}, "column without a name"),
        ({"fields": [{"name": 3}]}, "column without a name"),
        ({"resources": {}}, "resources must be a list of objects"),
        ({"resources": [{"name": "r"}]}, "has no schema"),
        ({"tableSchema": {"columns": []}}, "columns must be a list of objects"),
        ({"tables": [{"url": "u"}]}, "has no tableSchema"),
        ({"tableSchema": {"columns": [{"titles": []}]}}, "column without a name"),
        ([1], "holds no object"),
    ],
)
def test_what_is_no_codebook_is_refused(document: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, document)


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.xlsx", "codebook"])
def test_a_table_of_values_is_never_taken_for_a_codebook(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a,b\n4711,x\n")
    with pytest.raises(InputError, match="never read for its domain") as caught:
        bo.read_codebook(tmp_path / name)
    assert "4711" not in str(caught.value)


def test_yaml_is_read_as_json_is(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text("fields:\n- {name: x, constraints: {enum: [no, yes]}}\n")
    assert bo.read_codebook(tmp_path / "schema.yaml").attributes == (attribute("x", ["no", "yes"]),)


def test_a_hostile_codebook_cannot_steer_a_terminal(tmp_path: Path) -> None:
    red = "\x1b[31mred\n"
    fields = [
        {"name": red, "type": "boolean"},
        {"name": "label", "constraints": {"enum": [red, "b"]}},
        {"name": "type", "type": red},
        {"name": "[bold]markup[/bold]", "type": "boolean"},
    ]
    codebook = read(tmp_path, {"fields": fields, "missingValues": [red]})
    assert [one.name for one in codebook.attributes] == ["[bold]markup[/bold]"]
    assert "\x1b" not in str(codebook)
    assert "[bold]markup[/bold]" in str(codebook)
    with pytest.raises(InputError) as caught:
        read(tmp_path, {"resources": [{"name": red}, {"name": "b"}]})
    assert "\x1b" not in str(caught.value)
