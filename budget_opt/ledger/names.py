"""Names of data sets and attributes: which are allowed, and which two are one for people.

A second name for the same data is a second budget for the same people. So a data set whose name looks like
that of another is not taken; and what is spent on "Income" counts towards the cap on "income".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from budget_opt.errors import InputError

LONGEST = 200
"""Characters of a name."""

_SEPARATORS = {"Zs", "Zl", "Zp", "Cc", "Cf", "Pd", "Pc"}
"""Blanks, characters that nobody sees, dashes and low lines."""
_CYRILLIC = dict(zip("авекмнорстухіјѕԁһԛԝ", "abekmhopctyxijsdhqw", strict=True))
_GREEK = dict(zip("αικνορτυχ", "aikvoptux", strict=True))
_LATIN = str.maketrans({**_CYRILLIC, **_GREEK, "\N{LATIN SMALL LETTER DOTLESS I}": "i"})


@lru_cache(maxsize=65_536)
def folded(name: str) -> str:
    """The name without what people do not see or mind: two names with the same one are taken for one.

    That is capitals, blanks, dashes, low lines, characters without a shape, the form of Unicode, and
    letters of other alphabets that look like Latin ones. Digits stay apart: "wave 1 1" is not "wave 11".
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    plain = "".join(" " if unicodedata.category(one) in _SEPARATORS else one for one in plain)
    plain = re.sub(r"(?<=\d) +(?=\d)", "\N{NO-BREAK SPACE}", plain.translate(_LATIN)).replace(" ", "")
    return plain or name


def require_name(name: object, where: str) -> str:
    """The name, if it is one line of visible text; else `InputError`."""
    if not isinstance(name, str) or not name.strip() or name != name.strip() or not name.isprintable():
        raise InputError(
            f"{where}: is {name!r}, must be text of one line that is not blank, without blanks at its ends. "
            "Give the data set's name."
        )
    if len(name) > LONGEST:
        raise InputError(f"{where}: has {len(name)} characters, at most {LONGEST} are allowed. Shorten it.")
    if name != unicodedata.normalize("NFC", name):
        raise InputError(
            f"{where}: {name!r} is not in the composed form of Unicode (NFC), so that a name that looks the "
            f"same would be another one. Type it as {unicodedata.normalize('NFC', name)!r}."
        )
    if all(unicodedata.category(one) in _SEPARATORS for one in name):
        raise InputError(f"{where}: is {name!r}, which nobody can read. Give a name with letters.")
    return name
