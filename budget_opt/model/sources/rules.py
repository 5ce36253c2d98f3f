"""What must hold of an attribute with a known source: it is in no moment and no cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget_opt.errors import Fault

if TYPE_CHECKING:
    from budget_opt.model.problem import Problem


def source_faults(problem: Problem) -> list[Fault]:
    """Moments and clusters with an attribute whose source chooses its matrix: no factor says its effect."""
    known = [one.name for one in problem.attributes if one.source is not None]
    if not known:
        return []
    faults = [
        Fault(
            f"moments ({moment.label})",
            name,
            "has a source: what its matrix leaves of a moment is no single factor",
            "Take it out of the moments (the allocation states its exact effect), or remove its source.",
        )
        for moment in problem.moments
        for name in known
        if name in moment.attributes
    ]
    if problem.clusters == "auto":
        limit = f"is a choice among all attributes, and {', '.join(known)} must stay alone"
        return [*faults, Fault("clusters", "auto", limit, "List the clusters, or remove the source.")]
    faults += [
        Fault(
            f"clusters[{i}]",
            name,
            "has a source, and is randomized alone",
            "Take it out, or remove its source.",
        )
        for i, names in enumerate(problem.clusters)
        for name in names
        if name in known
    ]
    return faults
