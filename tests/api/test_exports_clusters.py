"""Exports of clusters: one joint variable each, whose matrix, mechanism and release are those of the file.

Exact binomial tests where something is drawn: false alarm 1e-9 each.
"""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.api.exports.labels import joint_labels, separator_for
from budget_opt.mechanisms.exact import exact
from tests.api.exported import HOSTILE, wide
from tests.api.test_exports_sdcmicro import DRAW, _write_csv, rscript, run

__all__ = ["rscript"]

CLUSTER = ("letter", "age", "works")
NAME = "letter + age + works"
LABELS = {
    "letter": ["a", "a + b", "b ++ c", None],
    "age": ["[0, 18.1)", "[18.1, 40)", "[40, inf)"],
    "works": [False, True],
}
BACKGROUND = {"background": "marginal", "marginal": [0.7, 0.3]}


def clustered(**works: Any) -> bo.Allocation:
    """A cluster of 24 joint categories, an attribute alone whose categories are merged, and one left out."""
    problem = bo.Problem(
        attributes=[
            bo.Attribute("works", categories=[False, True], **works),
            bo.Attribute("region", categories=HOSTILE, other="nörth", grouping=_halves(HOSTILE)),
            bo.Attribute("letter", categories=["a", "a + b", "b ++ c"], missing="category"),
            bo.Attribute("age", bins=[0, 18.1, 40, None], scores=[9, 30, 60]),
            bo.Attribute("nothing", categories=2),
        ],
        moments=[bo.CrossMoment("works", "age")],
        total_epsilon=9.0,
        clusters=[CLUSTER],
        public=[bo.PublicColumn("wave", why="the same for everybody")],
        dropped=["id"],
    )
    return bo.allocation_from(problem, {NAME: 5.0, "region": 4.0, "nothing": 0.0})


def _halves(labels: tuple[str, ...]) -> dict[str, list[str]]:
    return {"first": list(labels[:4]), "rest": list(labels[4:])}


def joint_texts(missing: str) -> list[str]:
    """The joint categories in their order, by itertools: labels with up to two signs, so three between."""
    texts = [[missing if label is None else str(label).lower() for label in LABELS[name]] for name in CLUSTER]
    return [" +++ ".join(labels) for labels in product(*texts)]


def matrix(allocation: bo.Allocation) -> np.ndarray:
    """The joint matrix in fractions, from the file's integers."""
    (cluster,) = allocation.to_dict()["clusters"]
    words, r = 2 ** cluster["sampler"]["bits"], cluster["cardinality"]
    stated = cluster["sampler"].get("counts") or [cluster["sampler"]["q"]] * r
    counts = [Fraction(int(count), words) for count in stated]
    return np.array([[counts[y] + (x == y) * (1 - sum(counts)) for y in range(r)] for x in range(r)])


@pytest.mark.parametrize("works", [{}, BACKGROUND])
def test_the_matrices_have_one_of_the_cluster_with_joint_labels(
    tmp_path: Path, works: dict[str, Any]
) -> None:
    allocation = clustered(**works)
    doubles = matrix(allocation).astype(float)
    written = bo.export(allocation, "matrices", tmp_path / "m.npz")
    assert written.attributes == ("works", "region", "letter", "age")
    assert written.left_out == ("nothing",)
    assert any(f"{NAME} is one variable" in note and "with +++ between" in note for note in written.notes)
    with np.load(tmp_path / "m.npz", allow_pickle=False) as loaded:
        assert list(loaded["attributes"]) == [NAME, "region"]
        assert np.array_equal(loaded[f"{NAME}: matrix"], doubles)
        assert list(loaded[f"{NAME}: categories"]) == joint_texts("")
        assert list(loaded[f"{NAME}: members"]) == list(CLUSTER)
        assert [" +++ ".join(row) for row in loaded[f"{NAME}: labels"]] == joint_texts("")
        assert list(loaded["region: categories"]) == ["first", "rest"]
    bo.export(allocation, "matrices", tmp_path / "m.csv")
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["attribute"] == NAME]
    expected = {
        (truth, report): doubles[i, j]
        for i, truth in enumerate(joint_texts(""))
        for j, report in enumerate(joint_texts(""))
    }
    assert {(row["truth"], row["report"]): float(row["probability"]) for row in rows} == expected


