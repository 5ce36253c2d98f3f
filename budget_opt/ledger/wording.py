"""What the ledger says to people: what is too much, what is mistaken for what, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from budget_opt.errors import Exceeded
from budget_opt.ledger.account import Account
from budget_opt.ledger.cap_changes import nats
from budget_opt.ledger.caps import Caps
from budget_opt.model.parts import nearest


def exceeded(account: Account, found: Sequence[Exceeded], *, ahead: bool) -> str:
    """Which caps a release would pass, what is left, and what can be done: a headline, and a line each."""
    caps, left, wave = account.caps, account.left(ahead=ahead), account.paid + 1
    planned = wave < caps.waves and not ahead
    lines = [f"{account.name}: this release would spend more than is left. It was not charged."]
    for one in found:
        if planned and one.left >= 0:
            share = f"{nats(one.left)} of {nats(one.cap)}"
            may = f"{share} may be spent with the {_ordinal(wave)} of {caps.waves} waves"
        else:
            may = _left(one)
        lines.append(f"It asks for {nats(one.asked)} of {one.what}; {may}.")
    if caps.max_rows > 1:
        lines.append(f"A person has up to {caps.max_rows} rows, and each of them costs.")
    if planned:
        lines.append("To take from the waves that are still to come, give --ahead.")
    if left.total > 0:
        lines.append("Split what is left (budget-opt solve --epsilon), or raise the cap:")
    else:
        lines.append(
            "A release that was made may be passed on again as it is. For another one, raise the cap:"
        )
    lines[-1] += " budget-opt ledger change, which stays on record."
    return "\n  ".join(lines)


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def _left(one: Exceeded) -> str:
    if one.left < 0:
        return f"0 of {nats(one.cap)} is left, overspent by {nats(-one.left)}"
    return f"{nats(one.left)} of {nats(one.cap)} is left"


def rows_of_one(caps: Caps) -> str:
    """How many rows a person has, as it was registered."""
    if caps.max_rows == 1:
        return "each person has at most 1 row (not checked by the ledger)"
    return f"each person has at most {caps.max_rows} rows (not checked by the ledger), and each of them costs"


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
    if other:
        what = (
            f"its event {seen} is not the one that was seen here last, so that two copies of this ledger "
            "went on apart: it was used on another machine, or it is the newer file that turned up after an "
            "older copy had been accepted in its place. It does not know what was spent with the "
            "other one.\n  Go on with the other copy, and record there what only this one knows."
        )
        lost = "If the other copy is lost, go on with this one:"
    else:
        what = (
            f"has {count} events, and had {seen} when it was last used here: it was restored from an older "
            "copy, and does not know what was spent since.\n  Put the newer file back."
        )
        lost = "If the newer file is lost, go on with this one:"
    return (
        f"{path}: {what} {lost}\n"
        "  1. Accept it: budget-opt ledger accept FILE --why TEXT.\n"
        "  2. Find the releases that it does not know: budget-opt ledger check with all your manifests.\n"
        "  3. Record each of these: budget-opt ledger record.\n"
        "  Changes of caps and data sets that were registered since are lost as well: make them again."
    )
