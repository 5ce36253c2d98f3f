"""Export to OpenDP: its own loader reads the file, its maps accept it, and what it draws is our matrix."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.api.exports import opendp
from budget_opt.mechanisms.exact import exact
from tests.api.exported import HOSTILE, NAMES, entries, equal_budgets, hostile, single, steps_below, wide

dp = pytest.importorskip("opendp.prelude", reason="the extra opendp is not installed")
FEATURES = sys.modules["opendp.mod"].GLOBAL_FEATURES
FALSE_ALARM = 1e-9


@pytest.fixture(autouse=True)
def _features() -> Iterator[None]:
    before = set(FEATURES)
    dp.enable_features("contrib", "honest-but-curious")
    yield
    FEATURES.clear()
    FEATURES.update(before)


def exported(allocation: bo.Allocation, folder: Path, name: str = "mechanisms.json") -> dict[str, Any]:
    bo.export(allocation, "opendp", folder / name)
    loaded: dict[str, Any] = dp.deserialize((folder / name).read_text(encoding="utf-8"))
    return loaded


def composed(mechanisms: list[Any]) -> float:
    """OpenDP's composition on a record, built another way than the export builds it."""

    def on_record(i: int, mechanism: Any) -> Any:
        return dp.m.make_user_measurement(
            dp.user_domain("tuple", lambda record: isinstance(record, tuple)),
            dp.discrete_distance(),
            mechanism.output_measure,
            lambda record: mechanism(record[i]),
            mechanism.map,
        )

    parts = [on_record(i, mechanism) for i, mechanism in enumerate(mechanisms)]
    return float(dp.c.make_composition(parts).map(1))


def randomizers(path: Path) -> dict[str, Any]:
    """What the file's own usage makes of it."""
    lines = json.loads(path.read_text(encoding="utf-8"))["usage"]
    room: dict[str, Any] = {}
    exec("\n".join(lines).replace("FILE", str(path)), room)
    made: dict[str, Any] = room["randomizers"]
    return made


EPSILONS = (1e-6, 0.001, 0.1, 1 / 3, 1.0, 2.5, 9.7, 20.0, 35.9)
SPLITS = [
    *((epsilon, r) for epsilon in EPSILONS for r in (2, 3, 7, 100)),
    *((float(np.round(epsilon, 3)), r) for epsilon in np.geomspace(0.01, 30, 40) for r in (2, 5)),
]


def test_opendp_accepts_every_mechanism_at_the_allocated_epsilon(tmp_path: Path) -> None:
    lowered = 0
    for i, (epsilon, r) in enumerate(SPLITS):
        allocation = wide(single(epsilon, r)) if i % 3 else single(epsilon, r)
        (one,) = exported(allocation, tmp_path, f"{i}.json")["attributes"]
        assert exact(one["mechanism"].map(1)) <= exact(epsilon), (epsilon, r)
        assert one["opendp_epsilon"] == one["mechanism"].map(1)
        assert 0 <= one["units_lower"] <= 4  # RELIABILITY: four units in the last place always cure it
        (stated,) = json.loads((tmp_path / f"{i}.json").read_text())["attributes"]
        p = stated["mechanism"]["__kwargs__"]["prob"]
        # p is the double below the sampler's P(report = truth), and so many lower
        truth, _ = entries(allocation["a"])
        assert Fraction(p) <= truth
        assert steps_below(float(truth), one["units_lower"] + 1) <= p
        with mpmath.workdps(60):
            odds = mpmath.mpf(p) * (r - 1) / (1 - mpmath.mpf(p))
            assert mpmath.log(odds) <= mpmath.mpf(repr(epsilon))
        lowered += one["units_lower"] > 0
    assert lowered > len(SPLITS) // 10  # without lowering OpenDP would refuse these


@pytest.mark.parametrize(("count", "total"), [(3, 0.3), (10, 1.0), (50, 50.0), (120, 12.0)])
def test_opendp_accepts_their_composition_on_one_record(tmp_path: Path, count: int, total: float) -> None:
    allocation = wide(bo.uniform(equal_budgets(count, total)))
    loaded = exported(allocation, tmp_path)
    mechanisms = [one["mechanism"] for one in loaded["attributes"]]
    said = composed(mechanisms)
    assert exact(said) <= exact(total)
    assert loaded["composed_epsilon"] == said
    for one, attribute in zip(loaded["attributes"], allocation.attributes, strict=True):
        assert exact(one["mechanism"].map(1)) <= exact(attribute.epsilon)


