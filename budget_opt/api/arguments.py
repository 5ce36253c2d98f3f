"""Arguments of the public functions, checked on entry: a wrong order or a path in place of an object."""

from __future__ import annotations

from budget_opt.errors import InputError
from budget_opt.model.arguments import as_list, require, require_number, require_path

__all__ = ["as_list", "require", "require_names", "require_number", "require_path"]


def require_names(names: tuple[object, ...]) -> None:
    """Raise `InputError` unless all are text: attributes are named one by one."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"attributes: holds a {type(name).__name__}, must be names. "
                'Give them one by one: moment(released, allocation, "smoker", "income").'
            )
