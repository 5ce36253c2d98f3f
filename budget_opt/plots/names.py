"""Names as labels of a figure: of any length and with any characters, shown as they are.

A name is never markup: matplotlib would set what stands between two dollars as a formula. That a name is
one line without control characters is checked where it is read (`model.fields`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

WIDTH = 30
"""Characters of a label."""
MOST_NAMES = 5
"""Attributes of a moment that are all named."""
SHORTEST = 5
"""Characters that are left of an attribute's name in a moment of many."""


def label(name: str, width: int = WIDTH) -> str:
    """The name, cut in the middle where it is long, with nothing in it that matplotlib would interpret."""
    return escaped(_cut(name, width))


def moment_label(attributes: Sequence[str], width: int = WIDTH) -> str:
    """smoker x income, cut name by name to about `width` characters; of many, the first and the last."""
    if len(attributes) > MOST_NAMES:
        first, last = moment_label(attributes[:2], width // 2), label(attributes[-1], width // 4)
        return f"{first} x … x {last} ({len(attributes)})"
    room = width - 3 * (len(attributes) - 1)
    fitting = [w for w in range(SHORTEST, WIDTH + 1) if sum(min(w, len(name)) for name in attributes) <= room]
    each = max(fitting, default=SHORTEST)
    return escaped(" x ".join(_cut(name, each) for name in attributes))


def distinct(labels: Iterable[str]) -> list[str]:
    """The labels; those that cutting has made alike get a number."""
    labels = list(labels)
    repeated = {text for text, count in Counter(labels).items() if count > 1}
    seen: Counter[str] = Counter()
    made = []
    for text in labels:
        seen[text] += 1
        made.append(f"{text} ({seen[text]})" if text in repeated else text)
    return made


def escaped(text: str) -> str:
    """The text as matplotlib must be given it to show it as it is."""
    return text.replace("$", r"\$")


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail].rstrip()}…{text[len(text) - tail :].lstrip()}"
