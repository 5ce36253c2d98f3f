"""Every change of a cap, from what to what, and whether more may be spent by it."""

from __future__ import annotations

import pytest

import budget_opt as bo
from budget_opt.ledger.cap_changes import changes, never_binding


@pytest.mark.parametrize(
    ("before", "after", "text", "loosens"),
    [
        ({"total": 20.0}, {"total": 4.0}, "total 20 -> 4 (lowered)", False),
        ({"total": 4.0}, {"total": 20.5}, "total 4 -> 20.5 (raised)", True),
        ({"waves": 2}, {"waves": 4}, "waves 2 -> 4 (raised)", False),
        ({"max_rows": 1}, {"max_rows": 3}, "max_rows 1 -> 3 (raised)", False),
        ({"max_rows": 3}, {"max_rows": 1}, "max_rows 3 -> 1 (lowered)", True),
        ({"delta": 1e-6}, {}, "delta 0.000001 -> 0 (lowered)", False),
        ({}, {"attributes": {"a": 0.5}}, "attribute a no cap -> 0.5 (lowered)", False),
        ({"attributes": {"a": 0.5}}, {}, "attribute a 0.5 -> no cap (raised)", True),
        ({"attributes": {"a": 0.5}}, {"attributes": {"A": 0.25}}, "attribute a 0.5 -> 0.25 (lowered)", False),
        ({}, {"groups": {"g": (("a", "b"), 1.0)}}, "group g no cap -> 1 of a, b (lowered)", False),
        (
            {"groups": {"g": (("a", "b"), 1.0)}},
            {"groups": {"g": (("a",), 1.0)}},
            "group g 1 of a, b -> 1 of a (other attributes)",
            True,
        ),
    ],
)
def test_a_change_says_old_and_new_and_the_direction(
    before: dict[str, object], after: dict[str, object], text: str, loosens: bool
) -> None:
    (found,) = changes(bo.Caps(**{"total": 1.0, **before}), bo.Caps(**{"total": 1.0, **after}))
    assert (str(found), found.loosens) == (text, loosens)


def test_all_changes_are_listed_on_record(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=20.0, waves=2, attributes={"a": 1.0}))
    assert ledger.change("d", bo.Caps(total=4.0, waves=4, max_rows=3), "fewer") == [
        "attribute a 1 -> no cap (raised)"
    ]
    (shown,) = ledger.shown()
    ((_, what, why),) = shown.changes
    assert what.split("; ") == [
        "total 20 -> 4 (lowered)",
        "max_rows 1 -> 3 (raised)",
        "waves 2 -> 4 (raised)",
        "attribute a 1 -> no cap (raised)",
    ]
    assert why == "fewer"


def test_names_that_are_written_otherwise_are_no_change_of_a_cap() -> None:
    assert changes(bo.Caps(1.0, {"income": 0.5}), bo.Caps(1.0, {"Income": 0.5})) == []


def test_a_cap_above_the_total_never_binds() -> None:
    caps = bo.Caps(total=1.0, attributes={"a": 1.0, "b": 2.0}, groups={"g": (("a",), 1.5)})
    assert [line.split(",")[0] for line in never_binding(caps)] == [
        "the cap on attribute b",
        "the cap on group g",
    ]
    # with a delta the total may be less than the epsilon of a part
    assert never_binding(bo.Caps(total=1.0, attributes={"b": 2.0}, delta=1e-6)) == []
