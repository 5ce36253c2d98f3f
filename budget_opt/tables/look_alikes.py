"""In what a cell differs from the declared category that it looks like: told as a count, never a value (R10).

A look-alike is never taken for the category. That two cells look alike is for the curator to judge:
here is only said that trimming blanks, changing capitals to small letters, composing Unicode (NFC), or
writing a number plainly ("01", "+1" and "1.0" as "1") would make it equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from budget_opt.tables.public import without_dictionary


def look_alikes(
    column: pa.Array | pa.ChunkedArray, rows: npt.NDArray[np.intp], labels: Sequence[str]
) -> dict[str, int]:
    """How many of the cells in `rows` equal a label but for what the key says; a cell counts once.

    The column is text of any kind, or a dictionary of it, and these cells equal no label.
    """
    rest = without_dictionary(column).cast(pa.large_string()).take(pa.array(rows))
    declared = pa.array(labels, type=pa.large_string())
    counts = {}
    for way, change in _WAYS.items():
        alike = pc.is_in(change(rest), value_set=change(declared))
        if found := pc.sum(alike).as_py():
            counts[way] = int(found)
            rest = rest.filter(pc.invert(alike))
    return counts


def _trimmed(text: Any) -> Any:
    return pc.utf8_trim_whitespace(text)


def _small(text: Any) -> Any:
    # by way of capitals, so that both small sigmas are one
    return pc.utf8_lower(pc.utf8_upper(text))


def _composed(text: Any) -> Any:
    return pc.utf8_normalize(text, form="NFC")


def _plain(text: Any) -> Any:
    """Numbers without a plus sign, zeros in front, and a fraction of zeros; other text as it is."""
    number = pc.match_substring_regex(text, r"^[+-]?[0-9]+(\.0*)?$")
    plain = text
    for pattern, kept in ((r"^\+", ""), (r"\.0*$", ""), (r"^(-?)0+([0-9])", r"\1\2"), (r"^-0$", "0")):
        plain = pc.replace_substring_regex(plain, pattern, kept)
    return pc.if_else(number, plain, text)


def _all(text: Any) -> Any:
    for change in (_trimmed, _small, _composed, _plain):
        text = change(text)
    return text


_WAYS: dict[str, Callable[[Any], Any]] = {
    "blanks around it": _trimmed,
    "capital and small letters": _small,
    "its Unicode form (NFC against NFD)": _composed,
    "how a number is written": _plain,
    "several of these": _all,
}
