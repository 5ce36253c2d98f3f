"""What people are told where a release and the data set that pays for it do not fit together (once each)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from budget_opt.ledger.names import folded

if TYPE_CHECKING:
    from budget_opt.api.charging.charging import Payer
    from budget_opt.ledger.caps import Caps
    from budget_opt.model.problem import Problem


def tell_misfits(payer: Payer, problem: Problem) -> None:
    """Tell the caps that bind nothing in this problem, and plans that differ; what was told is on record.

    Raises `InputError` and `LedgerError` as the ledger does.
    """
    ledger, dataset = payer.ledger, payer.dataset
    for said in _misfits(ledger.caps(dataset), problem):
        if not ledger.acknowledged(dataset, said):
            payer.tell(f"warning: {dataset!r}: {said}")
            ledger.acknowledge(dataset, said)


def _misfits(caps: Caps, problem: Problem) -> Iterator[str]:
    yield from _caps_of_nothing(caps, {folded(name) for name in problem.names})
    yield from _clusters_under_caps(caps, problem)
    if caps.waves != problem.waves:
        yield (
            f"is registered with waves {caps.waves}, and the problem plans {problem.waves}; the ledger keeps "
            "to its own (budget-opt ledger change --waves)"
        )


def _clusters_under_caps(caps: Caps, problem: Problem) -> Iterator[str]:
    """Which caps of single attributes and of groups count more than their own attributes."""
    capped = {f"the cap on {name!r}": {folded(name)} for name in caps.attributes}
    capped |= {
        f"the cap on group {name!r}": {*map(folded, members)} for name, (members, _) in caps.groups.items()
    }
    for block in problem.blocks:
        members = {folded(name) for name in block.names}
        told = [cap for cap, names in capped.items() if members & names and not members <= names]
        if told:
            yield (
                f"{' and '.join(block.names)} are randomized together, and a change of one of them costs the "
                f"whole epsilon of the cluster: it is charged in full to {', '.join(told)}"
            )


def _caps_of_nothing(caps: Caps, there: set[str]) -> Iterator[str]:
    remedy = "if that is a slip, correct it: budget-opt ledger change"
    for name in caps.attributes:
        if folded(name) not in there:
            yield f"the cap on {name!r} is of no attribute of this allocation; {remedy}"
    for group, (members, _) in caps.groups.items():
        strangers = [repr(member) for member in members if folded(member) not in there]
        if strangers:
            listed = ", ".join(strangers)
            yield f"the cap on group {group!r} names {listed}, no attribute of this allocation; {remedy}"
