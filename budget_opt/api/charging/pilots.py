"""What a release costs in all: its own charge, and what the making of its problem has cost (R22).

A pilot is charged like a release of one cluster: its epsilon to the record, to each attribute that it read,
and once to each group that it touches. It counts as one of the releases of the data set.

A problem that states `private data, epsilon E` says that E has been spent; nothing in it says by which
pilot. So each confirmed pilot of the ledger pays once, for the problems that come first and could be made
from it: the pilot read every attribute of a moment with a weight and no public column. Everything else
is charged E in one reservation with the first release: both are spent, or neither. Problems that
differ in nothing but name and total were made once. Any other problem is made anew as far as anybody can
tell, and is charged again: the safe side. Where one pilot gave several problems, state E in the first
that is released, and `private data, epsilon 0` in the others: made from what is paid for.
A pilot that is on no record may use the credit of another one on the same attributes: then its epsilon is
not counted.

That a release has paid for the making, or which pilots did, stands in its name in the ledger. Such names
begin as nobody else's may. It counts once the release is confirmed; of releases at the same moment, or after
one that was killed, each pays.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from budget_opt.errors import InputError
from budget_opt.estimators.strengths.result import is_measured
from budget_opt.ledger.account import Release
from budget_opt.ledger.amounts import decimal_of, plus
from budget_opt.ledger.charge import Charge, Part
from budget_opt.ledger.ledger import Ledger, Reservation
from budget_opt.ledger.names import folded
from budget_opt.model.documents import json_text
from budget_opt.model.provenance import decimal_text, priced_fields, provenance_epsilon

if TYPE_CHECKING:
    from budget_opt.api.charging.charging import Payer
    from budget_opt.api.charging.known_data import DataMarks
    from budget_opt.estimators.strengths.result import Strengths
    from budget_opt.model.problem import Problem

PILOT = "pilot-"
"""How the names of pilots begin in a ledger; random digits follow."""
_MAKING, _PILOTED = "making-", "piloted-"
"""How those of releases begin that paid for a making, or whose problem a pilot on record paid for."""
_RESULT = "strengths of a pilot"
"""The purpose of the keyed hash of what came out."""


class Price(NamedTuple):
    """What a release costs in all, and the `name` that says so; `making` is what of it the making cost."""

    name: str
    charge: Charge
    making: Fraction = Fraction(0)


class _Credits(NamedTuple):
    """What is `left` of each confirmed pilot, by its number; `lacking`: the tags that they do not cover."""

    left: dict[int, Fraction]
    lacking: set[str]


def require_free_name(name: str) -> str:
    """The name of a caller's release; `InputError` for one that would say who paid for a making."""
    if name.startswith((PILOT, _MAKING, _PILOTED)):
        raise InputError(
            f"name: is {name!r}, and names that begin with {PILOT!r}, {_MAKING!r} or {_PILOTED!r} are the "
            "ledger's own. Choose another one."
        )
    return name


def reserve_priced(payer: Payer, problem: Problem, charge: Charge, name: str) -> tuple[Price, Reservation]:
    """Reserve a release with the making of its problem, where that is not paid for: all of it, or nothing.

    The same name is charged once. Raises what `Ledger.reserve` does.
    """
    ledger, dataset = payer.ledger, payer.dataset
    price = priced(ledger, dataset, problem, charge, name)
    made = ledger.reserve(dataset, price.charge, price.name, ahead=payer.ahead)
    if price.name.startswith(_PILOTED) and _tag(problem) in _credits(ledger.releases(dataset)).lacking:
        # another process was faster: the pilots on record have paid for its problem
        ledger.void(price.name, why="the pilots on record have paid for another problem")
        price = _with_making(problem, charge, name)
        made = ledger.reserve(dataset, price.charge, price.name, ahead=payer.ahead)
    if price.making:
        payer.tell(
            f"note: epsilon {decimal_text(price.making)} a record is charged to {dataset!r} for what the "
            "problem's provenance says was made from the data: no pilot on record has paid for it"
        )
    return price, made


def priced(ledger: Ledger, dataset: str, problem: Problem, charge: Charge, name: str) -> Price:
    """What a release of this problem costs in all as the ledger stands; one that is in it, what it did."""
    owed = provenance_epsilon(problem)
    if owed == 0:
        return Price(name, charge)
    releases, both = ledger.releases(dataset), _with_making(problem, charge, name)
    counted = [one.name for one in releases if one.status != "void"]
    if both.name in counted:
        return both
    for one in counted:
        if one == name or (one.startswith(_PILOTED) and _parsed(one)[::2] == (_tag(problem), name)):
            return Price(one, charge)
    if _is_paid(releases, problem):
        return Price(name, charge)
    pilots = _pilots_for(problem, releases)
    if not pilots:
        return both
    return Price(f"{_PILOTED}{_tag(problem)}@{','.join(map(str, pilots))}-{name}", charge)


def record_making(ledger: Ledger, dataset: str, problem: Problem, why: str) -> None:
    """Count what the making of a problem has cost, where that is not counted, whatever is left."""
    owed = provenance_epsilon(problem)
    if owed and not _is_paid(ledger.releases(dataset), problem):
        ledger.add_release(dataset, _making(problem, owed), why)


def release_named(releases: Sequence[Release], name: str) -> Release | None:
    """The release of this name, whatever it has paid for; None where it is not in the ledger."""
    own = (_MAKING, _PILOTED)
    for one in releases:
        if one.name == name or (one.name.startswith(own) and one.name.split("-", 3)[3:] == [name]):
            return one
    return None


