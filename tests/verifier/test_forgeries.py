"""For every check a forged allocation that fails it, and nothing else that it should not; the sound passes.

The reader refuses most of these files (`tests/allocation`), so they are built as objects, as a careless
program or one that means harm would hand them over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import budget_opt as bo
from budget_opt.allocation import Statement, allocate
from budget_opt.allocation.blocks import AllocatedBlock
from budget_opt.certificate.document import read_certificate
from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact, log_at_least
from budget_opt.mechanisms.sampler import Sampler, sampler_for
from budget_opt.model.clusters.block import Block
from budget_opt.verifier.matrices import Matrix
from budget_opt.verifier.report import VerificationReport
from budget_opt.verifier.static import verify_privacy
from tests.verifier.sample_allocations import unchecked

PROBLEM = bo.Problem(
    name="survey",
    total_epsilon=3.0,
    objective="geometric_mean",
    attributes=[
        bo.Attribute("smoker", categories=["no", "yes"], epsilon_max=1.5, marginal=[0.75, 0.25]),
        bo.Attribute("income", categories=5, epsilon=0.9),
        bo.Attribute("region", categories=["north", "south", "east"]),
    ],
    moments=[
        bo.CrossMoment("smoker", "income", floor=0.1, ceiling=0.9),
        bo.CrossMoment("income", "region", weight=2.0),
    ],
    groups=[bo.Group("health", attributes=["smoker", "income"], epsilon_max=2.0)],
    dropped=["person_id"],
    unit={"of": "person", "id": "person_id", "max_rows": 2},
)


class Sound(NamedTuple):
    """An allocation with the certificate of its bound."""

    allocation: bo.Allocation
    certificate: Path

    def verified(self, allocation: bo.Allocation, certificate: Path | None = None) -> VerificationReport:
        return bo.verify(
            allocation,
            problem=PROBLEM,
            certificate=certificate or self.certificate,
            subsets=[("smoker", "region")],
        )


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    path = tmp_path_factory.mktemp("proof") / "proof.zip"
    return Sound(bo.solve(PROBLEM, certificate=path), path)


def names(report: VerificationReport) -> set[str]:
    return {check.name for check in report.failed}


def block(allocation: bo.Allocation, name: str, **changes: Any) -> bo.Allocation:
    return replace(
        allocation,
        blocks=tuple(replace(one, **changes) if one.name == name else one for one in allocation.blocks),
    )


def sampler(allocation: bo.Allocation, name: str, steps: int) -> bo.Allocation:
    """One count of words more or less."""
    stated = allocation[name].sampler
    assert stated is not None
    return block(allocation, name, sampler=replace(stated, q=stated.q + steps))


def figure(allocation: bo.Allocation, name: str, **stated: float) -> bo.Allocation:
    """A double that a block states of itself, in place of what its integers say."""
    one = allocation.block_of(name)
    flattering = type("Forged", (AllocatedBlock,), stated)
    changed = flattering(one.block, one.epsilon, one.sampler, one.shadow_price)
    return replace(
        allocation, blocks=tuple(changed if one.name == name else one for one in allocation.blocks)
    )


def promising(allocation: bo.Allocation, loss: float) -> bo.Allocation:
    """An allocation that states this loss of all records of a person."""
    forged = type("Forged", (bo.Allocation,), {"planned_loss": loss})
    return forged(**{one.name: getattr(allocation, one.name) for one in fields(allocation)})


def moment(allocation: bo.Allocation, **changes: Any) -> bo.Allocation:
    return replace(allocation, moments=(replace(allocation.moments[0], **changes), *allocation.moments[1:]))


def outcome(allocation: bo.Allocation, **changes: Any) -> bo.Allocation:
    return replace(allocation, objective=replace(allocation.objective, **changes))


def question(allocation: bo.Allocation, **changes: Any) -> bo.Allocation:
    """Another question with the same hash, whose results are its own."""
    asked = allocation.question.with_fields(**changes)
    return replace(
        allocation,
        question=asked,
        moments=tuple(
            replace(one, stated=stated) for one, stated in zip(allocation.moments, asked.moments, strict=True)
        ),
    )


def limits(floor: float, ceiling: float) -> list[bo.CrossMoment]:
    return [bo.CrossMoment("smoker", "income", floor=floor, ceiling=ceiling), *PROBLEM.moments[1:]]


def resplit(**epsilons: float) -> bo.Allocation:
    """Another split of the same problem, honestly stated, that claims nothing about its bound."""
    return bo.allocation_from(PROBLEM, best_split() | epsilons)


@cache
def best_split() -> dict[str, float]:
    return {one.name: one.epsilon for one in bo.solve(PROBLEM).attributes}


Forge = Callable[[bo.Allocation], bo.Allocation]
FORGED: list[tuple[str, Forge, set[str]]] = [
    (
        "coherence",
        lambda a: block(a, "region", block=Block((bo.Attribute("region", categories=["n", "s", "e"]),))),
        set(),
    ),
    ("sampler size", lambda a: block(a, "income", sampler=Sampler(2, 32, 2**29)), set()),
    ("loss", lambda a: sampler(a, "smoker", -(2**20)), {"sampler", "moment figures"}),
    ("sampler", lambda a: sampler(a, "region", 1), {"moment figures", "outcome"}),
    ("figures", lambda a: figure(a, "region", other_probability=0.2), set()),
    ("figures", lambda a: figure(a, "region", retention=0.9), set()),
    ("figures", lambda a: figure(a, "region", truth_probability=0.4), set()),
    ("figures", lambda a: figure(a, "region", loss=0.1), {"composition", "planned loss"}),
    ("composition", lambda a: figure(a, "smoker", loss=0.5), {"figures", "planned loss"}),
    ("planned loss", lambda a: promising(a, a.loss), set()),
    ("budget", lambda a: question(a, total_epsilon=2.99), {"composed loss", "question"}),
    (
        "budget",
        lambda a: question(a, groups=[bo.Group("health", attributes=["smoker", "income"], epsilon_max=1.8)]),
        {"composed loss", "question"},
    ),
    (
        "composed loss",
        lambda a: sampler(a, "region", -1),
        {"loss", "sampler", "moment figures", "outcome", "subset"},
    ),
    (
        "subset",
        lambda a: sampler(a, "smoker", -(2**40)),
        {"loss", "sampler", "moment figures", "outcome", "composed loss"},
    ),
    ("floor", lambda a: question(a, moments=limits(0.5, 0.9)), {"question"}),
    ("ceiling", lambda a: question(a, moments=limits(0.01, 0.05)), {"question"}),
    ("moment figures", lambda a: moment(a, exact_retention=Fraction(1, 2)), set()),
    ("moment figures", lambda a: moment(a, variance_inflation=1.0), set()),
    ("moment figures", lambda a: moment(a, variance_basis="uniform marginals"), set()),
    ("moment figures", lambda a: moment(a, touches_twice=True), set()),
    ("outcome", lambda a: outcome(a, value=0.5), set()),
    ("outcome", lambda a: outcome(a, relative_gap=0.0), set()),
    ("outcome", lambda a: outcome(a, kind="max_min"), set()),
    ("stated gap", lambda a: outcome(a, relative_gap=1e-3), {"outcome"}),
    ("stated gap", lambda a: outcome(a, relative_gap=None), {"outcome"}),
    ("problem hash", lambda a: replace(a, problem_sha256="0" * 64), {"certificate's problem"}),
    ("question", lambda a: question(a, name="another"), set()),
    ("question", lambda a: question(a, row_order="public"), set()),
    ("question", lambda a: question(a, dropped=[*PROBLEM.dropped, "age"]), set()),
    ("bounds", lambda a: resplit(income=0.8), {"floor", "certificate's split"}),
    (
        "bounds",
        lambda a: resplit(smoker=1.51, region=0.5),
        {"budget", "composed loss", "certificate's split"},
    ),
    ("value", lambda a: resplit(region=4.0), {"budget", "composed loss", "certificate's split"}),
    ("bound", lambda a: outcome(a, bound=0.999 * (a.objective.bound or 0.0)), {"outcome"}),
    ("price", lambda a: replace(a, sensitivity={"total_epsilon": 7.0}), set()),
    ("certificate hash", lambda a: outcome(a, certificate_sha256="0" * 64), set()),
    ("certificate's split", lambda a: resplit(region=1.0), set()),
]


def test_the_sound_allocation_passes_every_check(sound: Sound) -> None:
    report = sound.verified(sound.allocation).require()
    assert all(check.kind == "proved" and check.source and check.name for check in report.checks)
    assert not any("not confirmed" in note for note in report.notes)
    assert not report.open


@pytest.mark.parametrize(
    ("check", "forge", "others"), FORGED, ids=lambda one: one if isinstance(one, str) else ""
)
def test_a_forged_allocation_fails_its_check_and_what_follows_from_it(
    sound: Sound, check: str, forge: Forge, others: set[str]
) -> None:
    assert names(sound.verified(forge(sound.allocation))) == {check} | others


def test_a_certificate_that_proves_too_little_or_says_too_much_fails(sound: Sound, tmp_path: Path) -> None:
    document = read_certificate(sound.certificate)[0]
    assert document.bound is not None
    unnamed = outcome(sound.allocation, certificate_sha256=None)
    weak = replace(document, proof=replace(document.proof, budgets=0.5 * document.proof.budgets))
    weak.write(tmp_path / "weak.zip")
    assert names(sound.verified(unnamed, tmp_path / "weak.zip")) == {"bound", "gap"}
    replace(document, bound=document.bound * (1 - 1e-9)).write(tmp_path / "proud.zip")
    assert names(sound.verified(unnamed, tmp_path / "proud.zip")) == {"certificate's bound"}


def test_every_check_has_a_forgery(sound: Sound) -> None:
    forged = {check for check, _, _ in FORGED} | {"certificate's problem", "certificate's bound", "gap"}
    forged |= {"matrix"}  # see `test_a_matrix_that_is_none_is_refused_before_anything_is_drawn`
    assert {check.name for check in sound.verified(sound.allocation).checks} <= forged


# --- what counts as optimal is not the file's to say ---


def test_a_tolerance_of_one_makes_no_bound_hold(sound: Sound) -> None:
    """A bound half again as large as the value, called optimal by a file that allows itself any gap."""
    best = sound.allocation
    value = best.objective.value
    assert value is not None
    statement = Statement(bound=1.5 * value, gap_tolerance=1.0, solver="x")
    forged = allocate(PROBLEM, best.epsilons, statement)
    assert forged.objective.status == "optimal"
    report = bo.verify(forged)
    assert names(report) == {"stated gap"}
    assert any("looser than the 1e-06" in note for note in report.notes)
    # asked so loosely, the file keeps what it promises
    assert bo.verify(forged, problem=PROBLEM, gap=1.0).holds


def test_a_tighter_gap_than_the_file_proves_can_be_asked_for() -> None:
    loose = bo.solve(PROBLEM.with_objective("weighted_sum"), gap=0.3)
    assert loose.objective.status == "optimal"
    found = loose.objective.relative_gap
    assert found is not None
    assert found > 1e-6
    assert "stated gap" in names(bo.verify(loose))
    assert bo.verify(loose, gap=0.3).holds


@pytest.mark.parametrize("gap", [0.0, -1.0, 1.5, float("nan"), "small", True])
def test_a_gap_that_is_none_is_refused(sound: Sound, gap: Any) -> None:
    with pytest.raises(InputError, match="gap"):
        bo.verify(sound.allocation, gap=gap)


# --- any attributes together ---


def test_the_loss_of_any_attributes_is_the_sum_of_theirs_and_bounds_no_learning(sound: Sound) -> None:
    subsets = [("smoker",), ("smoker", "income"), ("region", "income", "smoker")]
    report = bo.verify(sound.allocation, subsets=subsets)
    found = [check for check in report.checks if check.name == "subset"]
    assert [check.about for check in found] == subsets
    for check, members in zip(found, subsets, strict=True):
        exactly = sum(exact(sound.allocation[name].loss) for name in members)
        assert isinstance(check.measured, float)
        assert exactly <= exact(check.measured) <= exactly + Fraction(1, 10**14)
    assert any("does not bound what can be learned" in note for note in report.notes)
    assert not any("does not bound what can" in note for note in bo.verify(sound.allocation).notes)


@pytest.mark.parametrize(
    ("subsets", "why"),
    [
        ([("smoker", "age")], "age"),
        ([("smoker", "smoker")], "stands twice"),
        ([()], "without attributes"),
        ("smoker", "is text"),
    ],
)
def test_a_subset_of_other_names_is_refused(sound: Sound, subsets: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        bo.verify(sound.allocation, subsets=subsets)


# --- matrices that nobody builds ---


# of all 2^32 words four wrong categories take more, or all, and none is left for the truth
@pytest.mark.parametrize("q", [2**31 - 5, 2**30])
def test_a_matrix_that_is_none_is_refused_before_anything_is_drawn(sound: Sound, q: int) -> None:
    none = unchecked(Sampler, cardinality=5, bits=32, q=q)
    report = verify_privacy(block(sound.allocation, "income", sampler=none))
    assert names(report) == {"matrix", "loss"}
    assert all("income" in check.claim for check in report.failed)


@pytest.mark.parametrize("cardinality", [2, 3, 7, 64])
def test_the_matrix_is_what_counting_all_words_gives(cardinality: int) -> None:
    """Rows and columns, every pair of rows and every output: the whole matrix against its two counts."""
    epsilon = 0.7
    stated = sampler_for(epsilon, cardinality)
    assert stated is not None
    declared = bo.Attribute("x", categories=cardinality)
    matrix = Matrix.of(AllocatedBlock.alone(declared, epsilon, stated))
    starts = [d * stated.q for d in range(cardinality)] + [2**stated.bits]
    words = [later - start for start, later in pairwise(starts)]
    whole = [
        [words[(report - truth - 1) % cardinality] for report in range(cardinality)]
        for truth in range(cardinality)
    ]
    assert [stated.report(0, start) for start in starts[:-1]] == [
        (d + 1) % cardinality for d in range(cardinality)
    ]
    assert all(sum(row) == matrix.words for row in whole)
    assert all(sum(column) == matrix.words for column in zip(*whole, strict=True))
    assert {row[i] for i, row in enumerate(whole)} == {matrix.truth_words}
    largest = max(Fraction(a, b) for column in zip(*whole, strict=True) for a in column for b in column)
    assert matrix.loss == log_at_least(largest)
    assert matrix.is_stochastic


def test_r2_sixty_five_thousand_categories_take_no_time() -> None:
    problem = bo.Problem(
        attributes=[bo.Attribute("zip", categories=65536), bo.Attribute("x", categories=2)],
        moments=[bo.CrossMoment("zip", "x")],
        total_epsilon=12.0,
    )
    report = bo.verify(bo.uniform(problem)).require()
    assert any(check.about == ("zip",) and check.name == "matrix" for check in report.checks)
