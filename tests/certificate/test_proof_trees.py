"""A tree of boxes proves what it says when it is walked again, and never more, whatever it says."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from budget_opt.certificate.boxes.bound import Evaluation, Multipliers, Relaxation
from budget_opt.certificate.proof import replay
from budget_opt.certificate.proof.packing import Numbers
from budget_opt.certificate.proof.proof import TreeProof, walked
from budget_opt.certificate.proof.tree import AGAIN, LEAF, Tree
from budget_opt.certificate.pruning.hull import tangent_bounds, tangent_of
from budget_opt.certificate.pruning.question import Question
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import value
from budget_opt.solvers.answer import OutOfTimeError
from budget_opt.solvers.global_search.proving import Aim, certificate_of
from budget_opt.solvers.global_search.recording import Recording
from budget_opt.solvers.global_search.search import Search
from tests.certificate.proved_problems import GAP, PROBLEMS, proved
from tests.solvers.random_problems import build, random_problem, random_split

SEARCHED = ["pairs", "all orders", "floors", "groups", "ceilings", "pins and bounds", "twins"]
ROUNDING = 1e-12


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_every_kind_of_problem_is_proved_again_from_its_tree_alone(name: str) -> None:
    arrays, found, proof = proved(name)
    again = walked(arrays, proof)
    assert found.certificate.relative_gap <= GAP
    assert again.bound <= found.certificate.bound * (1 + ROUNDING)
    assert again.bound >= found.certificate.value * (1 - ROUNDING)
    assert proof.tree.is_whole


@pytest.mark.parametrize("name", SEARCHED)
def test_some_of_the_proofs_need_many_boxes(name: str) -> None:
    arrays, _, proof = proved(name)
    assert walked(arrays, proof).boxes == proof.tree.count


def _tampered(proof: TreeProof, rng: np.random.Generator) -> TreeProof:
    """The same proof with some of its numbers changed, by a little or beyond all measure."""
    tree = proof.tree
    scale = 10.0 ** rng.uniform(-3, 4)

    def changed(numbers: Numbers) -> Numbers:
        noise = scale * rng.standard_cauchy(numbers.shape) * (rng.random(numbers.shape) < 0.3)
        mixed = numbers * (1 + noise) + noise * (rng.random() < 0.5)
        broken = np.where(rng.random(numbers.shape) < 0.01, rng.choice([np.nan, np.inf, -1.0, 0.0]), mixed)
        return broken.astype(np.float32)

    with np.errstate(over="ignore", invalid="ignore"):
        numbers = {part: changed(rows) for part, rows in tree.numbers.items()}
    at = tree.at * (1 + rng.normal(size=tree.count) * (rng.random(tree.count) < 0.3))
    point = proof.point * (1 + rng.normal(size=proof.point.size) * (rng.random() < 0.5))
    kappa = np.abs(proof.kappa + rng.normal(size=proof.kappa.size) * (rng.random() < 0.5))
    other = replace(tree, numbers=numbers if rng.random() < 0.8 else tree.numbers, at=at)
    return TreeProof(other, proof.cut * rng.choice([1.0, 0.9, 0.5, 0.0, -1.0]), point, kappa)


@pytest.mark.parametrize("name", SEARCHED)
def test_no_tampered_tree_proves_a_bound_below_what_is_attained(name: str) -> None:
    arrays, found, proof = proved(name)
    rng = np.random.default_rng(0)
    for _ in range(8):
        changed = _tampered(proof, rng)
        below = replace(changed, cut=min(changed.cut, found.certificate.value * 0.999))
        assert walked(arrays, below).bound >= found.certificate.value * (1 - ROUNDING)


def _invented(arrays: Arrays, split: FloatArray, best: float, rng: np.random.Generator) -> TreeProof:
    """A tree that nobody searched for: random splits near a good point, without any multipliers."""
    count = 2 * int(rng.integers(5, 60)) + 1
    attribute = np.full(count, LEAF)
    inner = np.arange(count // 2)
    attribute[inner] = rng.integers(0, arrays.blocks, inner.size)
    at = np.zeros(count)
    at[inner] = split[attribute[inner]] * rng.choice([0.0, 0.5, 0.999, 1.0, 1.001, 3.0], inner.size)
    tree = Tree(attribute, at, np.zeros(count, dtype=bool), {})
    return TreeProof(tree, best * rng.choice([0.5, 0.99, 0.999999]), split, np.zeros(arrays.floors.size))


@pytest.mark.parametrize("seed", range(8))
def test_rules_that_end_boxes_never_lose_the_best_of_many_splits(seed: int) -> None:
    arrays = random_problem(seed, "weighted_sum", floors=False)
    rng = np.random.default_rng(seed)
    splits = [random_split(arrays, rng) for _ in range(60)]
    best = max(splits, key=lambda split: value(arrays, split))
    for _ in range(10):
        proof = _invented(arrays, best, value(arrays, best), rng)
        assert walked(arrays, proof).bound >= value(arrays, best) * (1 - ROUNDING)


@pytest.mark.parametrize("name", ["pairs", "floors", "ceilings"])
def test_what_a_dropped_subtree_leaves_open_counts(name: str) -> None:
    arrays, found, proof = proved(name)
    tree = proof.tree
    bounds = []
    for node in np.flatnonzero(tree.attribute >= 0)[:6]:
        kept = np.ones(tree.count, dtype=bool)
        going = [tree.first[node], tree.first[node] + 1]
        while going:
            child = int(going.pop())
            kept[child] = False
            going += [tree.first[child] + i for i in range(tree.children[child])]
        attribute = tree.attribute.copy()
        attribute[node] = LEAF
        bounded = tree.bounded & kept
        rows = {part: numbers[tree.row[bounded]] for part, numbers in tree.numbers.items()}
        cut_off = Tree(attribute[kept], tree.at[kept], bounded[kept], rows)
        assert cut_off.is_whole
        bounds.append(walked(arrays, replace(proof, tree=cut_off)).bound)
    assert min(bounds) > found.certificate.bound


def test_a_tree_with_a_node_too_many_or_too_few_or_out_of_place_is_not_whole() -> None:
    def tree(*attribute: int) -> Tree:
        numbers = np.array(attribute)
        return Tree(numbers, np.zeros(numbers.size), np.zeros(numbers.size, dtype=bool), {})

    assert tree(LEAF).is_whole
    assert tree(0, LEAF, LEAF).is_whole
    assert tree(0, AGAIN, LEAF, LEAF).is_whole
    assert not tree(0, LEAF).is_whole
    assert not tree(0, LEAF, LEAF, LEAF).is_whole
    assert not tree(LEAF, LEAF, 0).is_whole
    assert not tree().is_whole


def test_numbers_that_are_none_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays, found, proof = proved("pairs")
    evaluate = replay.evaluate

    def broken(on: Relaxation, multipliers: Multipliers, passes: int) -> Evaluation:
        whole = evaluate(on, multipliers, passes=passes)
        return replace(whole, bound=np.full(on.count, np.nan))

    monkeypatch.setattr(replay, "evaluate", broken)
    low = replace(proof, cut=0.5 * found.certificate.value)
    assert walked(arrays, low).bound >= found.certificate.value


def test_a_plane_that_touches_where_the_total_is_not_spent_is_no_lower_for_it() -> None:
    # lambda is convex here, so that its tangent at half the total lies below it at the whole
    arrays = build("weighted_sum", [100], [[0]], 4.0)
    question = Question.of(arrays)
    plane = tangent_of(question, np.array([[2.0]]), np.zeros(0))
    bound = tangent_bounds(question, plane, question.lower, question.upper)
    assert float(bound[0]) * question.scale >= value(arrays, np.array([4.0]))


class Still:
    """A split that nobody tries to better."""

    def __init__(self, arrays: Arrays, split: FloatArray) -> None:
        self.value, self.split = value(arrays, split), split

    def improve(self, points: FloatArray, *, thoroughly: bool) -> bool:
        return False


@pytest.mark.parametrize("batches", [0, 2, 5])
def test_a_search_that_is_cut_short_proves_what_it_had_reached(batches: int) -> None:
    arrays, found, _ = proved("all orders")
    question, recording = Question.of(arrays), Recording()
    left = [batches + 60]

    def check() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OutOfTimeError

    search = Search(question, 1e-6, Still(arrays, found.epsilon), check, recording=recording)
    with suppress(OutOfTimeError):
        search.run(lambda bound, nodes: None)
    attained = value(arrays, found.epsilon)
    certificate = certificate_of(
        Aim(question, found.epsilon, attained, search.bound, 1e-6), recording, searched=1.0
    )
    assert certificate.proof is not None
    again = walked(arrays, certificate.proof).bound
    assert again <= certificate.bound * (1 + ROUNDING)
    assert attained <= again <= max(search.bound, attained * (1 + 1e-6)) * (1 + ROUNDING)


def test_without_any_record_the_proof_is_searched_for_anew() -> None:
    arrays, found, _ = proved("pairs")
    attained = value(arrays, found.epsilon)
    aim = Aim(Question.of(arrays), found.epsilon, attained, attained, 1e-6)
    certificate = certificate_of(aim, Recording(), searched=60.0)
    assert certificate.relative_gap <= 1e-6
    assert certificate.proof is not None
    assert walked(arrays, certificate.proof).bound <= certificate.bound * (1 + ROUNDING)
