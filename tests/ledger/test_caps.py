"""Caps in total, by attribute, by group, on delta, for persons with several rows, and over planned waves."""

from __future__ import annotations

import pytest

import budget_opt as bo
from budget_opt.errors import BudgetExceededError, InputError
from tests.ledger.charges import charge, spend


def refused(ledger: bo.Ledger, asked: bo.Charge, **options: bool) -> list[tuple[str, float, float]]:
    """The caps that a release would pass, with what is asked for and left; none is charged."""
    before = ledger.spent("d")
    with pytest.raises(BudgetExceededError) as found:
        ledger.reserve("d", asked, "refused", **options)
    with pytest.raises(BudgetExceededError):
        ledger.require_room("d", asked, **options)
    assert ledger.spent("d") == before
    return [(one.what, one.asked, one.left) for one in found.value.exceeded]


def test_an_attribute_has_a_cap_of_its_own(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=9.0, attributes={"income": 1.0}))
    spend(ledger, "d", charge(("income", "0.7"), ("smoker", "3")), "r1")
    assert refused(ledger, charge(("income", "0.4"))) == [("attribute income", 0.4, 0.3)]
    spend(ledger, "d", charge(("income", "0.3"), ("smoker", "3")), "r2")
    assert ledger.left("d").attributes == {"income": 0.0}
    assert ledger.left("d").total == 2.0


def test_what_is_spent_on_a_name_that_looks_alike_counts_towards_the_cap(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=9.0, attributes={"income": 1.0}))
    spend(ledger, "d", charge(("Income", "0.7")), "r1")
    assert refused(ledger, charge(("INCOME", "0.4"))) == [("attribute income", 0.4, 0.3)]


def test_a_group_caps_its_members_together(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=9.0, groups={"health": (("a", "b"), 1.0)}))
    spend(ledger, "d", charge(("a", "0.5"), ("c", "5")), "r1")
    assert refused(ledger, charge(("b", "0.6"))) == [("group health", 0.6, 0.5)]
    assert ledger.left("d").groups == {"health": 0.5}


def test_a_cluster_is_charged_whole_to_each_member_and_once_to_a_group(ledger: bo.Ledger) -> None:
    """DESIGN 2.9: a change of one member alone costs the whole epsilon."""
    caps = bo.Caps(total=9.0, attributes={"a": 2.0, "b": 2.0}, groups={"g": (("a", "b", "c"), 2.0)})
    ledger.register("d", caps)
    spend(ledger, "d", charge(("a b", "1.5"), ("c", "0.25")), "r1")
    left = ledger.left("d")
    assert left.attributes == {"a": 0.5, "b": 0.5}
    assert left.groups == {"g": 0.25}
    assert left.total == 7.25
    assert refused(ledger, charge(("b x", "1"))) == [("attribute b", 1.0, 0.5), ("group g", 1.0, 0.25)]


def test_a_cap_that_comes_later_counts_what_was_spent_before(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=9.0))
    spend(ledger, "d", charge(("a", "1.5")), "r1")
    ledger.change("d", bo.Caps(total=9.0, attributes={"a": 1.0}), "asked for by the board")
    assert ledger.left("d").attributes == {"a": -0.5}
    assert refused(ledger, charge(("a", "0.1"))) == [("attribute a", 0.1, -0.5)]
    spend(ledger, "d", charge(("b", "1")), "r2")  # what asks nothing of a cap that is passed is free to go


def test_delta_is_refused_unless_there_is_a_cap_on_it(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=9.0))
    asked = charge(("a", "1"), ("b", "1"), epsilon="1.5", delta="1e-6")
    assert refused(ledger, asked) == [("delta", 1e-6, 0.0)]


