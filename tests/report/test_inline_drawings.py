"""What becomes of a drawing on its way into the page: the same picture, without styles and strangers."""

from __future__ import annotations

from xml.etree import ElementTree

from budget_opt.report.inline import inline_svg
from budget_opt.report.slimming import slim

SPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
SVG = f'<svg {SPACES} width="72pt" height="36pt" viewBox="0 0 72 36">{{}}</svg>'


def inlined(content: str) -> ElementTree.Element:
    return ElementTree.fromstring(inline_svg(SVG.format(content)))


def test_styles_become_presentation_attributes() -> None:
    root = inlined(
        '<path d="M 1.23456 2" style="fill: none; stroke: #abc; stroke-width: 0.8"/>'
        '<text style="font: italic bold 8px Verdana, Arial; text-anchor: end">a</text>'
    )
    path, text = root
    assert path.attrib == {"d": "M 1.23 2", "fill": "none", "stroke": "#abc", "stroke-width": "0.8"}
    assert (text.get("font-size") or root.get("font-size"), root.get("font-family")) == (
        "8",
        "Verdana, Arial",
    )
    assert (root.get("font-style"), root.get("font-weight"), root.get("text-anchor")) == (
        "italic",
        "bold",
        "end",
    )
    assert root.get("width") == "96"  # 72 points are 96 CSS pixels
    assert "height" not in root.attrib


def test_what_could_run_load_or_style_is_left_out() -> None:
    root = inlined(
        '<script>1</script><style>*{}</style><foreignObject/><a href="http://x"/><metadata>m</metadata>'
        '<image xlink:href="http://x/y.png"/><use xlink:href="#m"/><path onclick="1" class="c" d="M 0 0"/>'
        '<image xlink:href="data:image/svg+xml;base64,AA"/><image xlink:href="data:image/png;base64,AA"/>'
    )
    assert [element.tag for element in root] == ["image", "use", "path", "image", "image"]
    assert [element.get("href") for element in root] == [None, "#m", None, None, "data:image/png;base64,AA"]
    assert root[2].attrib == {"d": "M 0 0"}


def test_text_that_looks_like_markup_stays_text() -> None:
    name = "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert f"<text>{name}</text>" in inline_svg(SVG.format(f"<text>{name}</text>"))


def drawn_with(
    root: ElementTree.Element, inherited: dict[str, str] | None = None
) -> list[tuple[str, dict[str, str]]]:
    """Every drawn leaf with what holds for it, its own or inherited."""
    found = []
    for child in root:
        stated = {**(inherited or {}), **child.attrib}
        if child.tag == "g":
            found += drawn_with(child, stated)
        elif child.tag != "defs":
            found.append((child.tag, stated))
    return found


def test_a_slimmed_drawing_looks_the_same_and_says_each_thing_once() -> None:
    points = "".join(
        f'<g clip-path="url(#c)"><use href="#p" x="{i}" fill="#0072b2" stroke="none"/></g>'
        for i in range(100)
    )
    words = '<path d="M" fill="none"/><text fill="#222" font-size="8">a</text>'
    text = f"<svg><g>{points}<g/></g><g>{words}</g></svg>"
    root = ElementTree.fromstring(text)
    before = drawn_with(root)
    slim(root)
    assert [
        (tag, {name: stated[name] for name in had})
        for (tag, stated), (_, had) in zip(drawn_with(root, root.attrib), before, strict=True)
    ] == before
    assert len(ElementTree.tostring(root)) < len(text) / 2
    assert root[0].get("fill") == "#0072b2"


def test_a_clip_path_stays_where_a_part_moves_the_coordinates() -> None:
    root = ElementTree.fromstring('<svg><g><path clip-path="url(#c)" transform="translate(1 1)"/></g></svg>')
    slim(root)
    assert root.attrib == {}
    assert root[0].attrib == {"clip-path": "url(#c)", "transform": "translate(1 1)"}
