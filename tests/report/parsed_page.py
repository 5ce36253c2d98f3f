"""An HTML page as the tests look at it: its elements in order, with the faults of its structure."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "wbr", "col", "base", "source"})
RAW = ("script", "style")


@dataclass
class Element:
    """One element; `text` is all text below it, as a browser would show it."""

    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """A parsed page; `faults` are tags that do not match and attributes that are said twice."""

    source: str
    elements: list[Element] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Element] = []
        self.feed(self.source)
        self.close()
        self.faults += [f"<{element.tag}> is not closed" for element in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        self.faults += [f"<{tag}> says {name} twice" for name in set(names) if names.count(name) > 1]
        element = Element(tag, {name: value or "" for name, value in attrs}, tuple(e.tag for e in self._open))
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1].tag != tag:
            self.faults.append(f"</{tag}> closes {self._open[-1].tag if self._open else 'nothing'}")
            return
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, *tags: str) -> list[Element]:
        """The elements of these tags, in order."""
        return [element for element in self.elements if element.tag in tags]

    def table(self, caption: str) -> list[list[str]]:
        """The rows of the table with this caption, headings first."""
        rows: list[list[str]] = []
        inside = False
        for element in self.elements:
            if element.tag == "caption":
                inside = element.text == caption
            elif inside and element.tag == "tr":
                rows.append([])
            elif inside and element.tag in ("th", "td"):
                rows[-1].append(element.text.replace("\u00a0", " "))
            elif element.tag == "table":
                inside = False
        return rows

    @property
    def visible_text(self) -> str:
        """The text that a reader sees without scripts, with plain blanks."""
        shown = ("p", "li", "dt", "dd", "th", "td", "caption", "figcaption", "h1", "h2", "h3")
        return "\n".join(element.text for element in self.all(*shown)).replace("\u00a0", " ")
