"""Every snippet of README.md runs, in the order in which it stands, and prints what the README says.

The convention, by the fence's info string:

- ```python           runs; all such blocks share one namespace and one empty folder.
- ```json FILE        is written into that folder as FILE (also ```yaml FILE), for the snippets below it.
- ```bash, ```console each line is a command (a leading "$ " is taken off). Lines that begin with
                      `budget-opt` run with the package under test, in that folder; lines that begin
                      with `python -m pip install` are what `.ci/run` runs; anything else is an error.
- ```text             directly below a python or command block is what that block prints, line by line;
                      trailing blanks do not matter, and "..." stands for any text (doctest's ELLIPSIS).

A fence with another info string is an error, so that no snippet is left out by a slip.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from budget_opt.cli import main
from budget_opt.tables.state_directory import STATE_DIR

SHELL = ("bash", "console")
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    line: int
    language: str
    file: str | None
    text: str
    expected: str | None


def snippets(document: str) -> Iterator[Snippet]:
    found = list(FENCE.finditer(document))
    for position, match in enumerate(found):
        language, _, file = match["info"].strip().partition(" ")
        if language == "text":
            continue
        after = found[position + 1] if position + 1 < len(found) else None
        adjacent = after is not None and document[match.end() : after.start()].strip() == ""
        expected = after["text"] if adjacent and after["info"].strip() == "text" else None
        yield Snippet(
            document[: match.start()].count("\n") + 1, language, file or None, match["text"], expected
        )


def commands(snippet: Snippet) -> list[str]:
    return [line.removeprefix("$ ") for line in snippet.text.splitlines() if line.strip()]


def run_command(command: str) -> str:
    if command.startswith("python -m pip install "):
        return ""
    words = shlex.split(command, comments=True)
    assert words[:1] == ["budget-opt"], f"README.md: not a budget-opt command: {command}"
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        code = main(words[1:])
    assert code == 0, f"{command}\n{printed.getvalue()}{said.getvalue()}"
    return printed.getvalue()


def run_snippet(snippet: Snippet, namespace: dict[str, object], folder: Path) -> str:
    """What it prints; files are written to `folder`, which is the working folder of commands."""
    if snippet.language in SHELL:
        return "".join(run_command(command) for command in commands(snippet))
    if snippet.language in ("json", "yaml") and snippet.file:
        (folder / snippet.file).write_text(snippet.text, encoding="utf-8")
        return ""
    assert snippet.language == "python", f"README.md:{snippet.line}: no rule for ```{snippet.language}"
    # blank lines in front, so that a traceback names the line of the README
    code = compile("\n" * snippet.line + snippet.text, "README.md", "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def as_printed(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


def differences(expected: str, printed: str) -> str:
    """Empty where `printed` is what the README shows."""
    want, got = as_printed(expected), as_printed(printed)
    checker = doctest.OutputChecker()
    if checker.check_output(want, got, doctest.ELLIPSIS):
        return ""
    example = doctest.Example("", want)
    return checker.output_difference(example, got, doctest.ELLIPSIS | doctest.REPORT_NDIFF)


@pytest.mark.slow
def test_every_snippet_of_the_readme_runs_and_prints_what_the_readme_says(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv(STATE_DIR, str(tmp_path / "state"))
    namespace: dict[str, object] = {"__name__": "readme"}
    ran = []
    for snippet in snippets((root / "README.md").read_text(encoding="utf-8")):
        printed = run_snippet(snippet, namespace, tmp_path)
        ran.append(snippet.language)
        if snippet.expected is not None:
            assert not (wrong := differences(snippet.expected, printed)), f"README.md:{snippet.line}\n{wrong}"
    assert "python" in ran
    assert any(language in SHELL for language in ran)


def test_the_readme_gives_the_two_commands_that_ci_runs(root: Path) -> None:
    shown = [
        command
        for snippet in snippets((root / "README.md").read_text(encoding="utf-8"))
        if snippet.language in SHELL
        for command in commands(snippet)
        if command.startswith("python -m pip install ")
    ]
    assert shown == [
        "python -m pip install '.[demo]' && budget-opt demo",
        "python -m pip install '.[test]' && python -m pytest",
    ]


DOCUMENT = """
```python
a = 1
print("a  is", a)
```

```text
a  is ...
```
Then
```python
print(a + 1)
```
Not below a block: it is prose.
```text
3
```
```json problem.json
{}
```
"""


def test_a_text_block_is_the_output_of_the_block_directly_above_it(tmp_path: Path) -> None:
    first, second, third = snippets(DOCUMENT)
    namespace: dict[str, object] = {}
    assert first.expected is not None
    assert not differences(first.expected, run_snippet(first, namespace, tmp_path))
    assert second.expected is None
    assert run_snippet(second, namespace, tmp_path) == "2\n"
    run_snippet(third, namespace, tmp_path)
    assert (tmp_path / "problem.json").read_text() == "{}\n"


def test_a_difference_between_readme_and_output_is_shown() -> None:
    assert "+ b" in differences("a\n", "b\n")


@pytest.mark.parametrize("text", ["```pyhton\n1\n```\n", "```\n1\n```\n", "```bash\nrm -r x\n```\n"])
def test_a_snippet_that_would_be_left_out_is_an_error(text: str, tmp_path: Path) -> None:
    (snippet,) = snippets(text)
    with pytest.raises(AssertionError, match=r"README\.md"):
        run_snippet(snippet, {}, tmp_path)
