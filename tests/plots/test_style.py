"""Names are shown as they are; colours are told apart; labels do not cover each other."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from budget_opt.plots import (
    allocation_bars,
    retention_bars,
    retention_curves,
    retention_matrix,
    svg_text,
    transition_plot,
)
from budget_opt.plots.files import drawn
from budget_opt.plots.names import WIDTH, distinct, label, moment_label
from budget_opt.plots.side_labels import spread
from budget_opt.plots.style import COLOURS, ink_on, shade
from tests.plots.conftest import HOSTILE

DRAWINGS = {
    "allocation_bars": lambda split: lambda ax: allocation_bars(split, split, ax=ax),
    "retention_bars": lambda split: lambda ax: retention_bars(split, split, ax=ax),
    "retention_matrix": lambda split: lambda ax: retention_matrix(split, ax=ax),
    "retention_curves": lambda split: lambda ax: retention_curves(ax=ax, allocation=split),
    "transition_plot": lambda split: lambda ax: transition_plot(split, split.attributes[0].name, ax=ax),
}


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=WIDTH))
def test_a_name_that_fits_is_shown_letter_for_letter_and_is_never_a_formula(name):
    shown = label(name)
    assert not is_math_text(shown)
    # what matplotlib makes of a text that is no formula
    assert shown.replace(r"\$", "$") == name


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=300))
def test_a_name_of_any_length_keeps_to_the_width(name):
    assert len(label(name).replace(r"\$", "$")) <= WIDTH


def test_a_moment_of_many_attributes_names_the_first_and_the_last_and_their_number():
    assert moment_label(["a", "b"]) == "a x b"
    assert moment_label([f"x{i}" for i in range(20)]) == "x0 x x1 x … x x19 (20)"
    assert len(moment_label(["a" * 90, "b" * 90, "short"])) <= WIDTH


def test_names_that_cutting_makes_alike_are_numbered():
    assert distinct(["a…b", "c", "a…b"]) == ["a…b (1)", "c", "a…b (2)"]


@pytest.mark.parametrize("drawing", DRAWINGS)
@pytest.mark.filterwarnings("ignore:Glyph .* missing from:UserWarning")
def test_hostile_names_are_text_in_every_figure(drawing, hostile):
    figure = drawn(DRAWINGS[drawing](hostile))
    figure.draw_without_rendering()
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert not [text for text in texts if is_math_text(text)]
    if drawing != "transition_plot":
        assert any("_hidden" in text for text in texts)


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_no_figure_of_many_moments_is_larger_than_a_page_of_a_report(drawing, wide):
    figure = drawn(DRAWINGS[drawing](wide))
    figure.draw_without_rendering()
    assert max(figure.get_size_inches()) <= 16
    inside = figure.get_tightbbox(figure.canvas.get_renderer())
    assert inside.x0 >= -0.1
    assert inside.x1 <= figure.get_size_inches()[0] + 0.1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_labels_beside_the_axes_never_overlap_and_keep_their_order(wanted):
    gap = 0.02
    placed = spread(np.sort(wanted), gap)
    assert all(above - below >= gap - 1e-12 for below, above in pairwise(placed))
    assert placed[0] >= -1e-12
    assert placed[-1] <= 1 + 1e-12


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_labels_that_are_apart_stay_where_their_points_are(wanted):
    apart = np.sort(wanted)
    if len(apart) > 1:
        apart = apart[np.concatenate([[True], np.diff(apart) > 0.05])]
    if all(above - below > 0.02 for below, above in pairwise(apart)) and apart[-1] <= 1 - 0.02 * len(apart):
        assert spread(apart, 0.02) == pytest.approx(apart)


# Machado, Oliveira, Fernandes 2009: what is seen without the long, middle and short cones, linear RGB
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503041]]
)


def lab(colour, blindness):
    """CIE L*a*b* (D65) of a colour as it is seen."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(BLINDNESS[blindness]) @ linear, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_colour_blind_readers_tell_all_colours_apart(blindness):
    """A difference of 10 is seen at a glance (CIE 1976: about 2.3 is just noticeable)."""
    seen = [lab(colour, blindness) for colour in COLOURS]
    assert min(np.linalg.norm(first - second) for first, second in combinations(seen, 2)) > 15


@pytest.mark.parametrize("share", np.linspace(0, 1, 21))
def test_numbers_on_shaded_cells_can_be_read(share):
    """Contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3)."""
    dark, light = sorted(
        TO_XYZ[1] @ [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        for colour in (shade(share), ink_on(shade(share)))
    )
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_an_svg_names_hostile_attributes_as_text(hostile):
    from xml.etree import ElementTree

    text = svg_text(lambda ax: allocation_bars(hostile, ax=ax), title='<script>"&', prefix="split")
    words = ["".join(element.itertext()) for element in ElementTree.fromstring(text).iter() if element.text]
    assert {name for name in HOSTILE if len(name) <= WIDTH} <= set(words)
    assert "<script>" not in text