def test_the_sum_is_lowered_where_only_the_sum_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from budget_opt.api.exports import opendp

    sums: list[float] = []
    honest = opendp._composed

    def noted(*arguments: Any) -> float:
        sums.append(honest(*arguments))
        return sums[-1]

    monkeypatch.setattr(opendp, "_composed", noted)
    allocation = wide(bo.uniform(equal_budgets(200, 20.0)))
    loaded = exported(allocation, tmp_path)
    assert sums[0] > 20.0 >= sums[-1]
    assert max(one["units_lower"] for one in loaded["attributes"]) <= 64


def test_every_kind_of_category_comes_back_as_it_is_declared(tmp_path: Path) -> None:
    allocation = hostile()
    written = bo.export(allocation, "opendp", tmp_path / "m.json")
    assert written.attributes == NAMES
    assert written.left_out == ("nothing",)
    assert "left out, nothing of them may be reported: nothing" in str(written)
    made = randomizers(tmp_path / "m.json")
    assert tuple(made) == NAMES
    for name in NAMES:
        labels = allocation[name].domain.labels
        for label in labels:
            reports = {made[name](label) for _ in range(60)}
            assert reports <= set(labels)
            assert {type(report) for report in reports} <= {type(one) for one in labels}
    assert made["letter"]("another") in allocation["letter"].domain.labels  # a declared category takes it


def test_r10_what_the_usage_makes_of_a_cell_is_what_is_declared(tmp_path: Path) -> None:
    """A number finds its bin, a missing cell is missing, and what has no category is refused, unseen."""
    allocation = hostile(total=200.0)
    bo.export(allocation, "opendp", tmp_path / "m.json")
    made = randomizers(tmp_path / "m.json")
    text, region, age, children, works, letter = NAMES
    # at epsilon 33 a report is the truth but for one of 10^13
    for number, label in ((0, 0), (18.05, 0), (18.1, 1), (39.9, 1), (40, 2), (1e9, 2), (np.float32(20), 1)):
        assert made[age](number) == allocation[age].domain.labels[label]
    assert made[age]("[40, inf)") == "[40, inf)"
    assert made[children](np.int64(1)) == 1
    for name in (region, children):
        assert made[name](None) is made[name](float("nan")) is made[name](np.nan) is None
    refused = {text: ("CANARY", None, np.nan), age: (-0.1, np.inf, np.nan, None, True, "CANARY", "[0, 18)")}
    refused |= {region: ("CANARY", 7), children: (77,), works: (None, 77), letter: (None, np.nan)}
    for name, cells in refused.items():
        for cell in cells:
            with pytest.raises(KeyError) as told:  # OpenDP itself would report a uniform draw
                made[name](cell)
            assert told.value.args == (f"{name}: not a declared category",)
            assert told.value.__context__ is None


def test_the_file_says_what_is_not_in_a_mechanism(tmp_path: Path) -> None:
    written = bo.export(hostile(), "opendp", tmp_path / "m.json")
    stated = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert (stated["format"], stated["version"]) == ("budget-opt/opendp", 1)
    assert (stated["public"], stated["dropped"], stated["not_released"]) == (["wave"], ["id"], ["nothing"])
    by_name = {one["name"]: one for one in stated["attributes"]}
    assert by_name["age"]["bins"] == [0.0, 18.1, 40.0, None]
    assert by_name["age"]["mechanism"]["__kwargs__"]["categories"] == ["[0, 18.1)", "[18.1, 40)", "[40, inf)"]
    assert by_name[NAMES[1]]["categories"] == [*HOSTILE, None]
    assert by_name[NAMES[1]]["values"] == list(range(len(HOSTILE) + 1))
    assert by_name["children"]["mechanism"]["__kwargs__"]["T"] == "i64"
    assert by_name["works"]["mechanism"]["__kwargs__"] == {
        "categories": [False, True],
        "prob": by_name["works"]["mechanism"]["__kwargs__"]["prob"],
        "T": "bool",
    }
    assert any("codes stand for the categories" in note for note in written.notes)


