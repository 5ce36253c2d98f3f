"""R24: clock going back, comma locale, symlink, mode 0600; whose the file is, and its journal."""

from __future__ import annotations

import locale
import logging
import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.errors import InputError
from budget_opt.ledger import events, file
from tests.ledger.charges import CELLS, charge, spend

ASKED = charge(("a", "0.25"))
POSIX = pytest.mark.skipif(os.name != "posix", reason="rights of POSIX systems")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_r24_a_clock_that_goes_back_changes_no_sum_and_no_order(
    ledger: bo.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.register("d", bo.Caps(total=1.0))
    for number, time in enumerate(["2030-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-11-30T00:00:00Z"]):
        monkeypatch.setattr(events, "now", lambda time=time: time)
        spend(ledger, "d", ASKED, f"r{number}", cells=f"{number:064x}")
    again = bo.Ledger.open(ledger.path)
    assert [(release.name, release.number) for release in again.releases("d")] == [
        ("r0", 1),
        ("r1", 2),
        ("r2", 3),
    ]
    assert again.left("d").total == 0.25


COMMAS = """
import locale, sys
import budget_opt as bo
locale.setlocale(locale.LC_ALL, sys.argv[2])
assert locale.localeconv()["decimal_point"] == ","
from tests.ledger.charges import charge, spend
ledger = bo.Ledger.open(sys.argv[1])
spend(ledger, "d", charge(("a", "0.25")), "r1")
print(repr(bo.Ledger.open(sys.argv[1]).left("d").total))
"""


def _comma_locale() -> str | None:
    before = locale.setlocale(locale.LC_ALL)
    try:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "es_ES.UTF-8", "de_DE"):
            try:
                locale.setlocale(locale.LC_ALL, name)
            except locale.Error:
                continue
            return name
        return None
    finally:
        locale.setlocale(locale.LC_ALL, before)


@pytest.mark.slow
def test_r24_a_locale_with_decimal_commas_changes_nothing(
    ledger: bo.Ledger, root: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(root)}
    name = _comma_locale()
    if name is None:
        # compiled here where the system has the sources of its locales
        made = (
            subprocess.run(
                ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")],
                capture_output=True,
                check=False,
            )
            if Path("/usr/bin/localedef").exists()
            else None
        )
        if made is None or made.returncode != 0:
            pytest.skip("this system has no locale with decimal commas")
        name, environment["LOCPATH"] = "de_DE.UTF-8", str(tmp_path)
    ledger.register("d", bo.Caps(total=1.0))
    command = [sys.executable, "-c", COMMAS, str(ledger.path), name]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("0.75\n", "")


@POSIX
@pytest.mark.parametrize("way", ["without a name", "hidden"])
def test_r24_the_file_its_journal_and_the_witness_are_for_their_owner_alone(
    path: Path, tmp_path: Path, umask: None, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "hidden":
        monkeypatch.setattr("budget_opt.tables.whole_files._unnamed", lambda folder, mode: None)
    modes = []
    fsync = os.fsync

    def watched(handle: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(handle).st_mode))
        fsync(handle)

    with monkeypatch.context() as watch:
        watch.setattr(os, "fsync", watched)
        ledger = bo.Ledger.create(path)
    assert set(modes) <= {0o600, 0o700, mode(tmp_path)}
    assert mode(path) == 0o600
    ledger.register("d", bo.Caps(total=1.0))
    with closing(file.connected(path)) as database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("UPDATE head SET events = 9")
        assert mode(path.with_name("ledger.db-journal")) == 0o600
        database.execute("ROLLBACK")
    assert mode(tmp_path / "state") == mode(tmp_path / "state" / "ledgers") == 0o700
    assert {mode(one) for one in (tmp_path / "state" / "ledgers").iterdir()} == {0o600}
    assert sorted(one.name for one in tmp_path.iterdir()) == ["ledger.db", "state"]


@POSIX
def test_r24_the_default_ledger_is_made_in_a_folder_of_mode_0700(tmp_path: Path, umask: None) -> None:
    ledger = bo.Ledger.create(bo.Ledger.default_path())
    assert ledger.path == tmp_path / "state" / "ledger.db"
    assert mode(ledger.path.parent) == 0o700


