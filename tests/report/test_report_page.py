"""The page is one whole file: valid, small, and nothing in it loads, runs or styles from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.report.page import SCRIPTS, json_in_html, static
from tests.report.conftest import RECORDS, Written
from tests.report.parsed_page import Page
from tests.report.reported_problems import HOSTILE, health, large

MEGABYTE = 10**6
REFERRING = ("src", "srcset", "href", "action", "formaction", "poster", "data", "background", "cite", "ping")


@pytest.fixture(params=["written", "attacked"])
def report(request: pytest.FixtureRequest) -> Written:
    """A plain report, and one whose every name is an attack."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Written)
    return found


def test_tags_match_and_ids_are_unique(report: Written) -> None:
    page = report.page
    assert page.faults == []
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert report.source.startswith("<!DOCTYPE html>\n")
    (html,) = page.all("html")
    assert html.attributes["lang"] == "en"
    assert len(page.all("title")) > 0
    assert len(page.all("main")) == 1


def test_headings_are_in_order(report: Written) -> None:
    levels = [int(element.tag[1]) for element in report.page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_everything_that_refers_to_an_element_finds_it(report: Written) -> None:
    page = report.page
    ids = {element.attributes["id"] for element in page.elements if "id" in element.attributes}
    for element in page.elements:
        for name in ("aria-labelledby", "aria-describedby", "for"):
            assert set(element.attributes.get(name, "").split()) <= ids
        href = element.attributes.get("href", "")
        if href.startswith("#"):
            assert href[1:] in ids


def test_nothing_is_loaded_from_anywhere(report: Written) -> None:
    for element in report.page.elements:
        for name in REFERRING:
            target = element.attributes.get(name, "#")
            assert target.startswith(("#", "data:image/png;base64,")), f"<{element.tag} {name}={target!r}>"
    assert report.page.all("link", "iframe", "object", "embed", "base", "form", "audio", "video") == []
    assert not re.search(r"url\((?!#)|@import", "".join(e.text for e in report.page.all("style")))


def test_no_element_has_a_style_or_a_script_of_its_own(report: Written) -> None:
    for element in report.page.elements:
        assert "style" not in element.attributes
        assert [name for name in element.attributes if name.startswith("on")] == []
    assert [element.attributes.get("type") for element in report.page.all("script")] == [
        "application/json",
        None,
    ]


def test_the_policy_admits_this_style_and_this_script_alone(report: Written) -> None:
    (policy,) = [
        element.attributes["content"]
        for element in report.page.all("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["img-src"] == "data:"
    (style,) = report.page.all("style")
    script = report.page.all("script")[-1]
    for directive, element in (("style-src", style), ("script-src", script)):
        digest = hashlib.sha256(element.text.encode()).digest()
        assert directives[directive] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert "unsafe" not in policy
    assert "http" not in policy


def test_scripts_put_names_into_the_page_as_text_only() -> None:
    for name in SCRIPTS:
        for danger in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
        ):
            assert danger not in static(name), f"{name} uses {danger}"
    assert static(SCRIPTS[0]).startswith('"use strict";')


def test_every_figure_has_a_title_a_text_and_its_data_in_a_table(report: Written) -> None:
    page = report.page
    drawings = page.all("svg")
    assert len(drawings) >= 4
    texts = {
        element.attributes["id"]: element.text for element in page.all("title", "desc") if element.attributes
    }
    for drawing in drawings:
        assert drawing.attributes["role"] == "img"
        said = [texts[name] for name in drawing.attributes["aria-labelledby"].split()]
        assert len(said) == 2
        assert all(said)
        assert "table" in said[1]
    assert len(page.all("figcaption")) == len(drawings)


def test_every_table_has_a_caption_and_headings_with_a_scope_and_can_be_scrolled_by_keyboard(
    report: Written,
) -> None:
    page = report.page
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(element.attributes.get("scope") in ("row", "col") for element in page.all("th"))
    boxes = [
        element for element in page.all("div") if "scroll" in element.attributes.get("class", "").split()
    ]
    assert len(boxes) == len(page.all("table")) + len(page.all("figure"))
    assert all(box.attributes["tabindex"] == "0" and box.attributes["aria-label"] for box in boxes)


def test_hostile_names_stand_in_the_page_as_they_are(attacked: Written) -> None:
    page = attacked.page
    for name in HOSTILE:
        assert name in [element.text for element in page.all("th")]
        assert any(f"{name} column" in element.text for element in page.all("dt"))
        assert f"{name} yes" in page.visible_text
    assert page.all("h1")[0].text == HOSTILE[0]
    assert page.all("img") == []
    assert attacked.source.count("</script>") == 2
    data = json.loads(page.all("script")[0].text)
    assert [attribute["name"] for attribute in data["attributes"]] == list(HOSTILE)


def test_json_in_a_script_cannot_be_ended_by_a_name() -> None:
    document = {"name": '</script><!-- & \u2028\u2029 \\ " é 🙂'}
    text = json_in_html(document)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == document


@pytest.mark.slow
def test_fifty_attributes_and_all_their_pairs_stay_below_a_megabyte(tmp_path: Path) -> None:
    allocation = large(50)
    path = bo.report(allocation, tmp_path / "large.html", n=10_000)
    assert path.stat().st_size < MEGABYTE
    page = Page(path.read_text(encoding="utf-8"))
    assert len(page.table("What the split is worth for every moment")) == 1 + 1225
    assert len(page.table("What 10,000 records will say")) == 1 + 1225
    limits = next(row for row in page.table("Checks of the allocation") if row[0].startswith("1,225 floors"))
    assert limits[3] == "hold"


def test_a_report_replaces_a_report_and_nothing_else_and_is_the_same_on_every_run(
    written: Written, tmp_path: Path
) -> None:
    allocation = written.allocation
    path = tmp_path / "r.html"
    path.write_text(written.source.replace("health", "other"), encoding="utf-8")
    assert bo.report(allocation, str(path), n=RECORDS) == path
    assert path.read_text(encoding="utf-8") == written.source
    notes = tmp_path / "notes.html"
    notes.write_text("<!DOCTYPE html><title>mine</title>")
    for place, limit in (
        (notes, "is not a report"),
        (tmp_path, "is not a report"),
        (tmp_path / "no" / "r.html", "not a folder"),
    ):
        with pytest.raises(bo.InputError, match=limit):
            bo.report(allocation, place)
    assert notes.read_text() == "<!DOCTYPE html><title>mine</title>"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["notes.html", "r.html"]


def test_a_problem_in_place_of_an_allocation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(bo.InputError, match="allocation: is a Problem"):
        bo.report(health(), tmp_path / "r.html")


def test_the_verb_stays_callable_beside_its_package() -> None:
    from budget_opt.report.page import page_of

    assert callable(page_of)
    assert callable(bo.report)
