"""Reserve, release, confirm: what is recorded when, and what is the same once more."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.errors import BudgetExceededError, InputError
from tests.ledger.charges import ALLOCATION, CELLS, charge, spend

ASKED = charge(("a", "0.25"))


@pytest.fixture
def started(ledger: bo.Ledger) -> bo.Ledger:
    ledger.register("d", bo.Caps(total=1.0))
    return ledger


def test_what_is_reserved_is_spent_for_everybody_before_it_is_confirmed(started: bo.Ledger) -> None:
    found = started.reserve("d", ASKED, "r1")
    assert (found.dataset, found.release, found.number) == ("d", "r1", 1)
    assert bo.Ledger.open(started.path).left("d").total == 0.75
    started.confirm("r1", cells=CELLS, rows=3, allocation_sha256=ALLOCATION)
    assert bo.Ledger.open(started.path).left("d").total == 0.75
    assert [release.status for release in started.releases("d")] == ["confirmed"]


def test_the_same_reservation_once_more_is_the_same_one_and_charged_once(started: bo.Ledger) -> None:
    first = started.reserve("d", ASKED, "r1")
    assert bo.Ledger.open(started.path).reserve("d", ASKED, "r1") == first
    started.confirm("r1", cells=CELLS, rows=3, allocation_sha256=ALLOCATION)
    assert started.reserve("d", ASKED, "r1") == first
    assert started.confirm("r1", cells=CELLS, rows=3, allocation_sha256=ALLOCATION) == first
    assert started.left("d").total == 0.75


def test_an_id_that_stands_for_another_release_is_refused(started: bo.Ledger) -> None:
    started.register("e", bo.Caps(total=1.0))
    started.reserve("d", ASKED, "r1")
    for dataset, asked in (("e", ASKED), ("d", charge(("a", "0.1")))):
        with pytest.raises(InputError, match="stands for another release"):
            started.reserve(dataset, asked, "r1")


def test_what_is_void_is_given_back_and_stays_void(started: bo.Ledger) -> None:
    started.reserve("d", ASKED, "r1")
    started.void("r1", "the table had other columns")
    started.void("r1")
    assert started.left("d").total == 1.0
    with pytest.raises(InputError, match="was given up"):
        started.reserve("d", ASKED, "r1")
    with pytest.raises(InputError, match="is not reserved in this ledger"):
        started.confirm("r1", cells=CELLS, rows=3, allocation_sha256=ALLOCATION)


def test_the_number_of_a_void_release_is_never_given_again(started: bo.Ledger) -> None:
    started.reserve("d", ASKED, "r1")
    started.void("r1")
    assert started.reserve("d", ASKED, "r2").number == 2


def test_what_was_released_is_never_given_back(started: bo.Ledger) -> None:
    spend(started, "d", ASKED, "r1")
    with pytest.raises(InputError, match="was released, so it stays spent"):
        started.void("r1")
    made = started.add_release("d", ASKED, "by hand")
    with pytest.raises(InputError, match="is not reserved"):
        started.void(made.release)


def test_what_was_drawn_is_never_given_back(started: bo.Ledger) -> None:
    started.reserve("d", ASKED, "r1")
    started.begin("r1")
    events = len(started.events())
    started.begin("r1")
    assert len(started.events()) == events  # what has begun does not begin again
    for ledger in (started, bo.Ledger.open(started.path)):
        with pytest.raises(InputError, match="its words were drawn, so it stays spent"):
            ledger.void("r1")
    assert [(release.status, release.begun) for release in started.releases("d")] == [("reserved", True)]
    started.confirm("r1", cells=CELLS, rows=3, allocation_sha256=ALLOCATION)
    started.begin("r1")
    assert started.left("d").total == 0.75


def test_only_what_is_reserved_begins(started: bo.Ledger) -> None:
    started.reserve("d", ASKED, "r1")
    started.void("r1")
    outside = started.add_release("d", ASKED, "by hand").release
    for name in ("r1", outside, "another"):
        with pytest.raises(InputError, match="is not reserved in this ledger"):
            started.begin(name)
    spend(started, "d", ASKED, "without")  # as older versions recorded it
    events = len(started.events())
    started.begin("without")
    assert len(started.events()) == events


def test_only_what_was_reserved_can_be_confirmed_and_only_as_it_was_charged(started: bo.Ledger) -> None:
    with pytest.raises(InputError, match="release r1: is not reserved"):
        started.confirm("r1", cells=CELLS, rows=3, allocation_sha256=ALLOCATION)
    started.reserve("d", ASKED, "r1")
    with pytest.raises(InputError, match="charged for another allocation"):
        started.confirm("r1", cells=CELLS, rows=3, allocation_sha256="1" * 64)
    started.confirm("r1", cells=CELLS, rows=3, allocation_sha256=ALLOCATION)
    with pytest.raises(InputError, match="confirmed with other cells"):
        started.confirm("r1", cells="d" * 64, rows=3, allocation_sha256=ALLOCATION)


def test_what_no_replay_would_take_is_not_recorded(started: bo.Ledger) -> None:
    started.reserve("d", ASKED, "r1")
    for cells, rows in (("short", 3), ("D" * 64, 3), (CELLS, -1), (CELLS, True), (CELLS, 1.5)):
        with pytest.raises(InputError, match="confirm: cannot be recorded"):
            started.confirm("r1", cells=cells, rows=rows, allocation_sha256=ALLOCATION)
    assert len(bo.Ledger.open(started.path).events()) == 3
    started.confirm("r1", cells=CELLS, rows=3, allocation_sha256=ALLOCATION)


def test_the_same_cells_are_free_and_no_others(started: bo.Ledger) -> None:
    """R22: a release is free only if its cells are identical to a recorded one."""
    spend(started, "d", ASKED, "r1")
    started.reserve("d", ASKED, "r2")
    assert started.recorded("d", CELLS) == 1
    assert started.recorded("d", "d" * 64) is None
    assert started.repeat("d", cells=CELLS, rows=3) == 1
    assert started.left("d").total == 0.5
    with pytest.raises(InputError, match="no recorded release has these cells"):
        started.repeat("d", cells="d" * 64, rows=3)


def test_a_repetition_gives_back_in_one_event_what_was_reserved_and_drawn_for_it(started: bo.Ledger) -> None:
    spend(started, "d", ASKED, "r1")
    started.reserve("d", ASKED, "r2")
    started.begin("r2")
    events = len(started.events())
    assert started.repeat("d", cells=CELLS, rows=3, release="r2") == 1
    again = bo.Ledger.open(started.path)
    (last,) = again.events()[events:]
    assert (last[1]["kind"], last[1]["release"]) == ("repeat", "r2")
    assert (again.left("d").total, again.releases("d")[1].status) == (0.75, "void")
    assert again.shown()[0].releases[1].why == "its cells are those of release 1"
    with pytest.raises(InputError, match="is not reserved"):
        started.confirm("r2", cells="d" * 64, rows=3, allocation_sha256=ALLOCATION)


def test_only_a_reservation_of_the_same_data_set_becomes_free(started: bo.Ledger) -> None:
    started.register("e", bo.Caps(total=1.0))
    spend(started, "d", ASKED, "r1")
    spend(started, "d", ASKED, "r2", cells="d" * 64)
    started.reserve("e", ASKED, "r3")
    started.reserve("d", ASKED, "r4")
    refused = {"r1": "was released", "r2": "was released", "r3": "is reserved for e", "r5": "is not reserved"}
    for name, why in refused.items():
        with pytest.raises(InputError, match=why):
            started.repeat("d", cells=CELLS, rows=3, release=name)
    with pytest.raises(InputError, match="no recorded release has these cells"):
        started.repeat("d", cells="f" * 64, rows=3, release="r4")
    assert (started.left("d").total, started.left("e").total) == (0.25, 0.75)


def test_the_cells_of_another_data_set_are_not_free(started: bo.Ledger) -> None:
    started.register("e", bo.Caps(total=1.0))
    spend(started, "d", ASKED, "r1")
    assert started.recorded("e", CELLS) is None
    with pytest.raises(InputError, match="no recorded release"):
        started.repeat("e", cells=CELLS, rows=3)


def test_a_release_from_outside_is_counted_even_past_the_cap(started: bo.Ledger) -> None:
    found = started.add_release("d", charge(("a", "1.5")), "made by hand in 2025")
    assert found.number == 1
    assert started.left("d").total == -0.5
    with pytest.raises(BudgetExceededError):
        started.reserve("d", charge(("a", "0.001")), "r2")


def test_data_is_known_by_its_fingerprints_under_another_name(started: bo.Ledger) -> None:
    started.register("e", bo.Caps(total=1.0))
    started.remember("d", ["1" * 64, "2" * 64])
    started.remember("d", ["2" * 64])
    events = len(started.events())
    started.remember("d", ["1" * 64])
    assert len(started.events()) == events  # what is known is not recorded again
    known = bo.Ledger.open(started.path)
    assert known.fingerprints(besides="e") == {"d": {"1" * 64, "2" * 64}}
    assert known.fingerprints(besides="d") == {"e": set()}


def test_a_warning_that_was_read_is_recorded_once(started: bo.Ledger) -> None:
    assert not started.acknowledged("d", "looks like e")
    started.acknowledge("d", "looks like e")
    started.acknowledge("d", "looks like e")
    assert bo.Ledger.open(started.path).acknowledged("d", "looks like e")
    assert [event["kind"] for _, event in started.events()].count("acknowledge") == 1


def test_a_data_set_that_is_not_registered_is_refused_with_the_one_that_is_meant(started: bo.Ledger) -> None:
    started.register("health survey", bo.Caps(total=1.0))
    for meant in ("Health survey ", "helth survey"):
        with pytest.raises(InputError, match="Did you mean 'health survey'"):
            started.left(meant)
    with pytest.raises(InputError, match="ledger add NAME --total E"):
        started.reserve("zzz", ASKED, "r1")


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "x" * 1001, 7])
def test_reasons_and_ids_are_one_line_of_text(started: bo.Ledger, text: object) -> None:
    for call in (
        lambda: started.reserve("d", ASKED, text),
        lambda: started.void("r1", text),
        lambda: started.change("d", bo.Caps(total=2.0), text),
        lambda: started.add_release("d", ASKED, text),
        lambda: started.acknowledge("d", text),
        lambda: bo.Ledger.open(started.path, older=text),
    ):
        with pytest.raises(InputError, match="must be one line of text"):
            call()


def test_what_is_no_charge_or_caps_is_refused_by_name(started: bo.Ledger) -> None:
    with pytest.raises(InputError, match=r"charge: is a float. Write Charge.of"):
        started.reserve("d", 1.0, "r1")
    with pytest.raises(InputError, match="caps: is a float"):
        started.register("e", 1.0)
    with pytest.raises(InputError, match="allocation: is a float"):
        bo.Charge.of(1.0)
    with pytest.raises(InputError, match="fingerprints: is None"):
        started.remember("d", None)
    with pytest.raises(InputError, match="purpose: must be one line of text"):
        started.keyed(None)


def test_several_objects_and_threads_see_one_ledger(started: bo.Ledger) -> None:
    other = pickle.loads(pickle.dumps(started))
    asked = charge(("a", "0.01"))
    threads = [
        threading.Thread(
            target=lambda which=which: [
                which.reserve("d", asked, f"{id(which)} {threading.get_ident()} {number}")
                for number in range(5)
            ]
        )
        for which in (started, started, other)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert started.left("d").total == other.left("d").total == 0.85


def test_a_keyed_hash_depends_on_purpose_and_ledger_and_nothing_else(
    started: bo.Ledger, tmp_path: Path
) -> None:
    first = started.keyed("cells")
    first.update(b"x")
    again = bo.Ledger.open(started.path).keyed("cells")
    again.update(b"x")
    assert first.hexdigest() == again.hexdigest()
    assert len(first.digest()) == 32
    others = [started.keyed("rows"), bo.Ledger.create(tmp_path / "other.db").keyed("cells")]
    for other in others:
        other.update(b"x")
    assert len({first.digest(), *(other.digest() for other in others)}) == 3
