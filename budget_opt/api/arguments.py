"""Arguments of the public functions, checked on entry: a wrong order or a path in place of an object."""

from __future__ import annotations

import numbers

from budget_opt.errors import InputError


def require(value: object, kind: type, name: str, remedy: str) -> None:
    """Raise `InputError` unless `value` is a `kind`; the value itself is not shown, it may be a table."""
    if not isinstance(value, kind):
        raise InputError(f"{name}: is a {type(value).__name__}, must be a {kind.__name__}. {remedy}")


def require_number(value: object, name: str) -> None:
    """Raise `InputError` unless `value` is a number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{name}: is a {type(value).__name__}, must be a number.")


def require_names(names: tuple[object, ...]) -> None:
    """Raise `InputError` unless all are text: attributes are named one by one."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"attributes: holds a {type(name).__name__}, must be names. "
                'Give them one by one: moment(released, allocation, "smoker", "income").'
            )