def test_beside_the_matrix_of_merged_categories_stands_what_is_merged(tmp_path: Path) -> None:
    """Of an attribute alone, and of a member of a cluster, which has no matrix of its own."""
    grouping = {"few": ["a", "b"], "other": ["c", None]}
    problem = bo.Problem(
        attributes=[
            bo.Attribute("x", categories=["a", "b", "c"], missing="category", grouping=grouping),
            bo.Attribute("y", categories=2),
            bo.Attribute("z", categories=["p", "q", "r"], grouping=[["p", "r"], ["q"]]),
        ],
        moments=[bo.CrossMoment("x", "y")],
        total_epsilon=4.0,
        clusters=[["x", "y"]],
    )
    written = bo.export(bo.uniform(problem), "matrices", tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as loaded:
        assert list(loaded["x: declared"]) == ["a", "b", "c", ""]
        assert list(loaded["x: merged into"]) == ["few", "few", "other", "other"]
        assert list(loaded["z: declared"]) == ["p", "q", "r"]
        assert list(loaded["z: merged into"]) == ["p or r", "q", "p or r"]
        assert set(loaded["z: merged into"]) == set(loaded["z: categories"])
        assert not any(name.startswith("y: ") for name in loaded.files)
    table = bo.export(bo.uniform(problem), "matrices", tmp_path / "m.csv")
    for one in (written, table):
        assert any(
            "x is released in merged categories, few of a and b; other of c and missing: " in note
            for note in one.notes
        )


def test_joint_labels_can_be_read_in_one_way_only() -> None:
    """Labels that end and begin with the sign, or are made of it."""
    for members in (
        [["a", "a + b"], ["c", "b + c"]],
        [["x +", "x"], ["y", "+ y"]],
        [["+", "++"], ["+", "++"], ["+", "++"]],
        [["", "a"], ["", "b"]],
    ):
        separator = separator_for(members)
        labels = joint_labels(members, separator)
        assert len(set(labels)) == len(labels)
        assert [tuple(label.split(separator)) for label in labels] == list(product(*members))


def made_in_python(path: Path) -> dict[str, Any]:
    lines = json.loads(path.read_text(encoding="utf-8"))["usage"]
    room: dict[str, Any] = {}
    exec("\n".join(lines).replace("FILE", str(path)), room)
    made: dict[str, Any] = room["randomizers"]
    return made


def test_opendp_accepts_one_mechanism_of_joint_labels_and_the_total(tmp_path: Path) -> None:
    dp = pytest.importorskip("opendp.prelude", reason="the extra opendp is not installed")
    allocation = clustered()
    written = bo.export(allocation, "opendp", tmp_path / "m.json")
    assert written.attributes == ("works", "region", "letter", "age")
    dp.enable_features("contrib")
    loaded = dp.deserialize((tmp_path / "m.json").read_text(encoding="utf-8"))
    one, region = loaded["attributes"]
    assert one["name"] == NAME
    assert [member["name"] for member in one["members"]] == list(CLUSTER)
    assert one["values"] == joint_texts("(missing)")
    assert exact(one["mechanism"].map(1)) <= exact(5.0)
    assert exact(region["mechanism"].map(1)) <= exact(4.0)
    assert exact(loaded["composed_epsilon"]) <= exact(9.0)
    assert loaded["not_released"] == ["nothing"]


def test_what_opendp_draws_of_a_cluster_goes_through_verify(tmp_path: Path) -> None:
    pytest.importorskip("opendp.prelude", reason="the extra opendp is not installed")
    allocation = clustered()
    bo.export(allocation, "opendp", tmp_path / "m.json")
    made = made_in_python(tmp_path / "m.json")
    rows = 3000
    pick = np.random.default_rng(1).integers
    cells: dict[str, list[Any]] = {
        "letter": [LABELS["letter"][i] for i in pick(0, 4, rows)],
        "age": [float(i) for i in pick(0, 90, rows)],
        "works": [bool(i) for i in pick(0, 2, rows)],
        "region": [(*HOSTILE, "another")[i] for i in pick(0, 9, rows)],
        "nothing": [0] * rows,
        "wave": [1] * rows,
    }
    joint = [made[NAME](*truth) for truth in zip(*(cells[name] for name in CLUSTER), strict=True)]
    assert {len(report) for report in joint} == {3}
    released = {name: [report[i] for report in joint] for i, name in enumerate(CLUSTER)}
    released["region"] = [made["region"](cell) for cell in cells["region"]]
    judged = bo.verify_release(
        allocation,
        pd.DataFrame(cells | {"id": 0}),
        pd.DataFrame(released | {"wave": cells["wave"]}),
        false_alarm=1e-9,
    )
    assert judged.holds, str(judged)
    with pytest.raises(KeyError) as told:
        made[NAME]("CANARY", 3, True)
    assert told.value.args == ("letter: not a declared category",)


@pytest.mark.parametrize("name", ["region", NAME])
def test_opendp_has_no_other_background_and_the_refusal_names_the_way_out(tmp_path: Path, name: str) -> None:
    allocation = clustered(**BACKGROUND)
    if name == "region":
        question = bo.Problem(
            attributes=[bo.Attribute("region", categories=2, marginal=[0.7, 0.3], background="marginal")],
            moments=[bo.CrossMoment("region")],
            total_epsilon=1.0,
        )
        allocation = bo.uniform(question)
    pytest.importorskip("opendp.prelude", reason="the extra opendp is not installed")
    with pytest.raises(bo.InputError) as caught:
        bo.export(allocation, "opendp", tmp_path / "m.json")
    assert str(caught.value).startswith(f"{name}: its background is not uniform")
    assert "--to matrices" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


PRINT = r"""
source("script.R", encoding = "UTF-8")
P <- budget_opt_matrices[["letter + age + works"]]
cat(sprintf("%.17g", c(t(P))), "\n")
cat(max(abs(rowSums(P) - 1)), identical(rownames(P), colnames(P)), "\n")
writeLines(rownames(P))
"""


@pytest.mark.parametrize("works", [{}, BACKGROUND])
def test_r_has_the_joint_matrix_with_the_pasted_levels_and_rows_that_sum_to_one(
    rscript: str, tmp_path: Path, works: dict[str, Any]
) -> None:
    allocation = wide(clustered(**works))  # so that no count is a whole number of R's units
    written = bo.export(allocation, "sdcmicro", tmp_path / "script.R")
    assert any(f"takes apart: {NAME}" in note for note in written.notes)
    numbers, sums, *levels = run(rscript, tmp_path, PRINT, "C.UTF-8")
    assert sums.strip() == "0 TRUE"
    assert levels == joint_texts("(missing)")
    found = np.array([Fraction(float(text)) for text in numbers.split()]).reshape(24, 24)
    exactly = matrix(allocation)
    for i, j in product(range(24), range(24)):
        if i == j:
            assert 0 <= exactly[i, j] - found[i, j] < Fraction(24, 2**53)
        else:  # rounded up, which is toward privacy
            assert 0 <= found[i, j] - exactly[i, j] < Fraction(1, 2**53)


@pytest.mark.parametrize("works", [{}, BACKGROUND])
def test_a_release_of_a_cluster_made_in_r_goes_through_verify(
    rscript: str, tmp_path: Path, works: dict[str, Any]
) -> None:
    allocation, rows = clustered(**works), 3000
    pick = np.random.default_rng(2).integers
    letters = [LABELS["letter"][i] for i in pick(0, 4, rows)]
    cells: dict[str, list[object]] = {
        "id": list(range(rows)),
        "works": [bool(i) for i in pick(0, 2, rows)],
        "age": [int(i) for i in pick(0, 90, rows)],
        "wave": [1] * rows,
        "region": [(*HOSTILE, "another")[i] for i in pick(0, 9, rows)],
        "letter": ["" if letter is None else letter for letter in letters],
        "nothing": [0] * rows,
    }
    _write_csv(tmp_path / "data.csv", cells)
    bo.export(allocation, "sdcmicro", tmp_path / "script.R")
    code = f"""
source("script.R", encoding = "UTF-8")
{DRAW}
data <- read.csv("data.csv", check.names = FALSE, na.strings = "", colClasses = "character",
                 fileEncoding = "UTF-8")
released <- budget_opt_pram(data, pram = drawn)
write.csv(released, "released.csv", row.names = FALSE, na = "", fileEncoding = "UTF-8")
cat(names(released), nlevels(released$letter))
"""
    assert run(rscript, tmp_path, code, "C.UTF-8") == ["works age wave region letter 3"]
    judged = bo.verify_release(allocation, tmp_path / "data.csv", tmp_path / "released.csv", false_alarm=1e-9)
    assert judged.holds, str(judged)


def test_a_cluster_too_large_for_a_whole_matrix_is_refused_by_its_name(tmp_path: Path) -> None:
    problem = bo.Problem(
        attributes=[bo.Attribute("a", categories=50), bo.Attribute("b", categories=41)],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=9.0,
        clusters=[("a", "b")],
    )
    for to, name in (("matrices", "m.npz"), ("sdcmicro", "m.R")):
        with pytest.raises(bo.InputError, match=r"a \+ b: has 2,050 joint categories; .* up to 2,048"):
            bo.export(bo.uniform(problem), to, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
