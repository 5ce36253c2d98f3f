"""The hash of a problem: of what it says, not of how it is written (DESIGN 3.2)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.errors import ProblemError
from budget_opt.model.problem import Problem
from tests.model.defaults import ATTRIBUTE_DEFAULTS, DEFAULTS, MOMENT_DEFAULTS
from tests.strategies import Document, documents


@given(documents())
@settings(max_examples=15)
def test_the_hash_is_that_of_the_parsed_problem_as_canonical_json(document: Document) -> None:
    problem = Problem.from_dict(document)
    assert problem.sha256 == hashlib.sha256(rfc8785.dumps(problem.to_dict())).hexdigest()
    assert re.fullmatch("[0-9a-f]{64}", problem.sha256)


def shuffled(value: Any, seed: int) -> Any:
    """The same JSON with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: hashlib.sha256(f"{seed}{key}".encode()).digest())
        return {key: shuffled(value[key], seed) for key in keys}
    return [shuffled(item, seed) for item in value] if isinstance(value, list) else value


@given(document=documents(), seed=st.integers(0, 9))
@settings(max_examples=15)
def test_the_hash_does_not_depend_on_the_order_of_keys_or_on_defaults_written_out(
    document: Document, seed: int
) -> None:
    plain = Problem.from_dict(document)
    written = {
        **DEFAULTS,
        **document,
        "attributes": [{**ATTRIBUTE_DEFAULTS, **one} for one in document["attributes"]],
        "moments": [{**MOMENT_DEFAULTS, **one} for one in document["moments"]],
    }
    other = Problem.from_dict(shuffled(written, seed))
    assert other == plain
    assert other.sha256 == plain.sha256
    # and 3.0 may be written as 3
    whole = json.loads(
        json.dumps(document),
        parse_float=lambda text: int(text[:-2]) if text.endswith(".0") else float(text),
    )
    assert Problem.from_dict(whole).sha256 == plain.sha256


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every leaf of a document."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from places(item, (*path, i))
    else:
        yield path


def with_change(document: Document, path: tuple[Any, ...]) -> Document | None:
    """The document with another value at a leaf, None where no other is easily made."""
    changed = json.loads(json.dumps(document))
    place = changed
    for part in path[:-1]:
        place = place[part]
    old = place[path[-1]]
    if isinstance(old, bool):
        place[path[-1]] = not old
    elif isinstance(old, int):
        place[path[-1]] = old + 1
    elif isinstance(old, float):
        place[path[-1]] = old * 1.001 if old else 0.001
    elif old is None:
        return None
    else:
        place[path[-1]] = {
            "shuffle": "public",
            "public": "shuffle" if path == ("row_order",) else "private data",
            "weighted_sum": "max_min",
        }.get(old, f"{old}_")
    return changed


@given(document=documents(), data=st.data())
@settings(max_examples=40)
def test_any_change_that_is_still_a_problem_changes_the_hash(document: Document, data: st.DataObject) -> None:
    problem = Problem.from_dict(document)
    path = data.draw(st.sampled_from(list(places(problem.to_dict()))))
    changed = with_change(problem.to_dict(), path)
    if changed is None:
        return
    try:
        other = Problem.from_dict(changed)
    except ProblemError:
        return
    assert other != problem
    assert other.sha256 != problem.sha256
