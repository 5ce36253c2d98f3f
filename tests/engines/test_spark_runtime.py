"""What is said where pyspark or Java is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.engines import spark as engine
from budget_opt.engines.spark.runtime import require_java
from budget_opt.randomizer.keyed_release import KeyedRelease
from tests.engines.survey import allocation_for, survey


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budget_opt.engines.spark.runtime.find_spec", lambda name: None)
    with pytest.raises(bo.InputError, match=r"pip install 'budget-opt\[spark\]'.*Java runtime, version 17"):
        engine.randomize(survey(rows=5), allocation_for(), KeyedRelease("no spark"))
    with pytest.raises(bo.InputError, match="pyspark is not installed"):
        engine.local_session()


def test_without_java_the_way_to_get_it_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(bo.InputError, match=r"java: is not on the PATH.*openjdk-17-jre-headless"):
        engine.local_session()


def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As Spark's own scripts do, it goes before the PATH."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(bo.InputError, match=f"JAVA_HOME: is '{tmp_path}', where there is no bin/java"):
        engine.local_session()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('openjdk version "1.8.0_392"', "is Java 8, which is too old"),
        ('openjdk version "11.0.21" 2023-10-17', "is Java 11, which is too old"),
        ("command not found", "is no Java runtime"),
        ('openjdk version "17.0.15" 2025-04-15', None),
        ('java version "21" 2023-09-19 LTS', None),
    ],
)
def test_java_must_be_new_enough_for_spark(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, expected: str | None
) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if expected is None:
        require_java()
    else:
        with pytest.raises(bo.InputError, match=expected):
            require_java()


def test_a_session_needs_a_worker() -> None:
    with pytest.raises(bo.InputError, match="workers: is 0, must be an integer from 1 on"):
        engine.local_session(workers=0)
