"""Covariance and correlation matrices of a released table, of a file, or of counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from budget_opt.allocation.merging import estimate_notes
from budget_opt.errors import InputError
from budget_opt.estimators.bootstrap.asked import HOW, Bootstrap
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.matrices.correlations import correlation_matrix, correlations
from budget_opt.estimators.matrices.covariances import covariance_matrix
from budget_opt.estimators.matrices.result import CorrelationMatrix, CovarianceMatrix, PairMatrix
from budget_opt.estimators.moments.designs import Design, scored_attributes, scores_by_name
from budget_opt.estimators.moments.options import MomentOptions
from budget_opt.estimators.moments.public_designs import AskedColumns, open_columns
from budget_opt.estimators.releases.compacting import compacted
from budget_opt.estimators.releases.counting import Cells
from budget_opt.estimators.releases.naming import hint, shown
from budget_opt.estimators.releases.released import Released

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation

MatrixT = TypeVar("MatrixT", bound=PairMatrix)
Scores = Mapping[str, Any] | None


def covariance(
    released: Any, allocation: Allocation, attributes: Sequence[str], options: MomentOptions
) -> CovarianceMatrix:
    """See `bo.estimate.covariance`."""
    asked = _asked(allocation, attributes, options.scores)
    opened = open_columns(released, allocation, [asked], options)
    return _estimated(opened, asked, options, covariance_matrix, _covariances)


def correlation(
    released: Any, allocation: Allocation, attributes: Sequence[str], options: MomentOptions
) -> CorrelationMatrix:
    """See `bo.estimate.correlation`."""
    asked = _asked(allocation, attributes, options.scores)
    opened = open_columns(released, allocation, [asked], options)
    return _estimated(opened, asked, options, correlation_matrix, correlations)


def _estimated(
    opened: Released,
    asked: AskedColumns,
    options: MomentOptions,
    made: Callable[[Cells, Sequence[Design], Target, float], MatrixT],
    statistic: Callable[[Cells, Sequence[Design]], FloatArray],
) -> MatrixT:
    designs, cells = asked.opened(opened)
    found = made(compacted(cells, designs), designs, options.target, options.noise_limit)
    merged = {one.name: note for one in opened.merged(*asked.names) for note in estimate_notes([one])}
    found = replace(found, merged=merged, notes=(*found.notes, *opened.notes_of(*asked.names)))
    return _drawn_again(found, statistic, cells, designs, options.bootstrap)


def _asked(allocation: Allocation, attributes: Sequence[str], scores: Scores) -> AskedColumns:
    """The named columns, or all attributes that have scores; `InputError` for fewer than two."""
    names = tuple(attributes) or scored_attributes(allocation, scores)
    if len(names) < 2:
        raise InputError(
            f"a matrix: needs at least 2 attributes with scores, and has {len(names)}. Name two or more, or "
            "give the scores of some."
        )
    given = scores_by_name(scores)
    for name in given:
        if name not in names:
            raise InputError(f"scores: {shown(name)} is not in the matrix. {hint(name, names)}")
    return AskedColumns.of(allocation, names, given)


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
