"""A keyed release and its key file: nothing shows the key, and only its owner has it. R6, R7, R20, R35."""

from __future__ import annotations

import copy
import enum
import json
import os
import pickle
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.api.releasing.publishing import MANIFEST
from budget_opt.errors import InputError, RandomSourceError
from budget_opt.randomizer import key_files
from budget_opt.randomizer.keyed_release import KeyedRelease
from tests.error_chain import everything_said
from tests.randomizer.keyed_cells import release_under

KEY = bytes(range(100, 132))
posix = pytest.mark.skipif(os.name != "posix", reason="permissions of files as POSIX has them")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def same(one: KeyedRelease, other: KeyedRelease) -> bool:
    return one.derived(None, ("x",)) == other.derived(None, ("x",))


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.key"
    release_under(KEY, "health survey 2026", 3).write(path)
    return path


def test_a_release_that_is_read_again_is_the_one_that_was_written(key_file: Path) -> None:
    read = KeyedRelease.read(str(key_file))
    assert (read.data, read.number) == ("health survey 2026", 3)
    assert same(read, release_under(KEY, "health survey 2026", 3))
    assert json.loads(key_file.read_text()) == {
        "format": "budget-opt/key",
        "version": 1,
        "data": "health survey 2026",
        "number": 3,
        "key": KEY.hex(),
        "check": "dcb80800e866fb8b",
    }


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=1000).filter(str.strip),
    st.integers(1, 2**53),
)
def test_any_name_and_number_come_back(
    tmp_path_factory: pytest.TempPathFactory, data: str, number: int
) -> None:
    path = tmp_path_factory.mktemp("keys") / "a.key"
    release = KeyedRelease(data, number)
    release.write(path)
    read = KeyedRelease.read(path)
    assert (read.data, read.number) == (data, number)
    assert same(read, release)


def test_every_release_has_a_key_of_its_own_from_the_operating_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not same(KeyedRelease("d"), KeyedRelease("d"))
    monkeypatch.setattr(os, "urandom", lambda size: KEY[:size])
    assert same(KeyedRelease("d"), release_under(KEY, "d"))


@pytest.mark.parametrize(
    "broken", [lambda size: KEY[: size - 1], lambda size: (_ for _ in ()).throw(OSError("no entropy"))]
)
def test_r7_without_a_whole_key_there_is_no_release_and_no_file(
    broken: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "urandom", broken)
    with pytest.raises(RandomSourceError):
        KeyedRelease("d").write(tmp_path / "a.key")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", ["", " ", "\n", "x" * 1001, "\ud800", 5, None, b"survey"])
def test_what_is_no_name_of_a_data_set_is_refused(data: Any) -> None:
    with pytest.raises(InputError, match=r"^data: must be text"):
        KeyedRelease(data)


@pytest.mark.parametrize("number", [0, -1, True, 1.0, "1", None, 2**53 + 1])
def test_what_is_no_number_of_a_release_is_refused(number: Any) -> None:
    with pytest.raises(InputError, match=r"^number: is "):
        KeyedRelease("d", number)


def test_nothing_of_a_release_shows_its_key() -> None:
    release = release_under(KEY, "d", 2)
    shown = [repr(release), str(release), repr(release._secret), repr(key_files.KeyDocument("d", 1, KEY))]
    assert shown[0] == "KeyedRelease(data='d', number=2)"
    assert not any(secret in text for text in shown for secret in (KEY.hex(), str(KEY), repr(KEY)))
    with pytest.raises(TypeError):
        vars(release)
    for name in dir(release):
        assert KEY not in repr(getattr(release, name)).encode()
    with pytest.raises(AttributeError):
        release.number = 3


@pytest.mark.parametrize(
    "copied", [pickle.dumps, copy.copy, copy.deepcopy, lambda release: pickle.dumps([release], 2)]
)
def test_r6_a_release_is_neither_copied_nor_pickled_and_says_why(copied: Callable[[Any], Any]) -> None:
    with pytest.raises(
        TypeError, match="cannot be copied or pickled: its key would lie where the pickle does"
    ):
        copied(release_under(KEY))


@posix
def test_a_key_file_and_the_folders_made_for_it_are_the_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        KeyedRelease("d").write(tmp_path / "new" / "inner" / "a.key")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "new") == mode_of(tmp_path / "new" / "inner") == 0o700
    assert mode_of(tmp_path / "new" / "inner" / "a.key") == 0o600


