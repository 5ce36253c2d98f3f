"""Tables of numbers that fit the page: no number is cut or broken, however narrow the page is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_HEADING = 20
"""Cells of a heading in one line; a longer one is broken at blanks, or anywhere."""
_LABELS = 3
"""The first column may have one part in so many of the page before columns go on below."""
_BETWEEN = 3
"""Cells between two columns."""


@dataclass(frozen=True)
class Column:
    """A heading, which may have line breaks, and a cell a row. None of it is read as markup."""

    heading: str
    cells: Sequence[str]

    @property
    def lines(self) -> list[str]:
        """The heading in lines that are not too long."""
        return [line for part in self.heading.split("\n") for line in _broken(part)]

    @property
    def width(self) -> int:
        """Cells that the column takes where nothing of it is broken."""
        return max(map(cell_len, (*self.lines, *self.cells)), default=0)


class WideTable:
    """A table whose columns go on in a second one below, after `first` again, where they do not fit.

    `first` has the labels, which are broken where they are long; a line is left above the rows `breaks`.
    """

    def __init__(
        self,
        first: Column,
        others: Sequence[Column],
        *,
        breaks: Collection[int] = (),
        labels: Literal["left", "right"] = "left",
    ) -> None:
        self.first, self.others, self.breaks, self.labels = first, others, breaks, labels

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for columns in self._parts(options.max_width):
            yield self._table(columns)

    def _parts(self, width: int) -> Iterator[list[Column]]:
        """The columns of one table after another."""
        labels = min(self.first.width, width // _LABELS)
        part: list[Column] = []
        for column in self.others:
            taken = labels + sum(_BETWEEN + one.width for one in (*part, column)) + 2
            if part and taken > width:
                yield part
                part = []
            part.append(column)
        yield part

    def _table(self, columns: Sequence[Column]) -> Table:
        table = Table(box=box.SIMPLE, pad_edge=False)
        table.add_column(Text(self.first.heading), overflow="fold", justify=self.labels)
        for column in columns:
            heading = Text("\n".join(column.lines))
            # not by a width: rich before 14 pads the last column of a stated width by one more
            table.add_column(heading, justify="right", no_wrap=True, overflow="fold")
        for row, label in enumerate(self.first.cells):
            if row in self.breaks:
                table.add_section()
            table.add_row(Text(label), *(Text(column.cells[row]) for column in columns))
        return table


def _broken(line: str) -> list[str]:
    """A line of a heading in lines that are not too long."""
    lines: list[str] = []
    for word in line.split(" "):
        if lines and cell_len(f"{lines[-1]} {word}") <= _HEADING:
            lines[-1] += f" {word}"
        else:
            lines += chop_cells(word, _HEADING) or [word]
    return lines
