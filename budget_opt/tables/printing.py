"""Tables as text that people read, the same in Python, on the command line and in a file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType
    from rich.table import Table

WIDTH = 100


def plain_text(content: RenderableType, width: int = WIDTH) -> str:
    """What a rich console would print, as plain text without colours and trailing blanks."""
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(
        file=buffer, width=width, no_color=True, highlight=False, force_jupyter=False, force_terminal=False
    )
    console.print(content)
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip().splitlines())


def text_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of words, a row a line; names in it are never read as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def percent(share: float) -> str:
    """A share in percent, always with the sign: 37.8 %, 0.9 %, 0.0012 %, 2.1e-06 %."""
    if share == 0:
        return "0 %"
    return f"{100 * share:.1f} %" if share >= 0.01 else f"{100 * share:.2g} %"
