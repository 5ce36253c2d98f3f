"""Allocations with clusters: what they promise holds, and every forgery of a cluster is refused or fails."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.allocation.blocks import AllocatedBlock
from budget_opt.errors import AllocationError, VerificationError
from budget_opt.mechanisms.exact import exact, log_at_least
from budget_opt.mechanisms.sampler import Sampler, sampler_for
from budget_opt.model.clusters.block import Block
from budget_opt.verifier.matrices import Matrix
from budget_opt.verifier.static import verify_privacy

PROBLEM = bo.Problem(
    name="survey",
    total_epsilon=3.5,
    objective="geometric_mean",
    attributes=[
        bo.Attribute("smoker", categories=["no", "yes"], epsilon_max=2.0),
        bo.Attribute("region", categories=["north", "south", "east"]),
        bo.Attribute("income", categories=5),
        bo.Attribute("sex", categories=["f", "m"]),
        bo.Attribute("works", categories=[False, True]),
    ],
    moments=[
        bo.CrossMoment("smoker", "income", floor=0.2),
        bo.CrossMoment("smoker", "income", "sex", floor=0.01, ceiling=0.9),
        bo.CrossMoment("region", "works", weight=2.0),
    ],
    clusters=[("smoker", "income"), ("sex", "works")],
    groups=[bo.Group("health", attributes=["income", "region"], epsilon_max=3.0)],
)
Document = dict[str, Any]


@pytest.fixture(scope="module")
def allocation() -> bo.Allocation:
    return bo.solve(PROBLEM)


def test_a_sound_allocation_passes_every_check_and_its_file_too(
    allocation: bo.Allocation, tmp_path: Path
) -> None:
    subsets = [("smoker",), ("smoker", "income"), ("income", "works", "region")]
    report = bo.verify(allocation, problem=PROBLEM, subsets=subsets).require()
    assert not report.open
    allocation.write(tmp_path / "allocation.json")
    read = bo.Allocation.read(tmp_path / "allocation.json")
    assert bo.verify(read, problem=PROBLEM, subsets=subsets).require().checks == report.checks
    by_claim = {check.claim: check for check in report.checks}
    one, both, three = (by_claim[f"loss of a change of {', '.join(names)} alone"] for names in subsets)
    assert one.measured == both.measured == allocation["smoker"].loss
    assert one.limit == allocation["smoker"].epsilon
    assert "a change of one of them alone costs all" in one.source
    assert "randomized together" not in both.source
    assert three.measured == allocation.loss
    assert by_claim["loss of smoker + income"].about == ("smoker", "income")
    assert by_claim["loss of group health"].measured == pytest.approx(
        allocation["income"].loss + allocation["region"].loss
    )


def test_a_member_of_two_touched_groups_is_charged_whole_to_each(allocation: bo.Allocation) -> None:
    """A cap on one member is a cap on the cluster; a group counts a touched cluster once."""
    epsilon = allocation["smoker"].epsilon
    tight = PROBLEM.with_fields(
        groups=[
            bo.Group("one", attributes=["income"], epsilon_max=epsilon),
            bo.Group("both", attributes=["income", "smoker"], epsilon_max=epsilon),
        ]
    )
    split = {one.name: one.epsilon for one in allocation.attributes}
    bo.verify(bo.allocation_from(tight, split), problem=tight).require()
    short = tight.with_fields(groups=[bo.Group("one", attributes=["income"], epsilon_max=epsilon * 0.999)])
    failed = {check.claim for check in bo.verify(bo.allocation_from(short, split), problem=short).failed}
    assert {"epsilon of group one", "loss of group one"} <= failed
    # against a problem whose group the file does not state
    failed = {check.claim for check in bo.verify(allocation, problem=short).failed}
    assert "epsilon spent on group one under the problem given" in failed


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2, 2), (4, 5)])
def test_the_matrix_of_some_members_is_the_sum_of_the_joint_matrix_over_the_others(
    shape: tuple[int, ...],
) -> None:
    """Every set of members, every truth and report, whatever the others' truths are."""
    members = tuple(bo.Attribute(f"x{m}", categories=r) for m, r in enumerate(shape))
    block = Block(members)
    stated = sampler_for(1.3, block.cardinality)
    assert stated is not None
    matrix = Matrix.of(AllocatedBlock(block, 1.3, stated))
    q, words = stated.q, 2**stated.bits
    joint = {True: words - (block.cardinality - 1) * q, False: q}
    for inside in range(1, 2 ** len(shape)):
        chosen = [m for m in range(len(shape)) if inside >> m & 1]
        cells = 1
        for m in chosen:
            cells *= shape[m]
        others = block.cardinality // cells
        seen = matrix.seen(shape, chosen)
        # one of the others' reports is the truth, and only if the chosen are the truth as well
        assert seen.truth_words == joint[True] + (others - 1) * joint[False]
        assert seen.other_words == others * joint[False]
        assert seen.is_stochastic
        assert seen.retention == matrix.retention
        assert seen.loss <= matrix.loss


