"""What an audit refuses, and how it tells that a sampler did not do its work."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.verifier.auditing import words
from tests.verifier import sample_samplers as faults
from tests.verifier.sample_samplers import ALLOCATION, SCRIPT, tables

OPTIONS = bo.AuditOptions(takes="pyarrow", calls=8, seed=2)
SOUND = tables(faults.sound)


def without_income(table: pa.Table) -> pa.Table:
    return SOUND(table).drop_columns(["income"])


def as_text(table: pa.Table) -> pa.Table:
    made = SOUND(table)
    return made.set_column(1, "income", made["income"].cast(pa.string()))


def shuffled(table: pa.Table) -> pa.Table:
    return bo.randomize(table, ALLOCATION, row_order="shuffle")


def raising(table: pa.Table) -> pa.Table:
    raise KeyError(f"no such thing in {len(table)}")


@pytest.mark.parametrize(
    ("sampler", "said"),
    [
        (lambda table: None, "the sampler: returned nothing"),
        (lambda table: 5, "the sampler gave no table that can be read: the table: is a int"),
        (lambda table: table.slice(1), "the sampler: gave 1 reports for 2 records"),
        (without_income, "the sampler gave a table that cannot be judged: the table: has no column 'income'"),
        (as_text, "the sampler gave reports of another type: column 'income'"),
        (raising, r"the sampler: raised KeyError: 'no such thing in 2'\. The records are made up"),
        (shuffled, "its reports do not belong to the records, row by row"),
        (lambda table: table.select([]), "has no columns"),
    ],
)
def test_a_sampler_that_does_not_do_its_work_is_told(sampler: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(bo.InputError, match=said):
        bo.audit(sampler, ALLOCATION, 2_000, OPTIONS)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (lambda record: 7, "returned a int for one record"),
        (lambda record: {"smoker": "no"}, "have no 'income'"),
    ],
)
def test_a_sampler_of_records_that_gives_no_record_is_told(report: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(bo.InputError, match=said):
        bo.audit(report, ALLOCATION, 2_000, bo.AuditOptions(takes="record"))


def test_rows_that_come_back_in_another_order_are_told_by_a_public_column() -> None:
    problem = bo.Problem(
        attributes=[bo.Attribute("income", categories=5)],
        moments=[bo.CrossMoment("income")],
        public=[bo.PublicColumn("wave", why="the same for everybody")],
        total_epsilon=1.0,
    )
    allocation = bo.uniform(problem)

    def reversed_rows(table: pa.Table) -> pa.Table:
        made = bo.randomize(table, allocation, row_order="public")
        return made.take(list(range(len(made)))[::-1])

    with pytest.raises(bo.InputError, match="another order, as the public column 'wave' tells"):
        bo.audit(reversed_rows, allocation, 2_000, OPTIONS)


@pytest.mark.parametrize(
    ("trials", "options", "said"),
    [
        (10, OPTIONS, "trials: is 10, must be at least 1,000"),
        (2e4, OPTIONS, "trials: is a float, must be an integer"),
        (2_000, bo.AuditOptions(error=0), "error: is 0.0, must be above 0 and at most 0.1"),
        (2_000, bo.AuditOptions(error=float("nan")), "error: is nan"),
        (2_000, bo.AuditOptions(calls=-1), "calls: is -1, must be at least 0"),
        (2_000, bo.AuditOptions(seed=True), "seed: is a bool, must be an integer"),
        (2_000, bo.AuditOptions(takes="rows"), "takes: is 'rows', must be one of pandas"),
        (2_000, {"error": 0.1}, "options: is a dict, must be an AuditOptions"),
    ],
)
def test_r13_arguments_are_refused_by_name(trials: Any, options: Any, said: str) -> None:
    with pytest.raises(bo.InputError, match=said):
        bo.audit(SOUND, ALLOCATION, trials, options)


def test_a_sampler_or_an_allocation_of_another_kind_is_refused() -> None:
    with pytest.raises(bo.InputError, match="sampler: must be a callable, or a command"):
        bo.audit("python sampler.py", ALLOCATION)
    with pytest.raises(bo.InputError, match="allocation: is a Problem, must be an Allocation"):
        bo.audit(SOUND, faults.PROBLEM)
    with pytest.raises(bo.InputError, match="time_limit: is nan"):
        bo.audit(["cat"], ALLOCATION, options=bo.AuditOptions(time_limit=float("nan")))


def test_the_same_seed_asks_the_same_and_says_the_same() -> None:
    first, again = (bo.audit(tables(faults.sound), ALLOCATION, 2_000, OPTIONS).to_dict() for _ in range(2))
    assert first == again
    other = bo.audit(tables(faults.sound), ALLOCATION, 2_000, bo.AuditOptions(takes="pyarrow", calls=8))
    assert other.seed != OPTIONS.seed
    assert f"seed {other.seed}" in str(other)


def test_the_outcome_is_strict_json_and_frozen() -> None:
    audit = bo.audit(SOUND, ALLOCATION, 2_000, OPTIONS)
    document = json.loads(json.dumps(audit.to_dict(), allow_nan=False))
    assert (document["holds"], document["error"], document["trials"]) == (True, 1e-9, audit.trials)
    assert [bound["name"] for bound in document["bounds"]] == ["smoker", "income", "works", None]
    assert {check["kind"] for check in document["checks"]} == {"tested"}
    with pytest.raises(AttributeError):
        audit.trials = 5


def test_a_sampler_that_takes_pandas_by_default_may_return_any_kind() -> None:
    def sampler(frame: Any) -> pa.Table:
        assert isinstance(frame, pd.DataFrame)
        return SOUND(pa.table({name: frame[name].tolist() for name in frame}))

    assert bo.audit(sampler, ALLOCATION, 2_000, bo.AuditOptions(calls=4, seed=1)).holds


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    path = tmp_path / "sampler; rm -rf.py"
    path.write_text(SCRIPT)
    return [sys.executable, str(path)]


@pytest.mark.parametrize("files", [[], ["{input}", "{output}"]])
def test_a_command_is_audited_by_its_streams_or_its_files(script: list[str], files: list[str]) -> None:
    options = bo.AuditOptions(calls=4, seed=1)
    assert bo.audit([*script, "0.731", *files], ALLOCATION, 4_000, options).holds
    if files:
        audit = bo.audit([*script, "0.95", *files], ALLOCATION, 4_000, options)
        assert [bound.name for bound in audit.bounds if not bound.holds] == ["works"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit('the domain is unknown')", 'exit code 1, saying "the domain is unknown"'),
        ("", "wrote nothing to standard output. It must write CSV with a header"),
        ("print('a,b'); print('1')", "did not write a CSV table"),
    ],
)
def test_a_command_that_fails_is_told(code: str, said: str) -> None:
    with pytest.raises(bo.InputError, match=said):
        bo.audit([sys.executable, "-c", code], ALLOCATION, 2_000)


def test_what_a_command_says_is_cut_between_lines_or_words() -> None:
    code = "import sys; sys.stderr.write('first boom\\n' * 1000 + 'the last line\\n'); sys.exit(3)"
    with pytest.raises(bo.InputError, match=r'saying "\.\.\. first boom first.* boom the last line"'):
        bo.audit([sys.executable, "-c", code], ALLOCATION, 2_000)
    assert words.ending("one two\nthree  four\n", 40) == "one two three four"
    assert words.ending("one two\nthree four\n", 12) == "... three four"
    assert words.ending("one two three four", 12) == "... three four"
    assert words.ending("one two three four", 10) == "... three four"
    assert words.ending("one two three four", 9) == "... four"
    assert words.ending("a" * 30, 10) == f"... {'a' * 10}"
    assert words.ending("\n \n", 10) == ""
    assert words.beginning("one two\nthree", 20) == "one two three"
    assert words.beginning("one two three", 10) == "one two ..."
    assert words.beginning("one two three", 7) == "one two ..."
    assert words.beginning("a" * 30, 10) == f"{'a' * 10} ..."


@pytest.mark.parametrize("takes", ["pyarrow", "record"])
def test_a_sampler_that_ends_its_process_is_told_and_ends_nothing(takes: Any) -> None:
    def leaving(_: Any) -> Any:
        sys.exit("bye")

    with pytest.raises(bo.InputError, match=r"the sampler: raised SystemExit: bye\."):
        bo.audit(leaving, ALLOCATION, 2_000, bo.AuditOptions(takes=takes))


def test_a_key_that_stops_an_audit_stops_it() -> None:
    def stopped(_: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bo.audit(stopped, ALLOCATION, 2_000, OPTIONS)


def test_a_command_that_is_not_there_or_does_not_end_is_told() -> None:
    with pytest.raises(bo.InputError, match="no-such-program: cannot be started"):
        bo.audit(["no-such-program"], ALLOCATION, 2_000)
    began = time.monotonic()
    # the child of the command holds its output open, and is ended with it
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    with pytest.raises(bo.InputError, match=r"had not ended after 0\.5 s\. Raise the time limit"):
        bo.audit([sys.executable, "-c", child], ALLOCATION, 2_000, bo.AuditOptions(time_limit=0.5))
    assert time.monotonic() - began < 30
