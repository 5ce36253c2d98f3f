"""Arrays of results that nobody can write to, so that what is printed stays what was estimated."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ArrayT = TypeVar("ArrayT", bound=npt.NDArray[Any])


def unchanging(table: ArrayT) -> ArrayT:
    """The array with memory of its own that nobody writes to: a copy, unless it is so already."""
    if table.flags.writeable or not table.flags.owndata:
        table = table.copy()
        table.setflags(write=False)
    return table


def hold_arrays(noun: DataclassInstance) -> None:
    """Make every array among the fields of a frozen dataclass one of its own; called where it is made."""
    for field in fields(noun):
        value = getattr(noun, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(noun, field.name, unchanging(value))
