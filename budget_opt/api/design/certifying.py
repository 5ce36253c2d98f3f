"""The file that carries the bound of a design over all partitions and groupings."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

from budget_opt.api.certifying import MARGIN
from budget_opt.api.design.asking import Asked
from budget_opt.api.design.searching import Proof
from budget_opt.certificate.partitions.document import DesignCertificate
from budget_opt.certificate.partitions.proof import proved
from budget_opt.errors import InputError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.objectives import relative_gap
from budget_opt.solvers.partitions.recording import recorded
from budget_opt.version import __version__


def require_linear(asked: Asked) -> None:
    """Raise where no file can carry the bound."""
    if asked.problem.objective == "weighted_sum":
        raise InputError(
            "certificate: the bound of a weighted sum over all partitions rests on a search for each, "
            "and no file carries it. Leave it out, or choose another objective; solve (--certificate) proves "
            "the split within the chosen clusters."
        )


def certified(asked: Asked, proofs: tuple[Proof, ...], value: float, path: Path) -> float:
    """Writes what proves the bound of all designs, and returns that bound; `value` is what was attained."""
    enough = max(one.bound for one in proofs)
    rows = list(
        itertools.chain.from_iterable(
            recorded(one.choice, variant, one.prices, enough) for variant, one in enumerate(proofs)
        )
    )
    problem = asked.problem.with_fields(clusters="auto", max_cells=asked.max_cells)
    bound = proved(problem, asked.max_cells, rows)
    bound *= 1.0 + (-MARGIN if problem.objective in MINIMIZED else MARGIN)
    gap = relative_gap(value, bound)
    known = math.isfinite(bound)
    DesignCertificate(
        problem=problem,
        value=value if math.isfinite(value) else None,
        bound=bound if known else None,
        relative_gap=gap if math.isfinite(gap) else None,
        rows=rows,
        software=f"budget-opt {__version__}",
    ).write(path)
    return bound
