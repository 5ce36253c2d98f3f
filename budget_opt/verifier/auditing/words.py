"""Long texts of a sampler, cut between lines or words."""

from __future__ import annotations


def beginning(text: str, most: int) -> str:
    """The first words of a text as one line, about `most` characters."""
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    return f"{flat[: most + 1].rpartition(' ')[0] or flat[:most]} ..."


def ending(text: str, most: int) -> str:
    """The last lines of a text as one line, about `most` characters; of a long last line, its last words."""
    lines = [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]
    shown: list[str] = []
    for line in reversed(lines):
        if len(" ".join([line, *shown])) > most:
            break
        shown.insert(0, line)
    if len(shown) == len(lines):
        return " ".join(shown)
    if not shown:
        tail = lines[-1][-most - 1 :]
        shown = [tail.partition(" ")[2] or tail[1:]]
    return f"... {' '.join(shown)}"