def test_epsilon_and_delta_of_releases_add(ledger: bo.Ledger) -> None:
    """Basic composition; the attributes are charged their own epsilons whatever the total is."""
    ledger.register("d", bo.Caps(total=9.0, attributes={"a": 9.0}, delta=3e-6))
    asked = charge(("a", "1"), ("b", "1"), epsilon="1.5", delta="1e-6")
    for number in range(3):
        spend(ledger, "d", asked, f"r{number}")
    left = ledger.left("d")
    assert (left.total, left.attributes, left.delta) == (4.5, {"a": 6.0}, 0.0)
    assert refused(ledger, asked) == [("delta", 1e-6, 0.0)]


def test_every_row_of_a_person_costs(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=3.0, attributes={"a": 1.5}, max_rows=3, delta=1e-5))
    spend(ledger, "d", charge(("a", "0.25"), ("b", "0.25"), epsilon="0.4", delta="1e-6"), "r1")
    left = ledger.left("d")
    assert (left.total, left.attributes, left.delta) == (1.8, {"a": 0.75}, 7e-6)
    assert refused(ledger, charge(("b", "0.61"))) == [("the total", 1.83, 1.8)]
    assert refused(ledger, charge(("a", "0.26"))) == [("attribute a", 0.78, 0.75)]
    assert refused(ledger, charge(("b", "0.2"), epsilon="0.1", delta="3e-6")) == [("delta", 9e-6, 7e-6)]


def test_more_rows_a_person_make_every_release_dearer_and_fewer_are_refused(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=3.0))
    ledger.change("d", bo.Caps(total=3.0, max_rows=2), "some came twice")
    ledger.change("d", bo.Caps(total=3.0), "they did not")  # nothing was released yet
    spend(ledger, "d", charge(("a", "1")), "r1")
    ledger.change("d", bo.Caps(total=3.0, max_rows=2), "some came twice")
    assert ledger.left("d").total == 1.0
    with pytest.raises(InputError, match="each would be counted as cheaper than it was"):
        ledger.change("d", bo.Caps(total=3.0), "they did not")


def test_an_allocation_for_persons_with_more_rows_than_registered_is_refused(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=9.0, max_rows=2))
    for refuse in (ledger.require_room, lambda *asked: ledger.add_release(*asked, why="made by hand")):
        with pytest.raises(InputError, match=r"persons with up to 3 rows.*registered with 2"):
            refuse("d", charge(("a", "0.1"), max_rows=3))


def test_after_k_of_w_waves_at_most_k_parts_in_w_of_each_cap_are_spent(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=0.9, attributes={"a": 0.6}, waves=3))
    assert (ledger.left("d").total, ledger.left("d").attributes, ledger.left("d").waves) == (
        0.3,
        {"a": 0.2},
        3,
    )
    assert refused(ledger, charge(("b", "0.31"))) == [("the total", 0.31, 0.3)]
    spend(ledger, "d", charge(("b", "0.1")), "wave 1")
    # what the first wave left goes to the second
    assert refused(ledger, charge(("b", "0.51"))) == [("the total", 0.51, 0.5)]
    spend(ledger, "d", charge(("a", "0.4"), ("b", "0.1")), "wave 2")
    assert (ledger.left("d").total, ledger.left("d").attributes, ledger.left("d").waves) == (
        0.3,
        {"a": 0.2},
        1,
    )
    spend(ledger, "d", charge(("b", "0.1")), "wave 3")
    # after the last wave the whole caps hold
    assert (ledger.left("d").total, ledger.left("d").waves) == (0.2, 0)
    spend(ledger, "d", charge(("b", "0.2")), "one more")
    assert ledger.left("d").total == 0.0


def test_a_share_that_no_double_is_is_rounded_down_and_three_of_it_fit(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=1.0, waves=3))
    for number in range(3):
        left = ledger.left("d").total
        spend(ledger, "d", charge(("a", repr(left))), f"r{number}")
    assert 0 <= ledger.left("d").total < 1e-15


