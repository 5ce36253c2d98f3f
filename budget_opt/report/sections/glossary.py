"""The words of the report, for a reader who knows none of them."""

from __future__ import annotations

from budget_opt.report.blocks import Facts, Paragraph, Section

_WORDS = (
    (
        "Epsilon, nat",
        (
            "The unit in which privacy is spent. An epsilon of 1 nat lets odds change by a factor of "
            "at most 2.72, 2 nats by 7.39: epsilons add up where factors multiply."
        ),
    ),
    ("Loss", "The epsilon that the sampler really implements: never more than the epsilon that is allowed."),
    (
        "Retention (lambda)",
        (
            "The probability that a value is kept as it is. Every centred cross-moment of distinct "
            "attributes is multiplied by the product of their retentions, exactly, for any scores and "
            "any joint distribution; but not where two attributes are randomized together, and of merged "
            "categories it is that moment alone: what merging leaves of the declared ones is assumed."
        ),
    ),
    (
        "Moment",
        (
            "The mean of a product of centred scores: for two attributes the covariance, for three or "
            "more a higher cross-moment. Regressions, comparisons of groups and tests of association "
            "are made of these."
        ),
    ),
    (
        "Variance x",
        (
            "The retention is known, so an analyst divides it out and the estimate is right on "
            "average. The price is variance: the variance of the estimate, as a multiple of what it "
            "would be from the originals."
        ),
    ),
    (
        "Floor, ceiling",
        "The least retention that a moment must have, and the largest that it may have.",
    ),
    (
        "Bound, relative gap",
        (
            "No split that keeps all limits passes a bound. The gap is the distance of this split from "
            "it, relative to its own value. A bound that is called proved was evaluated again for this "
            "report; one that an allocation states and nothing here confirms is called stated."
        ),
    ),
    (
        "Proved, estimated, assumed",
        (
            "Losses, budgets and retentions are proved, by exact arithmetic (but for what merging categories "
            "leaves, which is assumed), and so are bounds that were "
            "evaluated here, by weak duality. "
            "Standard errors and power are predictions under the assumptions that stand beside them."
        ),
    ),
)


def glossary() -> Section:
    """Every word once."""
    source = (
        "The mechanism is k-ary randomized response. The product rule is theorem 1 of N. Ruiz (2026), "
        "Differential privacy with adjustable preservation of multivariate relationships."
    )
    return Section("words", "Words used here", (Facts(_WORDS), Paragraph(source)))
