"""Problems and splits that reports are made of in the tests."""

from __future__ import annotations

import budget_opt as bo

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "'+window.hacked+'${window.hacked = 1}",
    "{{ 7 * 7 }}{% raw %}",
    "$x^2$ \\alpha <!-- --> ]]>",
    "عدد السكان 🙂",
    "__proto__",
    "x" * 300,
)
"""Names that a file may hold: each must stand in the page as it is, and do nothing."""


def health(objective: str = "geometric_mean", **fields: object) -> bo.Problem:
    """A pin, bounds, a group, floors, a ceiling, a marginal, a triple, a public and a dropped column."""
    stated: dict[str, object] = {
        "name": "health survey",
        "total_epsilon": 6.0,
        "objective": objective,
        "attributes": [
            bo.Attribute("smoker", categories=2, marginal=[0.8, 0.2]),
            bo.Attribute("income", categories=5, epsilon_min=0.2, epsilon_max=3.0),
            bo.Attribute("region", categories=["north", "south", "east", "west"], scores=[1, 0, 0, 0]),
            bo.Attribute("age", bins=[18, 30, 45, 65, None], scores=[24, 37, 55, 75]),
            bo.Attribute("sex", categories=["f", "m"], epsilon=0.5),
        ],
        "moments": [
            bo.CrossMoment("smoker", "income", weight=3, floor=0.2, target=2),
            bo.CrossMoment("income", "region", floor=0.05, variance=2),
            bo.CrossMoment("smoker", "age", "income"),
            bo.CrossMoment("sex", "region", weight=0, ceiling=0.2),
        ],
        "groups": [bo.Group("money", attributes=["income"], epsilon_max=2.9)],
        "public": [bo.PublicColumn("wave", why="the same for everybody")],
        "dropped": ["person_id"],
    }
    return bo.Problem(**{**stated, **fields})


def hand_made(problem: bo.Problem) -> bo.Allocation:
    """A split by hand that keeps every limit of `health` and is not the even one."""
    return bo.allocation_from(problem, {"smoker": 1.7, "income": 2.1, "region": 1, "age": 0.7, "sex": 0.5})


def hostile() -> bo.Allocation:
    """Every text of a problem is one that would break a page."""
    attributes = [
        bo.Attribute(name, categories=[f"{name} yes", f"{name} no", f"{name} perhaps"], ordered=True)
        for name in HOSTILE
    ]
    problem = bo.Problem(
        name=HOSTILE[0],
        total_epsilon=8.0,
        objective="max_min",
        attributes=attributes,
        moments=[bo.CrossMoment(HOSTILE[0], name, floor=1e-6) for name in HOSTILE[1:]],
        groups=[bo.Group(name, attributes=[name], epsilon_max=4) for name in HOSTILE],
        public=[bo.PublicColumn(f"{name} column", why=name) for name in HOSTILE],
        dropped=[f"{name} dropped" for name in HOSTILE],
    )
    split = {name: round(0.5 + 0.1 * i, 1) for i, name in enumerate(HOSTILE)}
    return bo.allocation_from(problem, split)


def large(attributes: int = 50) -> bo.Allocation:
    """All pairs of many attributes, every one with a floor."""
    names = [f"attribute number {i}" for i in range(attributes)]
    problem = bo.Problem(
        name="all pairs",
        total_epsilon=float(attributes),
        objective="geometric_mean",
        attributes=[bo.Attribute(name, categories=2 + i % 9) for i, name in enumerate(names)],
        moments=[
            bo.CrossMoment(first, second, weight=1 + (i % 7) / 3, floor=0.001)
            for i, first in enumerate(names)
            for second in names[:i]
        ],
    )
    split = {name: round(0.6 + 0.8 * i / (attributes - 1), 6) for i, name in enumerate(names)}
    return bo.allocation_from(problem, split)
