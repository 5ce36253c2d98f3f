"""A cluster is one part of a charge: once in the total and in a group, whole for each of its members."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.ledger.charge import Part
from budget_opt.tables.printing import plain_text
from tests.ledger.charges import charge, spend

PROBLEM = bo.Problem(
    total_epsilon=2.0,
    attributes=[
        bo.Attribute("health", categories=2),
        bo.Attribute("region", categories=2),
        bo.Attribute("income", categories=3),
    ],
    moments=[bo.CrossMoment("health", "income"), bo.CrossMoment("income", "region")],
    clusters=[("health", "income")],
)
ALLOCATION = bo.allocation_from(PROBLEM, {"health": 1.3, "income": 1.3, "region": 0.7})
TABLE = pd.DataFrame({"health": [0, 1] * 6, "region": [0, 1] * 6, "income": [0, 1, 2] * 4})


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bo.Ledger:
    monkeypatch.setenv("BUDGET_OPT_STATE_DIR", str(tmp_path / "state"))
    return bo.Ledger.create(tmp_path / "ledger.db")


def test_a_charge_has_a_part_for_each_block() -> None:
    charge = bo.Charge.of(ALLOCATION)
    assert charge.parts == (
        Part(("health", "income"), Decimal("1.3")),
        Part(("region",), Decimal("0.7")),
    )
    assert charge.epsilon == Decimal("2.0")
    assert bo.Charge.from_dict(charge.to_dict()) == charge


def test_a_release_of_a_cluster_is_charged_whole_to_each_member_and_once_to_each_group(
    ledger: bo.Ledger,
) -> None:
    caps = bo.Caps(
        total=4.0,
        attributes={"Income": 2.6, "health": 3.0},
        groups={"both": (("health", "income"), 2.6), "one": (("income", "region"), 4.0)},
    )
    ledger.register("d", caps)
    payer = bo.Payer("d", ledger, tell=lambda line: None)
    for spent in (1, 2):
        bo.randomize(TABLE, ALLOCATION, charge_to=payer)
        left = ledger.left("d")
        assert left.total == pytest.approx(4.0 - 2 * spent, abs=1e-12)
        assert left.attributes == {"Income": 2.6 - 1.3 * spent, "health": pytest.approx(3.0 - 1.3 * spent)}
        assert left.groups == {"both": 2.6 - 1.3 * spent, "one": 4.0 - 2 * spent}
    # a release of one member alone would pass the cap of the other's cluster as well
    alone = bo.allocation_from(PROBLEM.with_clusters([]), {"health": 0.0, "income": 0.1, "region": 0.0})
    with pytest.raises(bo.BudgetExceededError, match="attribute Income"):
        bo.randomize(TABLE, alone, charge_to=payer)


def test_a_cap_that_is_charged_for_more_than_its_own_attributes_is_told_once(ledger: bo.Ledger) -> None:
    caps = bo.Caps(
        total=9.0,
        attributes={"income": 5.0},
        groups={"both": (("health", "income"), 5.0), "other": (("region",), 5.0)},
    )
    ledger.register("d", caps)
    said: list[list[str]] = [[], []]
    for lines in said:
        bo.randomize(TABLE, ALLOCATION, charge_to=bo.Payer("d", ledger, tell=lines.append))
    assert said[0] == [
        (
            "warning: 'd': health and income are randomized together, and a change of one of them costs the "
            "whole epsilon of the cluster: it is charged in full to the cap on 'income'"
        )
    ]
    assert said[1] == []


def test_the_ledger_shows_what_clusters_have_cost(ledger: bo.Ledger) -> None:
    ledger.register("d", bo.Caps(total=4.0, attributes={"health": 2.0}))
    bo.randomize(TABLE, ALLOCATION, charge_to=bo.Payer("d", ledger, tell=lambda line: None))
    (shown,) = ledger.shown(["d"])
    assert shown.spent.attributes == {"health": 1.3}
    assert shown.releases[0].epsilon == "2"
    assert shown.releases[0].together == (("health", "income"),)
    told = plain_text(shown, 100)
    assert "charged as one in release 1: health, income; in full to the cap of each" in told


@pytest.mark.parametrize(
    "blocks", [["health income", "region"], ["health income region"], ["health", "region"]]
)
def test_what_the_making_of_the_problem_has_cost_all_attributes_is_no_cluster(
    ledger: bo.Ledger, blocks: list[str]
) -> None:
    ledger.register("d", bo.Caps(total=4.0))
    made = charge(*((members, "0.7") for members in blocks), ("health region income", "0.2"))
    spend(ledger, "d", made, "r1")
    spend(ledger, "d", charge(("health income region", "0.2")), "pilot-1")
    (shown,) = ledger.shown(["d"])
    clusters = tuple(tuple(members.split()) for members in blocks if " " in members)
    assert [one.together for one in shown.releases] == [clusters, ()]
