"""Numbers in sentences: shares, fractions and counts as people say them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

Rounding = Literal["nearest", "up", "down"]
LEAST = 1e-4
"""The least share that is said as a number."""
_HAIR = 1e-6
_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_FRACTIONS = {
    1 / 5: "a fifth",
    1 / 4: "a quarter",
    1 / 3: "a third",
    1 / 2: "half",
    2 / 3: "two thirds",
    3 / 4: "three quarters",
}
_CLOSE, _NEAR = 0.005, 0.02
"""How far a share may be from a fraction that is said plainly, and from one that is "nearly" it."""


def share(number: float, rounding: Rounding = "nearest") -> str:
    """A share >= 0 of something in percent: 12 %, 3.4 %, 0.25 %, less than 0.01 %.

    `rounding` is up for what is at most that, and down for what is at least that.
    """
    if number <= 0:
        return "0 %"
    if number < LEAST:
        return {"up": "0.01 %", "down": "0 %", "nearest": "less than 0.01 %"}[rounding]
    percent = 100 * number
    digits = 0 if percent >= 9.95 else 1 if percent >= 0.995 else 2
    scaled = percent * 10**digits
    # a hair of rounding is no reason for another last digit
    whole = {"up": math.ceil(scaled - _HAIR), "down": math.floor(scaled + _HAIR), "nearest": round(scaled)}
    text = f"{whole[rounding] / 10**digits:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if digits == 2 else text} %"


def fraction(number: float) -> str:
    """A share from 0 to 1 as a fraction where it is near one: half, nearly a third, just over a fifth."""
    if number > 1 - 1e-9:
        return "all"
    for value, words in _FRACTIONS.items():
        off = number - value
        if abs(off) <= _CLOSE:
            return words
        if abs(off) <= _NEAR:
            return f"nearly {words}" if off < 0 else f"just over {words}"
    return share(number)


def count(number: int) -> str:
    """A count in words up to ten."""
    return _COUNTS[number] if number < len(_COUNTS) else str(number)


def counted(number: int, noun: str) -> str:
    """A count with its noun: no floors, one floor, four floors, 12 floors."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def listed(words: Sequence[str], most: int = 4) -> str:
    """a; a and b; a, b and c; a, b, c and 3 more."""
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def sentence(text: str) -> str:
    """The text with its first letter as a capital; the rest as it is."""
    return text[:1].upper() + text[1:]
