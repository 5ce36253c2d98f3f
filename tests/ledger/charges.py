"""Charges that are made up, and ledgers that are made use of."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import budget_opt as bo
from budget_opt.ledger.charge import Part
from budget_opt.ledger.events import next_hash

CELLS = "c" * 64
ALLOCATION = "0" * 64


def charge(
    *parts: tuple[str, str], epsilon: str | None = None, delta: str = "0", max_rows: int = 1
) -> bo.Charge:
    """A charge of these parts: ("a", "0.1"), or ("a b", "0.1") for a cluster."""
    made = tuple(Part(tuple(members.split()), Decimal(cost)) for members, cost in parts)
    total = sum((part.epsilon for part in made), Decimal(0))
    return bo.Charge(
        made, total if epsilon is None else Decimal(epsilon), Decimal(delta), ALLOCATION, max_rows
    )


def spend(ledger: bo.Ledger, dataset: str, asked: bo.Charge, release: str, *, cells: str = CELLS) -> int:
    """Reserve and confirm; the number of the release."""
    ledger.reserve(dataset, asked, release)
    return ledger.confirm(release, cells=cells, rows=3, allocation_sha256=asked.allocation_sha256).number


def edit(path: Path, *statements: str) -> None:
    """Change the database behind the ledger's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def forge(path: Path, number: int, text: bytes) -> None:
    """Put another text into an event, with all hashes from there on and the head as they must be."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        rows = database.execute("SELECT number, event, hash FROM events ORDER BY number").fetchall()
        last = bytes(32)
        for one, event, _ in rows:
            new = text if one == number else event.encode()
            last = next_hash(last, new)
            database.execute(
                "UPDATE events SET event = ?, hash = ? WHERE number = ?", (new.decode(), last, one)
            )
        database.execute("UPDATE head SET hash = ?", (last,))
