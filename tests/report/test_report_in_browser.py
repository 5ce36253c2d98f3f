"""The report as people meet it: in a narrow and a wide window, on paper, by keyboard, without scripts."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import budget_opt as bo
from tests.report.conftest import Written
from tests.report.reported_problems import HOSTILE, health
from tests.report.stated_allocations import NAMES, wide

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = pytest.mark.slow

LEAST_CONTRAST = 4.5
"""WCAG 2.2, success criterion 1.4.3 (AA), for text of ordinary size."""
LEAST_POINTS = 6.5
"""Letters that are smaller cannot be read on paper without effort."""
WIDTHS = (320, 360, 768, 1280, 1600)

CONTRAST = """
const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const luminance = (colour) => {
  const [r, g, b] = channels(colour).map((c) => linear(c / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const painted = (colour) => colour.startsWith("rgb") && (channels(colour)[3] ?? 1) === 1;
const onWhite = (colour, opacity) => `rgb(${channels(colour).map((c) => opacity * c + (1 - opacity) * 255)})`;
const shapeBehind = (text) => {
  text.scrollIntoView({ block: "center", inline: "center" });
  const box = text.getBoundingClientRect();
  const stack = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return stack.find((one) => one instanceof SVGGeometryElement && painted(getComputedStyle(one).fill));
};
// what lies behind a text: a shape of its drawing, or the background of an element around it
const behind = (element) => {
  const shape = element instanceof SVGElement ? shapeBehind(element) : undefined;
  if (shape) return onWhite(getComputedStyle(shape).fill, Number(getComputedStyle(shape).fillOpacity));
  for (let one = element; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (painted(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
const texts = [...document.querySelectorAll("body *")].filter((element) =>
  !["SCRIPT", "STYLE", "NOSCRIPT", "title", "desc"].includes(element.tagName)
  && [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
  && element.checkVisibility());
return texts.map((element) => {
  const style = getComputedStyle(element);
  const colours = [element instanceof SVGElement ? style.fill : style.color, behind(element)];
  const [light, dark] = colours.map(luminance).sort((a, b) => b - a);
  const text = [...element.textContent.trim()].slice(0, 40).join("");
  return { text, ratio: (light + 0.05) / (dark + 0.05) };
});
"""
OVERFLOWS = """
const width = document.documentElement.clientWidth;
const boxed = (element) => element.closest(".scroll, .unseen, .skip, #sliders, textarea");
return {
  page: document.documentElement.scrollWidth - width,
  elements: [...document.querySelectorAll("body *")]
    .filter((element) => !boxed(element) && element.getBoundingClientRect().right > width + 1)
    .map((element) => element.outerHTML.slice(0, 80)),
};
"""


def resize(browser: Chrome, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.fixture(params=["written", "attacked"])
def report(request: pytest.FixtureRequest) -> Written:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Written)
    return found


def test_every_text_has_enough_contrast(browser: Chrome, report: Written) -> None:
    resize(browser, 1280)
    browser.get(report.path.as_uri())
    browser.execute_script(
        "const slider = document.getElementById('epsilon-0'); slider.value = 0;"
        "slider.dispatchEvent(new Event('input'))"
    )
    texts: list[dict[str, Any]] = browser.execute_script(CONTRAST)
    assert len(texts) > 200
    assert [found for found in texts if found["ratio"] < LEAST_CONTRAST] == []


def at_widths(browser: Chrome, page: Path, widths: tuple[int, ...], script: str) -> dict[int, Any]:
    """What a script says of the page in windows of these widths."""
    browser.get(page.as_uri())
    found = {}
    for width in widths:
        resize(browser, width)
        found[width] = browser.execute_script(script)
    return found


def test_no_window_is_too_narrow_or_too_wide(browser: Chrome, report: Written) -> None:
    found = at_widths(browser, report.path, WIDTHS, OVERFLOWS)
    assert found == {width: {"page": 0, "elements": []} for width in WIDTHS}


SCROLLING = """
return [...document.querySelectorAll(".scroll")]
  .filter((box) => box.scrollWidth > box.clientWidth)
  .map((box) => box.getAttribute("aria-label"));
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster with a background of its own, whose sampler has forty integers of twenty digits."""
    problem = health(
        attributes=[
            bo.Attribute("smoker", categories=2, marginal=[0.8, 0.2], background="marginal"),
            bo.Attribute("income", categories=20),
            *health().attributes[2:],
        ],
        clusters=[["smoker", "income"]],
    )
    return bo.report(bo.uniform(problem), tmp_path_factory.mktemp("mixed") / "m.html", n=20_000)


def test_on_a_screen_no_table_must_be_scrolled(browser: Chrome, mixed: Path) -> None:
    screens = (1024, 1200, 1280, 1900)
    assert at_widths(browser, mixed, screens, SCROLLING) == {width: [] for width in screens}


def test_on_paper_a_cluster_with_a_background_is_not_cut(browser: Chrome, mixed: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    resize(browser, 672)
    browser.get(mixed.as_uri())
    try:
        assert browser.execute_script(OVERFLOWS.replace(".scroll, ", "")) == {"page": 0, "elements": []}
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_hostile_names_do_nothing(browser: Chrome, attacked: Written) -> None:
    browser.get(attacked.path.as_uri())
    browser.execute_script(
        "const slider = document.getElementById('epsilon-6'); slider.value = 2;"
        "slider.dispatchEvent(new Event('input'))"
    )
    assert browser.execute_script("return window.hacked === undefined && ({}).hacked === undefined")
    labels = browser.find_elements("css selector", "#sliders label:first-child")
    assert [label.get_property("textContent") for label in labels] == list(HOSTILE)
    rows = browser.find_elements("css selector", "#retentions tbody th")
    assert [row.get_property("textContent") for row in rows] == [
        moment.label for moment in attacked.allocation.moments
    ]
    split = browser.execute_script("return Object.keys(JSON.parse(document.getElementById('json').value))")
    assert sorted(split) == sorted(HOSTILE)
    assert browser.get_log("browser") == []


def read_aloud(browser: Chrome) -> str:
    """What a screen reader finds in the page; asked of the browser itself, so that no script is needed."""
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    said = [f"{node.get('role', {}).get('value')}: {node.get('name', {}).get('value')}" for node in tree]
    return "\n".join(said)


def test_without_scripts_everything_but_the_sliders_is_there(
    browser_without_scripts: Chrome, written: Written
) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    wanted = [
        "What is guaranteed, and what is not",
        "The split of the budget",
        "What the split is worth for every moment",
        "What 20,000 records will say",
        "Checks of the allocation",
        "Retention against epsilon",
        "With scripts, this page has sliders here",
        *(moment.label for moment in written.allocation.moments),
    ]
    browser_without_scripts.get(written.path.as_uri())

    def missing(browser: Chrome) -> list[str]:
        said = read_aloud(browser)
        return [text for text in wanted if text not in said]

    # the tree is built in the background
    WebDriverWait(browser_without_scripts, 20).until(lambda browser: not missing(browser), str(wanted))
    said = read_aloud(browser_without_scripts)
    assert "Back to the report" not in said
    assert "slider:" not in said


def test_the_tab_key_reaches_every_control_and_the_focus_can_be_seen(
    browser: Chrome, written: Written
) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    resize(browser, 1280)
    browser.get(written.path.as_uri())
    wanted = {"epsilon-0", "epsilon-1", "epsilon-2", "epsilon-3", "hold-0", "reset", "even", "json", "copy"}
    seen: set[str] = set()
    skip = True
    for _ in range(60):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        focused = browser.switch_to.active_element
        if skip:
            assert focused.text == "Skip to the content"
            skip = False
        seen.add(focused.get_attribute("id") or "")
        style = "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, s.outlineWidth]"
        assert browser.execute_script(style) == ["solid", "3px"]
        if wanted <= seen:
            break
    assert wanted <= seen
    for control in browser.find_elements(
        By.CSS_SELECTOR, "#explorer input, #explorer textarea, #explorer button"
    ):
        assert control.accessible_name


def printed(browser: Chrome) -> bytes:
    """The page as PDF; on a busy machine Chromium's printing may fail while its process starts."""
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.support.ui import WebDriverWait

    def attempt(browser: Chrome) -> str:
        result = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
        return str(result["data"])

    waiting = WebDriverWait(browser, 30, poll_frequency=1, ignored_exceptions=[WebDriverException])
    return base64.b64decode(waiting.until(attempt))


SMALLEST_LETTERS = """
return Math.min(...[...document.querySelectorAll("figure svg text")].map((text) => {
  const svg = text.ownerSVGElement;
  const [box, drawn] = [svg.getBoundingClientRect(), svg.viewBox.baseVal];
  const scale = Math.min(box.width / drawn.width, box.height / drawn.height);
  return parseFloat(getComputedStyle(text).fontSize) * scale * 72 / 96;
}));
"""
"""In points on paper."""


def test_figures_of_many_moments_can_be_read_on_paper(browser: Chrome, tmp_path: Path) -> None:
    split = bo.allocation_from(wide(), {name: 0.6 + 0.05 * i for i, name in enumerate(NAMES)})
    path = bo.report(split, tmp_path / "wide.html", n=3000)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    resize(browser, 672)
    browser.get(path.as_uri())
    try:
        assert browser.execute_script(SMALLEST_LETTERS) >= LEAST_POINTS
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_on_paper_it_is_several_pages_wide_enough_for_every_table(browser: Chrome, report: Written) -> None:
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get(report.path.as_uri())
    pages = re.findall(rb"/MediaBox \[([^\]]*)\]", printed(browser))
    assert len(pages) >= 5
    # A4 in points
    assert {tuple(round(float(x)) for x in page.split()) for page in pages} == {(0, 0, 595, 842)}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    resize(browser, 672)  # the width of A4 less its margins, 178 mm, in CSS pixels
    try:
        assert browser.execute_script(OVERFLOWS.replace(".scroll, ", "")) == {"page": 0, "elements": []}
        for hidden in browser.find_elements("css selector", "nav, #explorer, button"):
            assert not hidden.is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
