"""Whatever is changed in an allocation file is refused, fails a check, is told in a note, or is harmless.

Harmless is only what `what_counts` leaves out or takes for equal:
- texts that nothing can contradict: when the file was made, by which software and solver, in what time;
- the tolerance that the file calls optimal, while it stays below the gap that is asked for: that one judges;
- prices, which may be missing, and of which the problem confirms a thousandth and no more digits;
- the last digits of doubles, 1e-12 relative, on the modest side.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.errors import AllocationError, InputError, ProblemError
from budget_opt.model.differences import differences

PROBLEM = bo.Problem(
    name="survey 2026",
    total_epsilon=4.5,
    objective="geometric_mean",
    attributes=[
        bo.Attribute("smoker", categories=["no", "yes"], epsilon_max=1.5, marginal=[0.75, 0.25]),
        bo.Attribute("income", categories=5, scores=[0, 1, 2, 4, 8], epsilon=1.25),
        bo.Attribute("age", bins=[18, 30, 45, 65], missing="category", missing_score=20),
        bo.Attribute("region", categories=["north", "south", "east"], epsilon=0.0, other="east"),
        bo.Attribute("sex", categories=2),
        bo.Attribute("works", categories=[False, True], epsilon_max=2.0),
    ],
    moments=[
        bo.CrossMoment("smoker", "income", weight=3.0, floor=0.01, ceiling=0.5),
        bo.CrossMoment("income", "age"),
        bo.CrossMoment("sex", "works", "smoker", floor=0.005),
    ],
    clusters=[("sex", "works")],
    groups=[bo.Group("health", attributes=["smoker", "income"], epsilon_max=2.5)],
    public=[{"name": "wave", "why": "the same for everybody"}],
    dropped=["person_id"],
    row_order="public",
    unit={"of": "person", "id": "person_id", "max_rows": 3},
    waves=2,
    provenance={"weights": "public", "total": "private data, epsilon 0.5"},
)
OTHER = bo.Problem(
    name="another survey",
    total_epsilon=2.0,
    objective="geometric_mean",
    attributes=[bo.Attribute(name, categories=r) for name, r in (("smoker", 3), ("income", 4), ("sex", 2))],
    moments=[bo.CrossMoment("smoker", "income", floor=0.02), bo.CrossMoment("income", "sex", weight=0.5)],
)
FREE = ("created", "software")
FREE_OUTCOME = ("solver", "seconds", "gap_tolerance")
PRICES = ("shadow_price", "floor_price", "ceiling_price")
HARD = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

Document = dict[str, Any]


def what_counts(document: Document) -> Document:
    """The file without what is free (see above)."""
    kept = {name: value for name, value in document.items() if name not in (*FREE, "sensitivity")}
    for part in ("attributes", "moments", "clusters"):
        kept[part] = [
            {name: value for name, value in item.items() if name not in PRICES} for item in document[part]
        ]
    kept["objective"] = {
        name: value for name, value in document["objective"].items() if name not in FREE_OUTCOME
    }
    return kept


@dataclass(frozen=True)
class Desk:
    """A sound file with its certificate, another sound file, and a place to write changed ones."""

    text: str
    other: Document
    certificate: Path
    notes: tuple[str, ...]
    place: Path

    @property
    def document(self) -> Document:
        return copy.deepcopy(json.loads(self.text))

    def outcome(self, text: str) -> str:
        """What becomes of a changed file: refused, failed, noted, harmless; else the test fails."""
        self.place.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            read = bo.Allocation.read(self.place)
        except AllocationError:
            return "refused"
        report = bo.verify(read, problem=PROBLEM, certificate=self.certificate)
        if not report.holds:
            return "failed"
        if (report.notes, report.open) != (self.notes, ()):
            return "noted"
        sound = json.loads(self.text)
        assert not differences(what_counts(read.to_dict()), what_counts(sound)), "noticed by nobody"
        return "harmless"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    folder = tmp_path_factory.mktemp("fuzz")
    best = bo.solve(PROBLEM, certificate=folder / "proof.zip")
    best.write(folder / "allocation.json")
    text = (folder / "allocation.json").read_text("utf-8")
    report = bo.verify(best, problem=PROBLEM, certificate=folder / "proof.zip").require()
    other = json.loads(json.dumps(bo.solve(OTHER).to_dict()))
    return Desk(text, other, folder / "proof.zip", report.notes, folder / "changed.json")


def test_the_unchanged_file_is_harmless(desk: Desk) -> None:
    assert desk.outcome(desk.text) == "harmless"


@HARD
@given(data=st.data())
def test_a_changed_digit_anywhere_is_noticed_or_harmless(desk: Desk, data: st.DataObject) -> None:
    places = [found.start() for found in re.finditer(r"\d", desk.text)]
    place = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != desk.text[place]]))
    desk.outcome(f"{desk.text[:place]}{digit}{desk.text[place + 1 :]}")


@HARD
@given(data=st.data())
def test_a_changed_character_anywhere_is_noticed_or_harmless(desk: Desk, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(desk.text) - 1))
    new = data.draw(st.one_of(st.just(""), st.sampled_from('0159-+.eE"{}[],: \n\\nulltrue'), st.characters()))
    keep = data.draw(st.booleans())
    desk.outcome(f"{desk.text[:place]}{new}{desk.text[place + (not keep) :]}")


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in items for found in paths(item, (*path, key)))]


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        document = document[part]
    return document


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    at(document, path[:-1])[path[-1]] = value


def field(path: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple("*" if isinstance(part, int) else part for part in path)


def removed(desk: Desk, data: st.DataObject) -> Document:
    document = desk.document
    path = data.draw(st.sampled_from(paths(document)[1:]))
    del at(document, path[:-1])[path[-1]]
    return document


@pytest.mark.parametrize(
    "part", [("attributes", 3), ("moments", 1), ("clusters", 0), ("groups", 0), ("public", 0), ("dropped", 0)]
)
def test_a_part_that_is_missing_is_noticed(desk: Desk, part: tuple[Any, ...]) -> None:
    document = desk.document
    del document[part[0]][part[1]]
    assert desk.outcome(json.dumps(document)) in ("refused", "failed")


def added(desk: Desk, data: st.DataObject) -> Document:
    document = desk.document
    path = data.draw(st.sampled_from([p for p in paths(document) if isinstance(at(document, p), dict)]))
    known = sorted({p[-1] for p in paths(document)[1:] if isinstance(p[-1], str)})
    name = data.draw(st.sampled_from([*known, "extra", "", "clusters"]))
    value = data.draw(st.sampled_from([0, 1.5, "x", None, [], {}, True]))
    at(document, path).setdefault(name, value)
    return document


def swapped(desk: Desk, data: st.DataObject) -> Document:
    """Two values of one list or of the same field of two objects change places."""
    document = desk.document
    everywhere = paths(document)[1:]
    path = data.draw(st.sampled_from(everywhere))
    kind = field(path)
    alike = [p for p in everywhere if len(p) == len(path) and field(p) == kind]
    alike = [p for p in alike if p[: len(path)] != path or p == path]
    other = data.draw(st.sampled_from(alike))
    first, second = copy.deepcopy(at(document, path)), copy.deepcopy(at(document, other))
    put(document, path, second)
    put(document, other, first)
    return document


def moved(desk: Desk, data: st.DataObject) -> Document:
    """A value stands where another one should."""
    document = desk.document
    source, target = (data.draw(st.sampled_from(paths(document)[1:])) for _ in range(2))
    value = copy.deepcopy(at(document, source))
    if target[: len(source)] != source:
        put(document, target, value)
    return document


def of_another_file(desk: Desk, data: st.DataObject) -> Document:
    document, others = desk.document, set(paths(desk.other))
    shared = [p for p in paths(document)[1:] if p in others]
    path = data.draw(st.sampled_from(shared))
    put(document, path, copy.deepcopy(at(desk.other, path)))
    return document


def replaced(desk: Desk, data: st.DataObject) -> Document:
    document = desk.document
    path = data.draw(st.sampled_from(paths(document)[1:]))
    hard: list[Any] = [None, True, 0, -1, 1e-320, 1e308, 2**80, -0.0, "", "é" * 400, [[]], {"a": {}}]
    put(document, path, data.draw(st.sampled_from([*hard, float("nan"), float("inf"), 10**400])))
    return document


@pytest.mark.parametrize("change", [removed, added, swapped, moved, of_another_file, replaced])
@settings(HARD, max_examples=25)
@given(data=st.data())
def test_a_field_that_is_changed_as_a_whole_is_noticed_or_harmless(
    desk: Desk, change: Callable[[Desk, st.DataObject], Document], data: st.DataObject
) -> None:
    desk.outcome(json.dumps(change(desk, data)))


def test_a_field_that_stands_twice_is_refused_even_with_the_same_value(desk: Desk) -> None:
    for found in re.finditer(r'"(\w+)": ("[^"]*"|[-0-9.e]+)', desk.text):
        twice = f"{desk.text[: found.end()]}, {found.group()}{desk.text[found.end() :]}"
        assert desk.outcome(twice) == "refused"


def test_a_truncated_file_is_refused(desk: Desk) -> None:
    whole = desk.text.rstrip()
    for length in range(0, len(whole), 61):
        assert desk.outcome(whole[:length]) == "refused"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "9" * 10_000,
        '{"format": "budget-opt/allocation", "version": 1e400}',
        "\ud800",
        "\x00",
        "null",
    ],
)
def test_what_is_no_file_at_all_is_refused_in_words(desk: Desk, text: str) -> None:
    assert desk.outcome(text) == "refused"


@pytest.mark.parametrize(
    "created",
    [
        "2026-13-45T00:00:00Z",
        "2026-02-30T12:00:00Z",
        "2026-11-30T24:01:00Z",
        "2026-11-30T12:00:60Z",
        "2026-11-30 12:00:00Z",
        "2026-11-30T12:00:00",
        "٢٠٢٦-11-30T12:00:00Z",
        "0000-01-01T00:00:00Z",
    ],
)
def test_a_time_that_never_was_is_refused(desk: Desk, created: str) -> None:
    with pytest.raises(InputError):
        bo.Allocation.read(_written(desk, desk.document | {"created": created}))
    earlier = desk.document | {"created": "2024-02-29T23:59:59Z"}
    assert desk.outcome(json.dumps(earlier)) == "harmless"


def _written(desk: Desk, document: Document) -> Path:
    desk.place.write_text(json.dumps(document), "utf-8")
    return desk.place


@pytest.mark.parametrize(
    ("figure", "step"),
    [("loss", -1e-13), ("retention", 1e-13)],
)
def test_a_double_off_by_its_last_digits_is_taken_only_on_the_modest_side(
    desk: Desk, figure: str, step: float
) -> None:
    flattering, modest = desk.document, desk.document
    flattering["attributes"][0][figure] *= 1 + step
    modest["attributes"][0][figure] *= 1 - step
    assert desk.outcome(json.dumps(flattering)) == "refused"
    assert desk.outcome(json.dumps(modest)) == "harmless"


@HARD
@given(data=st.data())
def test_a_changed_character_of_a_problem_is_refused_changes_its_hash_or_nothing(
    desk: Desk, data: st.DataObject
) -> None:
    text = json.dumps(PROBLEM.to_dict(), indent=1)
    place = data.draw(st.integers(0, len(text) - 1))
    new = data.draw(st.one_of(st.just(""), st.sampled_from('0159-+.eE"{}[],: \n'), st.characters()))
    desk.place.write_bytes(f"{text[:place]}{new}{text[place + 1 :]}".encode("utf-8", "surrogatepass"))
    try:
        read = bo.Problem.read(desk.place)
    except ProblemError:
        return
    assert (read.sha256 == PROBLEM.sha256) == (read.to_dict() == PROBLEM.to_dict())
