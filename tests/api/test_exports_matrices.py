"""The plain matrices: the nearest doubles, readable without pickle, and nothing half written."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import budget_opt as bo
from tests.api.exported import HOSTILE, NAMES, UNDECOMPOSED, entries, hostile, single

LABELS = {
    "smoker": ["no", "yes"],
    NAMES[1]: [*HOSTILE, ""],
    "age": ["[0, 18.1)", "[18.1, 40)", "[40, inf)"],
    "children": ["0", "1", "100000", ""],
    "works": ["false", "true"],
    "letter": [*UNDECOMPOSED],
}
"""Categories as a CSV release has them; the missing one is empty."""


def nearest(allocation: bo.Allocation, name: str) -> np.ndarray:
    truth, other = entries(allocation[name])
    r = allocation[name].cardinality
    return np.array([[float(truth) if i == j else float(other) for j in range(r)] for i in range(r)])


def test_arrays_are_the_nearest_doubles_with_their_categories(tmp_path: Path) -> None:
    allocation = hostile()
    bo.export(allocation, "matrices", tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as loaded:
        assert list(loaded["attributes"]) == list(NAMES)
        assert len(loaded.files) == 1 + 2 * len(NAMES)
        for name in NAMES:
            assert np.array_equal(loaded[f"{name}: matrix"], nearest(allocation, name))
            assert list(loaded[f"{name}: categories"]) == LABELS[name]


def test_no_name_of_an_attribute_hides_another_in_the_archive(tmp_path: Path) -> None:
    """`numpy.load` takes an array's name for that of its file, too: "x.npy" for the array "x"."""
    names = ("x", "x.npy", "attributes", "x: matrix", "x: matrix.npy", "../x")
    attributes = [bo.Attribute(name, categories=2 + i) for i, name in enumerate(names)]
    problem = bo.Problem(attributes=attributes, moments=[bo.CrossMoment("x")], total_epsilon=6.0)
    bo.export(bo.uniform(problem), "matrices", tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as loaded:
        assert list(loaded["attributes"]) == list(names)
        for i, name in enumerate(names):
            assert loaded[f"{name}: matrix"].shape == (2 + i, 2 + i)
            assert list(loaded[f"{name}: categories"]) == [str(code) for code in range(2 + i)]


def test_the_table_has_a_line_for_each_truth_and_report(tmp_path: Path) -> None:
    allocation = hostile()
    bo.export(allocation, "matrices", tmp_path / "m.csv")
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = [
        (name, truth, report, nearest(allocation, name)[i, j])
        for name in NAMES
        for i, truth in enumerate(LABELS[name])
        for j, report in enumerate(LABELS[name])
    ]
    read = [(row["attribute"], row["truth"], row["report"], float(row["probability"])) for row in rows]
    assert read == expected


def test_the_same_allocation_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        bo.export(hostile(), "matrices", tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize(
    ("to", "name", "told"),
    [
        ("matrix", "m.npz", "to: is 'matrix', must be one of opendp, sdcmicro, matrices"),
        (None, "m.npz", "to: is None"),
        ("matrices", "m.json", "must end in .npz or .csv for matrices"),
        ("sdcmicro", "m.txt", "must end in .R or .r for sdcmicro"),
        ("opendp", "m", "must end in .json for opendp"),
        ("matrices", "no/m.csv", "cannot be written"),
        ("matrices", "there.csv", "there.csv: exists already. Choose another name."),
    ],
)
def test_a_bad_word_or_place_is_told_and_nothing_is_written(
    tmp_path: Path, to: object, name: str, told: str
) -> None:
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(bo.InputError) as caught:
        bo.export(single(1.0, 3), to, tmp_path / name)
    assert told in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["there.csv"]
    assert (tmp_path / "there.csv").read_text() == "mine"


def test_a_path_in_the_place_of_the_allocation_is_told(tmp_path: Path) -> None:
    with pytest.raises(bo.InputError, match="allocation: is a str"):
        bo.export("allocation.json", "matrices", tmp_path / "m.csv")


def test_r36_nothing_is_exported_where_no_report_depends_on_the_truth(tmp_path: Path) -> None:
    problem = bo.Problem(
        attributes=[bo.Attribute("a", categories=2), bo.Attribute("b", categories=2)],
        moments=[bo.CrossMoment("a", "b")],
        total_epsilon=1,
    )
    with pytest.raises(bo.InputError, match="nothing to export"):
        bo.export(bo.allocation_from(problem, {"a": 0, "b": 0}), "matrices", tmp_path / "m.csv")
    written = bo.export(bo.allocation_from(problem, {"a": 1, "b": 0}), "matrices", tmp_path / "m.csv")
    assert (written.attributes, written.left_out) == (("a",), ("b",))


def test_an_allocation_that_overspends_is_not_exported(tmp_path: Path) -> None:
    from dataclasses import replace

    sound = single(1.0, 2)
    spoilt = replace(sound, question=sound.question.with_fields(total_epsilon=0.5))
    with pytest.raises(bo.VerificationError):
        bo.export(spoilt, "matrices", tmp_path / "m.csv")
    assert list(tmp_path.iterdir()) == []
