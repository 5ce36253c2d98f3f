"""An action that waits until its requests have paused, without a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PAUSE = 0.03
"""Seconds; a slider that is dragged sends its places more often than that."""


class Later:
    """Runs `action` once after the last of several requests; at once where no event loop runs.

    In a notebook the places of a dragged slider queue up while a split is computed: each only renews the
    request, and the split is computed for the last one.
    """

    def __init__(self, action: Callable[[], None], pause: float = PAUSE) -> None:
        self._action, self._pause = action, pause
        self._waiting: asyncio.TimerHandle | None = None

    def request(self) -> None:
        """Ask for the action."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._action()
            return
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = loop.call_later(self._pause, self._run)

    def flush(self) -> None:
        """Run the action now if it is asked for."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._run()

    def _run(self) -> None:
        self._waiting = None
        self._action()
