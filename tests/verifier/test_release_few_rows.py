"""At few rows a report says what it could not have noticed, and where that is nothing it says so."""

from __future__ import annotations

import numpy as np
import pytest

from budget_opt.verifier.release import judge_release
from budget_opt.verifier.unaided import verify_unaided
from tests.verifier.sample_release import allocation_of, originals, sound
from tests.verifier.test_unaided import table_of

ALLOCATION = allocation_of()


@pytest.mark.parametrize(("n", "told"), [(1, "1 row is"), (10, "10 rows are")])
def test_originals_that_are_released_as_they_are_pass_with_a_note_that_nothing_could_be_noticed(
    n: int, told: str
) -> None:
    table = originals(np.random.default_rng(n), n)
    report = judge_release(ALLOCATION, table, dict(table))
    assert report.holds
    note = f"{told} too few to show for sure that this was released untouched: every attribute"
    assert [one for one in report.notes if note in one]
    assert "1 rows" not in report.in_full
    for check in report.checks:
        if check.name in ("kept cells", "transition counts"):
            assert check.notices.startswith("nothing"), str(check)
    for evidence in report.transitions:
        assert evidence.smallest_fault is None
        assert evidence.smallest_skew is None


def test_the_table_as_a_whole_is_named_exactly_where_it_would_pass() -> None:
    """The number of rows at which it changes is among these, and its neighbours."""
    for n in (*range(1, 60, 7), *range(11, 20)):
        table = originals(np.random.default_rng(n), n)
        report = judge_release(ALLOCATION, table, dict(table))
        named = any("even the table as a whole" in note for note in report.notes)
        assert named == report.holds


def test_only_attributes_whose_untouched_release_would_pass_are_named() -> None:
    rng, n = np.random.default_rng(3), 30
    table = originals(rng, n)
    released = sound(rng, ALLOCATION, table)
    for evidence in judge_release(ALLOCATION, table, released).transitions:
        one = {**released, evidence.name: table[evidence.name]}
        failed = [check.name for check in judge_release(ALLOCATION, table, one).failed]
        assert ("kept cells" in failed) == evidence.untouched_is_noticed


def test_with_many_rows_there_is_no_such_note() -> None:
    rng = np.random.default_rng(4)
    table = originals(rng, 2_000)
    report = judge_release(ALLOCATION, table, sound(rng, ALLOCATION, table))
    assert len(report.notes) == 1


def test_no_share_above_all_or_below_none_is_said_to_be_noticed_without_the_originals() -> None:
    report = verify_unaided(ALLOCATION, table_of(originals(np.random.default_rng(5), 3)))
    told = [check.notices for check in report.checks if check.kind == "tested"]
    assert told
    assert set(told) == {"nothing: there are too few rows"}


def test_what_is_said_to_be_noticed_is_a_sentence_after_would_notice() -> None:
    for n in (1, 12, 40, 300):
        rng = np.random.default_rng(n)
        table = originals(rng, n)
        for check in judge_release(ALLOCATION, table, sound(rng, ALLOCATION, table)).checks:
            assert not (check.notices or "").startswith("too few")
