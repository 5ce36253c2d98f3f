"""What was paid to make a problem, in the ledger of a data set.

A pilot is charged like a release of one cluster: its epsilon to the record, to each attribute that it read,
and once to each group that it touches. It counts as one of the releases of the data set.

A problem that states `private data, epsilon E` says that E has been spent; nothing in it says by which
pilot. Where the pilots on record of the data set add up to E or more, it was by them; else E is charged with
the first release of that problem, so that a pilot without a ledger is not forgotten. Several problems that
were made by one unrecorded pilot are each charged: the safe side. Record the pilot, and none is.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from budget_opt.ledger.amounts import decimal_of
from budget_opt.ledger.charge import Charge, Part
from budget_opt.model.provenance import decimal_text, provenance_epsilon

if TYPE_CHECKING:
    from budget_opt.api.charging import Payer
    from budget_opt.estimators.strengths import Strengths
    from budget_opt.model.problem import Problem

PILOT = "pilot-"
"""How the ids of pilots begin in a ledger; random digits follow."""
_MAKING = "making-"
_RESULT = "strengths of a pilot"
"""The purpose of the keyed hash of what came out."""


def charged_pilot(
    payer: Payer, problem: Problem, names: tuple[str, ...], epsilon: float, measure: Callable[[], Strengths]
) -> Strengths:
    """What `measure` finds about the attributes `names`, its epsilon being reserved before it draws anything.

    Whatever fails after that stays spent. Raises `BudgetExceededError` with nothing drawn, and `InputError`
    and `LedgerError` as ledgers do.
    """
    cost, name = _charge(problem, names, decimal_of(epsilon)), PILOT + secrets.token_hex(16)
    payer.ledger.reserve(payer.dataset, cost, name, ahead=payer.ahead)
    try:
        found = measure()
        result = payer.ledger.keyed(_RESULT)
        result.update(repr(found.to_dict()).encode())
        cells, allocation = result.hexdigest(), cost.allocation_sha256
        payer.ledger.confirm(name, cells=cells, rows=found.n, allocation_sha256=allocation)
    except BaseException:
        payer.tell(f"note: the charge stays (epsilon {cost.epsilon} a record to {payer.dataset!r}, a pilot)")
        raise
    return found


def pay_for_making(payer: Payer, problem: Problem) -> None:
    """Charge what the making of a problem has cost, where no pilot on record has paid for it.

    Once for each problem and data set, however often it is called. Raises as `charged_pilot` does.
    """
    owed = provenance_epsilon(problem)
    if owed <= _paid_by_pilots(payer):
        return
    cost = _charge(problem, problem.names, Decimal(decimal_text(owed)))
    key = hashlib.sha256(f"{problem.sha256} {payer.dataset}".encode()).hexdigest()
    if any(one.name == _MAKING + key for one in payer.ledger.releases(payer.dataset)):
        return
    payer.ledger.reserve(payer.dataset, cost, _MAKING + key, ahead=payer.ahead)
    payer.tell(
        f"note: epsilon {cost.epsilon} a record is charged to {payer.dataset!r} for what the problem's "
        "provenance says was made from the data: no pilot on record has paid for it"
    )


def _paid_by_pilots(payer: Payer) -> Fraction:
    made = [one for one in payer.ledger.releases(payer.dataset) if one.name.startswith(PILOT)]
    return sum((Fraction(one.charge.epsilon) for one in made if one.status != "void"), Fraction(0))


def _charge(problem: Problem, names: tuple[str, ...], epsilon: Decimal) -> Charge:
    """One part of all attributes, as of a cluster; the hash is that of the problem that was asked."""
    parts = (Part(names, epsilon),)
    return Charge(parts, epsilon, allocation_sha256=problem.sha256, max_rows=problem.unit.max_rows)
