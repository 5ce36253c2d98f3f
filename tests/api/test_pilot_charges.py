"""What the making of a problem has cost is paid once, with the first release, whoever charges it (R22)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.api.charging.pilots import release_named, reserve_priced
from budget_opt.api.charging.recording import record_release

NAMES = ("a", "b", "c")
TABLE = pd.DataFrame({name: np.random.default_rng(i).integers(0, 4, 2000) for i, name in enumerate(NAMES)})
TABLE["b"] = np.where(np.arange(2000) % 3 == 0, TABLE["b"], TABLE["a"])


def problem(weight: float = 1.0, epsilon: str = "0.5", total: float = 2.0) -> bo.Problem:
    """A problem that a pilot of this epsilon was made for, which nobody has seen if it is in no ledger."""
    asked = bo.Problem(
        total_epsilon=total,
        attributes=[bo.Attribute(name, categories=4) for name in NAMES],
        moments=[bo.CrossMoment("a", "b", weight=weight), bo.CrossMoment("b", "c")],
    )
    origin = {
        **dict.fromkeys(bo.Provenance.model_fields, "public"),
        "weights": f"private data, epsilon {epsilon}",
    }
    return asked.with_fields(provenance=origin)


@cache
def allocation(weight: float = 1.0, epsilon: str = "0.5", total: float = 2.0) -> bo.Allocation:
    """The same one at every call: another is made at another second, and so is another allocation."""
    return bo.uniform(problem(weight, epsilon, total))


@pytest.fixture
def payer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bo.Payer:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    ledger = bo.Ledger.create(tmp_path / "ledger.db")
    ledger.register("study", bo.Caps(total=10.0))
    return bo.Payer("study", ledger, tell=lambda line: None)


def spent(payer: bo.Payer) -> float:
    return payer.ledger.spent("study").total


def statuses(payer: bo.Payer) -> list[str]:
    return [one.status for one in payer.ledger.releases("study")]


def pilot(payer: bo.Payer, epsilon: float = 0.5) -> bo.Strengths:
    return bo.pilot_strengths(TABLE, problem().with_fields(provenance={}), epsilon=epsilon, charge_to=payer)


def test_without_room_for_both_neither_the_release_nor_the_making_is_charged(payer: bo.Payer) -> None:
    payer.ledger.change("study", bo.Caps(total=2.25), "less")
    with pytest.raises(bo.BudgetExceededError) as raised:
        bo.randomize(TABLE, allocation(), charge_to=payer)
    assert (raised.value.asked, raised.value.left) == (2.5, 2.25)
    assert (spent(payer), statuses(payer)) == (0.0, [])


def test_the_making_is_charged_with_a_release_by_hand_and_once(payer: bo.Payer) -> None:
    for _again in range(2):
        assert payer.reserve(allocation(), "first") == 1
    assert spent(payer) == 2.5
    released = bo.randomize(TABLE, allocation())
    for _again in range(2):
        assert payer.confirm(allocation(), "first", released) == 1
    assert payer.reserve(allocation(), "first") == 1
    payer.reserve(allocation(), "second")
    payer.reserve(allocation(total=1.0), "of another total, and the same making")
    assert spent(payer) == 2.5 + 2.0 + 1.0


def test_the_making_is_given_back_with_its_release_alone(payer: bo.Payer) -> None:
    """Until its release is there, each that is reserved pays."""
    for name in ("first", "second"):
        reserve_priced(payer, allocation().question, bo.Charge.of(allocation()), name)
    assert spent(payer) == 5.0
    first, second = (one.name for one in payer.ledger.releases("study"))
    payer.ledger.void(first)
    assert spent(payer) == 2.5
    payer.confirm(allocation(), "second", bo.randomize(TABLE, allocation()))
    with pytest.raises(bo.InputError):
        payer.ledger.void(second)
    payer.reserve(allocation(), "third")
    assert spent(payer) == 4.5


def test_what_fails_before_a_word_is_drawn_gives_back_both(payer: bo.Payer, tmp_path: Path) -> None:
    def fail() -> None:
        raise bo.InputError("it fails")

    TABLE.to_csv(tmp_path / "data.csv", index=False)
    options = bo.FileOptions(before_words=fail)
    with pytest.raises(bo.InputError, match="it fails"):
        bo.randomize_file(tmp_path / "data.csv", allocation(), tmp_path / "r.csv", options, charge_to=payer)
    assert (spent(payer), statuses(payer)) == (0.0, ["void"])


def test_a_pilot_on_record_pays_for_one_problem_and_not_for_those_of_other_pilots(payer: bo.Payer) -> None:
    pilot(payer)
    bo.randomize(TABLE, allocation(1.0), charge_to=payer)
    bo.randomize(TABLE, allocation(1.0), charge_to=payer)
    assert spent(payer) == 4.5
    bo.randomize(TABLE, allocation(2.0), charge_to=payer)
    assert spent(payer) == 7.0
    bo.randomize(TABLE, allocation(2.0, total=0.5), charge_to=payer)
    assert spent(payer) == 7.5


def test_two_pilots_on_record_pay_for_two_problems(payer: bo.Payer) -> None:
    pilot(payer)
    pilot(payer)
    for weight in (1.0, 2.0):
        bo.randomize(TABLE, allocation(weight), charge_to=payer)
    assert spent(payer) == 1.0 + 4.0


FOUR = ("a", "b", "c", "d")
WIDE = pd.DataFrame({name: np.random.default_rng(i).integers(0, 3, 500) for i, name in enumerate(FOUR)})


def pair(*names: str, epsilon: str = "", weight: float = 1.0) -> bo.Problem:
    """A problem about one pair of four attributes; `epsilon` is what its pilot has cost."""
    origin = {"weights": f"private data, epsilon {epsilon}"} if epsilon else {}
    return bo.Problem(
        total_epsilon=2.0,
        attributes=[bo.Attribute(name, categories=3) for name in FOUR],
        moments=[bo.CrossMoment(*names, weight=weight)],
        provenance=origin,
    )


def price(payer: bo.Payer, asked: bo.Problem) -> float:
    """What the release of this problem costs in all."""
    before = spent(payer)
    bo.randomize(WIDE, bo.uniform(asked), charge_to=payer)
    return spent(payer) - before


def test_a_pilot_on_record_pays_for_no_problem_on_attributes_that_it_did_not_read(payer: bo.Payer) -> None:
    bo.pilot_strengths(WIDE, pair("a", "b"), epsilon=0.5, charge_to=payer)
    bo.pilot_strengths(WIDE, pair("c", "d"), epsilon=0.5)
    assert price(payer, pair("c", "d", epsilon="0.5")) == 2.5
    assert spent(payer) == 3.0
    assert price(payer, pair("b", "c", epsilon="0.5")) == 2.5
    floors = [bo.CrossMoment("a", "b", weight=0.0, floor=0.01)]
    unweighted = pair("a", "b", epsilon="0.5").with_fields(objective="min_epsilon", moments=floors)
    assert price(payer, unweighted) == 2.5
    assert price(payer, pair("a", "b", epsilon="0.5")) == 2.0


def test_each_problem_has_the_pilot_that_read_least_beside_its_attributes(payer: bo.Payer) -> None:
    wide = pair("a", "b").with_fields(moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("c", "d")])
    for asked in (wide, pair("c", "d"), pair("a", "b")):
        bo.pilot_strengths(WIDE, asked, epsilon=0.5, charge_to=payer)
    assert price(payer, pair("a", "b", epsilon="0.5")) == 2.0
    assert price(payer, pair("c", "d", epsilon="0.5")) == 2.0
    assert price(payer, pair("a", "d", epsilon="0.5")) == 2.0
    assert price(payer, pair("a", "c", epsilon="0.5")) == 2.5


def test_pilots_on_record_pay_together_for_a_problem_that_was_made_from_both(payer: bo.Payer) -> None:
    for _pilot in range(2):
        bo.pilot_strengths(WIDE, pair("a", "b"), epsilon=0.5, charge_to=payer)
    assert price(payer, pair("a", "b", epsilon="0.75")) == 2.0
    assert price(payer, pair("a", "b", epsilon="0.3", weight=2.0)) == 2.3
    assert price(payer, pair("a", "b", epsilon="0.25", weight=2.0)) == 2.0


def test_a_pilot_that_failed_pays_for_no_problem(payer: bo.Payer, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("budget_opt.randomizer.entropy.os.urandom", lambda count: b"")
        with pytest.raises(bo.RandomSourceError):
            pilot(payer)
    (failed,) = payer.ledger.releases("study")
    with pytest.raises(bo.InputError, match="its words were drawn, so it stays spent"):
        payer.ledger.void(failed.name)
    bo.randomize(TABLE, allocation(), charge_to=payer)
    assert spent(payer) == 0.5 + 2.5


def test_a_release_is_found_by_its_own_name_whole(payer: bo.Payer) -> None:
    payer.reserve(allocation(), "survey-first")
    releases = payer.ledger.releases("study")
    assert release_named(releases, "survey-first") == releases[0]
    assert release_named(releases, "first") is None


def test_r18_of_two_problems_at_the_same_moment_one_has_the_pilot(
    payer: bo.Payer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot(payer)
    reserve = bo.Ledger.reserve

    def overtaken(*asked: object, **more: object) -> object:
        monkeypatch.setattr(bo.Ledger, "reserve", reserve)
        payer.reserve(allocation(2.0), "faster")
        return reserve(*asked, **more)

    monkeypatch.setattr(bo.Ledger, "reserve", overtaken)
    payer.reserve(allocation(1.0), "slower")
    assert spent(payer) == 0.5 + 2.0 + 2.5
    assert payer.reserve(allocation(1.0), "slower") == 4
    assert statuses(payer) == ["confirmed", "reserved", "void", "reserved"]


def test_a_release_that_is_recorded_afterwards_counts_its_making_too(payer: bo.Payer, tmp_path: Path) -> None:
    path = tmp_path / "allocation.json"
    allocation().write(path)
    for expected in (2.5, 4.5):
        record_release(payer.ledger, "study", path, "it was made elsewhere")
        assert spent(payer) == expected
    bo.randomize(TABLE, allocation(), charge_to=payer)
    assert spent(payer) == 6.5


def test_r22_the_data_of_a_pilot_are_known_again_under_another_name(payer: bo.Payer) -> None:
    pilot(payer)
    payer.ledger.register("others", bo.Caps(total=5.0))
    said = list[str]()
    others = bo.Payer("others", payer.ledger, tell=said.append)
    bo.randomize(TABLE, allocation(), charge_to=others)
    assert "'others': its data are the same table as data that 'study' paid for" in said[0]


def test_a_moment_with_a_public_column_is_no_reason_to_pay_a_pilot_again(payer: bo.Payer) -> None:
    with_wave = problem().with_fields(
        provenance={},
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("c", "wave")],
        public=[bo.PublicColumn(name="wave", why="the same for everybody")],
    )
    found = bo.pilot_strengths(TABLE, with_wave, epsilon=8.0, charge_to=payer)
    released = bo.solve(found.apply(with_wave))
    bo.randomize(TABLE.assign(wave=1), released, charge_to=payer)
    assert spent(payer) == pytest.approx(8.0 + released.spent_epsilon)
