"""Whether the hull of some distributions contains the uniform one: found by HiGHS, shown in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Distribution = tuple[Fraction, ...]


def contains_uniform(vertices: Sequence[Distribution]) -> bool:
    """True where an exact mixture of `vertices` is uniform; the linear program only names its vertices.

    A set that has the uniform distribution on its boundary and whose mixture cannot be reconstructed counts
    as one without it: the answers for it are then found and proved in the general way.
    """
    even = Fraction(1, len(vertices[0]))
    if any(all(share == even for share in vertex) for vertex in vertices):
        return True
    named = _support(vertices)
    if not named:
        return False
    weights = _mixture([vertices[k] for k in named], even)
    return weights is not None and min(weights) >= 0


def _support(vertices: Sequence[Distribution]) -> list[int]:
    """Vertices with weight in some mixture that is uniform to the solver's tolerance, if there is one."""
    import numpy as np
    from scipy.optimize import linprog

    matrix = np.array(vertices, dtype=np.float64).T
    even = np.full(matrix.shape[0], 1.0 / matrix.shape[0])
    # a vertex solution: its support is linearly independent, so the exact mixture is unique
    found = linprog(np.zeros(matrix.shape[1]), A_eq=matrix, b_eq=even, method="highs-ds")
    if found.status != 0 or found.x is None:
        return []
    return [int(k) for k in np.flatnonzero(found.x > 1e-12)]


def _mixture(vertices: Sequence[Distribution], even: Fraction) -> list[Fraction] | None:
    """The weights with sum_k w_k v_k = (even, even, ...), by exact elimination; None where there are none."""
    rows = [[*shares, even] for shares in zip(*vertices, strict=True)]
    unknowns = len(vertices)
    for column in range(unknowns):
        pivot = next((k for k in range(column, len(rows)) if rows[k][column] != 0), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = [entry / rows[column][column] for entry in rows[column]]
        rows = [
            head if k == column else [a - row[column] * b for a, b in zip(row, head, strict=True)]
            for k, row in enumerate(rows)
        ]
    if any(row[-1] != 0 for row in rows[unknowns:]):
        return None
    return [rows[k][-1] for k in range(unknowns)]
