"""Problem files: strict reading, round trips, writing whole or not at all (DESIGN 3)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings

from budget_opt.errors import InputError, ProblemError
from budget_opt.model.documents import write_text
from budget_opt.model.problem import Problem
from tests.strategies import Document, documents, problems

HEAD = '"format": "budget-opt/problem", "version": 1'
REST = (
    '"total_epsilon": 1.0, "attributes": [{"name": "a", "categories": 2}], "moments": [{"attributes": ["a"]}]'
)

TWICE_INSIDE = f"{{{HEAD}, {REST}}}".replace('{"name"', '{"name": "b", "name"')


def write(folder: Path, text: str | bytes, name: str = "problem.json") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def error_of(path: Path) -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        Problem.read(path)
    assert caught.value.exit_code == 2
    return caught.value


def test_a_small_file_is_read(tmp_path: Path) -> None:
    assert Problem.read(write(tmp_path, f"{{{HEAD}, {REST}}}")).names == ("a",)
    assert Problem.read(str(write(tmp_path, f"\ufeff{{{HEAD}, {REST}}}"))).names == ("a",)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "9" * 400])
@pytest.mark.parametrize("field", ["total_epsilon", "name", "unknown"])
def test_nan_and_infinity_are_refused_wherever_they_stand(tmp_path: Path, number: str, field: str) -> None:
    rest = REST.replace(
        '"total_epsilon": 1.0, ', "" if field == "total_epsilon" else '"total_epsilon": 1.0, '
    )
    error = error_of(write(tmp_path, f'{{{HEAD}, "{field}": {number}, {rest}}}'))
    assert [fault.where for fault in error.faults] == [field]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{{{HEAD}, {REST}", "line 1, column"),
        (f"{{{HEAD}, {REST},}}", "is not JSON"),
        ("", "is not JSON"),
        ("[1, 2]", "holds no object"),
        ('"problem"', "holds no object"),
        ("null", "holds no object"),
        ("[" * 100_000, "nested too deeply"),
        (f'{{{HEAD}, "n": {"1" * 5000}}}', "thousands of digits"),
        (b'{"name": "\xff"}', "byte 10 is not UTF-8"),
        ("{\n 'format': 1}", "line 2, column 2 is not JSON"),
    ],
    ids=range(10),
)
def test_what_is_no_json_object_is_refused_with_the_place(
    tmp_path: Path, text: str | bytes, words: str
) -> None:
    error = error_of(write(tmp_path, text))
    assert words in str(error)
    assert "problem.json" in str(error)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1", "is not YAML"),
        ("? [1, 2]\n: 3", "is not YAML"),
        ("!!python/object/apply:os.system [echo]", "is not YAML"),
        ("a: \x00", "is not YAML"),
        ("- 1\n- 2", "holds no object"),
        ("[" * 1000 + "]" * 1000, "nested too deeply"),
        ("n: " + "1" * 5000, "thousands of digits"),
        ("format: budget-opt/problem\nversion: 1\nattributes: &a [*a]", "without aliases"),
        (f"a: &a [{'x, ' * 99}]\nb: &b [{'*a, ' * 99}]\nc: [{'*b, ' * 99}]", "without aliases"),
        ("a: !!bool 3", "a tag that its value does not fit"),
        ("a: !!int north", "a tag that its value does not fit"),
        ("a: !!timestamp now", "a tag that its value does not fit"),
    ],
    ids=range(12),
)
def test_what_is_no_yaml_mapping_is_refused(tmp_path: Path, text: str, words: str) -> None:
    assert words in str(error_of(write(tmp_path, text, "problem.yaml")))


@pytest.mark.parametrize(
    ("head", "where"),
    [
        ('"version": 1', ["format"]),
        ('"format": "budget-opt/problem"', ["version"]),
        ('"format": "budget-opt/allocation", "version": 1', ["format"]),
        ('"format": "budget-opt/problm", "version": 1', ["format"]),
        ('"format": 7, "version": 1', ["format"]),
        ('"format": "budget-opt/problem", "version": 2', ["version"]),
        ('"format": "budget-opt/problem", "version": "1"', ["version"]),
        ('"format": "budget-opt/problem", "version": true', ["version"]),
        ('"format": "x", "version": []', ["format", "version"]),
    ],
)
def test_a_file_of_another_format_or_version_is_refused_for_that_alone(
    tmp_path: Path, head: str, where: list[str]
) -> None:
    error = error_of(write(tmp_path, f'{{{head}, "unknown": 1, {REST}}}'))
    assert [fault.where for fault in error.faults] == where


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("problem.json", f'{{{HEAD}, "name": "a", "name": "b", {REST}}}'),
        ("problem.json", TWICE_INSIDE),
        ("problem.yaml", f"{{{HEAD}, name: a, name: b, {REST}}}"),
        ("problem.yml", TWICE_INSIDE),
    ],
)
def test_a_field_that_stands_twice_is_refused(tmp_path: Path, name: str, text: str) -> None:
    error = error_of(write(tmp_path, text, name))
    assert [fault.where for fault in error.faults] == ["name"]
    assert "appears twice" in str(error)


def test_a_place_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    problem = Problem.read(write(tmp_path, f"{{{HEAD}, {REST}}}"))
    for path in (tmp_path / "absent.json", tmp_path, tmp_path / ("x" * 300), Path("a\0b")):
        assert repr(str(path))[1:-1] in str(error_of(path))
    for path in (tmp_path / "absent" / "p.json", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(InputError, match="cannot be written"):
            problem.write(path)
    assert {path.name for path in tmp_path.iterdir()} == {"problem.json"}


def test_a_new_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    old = write(tmp_path, "precious")
    with pytest.raises(InputError, match="exists"):
        write_text("new", old, new=True)
    write_text("new", tmp_path / "other.json", new=True)
    assert old.read_text() == "precious"
    assert (tmp_path / "other.json").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 2


def test_what_is_no_plain_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a plain file"):
        write_text("x", tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_failed_write_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, f"{{{HEAD}, {REST}}}")
    problem = Problem.read(path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        problem.with_total(2.0).write(path)
    assert path.read_bytes() == before
    assert [child.name for child in tmp_path.iterdir()] == ["problem.json"]


def test_a_written_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    problem = Problem.read(write(tmp_path, f"{{{HEAD}, {REST}}}"))
    problem.write(tmp_path / "new.json")
    (tmp_path / "other").touch()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new.json", "other")}
    assert len(modes) == 1


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("010", "010"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("0x1F", "0x1F"),
        ("2026-11-29", "2026-11-29"),
        ("<<", "<<"),
        ("true", True),
        ("-7", -7),
        ('"5"', "5"),
    ],
)
def test_a_plain_word_of_yaml_is_text_unless_json_would_read_it(
    tmp_path: Path, word: str, value: object
) -> None:
    """YAML 1.1 makes false, 8, 90, 1000, 31 and a date of the first ones."""
    others = {str: "[x, ", bool: "[false, ", int: "[9, "}
    text = f"- {{name: a, categories: {others[type(value)]}{word}]}}"
    head = "format: budget-opt/problem\nversion: 1\ntotal_epsilon: 1e-1\nmoments: [{attributes: [a]}]\n"
    problem = Problem.read(write(tmp_path, f"{head}attributes:\n{text}\n", "problem.yaml"))
    assert problem.attribute("a").domain.labels[1] == value
    assert type(problem.attribute("a").domain.labels[1]) is type(value)
    assert problem.total_epsilon == 0.1


@pytest.mark.parametrize("word", [".nan", ".inf", "-.inf", "+.inf"])
def test_yamls_own_words_for_no_number_are_refused(tmp_path: Path, word: str) -> None:
    head = "format: budget-opt/problem\nversion: 1\nattributes: [{name: a, categories: 2}]\n"
    text = f"{head}moments: [{{attributes: [a]}}]\ntotal_epsilon: {word}\n"
    assert [fault.where for fault in error_of(write(tmp_path, text, "p.yaml")).faults] == ["total_epsilon"]


@given(documents())
@settings(max_examples=15)
def test_what_is_written_is_read_as_the_same_problem(
    tmp_path_factory: pytest.TempPathFactory, document: Document
) -> None:
    folder = tmp_path_factory.mktemp("round")
    problem = Problem.from_dict(document)
    problem.write(folder / "problem.json")
    again = Problem.read(folder / "problem.json")
    assert again == problem
    assert again.sha256 == problem.sha256
    assert again.to_dict() == problem.to_dict()
    # the file itself is strict JSON of the parsed problem
    assert json.loads((folder / "problem.json").read_text("utf-8")) == problem.to_dict()
    (folder / "problem.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    assert Problem.read(folder / "problem.yaml") == problem


@given(problems())
@settings(max_examples=15)
def test_a_problem_is_rebuilt_by_its_copies_with_other_fields(problem: Problem) -> None:
    assert problem.with_fields() == problem
    if problem.total_epsilon is not None:
        larger = problem.with_total(problem.total_epsilon + 1)
        assert larger.total_epsilon == problem.total_epsilon + 1
        assert larger.with_total(problem.total_epsilon) == problem
        assert larger.sha256 != problem.sha256


@pytest.mark.parametrize(
    "line", ["a: &a [1]\nb: [*a, *a]", "name: !!bool x", "name: !!int x", "n: !!python/name:os.system x"]
)
def test_yaml_aliases_and_tags_are_refused_at_once(tmp_path: Path, line: str) -> None:
    path = tmp_path / "problem.yaml"
    path.write_text(f"format: budget-opt/problem\nversion: 1\n{line}\n")
    with pytest.raises(ProblemError, match=r"problem\.yaml: "):
        Problem.read(path)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "path: is empty, must be the path of a file"),
        ("https://example.com/p.json", "path: is the address 'https://example.com/p.json', must be the path"),
    ],
)
def test_texts_that_are_no_path_are_told_as_they_are(path: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Problem.read(path)
