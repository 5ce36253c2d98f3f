"""R20: whatever is done to the file, it is refused or makes no difference; it is never begun anew."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.errors import InputError, LedgerError
from budget_opt.ledger import file
from budget_opt.ledger.events import text_of
from budget_opt.ledger.replay import Replay
from tests.ledger.charges import charge, edit, forge, spend

ASKED = charge(("a", "0.25"))
LAST = 7


@pytest.fixture
def used(ledger: bo.Ledger) -> bo.Ledger:
    """A ledger with seven events: it spent 0.5 of 1."""
    ledger.register("d", bo.Caps(total=1.0))
    spend(ledger, "d", ASKED, "r1")
    spend(ledger, "d", ASKED, "r2", cells="d" * 64)
    ledger.remember("d", ["1" * 64])
    return ledger


def refused(path: Path) -> LedgerError:
    before = path.read_bytes()
    with pytest.raises(LedgerError) as found:
        bo.Ledger.open(path)
    assert str(path) in str(found.value)
    assert path.read_bytes() == before
    return found.value


def state(path: Path) -> object:
    """All that a ledger says, and the head that it is known by."""
    replay = Replay()
    with file.transaction(path, writing=False) as rows:
        replay.catch_up(rows)
        key = rows.key()
    accounts = {
        name: (account.left(), account.spent(), dict(account.releases), account.cells, account.fingerprints)
        for name, account in replay.state.accounts.items()
    }
    return replay.head, key, accounts


def harmless(path: Path, expected: object) -> bool:
    """Whether the ledger says the same as before; False where it is refused. It is not changed by that."""
    content = path.read_bytes()
    try:
        found = state(path)
    except (LedgerError, InputError):
        assert path.read_bytes() == content
        return False
    assert found == expected
    return True


def flips(path: Path, step: int, mask: int) -> tuple[int, int]:
    """Flip bits of every step-th byte: how many changes were refused, and how many made no difference."""
    content, expected, found = path.read_bytes(), state(path), [0, 0]
    with path.open("r+b", buffering=0) as handle:
        for place in range(0, len(content), step):
            os.pwrite(handle.fileno(), bytes([content[place] ^ mask]), place)
            found[harmless(path, expected)] += 1
            os.pwrite(handle.fileno(), content[place : place + 1], place)
    assert state(path) == expected
    return found[0], found[1]


def test_r20_a_flipped_byte_is_refused_or_makes_no_difference(used: bo.Ledger) -> None:
    assert all(flips(used.path, step=23, mask=0xFF))


@pytest.mark.slow
def test_r20_every_flipped_byte_is_refused_or_makes_no_difference(used: bo.Ledger) -> None:
    assert all(flips(used.path, step=1, mask=0x01))


def test_r20_every_byte_of_the_events_and_of_the_key_counts(used: bo.Ledger) -> None:
    content, expected = used.path.read_bytes(), state(used.path)
    with closing(sqlite3.connect(used.path)) as database:
        texts = [text.encode() for (text,) in database.execute("SELECT event FROM events")]
        hashes = [hash_ for (hash_,) in database.execute("SELECT hash FROM events")]
        texts += [*hashes, *(key for (key,) in database.execute("SELECT key FROM secret"))]
    for text in texts:
        # of what SQLite moved, an old copy may stand before the one that counts
        places = [place for place in range(len(content)) if content.startswith(text, place)]
        assert places
        for offset in (0, len(text) // 2, len(text) - 1):
            changed = bytearray(content)
            for place in places:
                changed[place + offset] ^= 0x01
            used.path.write_bytes(changed)
            assert not harmless(used.path, expected)


@pytest.mark.parametrize("step", [pytest.param(3, marks=pytest.mark.slow), 97])
def test_r20_a_truncated_ledger_is_refused_at_any_length(used: bo.Ledger, step: int) -> None:
    for length in range(used.path.stat().st_size - 1, -1, -step):
        os.truncate(used.path, length)
        with pytest.raises(LedgerError):
            state(used.path)
        assert used.path.stat().st_size == length


def test_r20_an_empty_or_missing_file_is_never_begun_anew(used: bo.Ledger, tmp_path: Path) -> None:
    used.path.write_bytes(b"")
    assert "is empty" in str(refused(used.path))
    with pytest.raises(LedgerError, match="is empty"):
        used.reserve("d", ASKED, "r3")
    used.path.unlink()
    with pytest.raises(InputError, match="there is no ledger"):
        bo.Ledger.open(used.path)
    with pytest.raises(InputError, match="there is no ledger"):
        used.left("d")
    assert not used.path.exists()


def test_r20_a_ledger_is_never_made_in_the_place_of_something(used: bo.Ledger, tmp_path: Path) -> None:
    before = used.path.read_bytes()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "new.db-journal").write_bytes(b"")
    for taken in (used.path, tmp_path, tmp_path / "link", tmp_path / "new.db"):
        with pytest.raises(InputError, match="exists already"):
            bo.Ledger.create(taken)
    assert used.path.read_bytes() == before


def test_r20_another_version_is_refused_by_name(used: bo.Ledger) -> None:
    for version in (0, 2, 7):
        edit(used.path, f"PRAGMA user_version = {version}")
        assert f"it is of version {version}, and this budget_opt knows version 1" in str(refused(used.path))


def test_r20_an_event_of_a_later_software_is_refused_by_name(used: bo.Ledger) -> None:
    text = b'{"kind":"refund","software":"budget-opt 9.0","time":"2030-01-01T00:00:00Z"}'
    forge(used.path, 5, text)
    found = refused(used.path)
    assert found.row == 5
    assert "of the kind 'refund', written by 'budget-opt 9.0'" in str(found)
    assert "Use the version that wrote it" in str(found)


def test_r20_another_database_is_no_ledger(used: bo.Ledger, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    edit(other, "CREATE TABLE t (a)")
    other.chmod(0o600)
    assert "it is no ledger of budget_opt" in str(refused(other))
    other.write_bytes(b"name,region\n" * 1000)
    assert "is damaged (SQLITE_NOTADB)" in str(refused(other))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events WHERE number > 2; END",
        "CREATE TABLE t (a)",
        "CREATE VIEW v AS SELECT * FROM events",
        "CREATE INDEX i ON events (hash)",
        "DROP TABLE head",
        "ALTER TABLE events RENAME TO old",
        "PRAGMA journal_mode = WAL",
    ],
)
def test_r20_a_database_with_other_tables_or_triggers_is_refused(used: bo.Ledger, statement: str) -> None:
    edit(used.path, statement)
    with pytest.raises(LedgerError, match="its tables are not those of a ledger"):
        bo.Ledger.open(used.path)


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("UPDATE events SET event = replace(event, '0.25', '0.05') WHERE number = 3", 3),
        ("UPDATE events SET event = event || ' ' WHERE number = 1", 1),
        ("UPDATE events SET hash = zeroblob(32) WHERE number = 4", 4),
        ("UPDATE events SET hash = 7 WHERE number = 4", 4),
        ("UPDATE events SET event = 7 WHERE number = 4", 4),
        ("DELETE FROM events WHERE number = 3", 3),
        ("DELETE FROM events WHERE number = 7", 7),
        ("DELETE FROM events WHERE number > 2", 3),
        ("DELETE FROM events", 1),
        ("UPDATE events SET number = number + 1 WHERE number = 7", 7),
        ("UPDATE events SET number = 0 WHERE number = 1", 1),
        ("UPDATE events SET number = -3 WHERE number = 3", 1),
        ("INSERT INTO events SELECT 8, event, hash FROM events WHERE number = 3", 8),
        ("INSERT INTO events SELECT 0, event, hash FROM events WHERE number = 3", 1),
        ("UPDATE head SET events = 8", 8),
        ("UPDATE head SET events = 6", 7),
        ("UPDATE head SET hash = zeroblob(32)", 7),
    ],
)
def test_r20_the_first_bad_event_is_named(used: bo.Ledger, statement: str, row: int) -> None:
    edit(used.path, statement)
    found = refused(used.path)
    assert found.row == row
    assert f"event {row}: " in str(found)
    assert "what was spent stays spent" in str(found)


def test_r20_events_that_changed_places_are_named(used: bo.Ledger) -> None:
    edit(
        used.path,
        "UPDATE events SET number = 99 WHERE number = 3",
        "UPDATE events SET number = 3 WHERE number = 5",
        "UPDATE events SET number = 5 WHERE number = 99",
    )
    assert refused(used.path).row == 3


def test_r20_the_last_events_taken_away_with_the_head_moved_back_are_noticed_by_who_saw_them(
    used: bo.Ledger,
) -> None:
    """The chain alone cannot tell; the witness can (R25), and whoever has the ledger open."""
    edit(
        used.path,
        "DELETE FROM events WHERE number > 4",
        "UPDATE head SET events = 4, hash = (SELECT hash FROM events WHERE number = 4)",
    )
    with pytest.raises(LedgerError, match="replaced by an older copy, or edited"):
        used.left("d")
    assert "has 4 events, and had" in str(refused(used.path))


@pytest.mark.parametrize(
    ("number", "before", "after", "reason"),
    [
        (1, '"version":1', '"version":2', "of version 2"),
        (1, '"kind":"begin"', '"kind":"void"', "Field required"),
        (2, '"total":"1.0"', '"total":"1000000"', "the caps are none"),
        (2, '"total":"1.0"', '"total":1.0', "valid string"),
        (2, '"waves":1', '"waves":1,"more":2', "Extra inputs"),
        (3, '"epsilon":"0.25"', '"epsilon":"0.05"', "its parts make"),
        (3, '"dataset":"d"', '"dataset":"e"', "is not registered"),
        (3, '"ahead":false', '"ahead":0', "valid boolean"),
        (4, '"release":"r1"', '"release":"r9"', "is not reserved"),
        (5, '"release":"r2"', '"release":"r1"', "is there already"),
        (6, '"rows":3', '"rows":-3', "greater than or equal to 0"),
        (6, '"rows":3', '"rows":3.0', "valid integer"),
        (6, "}", "", "EOF"),
    ],
)
def test_r20_an_event_that_cannot_be_is_refused_even_with_a_chain_that_fits(
    used: bo.Ledger, number: int, before: str, after: str, reason: str
) -> None:
    with closing(sqlite3.connect(used.path)) as database:
        (text,) = database.execute("SELECT event FROM events WHERE number = ?", (number,)).fetchone()
    assert before in text
    forge(used.path, number, text.replace(before, after).encode())
    found = refused(used.path)
    assert reason in str(found)
    assert found.row == number


@pytest.mark.parametrize(
    ("number", "before", "after", "reason"),
    [
        (11, '"release":"r4"', '"release":"r3"', "'r3' was drawn"),
        (9, '"release":"r3"', '"release":"r2"', "'r2' is not reserved"),
        (12, '"release":"r3"', '"release":"r2"', "'r2' is not reserved"),
        (12, '"release":"r3"', '"release":"r5"', "'r5' is not reserved"),
    ],
)
def test_r20_a_forged_event_gives_back_nothing_that_was_drawn(
    used: bo.Ledger, number: int, before: str, after: str, reason: str
) -> None:
    for name in ("r3", "r4"):
        used.reserve("d", charge(("a", "0.1")), name)
        if name == "r3":
            used.begin(name)
    used.void("r4")
    used.repeat("d", cells="d" * 64, rows=3, release="r3")
    event = dict(used.events())[number]
    forge(used.path, number, text_of(event).replace(before.encode(), after.encode()))
    found = refused(used.path)
    assert reason in str(found)
    assert found.row == number


def test_r20_a_second_beginning_is_refused(used: bo.Ledger) -> None:
    with closing(sqlite3.connect(used.path)) as database:
        (text,) = database.execute("SELECT event FROM events WHERE number = 1").fetchone()
    forge(used.path, 3, text.encode())
    assert "a ledger begins with its first event, and once" in str(refused(used.path))


def test_r20_another_key_is_refused(used: bo.Ledger) -> None:
    edit(used.path, "UPDATE secret SET key = randomblob(32)")
    assert "its key is not the one that it began with" in str(refused(used.path))
    with pytest.raises(LedgerError, match="its key is not the one"):
        used.keyed("cells")
    edit(used.path, "UPDATE secret SET key = 7")
    assert "its key is none" in str(refused(used.path))
