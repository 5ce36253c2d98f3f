"""The default estimate of a joint table: pairs, the table of largest entropy with them, and a blend.

1. The distribution of each pair of attributes, by likelihood averaged over its steps with held-out rows
   (`pairs`).
2. The table of largest entropy with these pairs: it adds no dependence that they do not have (`entropy`).
3. Where the unbiased joint shows that this misses something, a blend of the two (`blend`).

One attribute takes the nearest distribution to its corrected marginal. What a pair cannot hold,
dependence of three and more attributes, is missing until the rows and epsilon suffice for step 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from budget_opt.estimators.channels import Channel
from budget_opt.estimators.joint.blend import Blend, blended
from budget_opt.estimators.joint.entropy import CLOSE, Completion, completed
from budget_opt.estimators.joint.likelihood import LikelihoodFit
from budget_opt.estimators.joint.pairs import Pair, agreeing, fitted_pairs
from budget_opt.estimators.joint.simplex import simplex
from budget_opt.estimators.joint.solution import Solution
from budget_opt.estimators.releases.counting import Counts


def default(counts: Counts, channels: Sequence[Channel], rng: np.random.Generator) -> Solution:
    """The default estimate; the generator thins the rows into folds, and a like one gives the same table."""
    if len(channels) == 1:
        return Solution(simplex(counts, channels))
    fits = fitted_pairs(counts, channels, rng)
    completion = completed(agreeing({pair: fit.shares for pair, fit in fits.items()}), counts.rows.shape)
    blend = blended(completion.shares, counts, channels)
    return Solution(blend.shares, _notes(counts.attributes, fits, completion, blend))


def _notes(
    names: Sequence[str], fits: Mapping[Pair, LikelihoodFit], completion: Completion, blend: Blend
) -> tuple[str, ...]:
    notes = [_dependence(names, fits)]
    if completion.residual > CLOSE:
        notes.append(
            "By noise the estimated pairs contradict each other, by an AVD of up to "
            f"{completion.residual:.2g}: the table fits none of them exactly."
        )
    if len(names) > 2:
        notes.append(_higher_orders(blend))
    return tuple(notes)


def _dependence(names: Sequence[str], fits: Mapping[Pair, LikelihoodFit]) -> str:
    seen = [pair for pair, fit in fits.items() if fit.start_weight < 0.5]
    if not seen:
        return (
            "No dependence between the attributes stands out from the noise: nothing usefully beats the "
            "product of the marginals here, and this is nearly it. Do not read independence from it."
        )
    if len(seen) == len(fits):
        return "Dependence stands out from the noise in every pair of attributes."
    lost = [f"{names[i]} x {names[j]}" for i, j in fits if (i, j) not in seen]
    shown = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
    return (
        f"Dependence stands out from the noise in {len(seen)} of {len(fits)} pairs; in the others ({shown}) "
        "the table is nearly that of independent attributes."
    )


def _higher_orders(blend: Blend) -> str:
    if blend.weight == 0:
        return (
            "Dependence of three and more attributes is left out: the unbiased table is too noisy to show "
            "that the pairs miss any."
        )
    return f"The unbiased table has the weight {blend.weight:.2g} beside the pairs: it shows what they miss."