def test_a_wave_may_take_from_those_to_come_only_where_that_is_said(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=0.9, waves=3))
    with pytest.raises(
        BudgetExceededError, match=r"(?s)0\.3 of 0\.9 may be spent with the first of 3 waves.*--ahead"
    ):
        ledger.reserve("d", charge(("a", "0.5")), "r1")
    assert ledger.left("d", ahead=True).total == 0.9
    assert refused(ledger, charge(("a", "1")), ahead=True) == [("the total", 1.0, 0.9)]
    ledger.reserve("d", charge(("a", "0.5")), "r1", ahead=True)
    assert ledger.left("d").total == 0.1  # two thirds less what was spent


def test_a_void_release_is_no_wave(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=0.9, waves=3))
    ledger.reserve("d", charge(("a", "0.3")), "r1")
    ledger.void("r1")
    assert (ledger.left("d").total, ledger.left("d").waves) == (0.3, 3)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"total": 0.0}, "total: is 0.0, must be above 0"),
        ({"total": float("nan")}, "total: is nan"),
        ({"total": "1"}, "total: is '1'"),
        ({"total": True}, "total: is True"),
        ({"total": 1e5}, "total: is 100000.0"),
        ({"total": 1.0, "attributes": {"a": -1.0}}, r"attributes\['a'\]: is -1.0"),
        ({"total": 1.0, "attributes": {" a": 1.0}}, "attributes: is ' a'"),
        ({"total": 1.0, "attributes": {"a": 1.0, "A": 1.0}}, "'A' and 'a' look alike"),
        ({"total": 1.0, "groups": {"g": ((), 1.0)}}, "has no attributes"),
        ({"total": 1.0, "groups": {"g": (("a", "a"), 1.0)}}, "look alike"),
        ({"total": 1.0, "groups": {"g": 1.0}}, "must be the attributes and their cap"),
        ({"total": 1.0, "max_rows": 0}, "max_rows: is 0"),
        ({"total": 1.0, "waves": 1.5}, "waves: is 1.5"),
        ({"total": 1.0, "delta": 1.0}, "delta: is 1.0"),
        ({"total": 1.0, "delta": -1e-9}, "delta: is -1e-09"),
    ],
)
def test_caps_that_are_none_are_refused_by_name(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bo.Caps(**fields)


def test_what_a_change_allows_more_is_said_in_words(ledger: bo.Ledger) -> None:
    before = bo.Caps(
        total=1.0,
        attributes={"a": 1.0, "b": 1.0},
        groups={"g": (("a", "b"), 1.0), "h": (("a",), 1.0)},
        waves=2,
    )
    ledger.register("d", before)
    after = bo.Caps(total=2.0, attributes={"b": 0.5, "c": 1.0}, groups={"g": (("a",), 0.5)}, delta=1e-6)
    assert ledger.change("d", after, "the board says so") == [
        "total 1 -> 2 (raised)",
        "delta 0 -> 0.000001 (raised)",
        "waves 2 -> 1 (lowered)",
        "attribute a 1 -> no cap (raised)",
        "group g 1 of a, b -> 0.5 of a (lowered)",
        "group h 1 of a -> no cap (raised)",
    ]
    assert ledger.caps("d") == after
    assert (
        ledger.change(
            "d", bo.Caps(total=2.0, attributes={"b": 0.5, "c": 1.0}, groups={"g": (("a",), 0.5)}), "x"
        )
        == []
    )
    with pytest.raises(InputError, match="has these caps already"):
        ledger.change("d", ledger.caps("d"), "again")


def test_a_cap_that_was_raised_stays_in_sight(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=1.0))
    ledger.change("d", bo.Caps(total=2.0), "the board says so")
    ledger.change("d", bo.Caps(total=1.0), "hide it")
    changes = [event for _, event in ledger.events() if event["kind"] == "change"]
    assert [(event["caps"]["total"], event["why"]) for event in changes] == [
        ("2.0", "the board says so"),
        ("1.0", "hide it"),
    ]
