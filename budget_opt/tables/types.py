"""What a type of columns holds: columns inside, which are not told (R10, R15), or integers exactly."""

from __future__ import annotations

import pyarrow as pa


def nested_kind(given: pa.DataType) -> str | None:
    """In a word what kind of columns a type has inside; None for a flat type and for a dictionary of one.

    Columns inside keep values that no row has (dictionaries, values behind a null) and metadata.
    """
    if isinstance(given, pa.BaseExtensionType):
        inner = _inner_kind(given.storage_type)
        return f"extension of {inner}" if inner else None
    if pa.types.is_dictionary(given):
        inner = _inner_kind(given.value_type)
        return f"dictionary of {inner}" if inner else None
    if pa.types.is_nested(given) or pa.types.is_run_end_encoded(given):
        return str(given).partition("<")[0]
    return None


def shown_type(given: pa.DataType) -> str:
    """The type for a message: of a nested one only the kind, since a field's name may come from a cell."""
    return nested_kind(given) or str(given)


def exact_below(floating: pa.DataType) -> int:
    """The power of two below which a floating type holds every integer, and no other rounds to one."""
    return int(2 ** {16: 11, 32: 24, 64: 53}[floating.bit_width])


def _inner_kind(given: pa.DataType) -> str | None:
    return "dictionary" if pa.types.is_dictionary(given) else nested_kind(given)
