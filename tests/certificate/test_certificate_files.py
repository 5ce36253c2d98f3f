"""The certificate file: what is written is read again, and whatever else is refused with its reason."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.certificate.document import read_certificate
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.proof.proof import TreeProof
from budget_opt.errors import CertificateError

Members = dict[str, bytes]


def problem_of(objective: str = "weighted_sum") -> bo.Problem:
    """Four attributes whose weighted sum needs a few boxes."""
    names = ["a", "b", "c", "d"]
    pairs = [("a", "b"), ("b", "c"), ("a", "d"), ("c", "d"), ("a", "c")]
    return bo.Problem(
        attributes=[bo.Attribute(name, categories=3 + 2 * i) for i, name in enumerate(names)],
        moments=[bo.CrossMoment(*pair, weight=1.0 + (3 * i) % 7) for i, pair in enumerate(pairs)],
        total_epsilon=4.0,
        objective=objective,
    )


@pytest.fixture(scope="module")
def tree_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tree") / "proof.zip"
    bo.solve(problem_of(), certificate=path)
    return path


@pytest.fixture(scope="module")
def convex_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("convex") / "proof.zip"
    bo.solve(problem_of("min_variance"), certificate=path)
    return path


def members_of(path: Path) -> Members:
    """The members of an archive."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(members: Members, path: Path) -> Path:
    """An archive of these members."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def npy(array: Any) -> bytes:
    """An array as a member."""
    target = io.BytesIO()
    np.save(target, array)
    return target.getvalue()


def with_header(members: Members, **changes: Any) -> Members:
    """The members with other fields in the header."""
    header = json.loads(members["certificate.json"])
    return {**members, "certificate.json": json.dumps({**header, **changes}).encode()}


def test_a_tree_is_read_as_it_was_written(tree_file: Path, tmp_path: Path) -> None:
    document, _ = read_certificate(tree_file)
    assert isinstance(document.proof, TreeProof)
    assert document.problem == problem_of()
    again = tmp_path / "again.zip"
    document.write(again)
    assert again.read_bytes() == tree_file.read_bytes()


def test_multipliers_are_read_as_they_were_written(convex_file: Path, tmp_path: Path) -> None:
    document, sha256 = read_certificate(convex_file)
    assert isinstance(document.proof, Multipliers)
    assert document.proof.point is not None
    assert document.write(tmp_path / "again.zip") == sha256


def test_the_same_problem_makes_the_same_bytes(tree_file: Path, tmp_path: Path) -> None:
    bo.solve(problem_of(), certificate=tmp_path / "second.zip")
    assert (tmp_path / "second.zip").read_bytes() == tree_file.read_bytes()


def test_nothing_but_numpy_is_needed_to_look_into_it(tree_file: Path) -> None:
    with np.load(tree_file, allow_pickle=False) as arrays:
        assert arrays["tree/attribute"].dtype == np.dtype("<i4")
        assert arrays["tree/numbers/point"].shape == (int(arrays["tree/bounded"].sum()), 4)


def _float(members: Members, name: str, number: float) -> Members:
    changed = np.load(io.BytesIO(members[name]))
    changed.flat[0] = number
    return {**members, name: npy(changed)}


def _infinite_cut(members: Members) -> bytes:
    return json.dumps({**json.loads(members["certificate.json"]), "cut": float("inf")}).encode()


def _split_everywhere(members: Members) -> Members:
    attribute = np.load(io.BytesIO(members["tree/attribute.npy"]))
    return {**members, "tree/attribute.npy": npy(np.zeros_like(attribute))}


def _emptied(members: Members) -> Members:
    emptied = {
        name: npy(np.load(io.BytesIO(content))[:0])
        for name, content in members.items()
        if name.startswith("tree/")
    }
    return {**members, **emptied}


_HEADER = b"{'descr': '<f8', 'fortran_order': False, 'shape': " + b"(" * 3000
_UNENDING = b"\x93NUMPY\x01\x00" + len(_HEADER).to_bytes(2, "little") + _HEADER


Damage = Callable[[Members], Members]
DAMAGES: dict[str, tuple[Damage, str]] = {
    "another format": (lambda m: with_header(m, format="budget-opt/problem"), "format"),
    "another version": (lambda m: with_header(m, version=2), "must be 1"),
    "a field more": (lambda m: with_header(m, more=1), "more"),
    "a problem with faults": (lambda m: with_header(m, problem={"attributes": []}), "problem"),
    "too few epsilons": (lambda m: with_header(m, epsilon=[1.0]), "epsilon has 1 numbers"),
    "another kind": (lambda m: with_header(m, kind="multipliers", cut=None), "proves nothing of"),
    "no cut": (lambda m: with_header(m, cut=None), "cut is None"),
    "an infinite cut": (lambda m: {**m, "certificate.json": _infinite_cut(m)}, "cut"),
    "a header that is no JSON": (lambda m: {**m, "certificate.json": b"{"}, "not JSON"),
    "a header that is no text": (lambda m: {**m, "certificate.json": b"\xff\xfe"}, "not UTF-8"),
    "no header": (lambda m: {k: v for k, v in m.items() if k != "certificate.json"}, "is missing"),
    "an array less": (lambda m: {k: v for k, v in m.items() if k != "tree/at.npy"}, "at.npy is missing"),
    "a member more": (lambda m: {**m, "more.npy": npy(np.zeros(1))}, "more.npy does not belong"),
    "no array at all": (lambda m: {**m, "tree/at.npy": b"nothing"}, "is no array"),
    "a header without end": (lambda m: {**m, "tree/at.npy": _UNENDING}, "is no array"),
    "a pickle": (lambda m: {**m, "tree/at.npy": npy(np.array([{}], dtype=object))}, "has type |O"),
    "another type": (lambda m: {**m, "plane/point.npy": npy(np.zeros(4, np.float32))}, "has type <f4"),
    "another shape": (lambda m: {**m, "plane/point.npy": npy(np.zeros(5))}, "must have <f8 and"),
    "a cut off array": (lambda m: {**m, "tree/at.npy": m["tree/at.npy"][:-1]}, "shorter or longer"),
    "not a number": (lambda m: _float(m, "tree/at.npy", np.nan), "is nan at"),
    "infinity": (lambda m: _float(m, "tree/numbers/mu.npy", np.inf), "is inf at"),
    "a negative number": (lambda m: _float(m, "tree/numbers/nu.npy", -1.0), "must be finite and >= 0"),
    "an unknown attribute": (lambda m: _float(m, "tree/attribute.npy", 4), "is no tree"),
    "an unknown mark": (lambda m: _float(m, "tree/attribute.npy", -3), "is no tree"),
    "children that are not there": (_split_everywhere, "is no tree"),
    "an empty tree": (_emptied, "is no tree"),
}


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_file_that_is_no_certificate_is_refused_with_what_is_wrong(
    tree_file: Path, tmp_path: Path, damage: str
) -> None:
    change, reason = DAMAGES[damage]
    path = rewritten(change(members_of(tree_file)), tmp_path / "changed.zip")
    with pytest.raises(CertificateError) as caught:
        read_certificate(path)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_truncated_file_is_refused(tree_file: Path, tmp_path: Path) -> None:
    content = tree_file.read_bytes()
    for share in (0.0, 0.3, 0.99):
        (tmp_path / "cut.zip").write_bytes(content[: int(share * len(content))])
        with pytest.raises(CertificateError, match="no zip archive"):
            read_certificate(tmp_path / "cut.zip")


def test_flipped_bytes_are_refused_or_change_nothing_that_is_trusted(tree_file: Path, tmp_path: Path) -> None:
    content, rng = bytearray(tree_file.read_bytes()), np.random.default_rng(0)
    for place in rng.integers(0, len(content), 60):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        (tmp_path / "flipped.zip").write_bytes(bytes(changed))
        try:
            document, _ = read_certificate(tmp_path / "flipped.zip")
        except CertificateError:
            continue
        assert document.problem == problem_of()  # a date or the like


def test_more_is_never_unpacked_than_is_declared(
    tree_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = members_of(tree_file)
    monkeypatch.setattr("budget_opt.certificate.container.LARGEST", sum(map(len, members.values())) - 1)
    with pytest.raises(CertificateError, match="unpacks to"):
        read_certificate(tree_file)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match="cannot be read"):
        read_certificate(tmp_path / "nowhere.zip")


def test_a_member_twice_is_refused(tree_file: Path, tmp_path: Path) -> None:
    path = rewritten(members_of(tree_file), tmp_path / "twice.zip")
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("tree/at.npy", npy(np.zeros(1)))
    with pytest.raises(CertificateError, match="twice"):
        read_certificate(path)
