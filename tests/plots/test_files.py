"""Figures as files and as text: what is in them, the same on every run, no more than one page can carry."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from matplotlib.text import Text
from PIL import Image

import budget_opt as bo
from budget_opt.plots import observed_retentions, retention_bars, retention_matrix, save_figure, svg_text

NOTICE = "Computed from the originals: outside the guarantee, do not pass on"  # DESIGN 3.3


def size_of(path):
    with Image.open(path) as image:
        return image.size


def texts_of(path):
    with Image.open(path) as image:
        return image.text


@pytest.fixture(scope="module")
def report():
    """Of a sound release of 4,000 rows, where b is a copy of a and c is independent of both."""
    import numpy as np
    import pyarrow as pa

    a = np.arange(4000) % 3
    table = pa.table({"a": a, "b": a, "c": np.arange(4000) // 3 % 2})
    problem = bo.Problem(
        attributes=[
            bo.Attribute("a", categories=3),
            bo.Attribute("b", categories=3),
            bo.Attribute("c", categories=2),
        ],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("a", "c")],
        total_epsilon=6,
        objective="geometric_mean",
        row_order="public",
    )
    split = bo.solve(problem)
    return bo.verify_release(split, original=table, released=bo.randomize(table, split))


def test_an_svg_is_the_same_text_on_every_run_and_can_stand_in_a_page(allocation):
    def draw(ax):
        return retention_bars(allocation, ax=ax)

    first, second = (svg_text(draw, title="What is kept", prefix="kept", description="d") for _ in range(2))
    assert first == second
    assert first.startswith("<svg ")
    assert not re.search(r"<\?xml|<!DOCTYPE|<metadata|<style|<script|https?://(?!www\.w3\.org)", first)
    root = ElementTree.fromstring(first)
    assert root.get("role") == "img"
    told = [root.find(f".//*[@id='{name}']").text for name in root.get("aria-labelledby").split()]
    assert told == ["What is kept", "d"]
    assert {moment.label for moment in allocation.moments} <= {element.text for element in root.iter()}


def test_ids_of_two_svgs_in_one_page_are_distinct_and_every_reference_leads_somewhere(allocation):
    texts = [
        svg_text(lambda ax: retention_matrix(allocation, ax=ax), title="t", prefix=p) for p in ("a", "b")
    ]
    page = "".join(texts)
    identities = re.findall(r' id="([^"]+)"', page)
    assert len(identities) == len(set(identities))
    assert set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", page)) > set()
    used = {one or other for one, other in re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", page)}
    assert used <= set(identities)


def test_an_svg_of_1225_pairs_leaves_room_for_a_report_under_a_megabyte(wide):
    assert len(svg_text(lambda ax: retention_matrix(wide, ax=ax), title="t", prefix="m")) < 150_000


def test_a_prefix_that_is_no_name_of_an_id_is_refused(allocation):
    with pytest.raises(bo.InputError, match="prefix"):
        svg_text(lambda ax: retention_bars(allocation, ax=ax), title="t", prefix='x" onload="')


def test_no_figure_that_is_written_stays_open(allocation, tmp_path):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    save_figure(tmp_path / "kept.png", lambda ax: retention_bars(allocation, ax=ax), "What is kept")
    svg_text(lambda ax: retention_bars(allocation, ax=ax), title="t", prefix="t")
    assert plt.get_fignums() == before


def test_a_figure_takes_the_size_of_what_is_drawn_unless_one_is_asked_for(allocation, wide, tmp_path):
    for split in (allocation, wide):
        save_figure(tmp_path / "kept.png", lambda ax, split=split: retention_bars(split, ax=ax))
        height = 1.35 + 0.3 * min(len(split.moments), 31)
        assert size_of(tmp_path / "kept.png")[1] == pytest.approx(150 * height, abs=1)
    save_figure(tmp_path / "kept.png", lambda ax: retention_bars(wide, ax=ax), size=(4, 3))
    assert size_of(tmp_path / "kept.png") == (600, 450)


def test_observed_retentions_are_those_of_the_report(report, ax):
    observed_retentions(report, ax=ax)
    evidence = report.retentions[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a x b"]
    (point,) = [bars.lines[0].get_xdata()[0] for bars in ax.containers if hasattr(bars, "has_xerr")]
    assert point == pytest.approx(100 * evidence.retention)
    low = ax.patches[0].get_x()
    assert low == pytest.approx(100 * (evidence.predicted_retention - evidence.smallest_fault))
    assert "1 other moment too small" in ax.get_xlabel()  # a x c, which the data do not link


def test_a_figure_from_the_originals_says_across_it_that_it_must_not_leave(report, ax):
    observed_retentions(report, ax=ax)
    words = [" ".join(text.get_text().split()) for text in ax.findobj(Text)]
    assert words.count(NOTICE) == 2
    assert [text.get_rotation() for text in ax.texts if "\n" in text.get_text()] != [0]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_file_of_a_figure_from_the_originals_says_so_in_its_metadata(report, ending, tmp_path):
    path = tmp_path / f"observed.{ending}"
    save_figure(path, lambda ax: observed_retentions(report, ax=ax))
    if ending == "png":
        assert texts_of(path)["Description"] == NOTICE
    else:
        assert NOTICE.encode() in path.read_bytes()
    assert NOTICE in svg_text(lambda ax: observed_retentions(report, ax=ax), title="t", prefix="t")


def test_other_figures_carry_no_such_notice(allocation, tmp_path):
    save_figure(tmp_path / "kept.png", lambda ax: retention_bars(allocation, ax=ax))
    assert "Description" not in texts_of(tmp_path / "kept.png")


def test_a_report_without_moments_has_no_figure(ax):
    with pytest.raises(bo.InputError, match="verify_release"):
        observed_retentions(object(), ax=ax)
