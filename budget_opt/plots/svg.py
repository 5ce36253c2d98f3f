"""A figure as an SVG element of a page: text as text, nothing random, nothing loaded."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from budget_opt.errors import InputError
from budget_opt.plots.files import drawn
from budget_opt.plots.internal import notice_of
from budget_opt.plots.style import without_glyph_warnings

if TYPE_CHECKING:
    from budget_opt.plots.files import Draw

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
LINKS = (f"{{{XLINK}}}href", "href")
FONTS = ("DejaVu Sans", "Verdana", "Arial", "sans-serif")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def svg_text(
    draw: Draw, *, title: str, prefix: str, description: str = "", size: tuple[float, float] | None = None
) -> str:
    """The figure as one `<svg>` element, the same text for the same figure on every run.

    `title` and `description` are what a reader who cannot see it is told (`role="img"`). All ids begin with
    `prefix`, a letter and then letters, digits, - and _, so that figures of other prefixes can stand in the
    same page. Without `size` (inches) it has that of the drawing; it shrinks with the page. Letters are
    measured in DejaVu Sans and shown in the first font of the stack that the reader has.
    Raises `InputError` for a prefix that is none.
    """
    if not _PREFIX.fullmatch(prefix):
        raise InputError(f"prefix: is {prefix!r}, must be a letter and then letters, digits, - or _.")
    text, notice = _as_svg(draw, size, prefix)
    root = ElementTree.fromstring(text)
    for unwanted in (f"{{{SVG}}}metadata", f".//{{{SVG}}}style"):
        _remove(root, unwanted)
    _rename(root, prefix)
    _describe(root, prefix, title, " ".join(filter(None, (notice, description))))
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode")


def _as_svg(draw: Draw, size: tuple[float, float] | None, salt: str) -> tuple[str, str | None]:
    """What matplotlib writes, and the notice that the figure carries."""
    import matplotlib as mpl

    buffer = io.StringIO()
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "font.family": ["sans-serif"],
        "font.sans-serif": list(FONTS),
    }
    nothing: dict[str, Any] = {"Date": None, "Creator": None, "Format": None, "Type": None}
    # the reader's fonts show the letters, not those of this machine
    with mpl.rc_context(style), without_glyph_warnings():
        figure = drawn(draw, size=size)
        figure.savefig(buffer, format="svg", metadata=nothing)
    return buffer.getvalue(), notice_of(figure)


def _remove(root: ElementTree.Element, path: str) -> None:
    parents = {child: parent for parent in root.iter() for child in parent}
    for element in root.findall(path):
        parents[element].remove(element)


def _rename(root: ElementTree.Element, prefix: str) -> None:
    """Put the prefix before every id that is referred to, and drop the others."""
    used = set[str]()
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in LINKS and value.startswith("#"):
                used.add(value[1:])
                element.set(name, f"#{prefix}-{value[1:]}")
            elif name != "id" and "url(#" in value:
                used.update(_REFERENCE.findall(value))
                element.set(name, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))
    for element in root.iter():
        identity = element.attrib.pop("id", None)
        if identity in used:
            element.set("id", f"{prefix}-{identity}")


def _describe(root: ElementTree.Element, prefix: str, title: str, description: str) -> None:
    """Title and description first, where readers aloud look for them; the size gives way to the page's."""
    texts = {"title": title, "desc": description} if description else {"title": title}
    for place, (name, text) in enumerate(texts.items()):
        element = ElementTree.Element(f"{{{SVG}}}{name}", {"id": f"{prefix}-{name}"})
        element.text = text
        root.insert(place, element)
    root.set("role", "img")
    root.set("aria-labelledby", " ".join(f"{prefix}-{name}" for name in texts))
    # what matplotlib says in a style sheet, which in a page would hold for all of its figures
    root.set("style", "max-width: 100%; height: auto; stroke-linejoin: round; stroke-linecap: butt")
    root.attrib.pop("version", None)
