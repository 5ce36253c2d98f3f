"""What every estimate asks of its first arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require, require_names

_ORDER = "Read one from a file with Allocation.read(path); the released table comes first."


def require_release(released: Any, allocation: Allocation, names: tuple[object, ...] = ()) -> None:
    """`InputError` for names that are no text, for what is no allocation, and for another than was used.

    The manifest beside a file that is given by its path says under which allocation it was released.
    """
    require_names(names)
    require(allocation, Allocation, "allocation", _ORDER)
    if isinstance(released, str | Path) and str(released):
        from budget_opt.api.releasing.publishing import require_released_under

        require_released_under(Path(released), allocation, "this one")