@pytest.mark.parametrize("clusters", [(), [("smoker", "income")], [("smoker", "sex")]])
def test_an_allocation_with_other_clusters_than_the_problem_fails_and_is_judged_no_further(
    allocation: bo.Allocation, clusters: Any
) -> None:
    """Its epsilons are of other blocks, so the problem's bound says nothing about them."""
    failed = names(bo.verify(allocation, problem=PROBLEM.with_clusters(clusters)))
    assert failed == {"problem hash", "question"}


# --- forged files ---


def own_sampler(document: Document) -> None:
    """A member that could be drawn on its own, by the integers of its column."""
    document["attributes"][0]["sampler"] = document["clusters"][0]["sampler"]


def two_clusters(document: Document) -> None:
    document["clusters"].append(copy.deepcopy(document["clusters"][0]))


def a_member_of_both(document: Document) -> None:
    document["clusters"][1]["members"][0] = "smoker"


def a_smaller_loss(document: Document) -> None:
    document["clusters"][0]["loss"] -= 0.1


def a_smaller_loss_of_a_member(document: Document) -> None:
    document["attributes"][2]["loss"] -= 0.1


def a_member_that_costs_its_column_only(document: Document) -> None:
    document["attributes"][0]["epsilon"] = document["attributes"][0]["loss"] = 0.5


def fewer_noisy_words(document: Document) -> None:
    stated = document["clusters"][0]["sampler"]
    stated["q"] = str(int(stated["q"]) - 1)


def other_joint_categories(document: Document) -> None:
    document["clusters"][0]["cardinality"] = 5


def another_name(document: Document) -> None:
    document["clusters"][0]["name"] = "income"


def a_member_without_a_cluster(document: Document) -> None:
    del document["attributes"][0]["cluster"]


def a_moment_that_hides_what_its_retention_is_of(document: Document) -> None:
    del document["moments"][0]["retention_of"]


def a_single_member(document: Document) -> None:
    document["clusters"][0]["members"] = ["smoker"]


@pytest.mark.parametrize(
    "forge",
    [
        own_sampler,
        two_clusters,
        a_member_of_both,
        a_smaller_loss,
        a_smaller_loss_of_a_member,
        a_member_that_costs_its_column_only,
        fewer_noisy_words,
        other_joint_categories,
        another_name,
        a_member_without_a_cluster,
        a_moment_that_hides_what_its_retention_is_of,
        a_single_member,
    ],
    ids=lambda one: one.__name__,
)
def test_a_forged_cluster_in_a_file_is_refused(
    allocation: bo.Allocation, forge: Callable[[Document], None], tmp_path: Path
) -> None:
    document = json.loads(json.dumps(allocation.to_dict()))
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(document), "utf-8")
    bo.Allocation.read(path)
    forge(document)
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(AllocationError, match=r"cluster|attributes|retention_of"):
        bo.Allocation.read(path)


def test_members_in_another_order_are_another_joint_code_and_fail_against_the_problem(
    allocation: bo.Allocation, tmp_path: Path
) -> None:
    """The order of the members is that of the code, so it belongs to the question."""
    turned = PROBLEM.with_clusters([("income", "smoker"), ("sex", "works")])
    split = {one.name: one.epsilon for one in allocation.attributes}
    failed = {check.name for check in bo.verify(bo.allocation_from(turned, split), problem=PROBLEM).failed}
    assert {"problem hash", "question"} <= failed