def release(allocation: bo.Allocation, made: dict[str, Any], n: int, twice: bool = False) -> tuple[Any, Any]:
    """Originals and what OpenDP makes of them, value by value; `twice` is its historical fault."""
    rng = np.random.default_rng(5)
    truths, reports = {}, {}
    for name, report in made.items():
        labels = allocation[name].domain.labels
        truths[name] = [labels[code] for code in rng.integers(0, len(labels), n)]
        reports[name] = [report(cell) for cell in truths[name]]
        if twice:
            p = allocation[name].truth_probability
            kept = zip(truths[name], reports[name], rng.random(n) < p, strict=True)
            reports[name] = [truth if keep else report for truth, report, keep in kept]
    return pa.table(truths), pa.table(reports)


def test_r9_what_opendp_draws_is_the_allocations_matrix_and_its_historical_fault_is_noticed(
    tmp_path: Path,
) -> None:
    """Exact binomial tests of every cell, false alarm 1e-9; at n = 3,000 a fault of 6 points is noticed."""
    attributes = [
        bo.Attribute("a", categories=["x", "y"]),
        bo.Attribute("b", categories=[1, 2, 3, 4], missing="category"),
        bo.Attribute("c", categories=[False, True]),
    ]
    allocation = bo.uniform(
        bo.Problem(attributes=attributes, moments=[bo.CrossMoment("a", "b")], total_epsilon=4)
    )
    bo.export(allocation, "opendp", tmp_path / "m.json")
    made = randomizers(tmp_path / "m.json")
    originals, released = release(allocation, made, 3000)
    judged = bo.verify_release(allocation, originals, released, false_alarm=FALSE_ALARM)
    assert judged.holds, str(judged)
    assert max(one.smallest_fault for one in judged.transitions) < 0.065
    originals, released = release(allocation, made, 3000, twice=True)
    assert not bo.verify_release(allocation, originals, released, false_alarm=FALSE_ALARM).holds


@pytest.mark.parametrize(
    ("epsilon", "r", "told"),
    [
        (37.5, 2, "a: at epsilon 37.5 the probability of the truth rounds to 1"),
        (50.0, 1000, "rounds to 1"),
        (1e-17, 2, "a: epsilon 1e-17 is too small for OpenDP's doubles"),
        (1e-16, 7, "too small"),
    ],
)
def test_what_doubles_cannot_hold_is_refused(tmp_path: Path, epsilon: float, r: int, told: str) -> None:
    with pytest.raises(bo.InputError, match=told):
        bo.export(single(epsilon, r), "opendp", tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(bo.InputError, match=r"opendp: is not installed.*budget-opt\[opendp\]"):
        bo.export(single(1.0, 2), "opendp", tmp_path / "m.json")


def test_the_features_of_opendp_are_as_they_were(tmp_path: Path) -> None:
    FEATURES.clear()
    bo.export(single(1.0, 2), "opendp", tmp_path / "m.json")
    with pytest.raises(bo.InputError):
        bo.export(single(40.0, 2), "opendp", tmp_path / "n.json")
    assert not FEATURES


def test_an_export_that_ends_does_not_turn_off_the_features_of_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one composes only after the first, which has turned the features on, is done with all."""
    FEATURES.clear()
    composed, inside, threads = opendp._composed, [threading.Event(), threading.Event()], list[int]()

    def in_turn(*given: Any) -> float:
        if threading.get_ident() not in threads:
            threads.append(threading.get_ident())
            inside[len(threads) - 1].set()
            inside[1].wait(0.2) if len(threads) == 1 else first.result(10)
        return composed(*given)

    monkeypatch.setattr(opendp, "_composed", in_turn)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(bo.export, single(1.0, 3), "opendp", tmp_path / "first.json")
        assert inside[0].wait(10)
        second = pool.submit(bo.export, single(1.0, 3), "opendp", tmp_path / "second.json")
        assert second.result(20).path.read_bytes() == first.result().path.read_bytes()