def test_a_key_file_is_on_the_disk_when_it_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    synced: list[str] = []

    def note(handle: int) -> None:
        synced.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")

    monkeypatch.setattr(os, "fsync", note)
    KeyedRelease("d").write(tmp_path / "a.key")
    assert synced == (["file", "folder"] if os.name == "posix" else ["file"])


def test_a_key_is_never_written_over_and_a_failure_leaves_nothing(
    key_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content = key_file.read_bytes()
    with pytest.raises(InputError, match="never overwritten"):
        KeyedRelease("d").write(key_file)
    assert key_file.read_bytes() == content

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"other\.key: cannot be used \(No space left on device\)"):
        KeyedRelease("d").write(tmp_path / "other.key")
    assert list(tmp_path.iterdir()) == [key_file]


@posix
def test_a_dangling_link_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / "link.key"
    link.symlink_to(tmp_path / "elsewhere.key")
    with pytest.raises(InputError):
        KeyedRelease("d").write(link)
    assert not (tmp_path / "elsewhere.key").exists()


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o602, 0o610, 0o601, 0o666])
def test_a_key_file_that_others_may_use_is_refused(key_file: Path, mode: int) -> None:
    key_file.chmod(mode)
    with pytest.raises(InputError, match=rf"mode {mode:04o}, must be 0600.*chmod 600"):
        KeyedRelease.read(key_file)


@posix
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_folder_that_others_can_write_into_is_refused(key_file: Path, mode: int) -> None:
    folder = key_file.parent
    folder.chmod(mode)
    try:
        for use in (lambda: KeyedRelease.read(key_file), lambda: KeyedRelease("d").write(folder / "b.key")):
            with pytest.raises(InputError, match=rf"others can write into its folder \(mode {mode:04o}\)"):
                use()
        folder.chmod(mode | stat.S_ISVTX)  # as /tmp is: there they cannot replace the file
        assert KeyedRelease.read(key_file).number == 3
    finally:
        folder.chmod(0o700)
    assert [path.name for path in folder.iterdir()] == ["survey.key"]


@posix
def test_links_folders_and_pipes_are_no_key_files(key_file: Path, tmp_path: Path) -> None:
    link, pipe = tmp_path / "link.key", tmp_path / "pipe.key"
    link.symlink_to(key_file)
    os.mkfifo(pipe, 0o600)
    with pytest.raises(InputError, match="is a symbolic link"):
        KeyedRelease.read(link)
    for path in (tmp_path, pipe):
        with pytest.raises(InputError, match=r"is not a file|Is a directory"):
            KeyedRelease.read(path)


@posix
def test_a_file_that_others_can_use_and_that_is_no_key_file_is_told_both(tmp_path: Path) -> None:
    split = tmp_path / "split.json"
    split.write_text('{"format": "budget-opt/allocation"}')
    split.chmod(0o644)
    with pytest.raises(InputError, match=r'is no whole key file: has not "format".*others than its owner'):
        KeyedRelease.read(split)


