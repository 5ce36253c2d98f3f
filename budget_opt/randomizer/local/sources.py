"""The terms of an allocation, however the caller has it: an object, a file, or what the file holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from budget_opt.errors import AllocationError, InputError
from budget_opt.model.documents import read_document
from budget_opt.randomizer.local.document import FORMAT, VERSION, terms_of_document
from budget_opt.randomizer.local.terms import AttributeTerms, BlockTerms, Budget, Terms

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation

Source: TypeAlias = "Allocation | Mapping[str, Any] | str | os.PathLike[str]"


def terms_from(source: Source) -> Terms:
    """The terms of an allocation, of the path of its file, or of the parsed file.

    Where the whole package is installed a file is checked as `Allocation.read` does, else as far as the
    guarantee rests on it (`document`). Raises `AllocationError` where a file does not agree with itself,
    and `InputError` for anything else, also for a total with a delta.
    """
    try:
        from budget_opt.allocation import Allocation
        from budget_opt.allocation.document import allocation_of
    except ModuleNotFoundError as failure:
        if failure.name is None or failure.name.partition(".")[0] == "budget_opt":
            raise
        return _terms_without_packages(source)
    if isinstance(source, Mapping):
        return _terms_of(allocation_of(source))
    if isinstance(source, str | os.PathLike):
        return _terms_of(Allocation.read(os.fspath(source)))
    if isinstance(source, Allocation):
        return _terms_of(source)
    raise _no_allocation(source)


def _terms_without_packages(source: object) -> Terms:
    if isinstance(source, Mapping):
        return terms_of_document(source)
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return terms_of_document(read_document(path, FORMAT, VERSION, AllocationError), path)
    raise _no_allocation(source)


def _terms_of(allocation: Allocation) -> Terms:
    if allocation.total_delta > 0:
        raise InputError(
            f"total_delta: is {allocation.total_delta!r}, and one record at a time is randomized under sums "
            "of epsilon alone. Randomize a table or file, or solve the problem without total_delta."
        )
    budgets = [
        Budget(f"group {group.name}", group.attributes, group.epsilon_max)
        for group in allocation.question.groups
    ]
    attributes = {one.name: AttributeTerms(one.name, one.domain) for one in allocation.attributes}
    blocks = tuple(
        BlockTerms(
            tuple(attributes[name] for name in block.names),
            block.epsilon,
            block.sampler,
            block.block.background_weights,
        )
        for block in allocation.blocks
    )
    if allocation.total_epsilon is not None:
        budgets.insert(0, Budget("a record", tuple(attributes), allocation.total_epsilon))
    return Terms(tuple(attributes.values()), blocks, tuple(budgets), allocation.public, allocation.dropped)


def _no_allocation(source: object) -> InputError:
    return InputError(
        f"allocation: is a {type(source).__name__}, must be an Allocation, the path of its file, or the "
        "parsed file."
    )
