"""All that an exception carries: its chain of causes and contexts, their arguments and their fields."""

from __future__ import annotations


def everything_said(error: BaseException) -> str:
    """The text of an exception and of all that hangs on it, whether a traceback would show it or not."""
    said, waiting = [], [error]
    seen: list[BaseException] = []
    while waiting:
        one = waiting.pop()
        if any(one is other for other in seen):
            continue
        seen.append(one)
        fields = [getattr(one, name, None) for name in ("object", "reason", "filename", "__notes__")]
        said += [str(one), repr(one), repr(one.args), repr(vars(one)), repr(fields)]
        waiting += [other for other in (one.__cause__, one.__context__) if other is not None]
    return "\n".join(said)