def test_a_key_is_not_written_into_the_folder_of_a_release(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{}")
    with pytest.raises(InputError, match=r"its folder holds a release \(manifest\.json\)"):
        KeyedRelease("health survey 2026").write(tmp_path / "survey.key")
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


@posix
def test_a_key_file_of_somebody_else_is_refused(key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = key_file.stat().st_uid
    os.chown(key_file, 12345, -1) if owner == 0 else monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(InputError, match="belongs to somebody else"):
        KeyedRelease.read(key_file)


def test_a_path_without_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.key: cannot be used \(No such file or directory\)"):
        KeyedRelease.read(tmp_path / "none.key")


def changed(**fields: Any) -> str:
    whole = {"format": "budget-opt/key", "version": 1, "data": "d", "number": 1, "key": KEY.hex()}
    whole["check"] = key_files._check(key_files.KeyDocument("d", 1, KEY))
    return json.dumps({name: value for name, value in {**whole, **fields}.items() if value is not ...})


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is not JSON"),
        (changed()[:-1], "is not JSON"),
        (changed()[:-30], "is not JSON"),
        ("[" * 60_000, "is not JSON"),
        (changed()[:-1] + ', "key": "' + KEY.hex() + '"}', "is not JSON"),
        (changed(number=float("nan")), "is not JSON"),
        (changed(key="\ufeff").replace("{", "\ufeff{"), "is not JSON"),
        ("[]", "format"),
        ("null", "format"),
        (changed(format="budget-opt/problem"), "format"),
        (changed(format=...), "format"),
        (changed(version=2), "version"),
        (changed(version=True), "version"),
        (changed(version=1.0), "version"),
        (changed(version="1"), "version"),
        (changed(version=...), "version"),
        (changed(data=...), "exactly the fields"),
        (changed(more=1), "exactly the fields"),
        (changed(key=...), "exactly the fields"),
        (changed(key=KEY.hex()[:-1]), "64 hexadecimal digits"),
        (changed(key=KEY.hex() + "00"), "64 hexadecimal digits"),
        (changed(key=KEY.hex()[:-1] + "g"), "64 hexadecimal digits"),
        (changed(key=" " + KEY.hex()[:-1]), "64 hexadecimal digits"),
        (changed(key=KEY.hex().upper()), "64 hexadecimal digits"),
        (changed(key=[1] * 64), "64 hexadecimal digits"),
        (changed(check=...), "exactly the fields"),
        *(
            (text, "have been changed")
            for text in (
                changed(data=""),
                changed(data=7),
                changed(data="e"),
                changed(number=0),
                changed(number=2),
                changed(number=1.5),
                changed(data=KEY.hex(), number=KEY.hex()),
                changed(key=KEY[::-1].hex()),
                changed(check=None),
                changed(check="0" * 16),
            )
        ),
        (changed(data="x" * 70_000), "is not JSON"),
    ],
    ids=lambda value: value if len(value) < 30 else "file",
)
def test_r35_what_is_no_whole_key_file_is_refused_without_showing_it(
    tmp_path: Path, content: str, reason: str
) -> None:
    path = tmp_path / "a.key"
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(InputError, match=rf"a\.key: .*{reason}") as told:
        KeyedRelease.read(path)
    assert KEY.hex()[:16] not in everything_said(told.value).lower()


@pytest.mark.parametrize(
    "change", [lambda byte: byte ^ 1, lambda byte: byte | 0x80], ids=["digit", "no text"]
)
def test_r20_a_key_file_with_any_byte_changed_is_refused_and_nothing_that_is_raised_has_the_key(
    key_file: Path, change: Callable[[int], int]
) -> None:
    """Other words would be a second noisy copy of everybody, and readers' own failures carry the text."""
    whole = key_file.read_bytes()
    for i in range(len(whole)):
        key_file.write_bytes(whole[:i] + bytes([change(whole[i])]) + whole[i + 1 :])
        with pytest.raises(InputError, match="is no whole key file") as told:
            KeyedRelease.read(key_file)
        assert KEY.hex()[16:40] not in everything_said(told.value)


def test_r20_a_key_file_that_ends_early_is_refused(key_file: Path) -> None:
    whole = key_file.read_bytes()
    for length in range(len(whole) - 1):  # the last byte is a line break
        key_file.write_bytes(whole[:length])
        with pytest.raises(InputError, match="is no whole key file") as told:
            KeyedRelease.read(key_file)
        assert KEY.hex()[:16] not in everything_said(told.value)


class _Number(int, enum.Enum):
    SECOND = 2


class _Name(str):
    def encode(self, *_: Any) -> bytes:
        return b"something else"


def test_names_and_numbers_of_other_classes_are_taken_as_what_a_key_file_has(tmp_path: Path) -> None:
    release = KeyedRelease(_Name("d"), _Number.SECOND)
    release.write(tmp_path / "a.key")
    assert (type(release.data), type(release.number)) == (str, int)
    assert same(KeyedRelease.read(tmp_path / "a.key"), release)


@pytest.mark.parametrize("path", [None, 5, b"a.key", "\0", "\ud800", "x" * 300], ids=repr)
def test_what_can_be_no_path_of_a_key_file_is_refused(tmp_path: Path, path: Any) -> None:
    place = str(tmp_path / path) if isinstance(path, str) else path
    for use in (KeyedRelease("d").write, KeyedRelease.read):
        with pytest.raises(InputError):
            use(place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files as Linux shows them")
def test_a_folder_in_place_of_a_key_file_is_refused_and_not_left_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        with pytest.raises(InputError, match="Is a directory"):
            KeyedRelease.read(tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) < before + 20


def test_a_folder_that_another_process_makes_at_the_same_moment_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Path.mkdir

    def too_late(folder: Path, **options: Any) -> None:
        made(folder, mode=0o700)
        made(folder, **options)

    monkeypatch.setattr(Path, "mkdir", too_late)
    KeyedRelease("d").write(tmp_path / "new" / "a.key")
    assert KeyedRelease.read(tmp_path / "new" / "a.key").data == "d"
