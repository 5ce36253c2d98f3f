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
