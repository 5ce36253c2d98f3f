"""What a section of the report is made of; text only, the page escapes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    kind: ClassVar[str] = "paragraph"

    text: str


@dataclass(frozen=True)
class Bullets:
    """Short statements, each on its own."""

    kind: ClassVar[str] = "bullets"

    items: tuple[str, ...]


@dataclass(frozen=True)
class Warned:
    """What a reader must not miss: a promise that fails, or an assumption that nobody has confirmed."""

    kind: ClassVar[str] = "warned"

    text: str


@dataclass(frozen=True)
class Facts:
    """Words and what they stand for here: (term, statement)."""

    kind: ClassVar[str] = "facts"

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """Numbers by name: the first cell of a row is what the row is about.

    Every row has as many cells as there are `headings`; `words` are the columns (from 0) that hold text.
    """

    kind: ClassVar[str] = "table"

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG that `inline` made safe, its title, and the same in words."""

    kind: ClassVar[str] = "figure"

    svg: str
    title: str
    text: str


Block = Paragraph | Bullets | Warned | Facts | Table | Figure


@dataclass(frozen=True)
class Section:
    """One heading of the report; `name` is its anchor."""

    name: str
    heading: str
    blocks: tuple[Block, ...]