# --- forged objects ---


def block(allocation: bo.Allocation, name: str, **changes: Any) -> bo.Allocation:
    blocks = (replace(one, **changes) if one.name == name else one for one in allocation.blocks)
    return replace(allocation, blocks=tuple(blocks))


def names(report: Any) -> set[str]:
    return {check.name for check in report.failed}


def apart(allocation: bo.Allocation) -> bo.Allocation:
    """The members of a cluster as blocks of their own, each with the cluster's epsilon."""
    whole = allocation.block_of("smoker")
    alone = [
        AllocatedBlock.alone(one, whole.epsilon, sampler_for(whole.epsilon, one.cardinality))
        for one in whole.members
    ]
    return replace(allocation, blocks=(*alone, *allocation.blocks[1:]))


def twice(allocation: bo.Allocation) -> bo.Allocation:
    """A member beside its cluster, once more."""
    smoker = AllocatedBlock.alone(PROBLEM.attributes[0], 0.5, sampler_for(0.5, 2))
    return replace(allocation, blocks=(*allocation.blocks, smoker))


@pytest.mark.parametrize("forge", [apart, twice], ids=lambda one: one.__name__)
def test_blocks_that_are_not_those_of_the_problem_are_refused_before_anything_is_drawn(
    allocation: bo.Allocation, forge: Callable[[bo.Allocation], bo.Allocation]
) -> None:
    assert names(bo.verify(forge(allocation))) == {"coherence"}
    assert names(verify_privacy(forge(allocation))) == {"coherence"}
    verify_privacy(allocation).require()


def test_a_cluster_with_less_noise_than_it_states_fails(allocation: bo.Allocation) -> None:
    whole = allocation.block_of("smoker")
    assert isinstance(whole.sampler, Sampler)
    less = block(allocation, whole.name, sampler=replace(whole.sampler, q=whole.sampler.q - 2**20))
    failed = {check.claim for check in bo.verify(less).failed}
    assert {"loss of smoker + income", "sampler of smoker + income"} <= failed
    with pytest.raises(VerificationError, match=r"loss of smoker \+ income"):
        verify_privacy(less).require()
    # by the largest ratio of its joint matrix, not by that of a column
    forged = less.block_of("smoker").sampler
    due = Fraction(2**forged.bits - 9 * forged.q, forged.q)
    assert less["smoker"].loss == log_at_least(due)


def test_a_cluster_that_states_the_loss_of_a_column_fails(allocation: bo.Allocation) -> None:
    whole = allocation.block_of("smoker")
    column = whole.column_sampler("smoker")
    assert column is not None
    assert exact(column.loss) < exact(whole.loss)
    flattering = type("Forged", (AllocatedBlock,), {"loss": column.loss})
    forged = flattering(whole.block, whole.epsilon, whole.sampler, whole.shadow_price)
    report = bo.verify(replace(allocation, blocks=(forged, *allocation.blocks[1:])))
    assert {"figures", "composition"} <= names(report)
    claims = {check.claim for check in report.failed}
    assert "stated loss, retention and probabilities of smoker + income" in claims
    assert "stated loss, retention and probabilities of income" in claims


def test_a_moment_must_say_that_two_members_of_a_cluster_take_part(allocation: bo.Allocation) -> None:
    moments = (replace(allocation.moments[0], touches_twice=False), *allocation.moments[1:])
    assert names(bo.verify(replace(allocation, moments=moments))) == {"moment figures"}
    # a cluster counts once in the retention, and not once a member
    twice = replace(allocation.moments[0], exact_retention=allocation.block_of("smoker").exact_retention ** 2)
    forged = replace(allocation, moments=(twice, *allocation.moments[1:]))
    assert "moment figures" in names(bo.verify(forged))


def test_the_prices_of_clusters_are_confirmed_and_wrong_ones_fail(allocation: bo.Allocation) -> None:
    assert allocation.block_of("smoker").shadow_price is not None
    wrong = block(allocation, "smoker + income", shadow_price=7.0)
    failed = {check.claim for check in bo.verify(wrong, problem=PROBLEM).failed}
    assert failed == {"price of the bound of smoker + income"}
