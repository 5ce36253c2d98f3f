"""Where what a file states differs from what is recomputed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from budget_opt.errors import MISSING, Fault

_PLAIN = (str, float, int, bool, type(None))
RELATIVE_ERROR = 1e-12
"""Doubles of a file may differ by this from what is recomputed: other machines round elsewhere."""


def differences(stated: object, computed: object, where: str = "") -> list[Fault]:
    """Every place where a file differs from what is recomputed, with its path."""
    return list(_differences(stated, computed, where))


def _differences(stated: object, computed: object, where: str) -> Iterator[Fault]:
    if isinstance(computed, Mapping) and isinstance(stated, Mapping):
        yield from _of_mappings(stated, computed, where)
    elif isinstance(computed, list | tuple) and isinstance(stated, list | tuple):
        if len(stated) != len(computed):
            yield _disagreement(where, len(stated), len(computed))
            return
        for i, (one, other) in enumerate(zip(stated, computed, strict=True)):
            if not _is_same(one, other):
                yield from _differences(one, other, f"{where}[{i}]")
    elif not _agree(stated, computed, where):
        yield _disagreement(where, stated, computed)


def _of_mappings(stated: Mapping[Any, Any], computed: Mapping[Any, Any], where: str) -> Iterator[Fault]:
    for name in dict.fromkeys((*computed, *stated)):
        if name in computed and name in stated and _is_same(stated[name], computed[name]):
            continue
        path = f"{where}.{name}" if where else str(name)
        if name not in computed:
            yield Fault(path, stated[name], "is not a field of this format", "Remove it.")
        elif name not in stated:
            yield Fault(path, MISSING, "is required", f"It is {computed[name]!r} by recomputation.")
        else:
            yield from _differences(stated[name], computed[name], path)


def _is_same(stated: object, computed: object) -> bool:
    """True for most values of a sound file, at once."""
    return type(stated) is type(computed) and type(stated) in _PLAIN and stated == computed


def _agree(stated: object, computed: object, where: str) -> bool:
    numbers = int | float
    if isinstance(stated, bool) or isinstance(computed, bool):
        return stated is computed
    if isinstance(stated, int) and isinstance(computed, int):
        return stated == computed
    if isinstance(stated, numbers) and isinstance(computed, numbers):
        # a gap is a difference of numbers of size 1, so its error is absolute
        absolute = RELATIVE_ERROR if where == "objective.relative_gap" else 0.0
        try:
            return math.isclose(stated, computed, rel_tol=RELATIVE_ERROR, abs_tol=absolute)
        except OverflowError:  # an integer beyond every double
            return False
    return stated == computed


def _disagreement(where: str, stated: object, computed: object) -> Fault:
    return Fault(where, stated, f"recomputation gives {computed!r}", "The file was changed or is damaged.")
