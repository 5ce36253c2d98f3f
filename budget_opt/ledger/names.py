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
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point of Unicode, and the blank of Braille: nobody sees them."""
_DOTS = {"\N{COMBINING DOT BELOW}", "\N{COMBINING DOT ABOVE}"}
_AT_ENDS = {"Po", "Sk", "Lm"}
"""Points, accents and strokes, which nobody minds at the ends of a name."""
_CYRILLIC = dict(zip("авекмнорстухіјѕԁһԛԝ", "abekmhopctyxijsdhqw", strict=True))
_GREEK = dict(zip("αικνορτυχ", "aikvoptux", strict=True))
_ARMENIAN = dict(zip("ոսհցզյօ", "nuhgqjo", strict=True))
_PHONETIC = dict(zip("ɑɡɩʏᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡᴢ", "agiyabcdefghijklmnoprstuvwz", strict=True))
_LATIN = str.maketrans(
    {**_CYRILLIC, **_GREEK, **_ARMENIAN, **_PHONETIC, "\N{LATIN SMALL LETTER DOTLESS I}": "i"}
)


@lru_cache(maxsize=65_536)
def folded(name: str) -> str:
    """The name without what people do not see or mind: two names with the same one are taken for one.

    That is capitals, blanks, dashes, low lines, characters without a shape, the form of Unicode, letters of
    other alphabets that look like Latin ones, dots on letters, and points at the ends. Digits stay apart:
    "wave 1 1" is not "wave 11".
    """
    # at first, since an accent without a letter becomes one of the letter before it
    plain = unicodedata.normalize("NFKC", _without_ends(name) or name)
    plain = unicodedata.normalize("NFKC", plain.casefold())
    plain = "".join(map(_unadorned, unicodedata.normalize("NFD", _IGNORABLE.sub("", plain))))
    plain = unicodedata.normalize("NFC", plain)
    plain = "".join(" " if unicodedata.category(one) in _SEPARATORS else one for one in plain)
    plain = re.sub(r"(?<=\d) +(?=\d)", "\N{NO-BREAK SPACE}", plain.translate(_LATIN)).replace(" ", "")
    return _without_ends(plain) or plain or name


def _unadorned(one: str) -> str:
    """Without the dots below and above a letter, which a reader takes for dirt; other accents count."""
    return "" if one in _DOTS else one


def _without_ends(plain: str) -> str:
    start, end = 0, len(plain)
    while start < end and unicodedata.category(plain[start]) in _AT_ENDS:
        start += 1
    while end > start and unicodedata.category(plain[end - 1]) in _AT_ENDS:
        end -= 1
    return plain[start:end]


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
    if all(unicodedata.category(one) in _SEPARATORS for one in _IGNORABLE.sub("", name)):
        raise InputError(f"{where}: is {name!r}, which nobody can read. Give a name with letters.")
    return name
