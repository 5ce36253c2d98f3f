"""What the losses of single attributes add up to: for a record, a group, and any attributes asked for.

Blocks, an attribute alone or a cluster, are randomized independently given the record, so the largest log
ratio of several matrices together (their Kronecker product) is the sum of theirs (DESIGN 2.1). A change of
one member of a cluster alone has the largest ratio of the cluster's matrix already: some attributes cost the
sum over the blocks that they touch, each once (DESIGN 2.9).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf

from budget_opt.accounting import epsilon_at, total_at
from budget_opt.accounting.words import cluster_sentences
from budget_opt.allocation import Allocation
from budget_opt.allocation.blocks import AllocatedBlock
from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least, multiple_at_least
from budget_opt.verifier.matrices import Matrices
from budget_opt.verifier.report import EXPECTED, Check

NOT_LEARNED = (
    "a figure for some attributes bounds how much a change of these alone moves the odds of any release; it "
    "does not bound what can be learned about them, because other attributes carry it: that bound is the "
    "record's"
)


def budget_checks(allocation: Allocation) -> Iterator[Check]:
    """The exact sums of the decimals against the total and the cap of every group.

    A total with a delta is no sum: it is judged by the exact convolution of the losses.
    """
    if allocation.total_delta > 0:
        yield _convolution_check(allocation)
    for who, name, about, cap in _caps(allocation):
        spent = exact_sum(block.epsilon for block in _touched(allocation, about))
        yield Check(
            claim=f"epsilon of {who}",
            measured=float_at_least(spent),
            limit=cap,
            holds=spent <= exact(cap),
            source=f"{name}, sum of decimals",
            name="budget",
            about=about,
        )


def composition_checks(allocation: Allocation, matrices: Matrices) -> Iterator[Check]:
    """The losses of the matrices added up, against what is stated of a record and the cap of every group."""
    every = matrices.values()
    yield Check(
        claim="stated loss of a record",
        measured=allocation.loss,
        limit=_sum(matrix.loss for matrix in every),
        holds=allocation.loss == _sum(matrix.loss for matrix in every) < inf,
        source="sum of the losses of all matrices, rounded up",
        name="composition",
        word=EXPECTED,
    )
    if (units := allocation.unit.max_rows * allocation.waves) > 1:
        yield _planned_check(allocation, _sum(matrix.loss for matrix in every), units)
    for who, name, about, cap in _caps(allocation):
        losses = [matrices[block.name].loss for block in _touched(allocation, about)]
        loss = _sum(losses)
        yield Check(
            claim=f"loss of {who}",
            measured=loss,
            limit=cap,
            holds=loss < inf and exact_sum(losses) <= exact(cap),
            source=f"{name}; sum of the losses of the matrices",
            name="composed loss",
            about=about,
        )


def _planned_check(allocation: Allocation, loss: float, units: int) -> Check:
    """A person's records and all waves, each with the loss of a record."""
    planned = multiple_at_least(loss, units) if loss < inf else inf
    return Check(
        claim="stated loss of all records and waves",
        measured=allocation.planned_loss,
        limit=planned,
        holds=allocation.planned_loss == planned < inf,
        source=f"{units} times the loss of a record, rounded up",
        name="planned loss",
        word=EXPECTED,
    )


def subset_checks(
    allocation: Allocation, matrices: Matrices, subsets: Iterable[Sequence[str]]
) -> Iterator[Check]:
    """What a change of these attributes alone can do, against the sum of the epsilons that they touch."""
    for names in subsets:
        blocks = _touched(allocation, names)
        losses = [matrices[block.name].loss for block in blocks]
        epsilon = exact_sum(block.epsilon for block in blocks)
        loss = _sum(losses)
        told = "sum of the losses of their matrices; the limit is the sum of their epsilons"
        yield Check(
            claim=f"loss of a change of {', '.join(names)} alone",
            measured=loss,
            limit=float_at_least(epsilon),
            holds=loss < inf and exact_sum(losses) <= epsilon,
            source="; ".join([told, *cluster_sentences(allocation, names)]),
            name="subset",
            about=tuple(names),
        )
        if allocation.total_delta > 0:
            yield _subset_with_delta(allocation, names, loss)


def _subset_with_delta(allocation: Allocation, names: Sequence[str], loss: float) -> Check:
    """The second guarantee of an allocation with a delta, for the same change."""
    found = epsilon_at(allocation, allocation.total_delta, names)
    return Check(
        claim=f"epsilon of a change of {', '.join(names)} alone with delta {allocation.total_delta!r}",
        measured=found.epsilon,
        limit=loss,
        holds=found.epsilon <= loss < inf,
        source="exact convolution of the losses; the limit is their sum",
        name="subset with delta",
        about=tuple(names),
    )


def require_subsets(allocation: Allocation, subsets: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Each as distinct names of the allocation; raises `InputError` with the name that is none."""
    if isinstance(subsets, str):
        raise InputError('subsets: is text, must be a list of lists of names. Write [("smoker", "income")].')
    found = []
    for names in subsets:
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if not wanted:
            raise InputError("subsets: holds one without attributes. Name at least one.")
        for name in wanted:
            allocation[name]
            if wanted.count(name) > 1:
                raise InputError(f"subsets: {name!r} stands twice in {', '.join(wanted)}. Name it once.")
        found.append(wanted)
    return tuple(found)


def _touched(allocation: Allocation, names: Sequence[str]) -> tuple[AllocatedBlock, ...]:
    """The blocks of these attributes, each once; all of them for none."""
    return allocation.touched(names) if names else allocation.blocks


def _caps(allocation: Allocation) -> Iterator[tuple[str, str, tuple[str, ...], float]]:
    """(who, which field, members or none for all, cap) of the total and of every group."""
    if allocation.total_epsilon is not None and allocation.total_delta == 0:
        yield "a record", "total_epsilon", (), allocation.total_epsilon
    for group in allocation.question.groups:
        yield f"group {group.name}", "its epsilon_max", group.attributes, group.epsilon_max


def _convolution_check(allocation: Allocation) -> Check:
    """total_epsilon with total_delta, from the integers of the samplers."""
    found = total_at(allocation)
    return Check(
        claim=f"delta of a record at epsilon {allocation.total_epsilon!r}",
        measured=found.delta,
        limit=allocation.total_delta,
        holds=exact(found.delta) <= exact(allocation.total_delta),
        source=f"total_delta; exact convolution of the losses, grid of {found.grid:.3g} nats, rounded up",
        name="budget",
    )


def _sum(losses: Iterable[float]) -> float:
    """Rounded up; inf where one is."""
    kept = list(losses)
    return inf if inf in kept else float_at_least(exact_sum(kept))
