"""A drawing as a part of the page: nothing in it runs, refers elsewhere, or has a style of its own.

The page's policy (`page`) refuses style attributes, so the drawing says the same by SVG's presentation
attributes. Names stand in it as text that was parsed and is escaped again.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from budget_opt.report.slimming import slim

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
_ELEMENTS = re.compile(
    "svg|g|defs|clipPath|path|use|text|tspan|rect|circle|ellipse|line|polyline|polygon|image|title|desc"
    "|linearGradient|stop|pattern"
)
_ATTRIBUTES = re.compile(
    "d|[xy][12]?|c[xy]|r[xy]?|d[xy]|width|height|viewBox|points|transform|offset|preserveAspectRatio"
    "|pattern(Units|Transform|ContentUnits)|id|href|clip-path|role|aria-labelledby"
    "|fill(-opacity|-rule)?|opacity|stop-(color|opacity)|paint-order"
    "|stroke(-(width|opacity|dasharray|dashoffset|linecap|linejoin|miterlimit))?"
    "|font-(size|family|style|weight)|text-anchor"
)
_LONG = re.compile(r"-?\d+\.\d{3,}")
_FONT = re.compile(r"(?:(italic|oblique|normal) )?(?:(bold|\d{3}) )?([\d.]+)px (.+)")


def inline_svg(svg: str) -> str:
    """The `<svg>` element of a figure as the page takes it; what it does not know is left out."""
    root = ElementTree.fromstring(svg)
    _clean(root)
    slim(root)
    _, _, width, _ = map(float, root.attrib["viewBox"].split())
    root.attrib.pop("height", None)
    root.set("width", f"{width * 4 / 3:.0f}")  # CSS pixels; the height follows
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root, encoding="unicode").replace(f' xmlns="{_SVG}"', "")


def _clean(element: ElementTree.Element) -> None:
    for child in list(element):
        if _ELEMENTS.fullmatch(child.tag.removeprefix(f"{{{_SVG}}}")):
            _clean(child)
        else:
            element.remove(child)
    if not (element.text or "").strip():
        element.text = None
    if not (element.tail or "").strip():
        element.tail = None
    stated = {("href" if name == _LINK else name): value for name, value in element.attrib.items()}
    stated |= _presentation(stated.pop("style", ""))
    element.attrib = {
        name: _LONG.sub(lambda found: f"{float(found[0]):.2f}", value) if name in ("d", "x", "y") else value
        for name, value in stated.items()
        if _ATTRIBUTES.fullmatch(name) and (name != "href" or _is_inside(value))
    }


def _is_inside(target: str) -> bool:
    return target.startswith(("#", "data:image/png;base64,"))


def _presentation(style: str) -> dict[str, str]:
    """`fill: #fff; font: 8px Verdana` as attributes."""
    found: dict[str, str] = {}
    for part in style.split(";"):
        name, _, value = (word.strip() for word in part.partition(":"))
        if name == "font" and (font := _FONT.fullmatch(value)):
            named = zip(("font-style", "font-weight", "font-size", "font-family"), font.groups(), strict=True)
            found |= {one: said for one, said in named if said}
        elif name:
            found[name] = value.removesuffix("px") if name == "font-size" else value
    return found