@POSIX
def test_r24_a_link_is_never_followed(ledger: bo.Ledger, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(ledger.path)
    with pytest.raises(InputError, match="is a link"):
        bo.Ledger.open(link)
    with pytest.raises(InputError, match="is not a file"):
        bo.Ledger.open(tmp_path)
    hard = tmp_path / "hard.db"
    hard.hardlink_to(ledger.path)
    with pytest.raises(InputError, match=r"has 2 names \(hard links\)"):
        bo.Ledger.open(ledger.path)


@POSIX
@pytest.mark.parametrize("rights", [0o640, 0o604, 0o660, 0o601])
def test_r24_a_ledger_that_others_can_open_is_refused(ledger: bo.Ledger, rights: int) -> None:
    ledger.path.chmod(rights)
    with pytest.raises(InputError, match=rf"mode 0{rights:o}, must be 0600"):
        bo.Ledger.open(ledger.path)
    with pytest.raises(InputError, match="must be 0600"):
        ledger.register("d", bo.Caps(total=1.0))


@POSIX
def test_r24_the_ledger_or_journal_of_another_user_is_refused(
    ledger: bo.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other:
        other.setattr(os, "geteuid", lambda: 12_345)
        with pytest.raises(InputError, match="belongs to another user"):
            bo.Ledger.open(ledger.path)
    journal = ledger.path.with_name("ledger.db-journal")
    journal.symlink_to(ledger.path)
    with pytest.raises(InputError, match=r"ledger\.db-journal: is a link"):
        bo.Ledger.open(ledger.path)
    journal.unlink()
    journal.write_bytes(b"")
    journal.chmod(0o644)
    with pytest.raises(InputError, match=r"ledger\.db-journal: is open to other users"):
        bo.Ledger.open(ledger.path)


@pytest.mark.parametrize("name", ["a?mode=memory", "a#b", "100%25", "über ledger", "a'b;c"])
def test_a_name_with_any_characters_is_the_name_of_the_file(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    ledger = bo.Ledger.create(folder / name)
    ledger.register("d", bo.Caps(total=1.0))
    assert bo.Ledger.open(folder / name).datasets == ("d",)
    assert [one.name for one in folder.iterdir()] == [name]


def test_the_key_is_in_the_file_and_nowhere_else(
    ledger: bo.Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with file.transaction(ledger.path, writing=False) as rows:
        key = rows.key()
    ledger.register("d", bo.Caps(total=1.0))
    spend(ledger, "d", ASKED, "r1")
    said = [repr(ledger), str(vars(ledger)), repr(ledger.events()), repr(ledger.releases("d")), caplog.text]
    hashes = ledger.keyed("cells")
    hashes.update(CELLS.encode())
    said += [repr(hashes), hashes.hexdigest(), repr(ledger.keyed("cells"))]
    with pytest.raises(InputError) as found:
        ledger.left("e")
    said.append(str(found.value))
    for text in said:
        assert key.hex() not in text
        assert repr(key)[2:-1] not in text
    others = [one for one in tmp_path.rglob("*") if one.is_file() and one != ledger.path]
    assert {one.suffix for one in others} == {".json", ".lock"}
    for one in others:
        assert key not in one.read_bytes()
        assert key.hex().encode() not in one.read_bytes()


def test_nothing_of_the_ledger_is_loaded_with_the_package(root: Path) -> None:
    code = "import sys, budget_opt; print('sqlite3' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-SHM"])
def test_r24_a_name_that_sqlite_gives_to_what_it_deletes_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"ledger{ending}"
    for begin in (bo.Ledger.create, bo.Ledger.open):
        with pytest.raises(InputError, match="a name that does not end in -journal, -wal, -shm"):
            begin(path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("ending", "content", "words"),
    [
        ("-journal", b"SQLite format 3\0", "is no journal of the ledger beside it"),
        ("-journal", b"a letter", "is no journal of the ledger beside it"),
        ("-wal", b"", "lies beside the ledger"),
        ("-wal", b"something", "lies beside the ledger"),
        ("-shm", b"", "lies beside the ledger"),
    ],
)
def test_r24_a_file_beside_the_ledger_that_is_none_of_its_own_is_not_deleted(
    ledger: bo.Ledger, ending: str, content: bytes, words: str
) -> None:
    beside = ledger.path.with_name(f"{ledger.path.name}{ending}")
    beside.write_bytes(content)
    beside.chmod(0o600)
    with pytest.raises(InputError, match=words) as found:
        ledger.register("d", bo.Caps(total=1.0))
    assert str(beside) in str(found.value)
    assert beside.read_bytes() == content
    beside.unlink()
    ledger.register("d", bo.Caps(total=1.0))


@pytest.mark.parametrize("content", [b"", bytes(512)])
def test_r24_a_journal_that_was_only_begun_is_none_and_goes(ledger: bo.Ledger, content: bytes) -> None:
    beside = ledger.path.with_name(f"{ledger.path.name}-journal")
    beside.write_bytes(content)
    beside.chmod(0o600)
    ledger.register("d", bo.Caps(total=1.0))
    assert not beside.exists()


@POSIX
def test_r24_a_path_that_is_no_text_is_refused_in_words(tmp_path: Path) -> None:
    for begin in (bo.Ledger.create, bo.Ledger.open):
        with pytest.raises(InputError, match="is not text in Unicode"):
            begin(tmp_path / "l\udcff.db")