def charged_pilot(
    payer: Payer,
    problem: Problem,
    marks: DataMarks,
    epsilon: float,
    measure: Callable[[], Strengths],
) -> Strengths:
    """What `measure` finds about the columns of `marks`, its epsilon being reserved before it draws anything.

    Whatever fails after that stays spent. Raises `BudgetExceededError` with nothing
    drawn, and `InputError` and `LedgerError` as ledgers do.
    """
    cost = _charge(problem, marks.names, decimal_of(epsilon), problem.sha256)
    name = PILOT + secrets.token_hex(16)
    marks.warn()
    payer.ledger.reserve(payer.dataset, cost, name, ahead=payer.ahead)
    try:
        payer.ledger.begin(name)
        marks.remember()
        found = measure()
        result = payer.ledger.keyed(_RESULT)
        result.update(repr(found.to_dict()).encode())
        cells, allocation = result.hexdigest(), cost.allocation_sha256
        payer.ledger.confirm(name, cells=cells, rows=found.n, allocation_sha256=allocation)
    except BaseException:
        payer.tell(f"note: the charge stays (epsilon {cost.epsilon} a record to {payer.dataset!r}, a pilot)")
        raise
    return found


def _with_making(problem: Problem, charge: Charge, name: str) -> Price:
    """What a release costs that pays for the making of its problem."""
    owed = provenance_epsilon(problem)
    making = _making(problem, owed)
    epsilon = plus(charge.epsilon, making.epsilon)
    both = replace(charge, parts=(*charge.parts, *making.parts), epsilon=epsilon)
    return Price(f"{_MAKING}{_tag(problem)}-{name}", both, owed)


def _is_paid(releases: Sequence[Release], problem: Problem) -> bool:
    """Whether a release that is there has paid for the making, or its pilot has, or it was recorded."""
    tags = tuple(kind + _tag(problem) for kind in (_MAKING, _PILOTED))
    alone = _making(problem, provenance_epsilon(problem))
    return any(
        one.name.startswith(tags) or one.charge == alone
        for one in releases
        if one.status in ("confirmed", "outside")
    )


def _tag(problem: Problem) -> str:
    return f"{decimal_text(provenance_epsilon(problem))}-{_digest(problem)}"


def _digest(problem: Problem) -> str:
    """A hash of all that may have been made from the data."""
    document = problem.to_dict()
    for field in ("name", "total_epsilon", "total_delta"):
        if field == "name" or "total" not in priced_fields(problem):
            document.pop(field, None)
    return hashlib.sha256(json_text(document).encode()).hexdigest()


def _credits(releases: Sequence[Release]) -> _Credits:
    """What the pilots on record have paid, less what problems have used of it, in their order."""
    pilots = [one for one in releases if one.name.startswith(PILOT) and one.status == "confirmed"]
    left, lacking = {one.number: Fraction(one.charge.epsilon) for one in pilots}, set[str]()
    used = dict[str, tuple[int, ...]]()
    for one in releases:
        if one.name.startswith(_PILOTED) and one.status != "void":
            tag, numbers, _ = _parsed(one.name)
            used.setdefault(tag, numbers)
    for tag, numbers in used.items():
        owed = Fraction(tag.split("-")[0])
        for number in numbers:
            taken = min(owed, left[number])
            left[number] -= taken
            owed -= taken
        if owed > 0:
            lacking.add(tag)
    return _Credits(left, lacking)


def _pilots_for(problem: Problem, releases: Sequence[Release]) -> tuple[int, ...]:
    """The numbers of the pilots on record that together pay for a problem; none where they cannot.

    Releases of one problem at the same moment name the same pilots. Of those that read all that has a
    weight, which read least come first: others may pay for more problems. Weights of moments with a public
    column are no pilot's.
    """
    for one in releases:
        if one.name.startswith(_PILOTED + _tag(problem)) and one.status != "void":
            return _parsed(one.name)[1]
    measured = [one for one in problem.moments if one.weight > 0 and is_measured(problem, one)]
    weighted = {folded(name) for one in measured for name in one.attributes}
    left, owed = _credits(releases).left, provenance_epsilon(problem)
    read = {one.number: _members(one.charge) for one in releases if one.number in left}
    found = list[int]()
    for number in sorted(left, key=lambda number: (len(read[number]), number)):
        if weighted and weighted <= read[number] and left[number] > 0:
            found.append(number)
            owed -= left[number]
            if owed <= 0:
                return tuple(found)
    return ()


def _members(charge: Charge) -> frozenset[str]:
    """All attributes of a charge, as ledgers tell them apart."""
    return frozenset[str]().union(*(members for members, _ in charge.by_members))


def _parsed(name: str) -> tuple[str, tuple[int, ...], str]:
    """The tag, the pilots and the caller's name, from that of a release whose problem pilots paid for."""
    epsilon, made, own = name.removeprefix(_PILOTED).split("-", 2)
    digest, _, pilots = made.partition("@")
    return f"{epsilon}-{digest}", tuple(map(int, re.findall(r"\d+", pilots))), own


def _making(problem: Problem, owed: Fraction) -> Charge:
    """What the making has cost alone; the hash is of what was made."""
    return _charge(problem, problem.names, Decimal(decimal_text(owed)), _digest(problem))


def _charge(problem: Problem, names: tuple[str, ...], epsilon: Decimal, sha256: str) -> Charge:
    """One part of these attributes, as of a cluster."""
    parts = (Part(names, epsilon),)
    return Charge(parts, epsilon, allocation_sha256=sha256, max_rows=problem.unit.max_rows)
