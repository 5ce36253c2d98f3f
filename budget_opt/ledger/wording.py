"""What the ledger says to people: what is too much, what is mistaken for what, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from budget_opt.errors import Exceeded
from budget_opt.ledger.account import Account
from budget_opt.model.parts import nearest


def exceeded(account: Account, found: Sequence[Exceeded], *, ahead: bool) -> str:
    """Which caps a release would pass, what is left, and what can be done."""
    caps, left = account.caps, account.left(ahead=ahead)
    made = f"{account.paid:,} release{'s' * (account.paid != 1)}"
    parts = [f"{account.name}: this release would spend {'; '.join(map(str, found))}, after {made}."]
    if caps.max_rows > 1:
        parts.append(f"A person has up to {caps.max_rows} rows, and each of them costs.")
    wave = account.paid + 1
    if wave < caps.waves and not ahead:
        parts.append(
            f"It is release {wave} of {caps.waves} that are planned, and may use {wave}/{caps.waves} of "
            "each cap, with what the ones before it spent; --ahead takes from those to come."
        )
    if left.total > 0:
        parts.append("Split what is left (budget-opt solve --epsilon), or raise")
    else:
        parts.append("What was released may be copied, not drawn again; for another release, raise")
    parts.append("the cap, which stays on record: budget-opt ledger change. Nothing was charged.")
    return " ".join(parts)


def unknown(dataset: str, twin: str | None, known: Sequence[str]) -> str:
    """That a data set is not registered, and which one may be meant."""
    if twin is None:
        twin = nearest(str(dataset), known)
    meant = f" Did you mean {twin!r}?" if twin is not None else ""
    return (
        f"{dataset!r}: is not a data set of this ledger.{meant} Register a new one with: budget-opt "
        "ledger add NAME --total E."
    )


def taken(dataset: str, twin: str) -> str:
    """That a name is registered, or looks like one that is."""
    if dataset == twin:
        return f"{dataset}: is registered already. Change its caps with: budget-opt ledger change."
    return (
        f"{dataset!r}: looks like {twin!r}, which is registered, and a second name for the same people is a "
        f"second budget. Use {twin!r}; for other people, choose a name that nobody can mistake for it."
    )


def older(path: Path, count: int, seen: int, *, other: bool) -> str:
    """That an event that was seen in a ledger is not in it; `other` where another is in its place."""
    what = (
        f"has {count} events, and had {seen} when it was last used here: it was restored from an older copy"
    )
    if other:
        what = (
            f"has another event {seen} than when it was last used here: it is a copy that went on by itself"
        )
    return (
        f"{path}: {what}, and does not know what was spent since. Put the newer file back. If that is lost: "
        "find what is missing with budget-opt ledger check and the manifests of your releases, go on from "
        "this copy with budget-opt ledger accept, and record each missing release with budget-opt ledger "
        "record."
    )
