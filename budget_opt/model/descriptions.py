"""What every field of a problem file means, for the JSON Schema (DESIGN 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Texts = Mapping[str, Mapping[str, str]]
"""The meaning of each field, by the name of the class that declares it."""

_HOW = "How they were chosen: public, private data, 'private data, epsilon E' or unstated."

PROBLEM: Texts = {
    "Declared": {
        "name": "Name of the column.",
        "categories": "Ordered labels (text, integers or booleans), or their number r for codes 0 to r-1.",
        "bins": "Increasing edges of a numeric column, the last bin closed; null for an open end.",
        "scores": "The values f of moments, one a category; default the index, or mid-points of bins.",
        "ordered": "True if the order of the labels means something.",
        "marginal": "Public or assumed shares of the categories, the missing one last.",
        "missing": "error refuses missing cells; category makes them the last category.",
        "missing_score": "The score that stands for a missing answer.",
        "other": "The label that takes unseen values; without it they are an error.",
        "background": "What a replaced cell is drawn from: uniform, marginal, a list of probabilities above "
        "0, or {mixture: w} for w parts of the marginal and 1 - w of uniform.",
        "grouping": "Categories that are merged before anything is randomized: lists of labels, or an object "
        "from names to lists.",
        "source": "What is publicly known of the shares of the categories of a report; the attribute is then "
        "randomized by the best matrix for that, alone and in no moment.",
    },
    "Attribute": {
        "epsilon": "Pin: the epsilon in nats.",
        "epsilon_min": "Least epsilon in nats.",
        "epsilon_max": "Largest epsilon in nats.",
        "distortion_max": "Largest expected share of changed cells, above 0 and at most 1.",
        "groupings": "Candidates for grouping, of which design chooses: groupings, or trees of them.",
    },
    "CrossMoment": {
        "attributes": "Distinct attributes (or public columns beside at least one attribute).",
        "weight": "Share in the objective, >= 0; 0 takes the moment out of it.",
        "floor": "Least retention, in (0, 1).",
        "ceiling": "Largest retention, in (0, 1).",
        "target": "Scale of the retention in max_min.",
        "variance": "Scale of the variance inflation in min_variance.",
        "level": "Priority from 1 to 100: a level is served as well as those before leave it.",
    },
    "MomentRule": {
        "formula": "A regression formula, which stands for the moments that it needs.",
        "all_pairs": "Names whose pairs are all moments.",
        "pairs_with": "A name that is paired with each of names.",
        "names": "Partners of pairs_with; default all other attributes.",
        "weight": "The weight of each moment of the rule.",
        "floor": "The floor of each moment of the rule.",
        "ceiling": "The ceiling of each moment of the rule.",
        "target": "The target of each moment of the rule.",
        "variance": "The variance of each moment of the rule.",
        "level": "The level of each moment of the rule.",
    },
    "Group": {
        "name": "Name of the group.",
        "attributes": "Its members; a cluster counts once if any of its members is there.",
        "epsilon_max": "Largest sum of their epsilons in nats.",
    },
    "PublicColumn": {
        "name": "Name of the column.",
        "why": "Why it reveals nothing when it is released as it is.",
    },
    "Unit": {
        "of": "Whose privacy is stated: of one record, or of a person with several.",
        "id": "Column that tells whose record it is; for persons only.",
        "max_rows": "The most records of one person.",
    },
    "Survey": {
        "weight": "Public column of survey weights.",
        "strata": "Public column of strata; not supported yet.",
        "psu": "Public column of primary sampling units; not supported yet.",
    },
    "Provenance": {
        "weights": f"Moments, their weights, targets, variances, levels, and the objective. {_HOW}",
        "floors": f"Floors, ceilings, pins, bounds, distortions and caps. {_HOW}",
        "domains": f"Categories, bins, missing and other categories, groupings. {_HOW}",
        "scores": f"Scores. {_HOW}",
        "marginals": f"Marginals, backgrounds and known sources. {_HOW}",
        "clusters": f"Clusters and max_cells. {_HOW}",
        "total": f"Total epsilon and delta, most rows of a person, waves. {_HOW}",
    },
    "Problem": {
        "format": "Name of the format.",
        "version": "Version of the format.",
        "name": "A name for people; may be empty.",
        "total_epsilon": "Budget of one record in one release, in nats; optional for min_epsilon.",
        "total_delta": "Delta of the total; 0 where it holds for certain, as a sum.",
        "objective": "What the split is best for.",
        "attributes": "The columns that are randomized.",
        "moments": "What analysts need: centred cross-moments; permuted duplicates are merged.",
        "groups": "Attributes whose epsilons together stay within a cap.",
        "public": "Columns that are released as they are; they may take part in moments.",
        "dropped": "Columns that are left out.",
        "row_order": "Whether the rows of a release are shuffled, or stay in the original order.",
        "unit": "Whose privacy is stated.",
        "waves": "Planned releases of the same people.",
        "n": "Expected number of records; not supported yet.",
        "provenance": "How the parts of the problem were chosen.",
        "clusters": "Attributes that are randomized together with one epsilon: lists of names, or auto for "
        "design to choose.",
        "max_cells": "The most joint categories of one cluster.",
        "moment_rules": "Rules that stand for many moments, and are expanded into them.",
        "survey": "What analysts need of the sample's design.",
    },
}


def described(schema: dict[str, Any], part: type, texts: Texts) -> dict[str, Any]:
    """The schema of this part with the meaning of every field, told by the class that declares it last."""
    known: dict[str, str] = {}
    for kind in reversed(part.__mro__):
        known |= texts.get(kind.__name__, {})
    properties = {name: {**field, "description": known[name]} for name, field in schema["properties"].items()}
    return {**schema, "properties": properties}
