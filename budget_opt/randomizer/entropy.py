"""Random bytes of the operating system, all of them or an error (R7)."""

from __future__ import annotations

import os
from typing import Any

from budget_opt.errors import RandomSourceError


def fresh_bytes(count: int) -> bytes:
    """`count` bytes that nobody has seen; `RandomSourceError` where the operating system gives fewer."""
    try:
        drawn: Any = os.urandom(count)
    except (OSError, NotImplementedError) as failure:
        raise RandomSourceError(
            f"the operating system gave no random bytes ({type(failure).__name__}); nothing was written."
        ) from None
    if not isinstance(drawn, bytes) or len(drawn) != count:
        raise RandomSourceError(f"the operating system gave too few of {count} random bytes.")
    return drawn


def fresh_below(limit: int) -> int:
    """A whole number from 0 to `limit` - 1 that nobody has seen, each with exactly the same probability.

    Draws again what lies beyond, so that nothing is biased; `limit` >= 1. Raises `RandomSourceError`.
    """
    bits = (limit - 1).bit_length()
    while True:
        drawn = int.from_bytes(fresh_bytes(-(-bits // 8)), "big") >> (-bits % 8)
        if drawn < limit:
            return drawn
