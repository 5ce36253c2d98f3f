"""The sliders of the page in a real browser: they move budget, keep the sum, and agree with Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.cli import main
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import OBJECTIVES
from budget_opt.model.objectives import value
from budget_opt.report.content import subject_of
from budget_opt.report.explorer import explorer_data
from budget_opt.tables.printing import percent
from tests.report.conftest import Written
from tests.report.reported_problems import hand_made, health

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = pytest.mark.slow

READ = """
const datum = (cell) => Number(cell.querySelector("data").value);
return {
  epsilons: Object.entries(JSON.parse(document.getElementById("json").value)),
  shown: [...document.querySelectorAll("#sliders output data")].map((data) => Number(data.value)),
  rows: [...document.querySelectorAll("#retentions tbody tr")].map((row) => ({
    label: row.cells[0].textContent, report: datum(row.cells[1]), yours: datum(row.cells[2]),
    shown: row.cells[2].textContent, change: row.cells[4].textContent, verdict: row.cells[5].textContent,
  })),
  value: Number(document.getElementById("value").value),
  valueText: document.getElementById("value").textContent,
  sum: Number(document.getElementById("sum").value),
  limits: document.getElementById("limits").textContent,
};
"""
MOVE = """
const slider = document.getElementById(`epsilon-${arguments[0]}`);
slider.value = arguments[1];
slider.dispatchEvent(new Event("input", {bubbles: true}));
return Number(slider.value);
"""


@pytest.fixture
def page(browser: Chrome, written: Written) -> Iterator[Chrome]:
    """The report, freshly opened; nothing may have been said on its console."""
    browser.get(written.path.as_uri())
    yield browser
    assert browser.get_log("browser") == []


def read(page: Chrome) -> dict[str, Any]:
    found = page.execute_script(READ)
    assert isinstance(found, dict)
    return {**found, "epsilons": dict(found["epsilons"])}


def move(page: Chrome, attribute: int, nats: float) -> None:
    page.execute_script(MOVE, attribute, nats)


def spent(epsilons: dict[str, float]) -> Fraction:
    return sum((exact(epsilon) for epsilon in epsilons.values()), Fraction(0))


def expected_retentions(problem: bo.Problem, epsilons: dict[str, float]) -> list[float]:
    kept = {a.name: float(rr.retention(epsilons[a.name], a.cardinality)) for a in problem.attributes}
    return [float(np.prod([kept[name] for name in moment.attributes])) for moment in problem.moments]


def test_the_page_opens_with_the_reports_own_split(page: Chrome, written: Written) -> None:
    found = read(page)
    problem = written.allocation.question
    assert found["epsilons"] == {a.name: a.epsilon for a in written.allocation.attributes}
    assert [row["label"] for row in found["rows"]] == [moment.label for moment in problem.moments]
    assert {row["change"] for row in found["rows"]} == {"0"}
    assert found["limits"] == "all kept"
    assert found["valueText"].endswith("the report\u2019s value")
    assert page.find_element("id", "explorer").is_displayed()


@pytest.mark.parametrize(("attribute", "nats"), [(0, 2.5), (1, 0.3), (2, 0.0), (3, 4.0)])
def test_a_slider_changes_every_retention_as_python_says(
    page: Chrome, written: Written, attribute: int, nats: float
) -> None:
    problem = written.allocation.question
    before = read(page)
    move(page, attribute, nats)
    found = read(page)
    epsilons = found["epsilons"]
    assert epsilons != before["epsilons"]
    assert found["shown"] == list(epsilons.values())
    kept = [row["yours"] for row in found["rows"]]
    assert kept == pytest.approx(expected_retentions(problem, epsilons), rel=1e-12, abs=1e-300)
    split = bo.allocation_from(problem, epsilons)
    # the sampler's integers lose up to 1e-6 of an epsilon
    assert kept == pytest.approx([moment.retention for moment in split.moments], rel=1e-5, abs=1e-9)
    assert found["value"] == pytest.approx(value(problem.arrays, split.epsilons), rel=1e-12)
    for row, moment in zip(found["rows"], split.moments, strict=True):
        assert ("missed" in row["verdict"]) != moment.keeps_floor
        assert ("exceeded" in row["verdict"]) != moment.keeps_ceiling


def test_budget_only_moves_pins_and_bounds_hold_and_what_is_held_stays(
    page: Chrome, written: Written
) -> None:
    total = spent(read(page)["epsilons"])
    page.find_element("id", "hold-3").click()
    held = read(page)["epsilons"]["age"]
    for attribute, nats in ((0, 0.123), (0, 4.2), (1, 99), (1, 0), (2, 1.5), (0, 1.0)):
        move(page, attribute, nats)
        found = read(page)
        epsilons = found["epsilons"]
        assert 0 <= total - spent(epsilons) < Fraction(1, 10**11)
        assert found["sum"] == pytest.approx(6.0, abs=1e-11)
        assert epsilons["sex"] == 0.5
        assert epsilons["age"] == pytest.approx(held, abs=1e-11)
        assert 0.2 <= epsilons["income"] <= 3.0
    assert not page.find_element("id", "epsilon-3").is_enabled()
    assert not page.find_element("id", "epsilon-4").is_enabled()


def test_a_slider_that_comes_back_brings_everything_back(page: Chrome) -> None:
    move(page, 0, 1.0)
    before = read(page)["epsilons"]
    for nats in (4.2, 0.0, 3.3, 1.0):
        move(page, 0, nats)
    assert read(page)["epsilons"] == before


def test_broken_limits_are_named_in_words(page: Chrome) -> None:
    move(page, 0, 0.0)
    found = read(page)
    assert "floor of smoker x income" in found["limits"]
    assert found["rows"][0]["verdict"] == "floor 20.0\u00a0% missed"
    move(page, 1, 3.0)
    assert "group money above 2.9" in read(page)["limits"]
    assert "worse" in found["valueText"]


def test_a_report_on_a_split_that_breaks_its_limits_says_so_until_they_are_kept(
    browser: Chrome, tmp_path: Path, nothing_is_drawn: None
) -> None:
    split = bo.allocation_from(health(), {"smoker": 2, "income": 3.5, "region": 1, "age": 0.7, "sex": 0.7})
    browser.get(bo.report(split, tmp_path / "r.html").as_uri())
    broken = ["the total above 6", "group money above 2.9", "bounds of income", "bounds of sex"]
    assert read(browser)["limits"] == f"broken: {', '.join(broken)}"
    move(browser, 1, 2.5)
    assert read(browser)["limits"] == "broken: the total above 6, bounds of sex"
    assert spent(read(browser)["epsilons"]) == pytest.approx(7.9, abs=1e-11)


def test_reset_and_the_even_split_are_one_click_away(page: Chrome, written: Written) -> None:
    before = read(page)
    move(page, 0, 0.4)
    page.find_element("id", "even").click()
    even = bo.uniform(written.allocation.question)
    assert list(read(page)["epsilons"].values()) == pytest.approx(list(even.epsilons), abs=1e-11)
    page.find_element("id", "reset").click()
    assert read(page) == before


def test_arrow_keys_move_a_slider_by_a_hundredth(page: Chrome) -> None:
    from selenium.webdriver.common.keys import Keys

    slider = page.find_element("id", "epsilon-0")
    slider.send_keys(Keys.ARROW_RIGHT)
    first = read(page)["epsilons"]["smoker"]
    slider.send_keys(Keys.ARROW_RIGHT)
    assert first == 1.71
    assert read(page)["epsilons"]["smoker"] == 1.72
    assert slider.get_attribute("aria-valuetext") == "1.72 nats"
    assert page.switch_to.active_element == slider


def test_the_change_is_said_once_the_hand_rests(page: Chrome) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    said = page.find_element("id", "said")
    assert said.get_attribute("role") == "status"
    move(page, 0, 0.4)
    WebDriverWait(page, 5).until(lambda _: "keep more than in the report" in said.get_property("textContent"))
    assert "Limits: broken: floor of smoker x income" in said.get_property("textContent")


def test_shares_and_counts_are_said_as_in_the_report(page: Chrome) -> None:
    shares = [
        0,
        1,
        0.378,
        0.0999,
        0.01,
        0.0095,
        1e-3,
        1.25e-4,
        9.9e-5,
        1e-5,
        1.23e-6,
        9.96e-7,
        1e-7,
        2.1e-8,
        3e-200,
    ]
    found = page.execute_script("return arguments[0].map(percent)", shares)
    assert found == [percent(share).replace(" ", "\u00a0") for share in shares]
    explorer = "Explorer.prototype.changes.call({ change: (kept, k) => kept[k] }, arguments[0])"
    said = [page.execute_script(f"return {explorer}", changes) for changes in ([1, -1], [1, 1, 0], [0])]
    assert said == [
        "1 keeps more than in the report, 1 keeps less",
        "2 keep more than in the report, 0 keep less",
        "all as in the report",
    ]
    headings = [one.text for one in page.find_elements("css selector", "#retentions thead th")]
    assert "Change (points)" in headings


def test_the_split_of_the_page_is_one_that_judge_takes(page: Chrome, tmp_path: Path) -> None:
    health().write(tmp_path / "problem.json")
    move(page, 2, 1.3)
    (tmp_path / "split.json").write_text(page.find_element("id", "json").get_property("value"))
    assert main(["judge", str(tmp_path / "problem.json"), str(tmp_path / "split.json"), "--quick"]) == 0


def test_the_objective_is_pythons_for_every_kind(page: Chrome) -> None:
    for objective in OBJECTIVES:
        problem = health(objective)
        allocation = hand_made(problem)
        data = explorer_data(subject_of(allocation, None, None, certificate=None, guess=0.1))
        for epsilons in (allocation.epsilons, bo.uniform(problem).epsilons):
            found = page.execute_script("return objectiveValue(...arguments)", data, epsilons.tolist())
            assert found == pytest.approx(value(problem.arrays, epsilons), rel=1e-12), objective


def test_the_objective_of_clusters_is_pythons_too_and_a_cluster_has_one_slider(
    browser: Chrome, tmp_path: Path, nothing_is_drawn: None
) -> None:
    for objective in OBJECTIVES:
        problem = health(objective, clusters=[["smoker", "age"]])
        allocation = bo.uniform(problem)
        data = explorer_data(subject_of(allocation, None, None, certificate=None, guess=0.1))
        browser.get(bo.report(allocation, tmp_path / f"{objective}.html").as_uri())
        assert list(read(browser)["epsilons"]) == list(problem.block_names)
        found = browser.execute_script(
            "return objectiveValue(...arguments)", data, allocation.epsilons.tolist()
        )
        assert found == pytest.approx(value(problem.arrays, allocation.epsilons), rel=1e-12), objective
        move(browser, 0, 0.9)
        kept = [row["yours"] for row in read(browser)["rows"]]
        split = bo.allocation_from(problem, read(browser)["epsilons"])
        assert kept == pytest.approx([moment.retention for moment in split.moments], rel=1e-5, abs=1e-9)


def test_lambda_in_the_page_has_all_digits_for_tiny_and_huge_epsilons(page: Chrome) -> None:
    epsilons = [10.0**k for k in range(-300, 5, 8)] + [0.5, np.log(2), 1.0, 30.0, 37.0, 700.0, 1e4]
    for r in (2, 3, 1000, 10**6):
        found = page.execute_script(
            "const [es, r] = arguments; return es.map((e) => [logRetention(e, r), logTau(e, r)])", epsilons, r
        )
        expected = [[float(rr.log_retention(e, r)), float(rr.log_tau(e, r))] for e in epsilons]
        assert np.array(found) == pytest.approx(np.array(expected), rel=1e-13, abs=1e-300)


def test_random_moves_keep_the_sum_and_every_limit(page: Chrome) -> None:
    random = np.random.default_rng(20261130)
    cases = [_random_case(random) for _ in range(400)]
    moved = page.execute_script(
        "return arguments[0].map(({ question, base, held, moved, wanted }) =>"
        " movedSplit(question, base, new Set(held), moved, wanted))",
        cases,
    )
    for case, split in zip(cases, moved, strict=True):
        attributes, base = case["question"]["attributes"], case["base"]
        free = [i for i, attribute in enumerate(attributes) if not attribute.get("pinned")]
        assert all(isinstance(units, int) for units in split)
        assert sum(split[i] for i in free) == sum(base[i] for i in free)
        assert all(split[i] == base[i] for i in case["held"])
        for i in free:
            assert attributes[i].get("least", 0) <= split[i] <= attributes[i].get("most", 10**13)
        assert split[case["moved"]] == _nearest_possible(case, free)


def _nearest_possible(case: dict[str, Any], free: list[int]) -> int:
    """What the moved attribute gets: as near to what was wanted as the limits of all leave it."""
    attributes, base, moved = case["question"]["attributes"], case["base"], case["moved"]
    others = [i for i in free if i != moved and i not in case["held"]]
    room = base[moved] + sum(base[i] for i in others)
    least = [attributes[i].get("least", 0) for i in others]
    most = [min(attributes[i].get("most", room), room) for i in others]
    low = max(attributes[moved].get("least", 0), room - sum(most))
    high = min(attributes[moved].get("most", room), room - sum(least))
    wanted = math.floor(case["wanted"] + 0.5)
    return min(max(wanted, low), high)


def _random_case(random: np.random.Generator) -> dict[str, Any]:
    """A split within limits, and a slider that is moved anywhere."""
    count = int(random.integers(2, 9))
    base = [int(units) for units in random.integers(0, 10**12, count) * (random.random(count) < 0.8)]
    attributes: list[dict[str, Any]] = []
    for units in base:
        attribute: dict[str, Any] = {}
        if random.random() < 0.3:
            attribute["least"] = int(units * random.random())
        if random.random() < 0.3:
            attribute["most"] = int(units + 10**12 * random.random())
        if random.random() < 0.1:
            attribute = {"pinned": True}
        attributes.append(attribute)
    movable = [i for i, attribute in enumerate(attributes) if not attribute.get("pinned")] or [0]
    attributes[movable[0]].pop("pinned", None)
    moved = int(random.choice(movable))
    return {
        "question": {"attributes": attributes},
        "base": base,
        "held": [i for i in movable if i != moved and random.random() < 0.2],
        "moved": moved,
        "wanted": float(random.uniform(-1e12, 8e12)),
    }
