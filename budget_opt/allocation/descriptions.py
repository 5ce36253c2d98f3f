"""What every field of an allocation file means, for the JSON Schema (DESIGN 3.2)."""

from __future__ import annotations

from budget_opt.model.descriptions import PROBLEM, Texts

_AS_ASKED = ("format", "version", "name", "total_epsilon", "total_delta", "dropped", "row_order", "survey")

ALLOCATION: Texts = {
    **PROBLEM,
    "_BlockResults": {
        "cardinality": "Number of (joint) categories of a report, the missing one included.",
        "epsilon": "Its epsilon in nats; of a member that of the whole cluster.",
        "loss": "Privacy loss of the implemented matrix in nats, rounded up.",
        "retention": "The implemented lambda, rounded down; null with a source.",
        "truth_probability": "P(report = truth); null if it depends on the truth.",
        "other_probability": "P(report = one given other category); null if it depends on that.",
        "sampler": "Its integers; null of a cluster's member, and where nothing is released.",
        "shadow_price": "Change of the objective's value per nat by which the pin or bound that holds the "
        "epsilon is moved; null where no optimum is proved.",
    },
    "AttributeResults": {
        "cluster": "Name of the cluster that the attribute is randomized in.",
        "distortion": "With a source: expected share of changed cells in its worst case, rounded up.",
        "effect": "With a source and scores: the expected score of a report, by the category of the truth.",
    },
    "ClusterResults": {
        "name": "The names of the members, joined by ' + '.",
        "members": "Members in the order of the joint code, which is row-major.",
        "background": "uniform, or product of the members' backgrounds.",
    },
    "SamplerIntegers": {
        "bits": "Width b of the word that a cell is drawn by.",
        "q": "Words that lead to each other category, of the uniform background: a decimal string.",
        "counts": "Words that replace a cell by each category, of another background: decimal strings.",
        "rows": "Words that lead from each truth (a row) to each report, with a source: decimal strings.",
    },
    "MomentResults": {
        "retention": "Share of the centred moment that survives (merging counts), rounded down.",
        "variance_inflation": "By how much randomization multiplies the variance; null if not released.",
        "variance_basis": "Which marginals the inflation rests on.",
        "floor_price": "Change of the objective's value per unit of the floor.",
        "ceiling_price": "Change of the objective's value per unit of the ceiling.",
        "retention_of": "There where two members of one cluster take part: the retention is the factor on "
        "the function of the cluster.",
        "detail": "Share that merged categories leave of the moment (assumed), rounded down; absent where 1.",
    },
    "Privacy": {
        "unit": "Whose privacy the planned loss is: of a record, or of a person.",
        "neighbours": "What differs between two tables that the guarantee compares.",
        "composition": "How the total holds: as a sum, or with total_delta by convolution.",
        "loss": "Privacy loss of one record in one release, a sum, in nats, rounded up.",
        "id": "Column that tells whose record it is.",
        "max_rows": "The most records of one person.",
        "waves": "Planned releases of the same people.",
        "planned_loss": "Loss of one unit over all waves, in nats, rounded up.",
    },
    "OutcomeResults": {
        "kind": "The objective.",
        "value": "Its value with the implemented lambda; null where undefined.",
        "bound": "What no split passes; null for a split that nobody optimized.",
        "relative_gap": "|bound - value at lambda(epsilon)| / |that value|.",
        "gap_tolerance": "The gap up to which a split is called optimal.",
        "status": "optimal: the gap is within the tolerance; feasible: it is not; given: no bound.",
        "solver": "What found the split.",
        "seconds": "Time that it took.",
        "certificate_sha256": "SHA-256 of the certificate file, null without one.",
    },
    "AllocationDocument": {
        **{name: PROBLEM["Problem"][name] for name in _AS_ASKED},
        "problem_sha256": "SHA-256 of the problem as RFC 8785 canonical JSON.",
        "created": "When it was made, in UTC.",
        "software": "What made it.",
        "spent_epsilon": "Exact sum of the epsilons of attributes alone and clusters, rounded up.",
        "privacy": "Whose privacy is stated, and what it loses.",
        "objective": "What was reached and what is proved of it.",
        "attributes": "The columns that are randomized, in the problem's order.",
        "moments": "What the split leaves of every moment.",
        "clusters": "What is randomized together.",
        "groups": "Attributes whose epsilons together stay within a cap.",
        "public": "Columns that are released as they are.",
        "provenance": "How the parts of the problem were chosen.",
        "sensitivity": "Change of the objective's value per nat of the total and of each group.",
    },
}
