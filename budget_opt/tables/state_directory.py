"""The user's own state directory: keys and journals of unfinished releases, and the ledger."""

from __future__ import annotations

import os
from pathlib import Path

from budget_opt.errors import InputError

STATE_DIR = "BUDGET_OPT_STATE_DIR"
"""The environment variable that names another state directory than the user's own."""


def state_directory() -> Path:
    """Its path, whether or not it is there; `InputError` where the environment's is not absolute."""
    stated = os.environ.get(STATE_DIR)
    if stated:
        if not Path(stated).is_absolute():
            raise InputError(
                f"{STATE_DIR}: is {stated!r}, must be an absolute path, or what is kept there would not be "
                "found from another folder. Give the whole path."
            )
        return Path(stated)
    from platformdirs import user_state_path

    return user_state_path("budget-opt", appauthor=False)
