"""The problem library: files are valid, have a source, fit their data, and solve to the known optimum."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo

FOLDER = Path(__file__).resolve().parents[1] / "problems"
FILES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "catalogue")
CATALOGUE: dict[str, dict[str, Any]] = json.loads((FOLDER / "catalogue.json").read_text("utf-8"))["problems"]
SOLVED = [name for name in FILES if CATALOGUE.get(name, {}).get("optimum")]
PUBLISHED = [name for name in FILES if "published" in CATALOGUE.get(name, {})]
LONGEST = "adult"
"""Its global search takes seconds."""
WITH_DATA = [name for name in FILES if "data" in CATALOGUE.get(name, {}).get("source", {})]


def each(names: list[str]) -> list[Any]:
    """These problems, to be solved; the longest is slow."""
    return [pytest.param(name, marks=pytest.mark.slow) if name == LONGEST else name for name in names]


@cache
def problem(name: str) -> bo.Problem:
    return bo.Problem.read(FOLDER / f"{name}.json")


@cache
def solution(name: str) -> bo.Allocation:
    return bo.solve(problem(name))


@pytest.fixture
def schema(shared_data: Path) -> Callable[[str], dict[str, dict[str, Any]]]:
    def read(name: str) -> dict[str, dict[str, Any]]:
        columns = json.loads((shared_data / f"{name}.schema.json").read_text("utf-8"))["columns"]
        return {column["name"]: column for column in columns}

    return read


def test_every_file_has_an_entry_in_the_catalogue_and_every_entry_a_file() -> None:
    assert sorted(CATALOGUE) == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_library_is_a_valid_problem_with_title_and_source(name: str) -> None:
    entry = CATALOGUE[name]
    assert problem(name).attributes
    assert entry["title"]
    assert entry["source"]["citation"]
    assert entry["source"]["licence"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_library_survives_a_round_trip(name: str, tmp_path: Path) -> None:
    problem(name).write(tmp_path / "again.json")
    assert bo.Problem.read(tmp_path / "again.json") == problem(name)


def test_the_problem_of_the_demo_is_in_the_library() -> None:
    from budget_opt.cli.survey import survey_problem

    assert survey_problem() == problem("alcohol")


@pytest.mark.parametrize("name", WITH_DATA)
def test_every_column_of_the_data_is_an_attribute_public_or_dropped(
    name: str, schema: Callable[[str], dict[str, dict[str, Any]]]
) -> None:
    """R16."""
    stated = problem(name)
    listed = [*stated.names, *(column.name for column in stated.public), *stated.dropped]
    assert sorted(listed) == sorted(schema(name))


@pytest.mark.parametrize("name", WITH_DATA)
def test_a_domain_is_the_declared_one_in_the_declared_order(
    name: str, schema: Callable[[str], dict[str, dict[str, Any]]]
) -> None:
    """R12; the bins are the problem's own choice, and cover the declared range."""
    columns = schema(name)
    for attribute in problem(name).attributes:
        column, domain = columns[attribute.name], attribute.domain
        if domain.edges is None:
            assert [str(label) for label in domain.labels] == column["categories"]
        else:
            assert domain.edges[0] <= column["min"] <= column["max"] <= domain.edges[-1]
        assert not attribute.ordered or column["ordered"]


@pytest.mark.parametrize("name", WITH_DATA)
def test_every_cell_of_the_data_is_in_its_domain(name: str, shared_data: Path) -> None:
    attributes = {attribute.name: attribute.domain for attribute in problem(name).attributes}
    seen: dict[str, set[str]] = {attribute: set() for attribute in attributes}
    with gzip.open(shared_data / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for attribute in attributes:
                seen[attribute].add(row[attribute])
    for attribute, domain in attributes.items():
        if domain.edges is None:
            assert seen[attribute] <= {str(label) for label in domain.labels}
        else:
            assert all(domain.edges[0] <= float(cell) <= domain.edges[-1] for cell in seen[attribute])


@pytest.mark.parametrize("name", each(SOLVED))
def test_solve_reaches_the_optimum_that_is_known_independently(name: str) -> None:
    known, found = CATALOGUE[name]["optimum"], solution(name).objective
    assert math.isclose(found.value, known["value"], rel_tol=known["relative_tolerance"])


@pytest.mark.parametrize("name", each(SOLVED))
def test_the_bound_of_solve_is_on_the_far_side_of_the_known_optimum(name: str) -> None:
    """A bound is never made from a tolerance: only the digits of the known optimum are allowed for."""
    known, found = CATALOGUE[name]["optimum"]["value"], solution(name).objective
    sign = 1.0 if found.kind.startswith("min_") else -1.0
    assert sign * found.bound <= sign * known + 1e-9 * abs(known)


@pytest.mark.parametrize("name", each(FILES))
def test_the_answer_to_a_problem_of_the_library_keeps_its_promises(name: str) -> None:
    bo.verify(solution(name), problem=problem(name)).require()


@pytest.mark.parametrize("name", PUBLISHED)
def test_solve_gives_the_retentions_that_the_paper_prints(name: str) -> None:
    for row in CATALOGUE[name]["published"]["retention_percent"]:
        retention = 100.0 * solution(name).retention(*row["attributes"])
        assert round(retention, 1) == row["percent"], row["attributes"]
