"""Covariance and correlation matrices of a released table, of a file, or of counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from budget_opt.allocation.merging import estimate_notes
from budget_opt.errors import InputError
from budget_opt.estimators.bootstrap.asked import HOW, Bootstrap, single_rows
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.matrices.correlations import correlation_matrix, correlations
from budget_opt.estimators.matrices.covariances import covariance_matrix
from budget_opt.estimators.matrices.result import CorrelationMatrix, CovarianceMatrix, PairMatrix
from budget_opt.estimators.moments.designs import Design, designs_each, scored_attributes
from budget_opt.estimators.moments.options import MomentOptions
from budget_opt.estimators.releases.compacting import compacted
from budget_opt.estimators.releases.counting import Cells
from budget_opt.estimators.releases.released import Released, open_released

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation

MatrixT = TypeVar("MatrixT", bound=PairMatrix)
Scores = Mapping[str, Sequence[float]] | None


def covariance(
    released: Any, allocation: Allocation, attributes: Sequence[str], options: MomentOptions
) -> CovarianceMatrix:
    """See `bo.estimate.covariance`."""
    opened, designs = _opened(released, allocation, attributes, options)
    return _estimated(opened, designs, options, covariance_matrix, _covariances)


def correlation(
    released: Any, allocation: Allocation, attributes: Sequence[str], options: MomentOptions
) -> CorrelationMatrix:
    """See `bo.estimate.correlation`."""
    opened, designs = _opened(released, allocation, attributes, options)
    return _estimated(opened, designs, options, correlation_matrix, correlations)


def _estimated(
    opened: Released,
    designs: Sequence[Design],
    options: MomentOptions,
    made: Callable[[Cells, Sequence[Design], Target, float], MatrixT],
    statistic: Callable[[Cells, Sequence[Design]], FloatArray],
) -> MatrixT:
    cells = opened.cells(*(design.name for design in designs))
    found = made(compacted(cells, designs), designs, options.target, options.noise_limit)
    names = [design.name for design in designs]
    merged = {one.name: note for one in opened.merged(*names) for note in estimate_notes([one])}
    found = replace(found, merged=merged, notes=(*found.notes, *opened.notes_of(*names)))
    return _drawn_again(found, statistic, cells, designs, options.bootstrap)


def _designs(allocation: Allocation, attributes: Sequence[str], scores: Scores) -> tuple[Design, ...]:
    """Of the named attributes, or of all that have scores; `InputError` for fewer than two."""
    names = tuple(attributes) or scored_attributes(allocation, scores)
    if len(names) < 2:
        raise InputError(
            f"a matrix: needs at least 2 attributes with scores, and has {len(names)}. Name two or more, or "
            "give the scores of some."
        )
    return designs_each(allocation, names, scores)


def _opened(
    released: Any, allocation: Allocation, attributes: Sequence[str], options: MomentOptions
) -> tuple[Released, tuple[Design, ...]]:
    designs = _designs(allocation, attributes, options.scores)
    names = [design.name for design in designs]
    numbers = single_rows(released, allocation, options.weight, options.bootstrap)
    return open_released(released, allocation, names, weight=options.weight, numbers=numbers), designs


def _covariances(cells: Cells, designs: Sequence[Design]) -> FloatArray:
    return covariance_matrix(cells, designs, "population").values


def _drawn_again(
    found: MatrixT,
    statistic: Callable[[Cells, Sequence[Design]], FloatArray],
    cells: Cells,
    designs: Sequence[Design],
    bootstrap: Bootstrap | None,
) -> MatrixT:
    if bootstrap is None:
        return found
    errors = bootstrap.errors(statistic, cells, designs, found.target)
    return replace(found, bootstrap=errors, bootstrap_how=HOW[found.target])
