"""Tables as text that people read, the same in Python, on the command line and in a file."""

from __future__ import annotations

import io
import math
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType
    from rich.table import Table

WIDTH = 100
NOTHING = "\u2013"
"""Stands where there is no number."""


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


def level_told(level: float) -> str:
    """The level of an interval: 95 %."""
    return f"{100 * level:.10g} %"


def at_most(value: float | None, digits: int = 4) -> str:
    """A number to some significant digits, rounded up: what a guarantee costs is never said to be less."""
    return trimmed(digits_of(value, digits, ROUND_CEILING))


def percent_at_most(share: float) -> str:
    """A probability in percent, rounded up, and never to certainty while a doubt is left."""
    if share >= 1:
        return "100 %"
    # the decimal is moved, not multiplied: a product of doubles may already be rounded up
    hundredths = Decimal(repr(share)).scaleb(2)
    if hundredths > Decimal("99.9"):
        return "above 99.9 %"
    if share >= 0.01:
        return f"{hundredths.quantize(Decimal('0.1'), rounding=ROUND_CEILING)} %"
    return f"{at_most(float(hundredths), 2)} %"


def digits_of(value: float | None, digits: int, rounding: str) -> str:
    """A number to some significant digits, commas in thousands; `rounding` is a name of `decimal`."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    decimal = Decimal(repr(float(value)))  # the text of a numpy number has its type in it
    last = Decimal(1).scaleb(decimal.adjusted() - digits + 1)
    if -5 <= decimal.adjusted() < 9:
        return f"{decimal.quantize(min(last, Decimal(1)), rounding=rounding):,f}"
    return f"{decimal.quantize(last, rounding=rounding).normalize():e}"


def trimmed(text: str) -> str:
    """The same without zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
