"""R25: a ledger that was restored from an older copy is noticed, by who used it and by the manifests."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import budget_opt as bo
from budget_opt.errors import InputError, LedgerError
from budget_opt.ledger import witness
from budget_opt.ledger.events import new_event, text_of
from budget_opt.tables.state_directory import STATE_DIR
from tests.ledger.charges import ALLOCATION, charge, forge, spend

ASKED = charge(("a", "0.25"))


@pytest.fixture
def used(ledger: bo.Ledger) -> bo.Ledger:
    ledger.register("d", bo.Caps(total=1.0))
    spend(ledger, "d", ASKED, "r1")
    return ledger


@pytest.fixture
def backup(used: bo.Ledger, tmp_path: Path) -> Path:
    """A copy from before the second release."""
    copy = tmp_path / "backup.db"
    shutil.copy2(used.path, copy)
    spend(used, "d", ASKED, "r2", cells="d" * 64)
    return copy


def manifest(folder: Path, number: int, allocation: str = ALLOCATION, **more: Any) -> Path:
    """A manifest as it lies beside a release."""
    document = {
        "format": "budget-opt/manifest",
        "version": 1,
        "allocation_sha256": allocation,
        "release": number,
        "rows": 3,
        **more,
    }
    path = folder / f"manifest {number} {allocation[:4]}.json"
    path.write_text(json.dumps(document))
    return path


def test_r25_a_restored_ledger_is_refused_with_the_way_out(used: bo.Ledger, backup: Path) -> None:
    shutil.copy2(backup, used.path)
    with pytest.raises(LedgerError) as found:
        bo.Ledger.open(used.path)
    for words in (str(used.path), "has 4 events, and had 6", "older copy", "ledger accept", "ledger record"):
        assert words in str(found.value)
    assert used.path.read_bytes() == backup.read_bytes()


def test_r25_whoever_has_it_open_notices_too(used: bo.Ledger, backup: Path) -> None:
    shutil.copy2(backup, used.path)
    with pytest.raises(LedgerError, match="replaced by an older copy"):
        used.reserve("d", ASKED, "r3")


def test_r25_a_backup_elsewhere_is_the_same_ledger_and_noticed(backup: Path) -> None:
    with pytest.raises(LedgerError, match="older copy"):
        bo.Ledger.open(backup)


def test_r25_two_copies_that_both_went_on_are_noticed(
    used: bo.Ledger, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv(STATE_DIR, str(tmp_path / "another machine"))
        other = bo.Ledger.open(backup)
        for number in range(3, 5):
            spend(other, "d", ASKED, f"r{number}", cells=f"{number:064x}")
    with pytest.raises(
        LedgerError, match=r"its event 6 is not the one .* two copies of this ledger went on apart"
    ):
        bo.Ledger.open(backup)
    assert bo.Ledger.open(used.path).left("d").total == 0.5


def test_r25_an_older_copy_that_is_accepted_says_so_for_ever(used: bo.Ledger, backup: Path) -> None:
    shutil.copy2(backup, used.path)
    accepted = bo.Ledger.open(used.path, older="the disk broke, and this is the last backup")
    found = [event for _, event in accepted.events() if event["kind"] == "older"]
    assert [(event["seen"], event["why"]) for event in found] == [
        (6, "the disk broke, and this is the last backup")
    ]
    accepted.add_release("d", ASKED, "release 2, lost with the disk")
    assert bo.Ledger.open(used.path).left("d").total == 0.5
    assert bo.Ledger.open(used.path).reserve("d", ASKED, "r3").number == 3


def test_r25_the_newer_file_beside_an_accepted_copy_is_noticed(
    used: bo.Ledger, backup: Path, tmp_path: Path
) -> None:
    newer = tmp_path / "newer.db"
    shutil.copy2(used.path, newer)
    accepted = bo.Ledger.open(backup, older="it was lost")
    accepted.add_release("d", ASKED, "release 2")
    with pytest.raises(
        LedgerError, match="the newer file that turned up after an older copy had been accepted"
    ):
        bo.Ledger.open(newer)


def test_r25_nothing_is_accepted_where_nothing_is_wrong(used: bo.Ledger) -> None:
    before = used.path.read_bytes()
    bo.Ledger.open(used.path, older="to be sure")
    assert used.path.read_bytes() == before


def test_r25_the_manifests_of_later_releases_are_not_known_to_an_older_copy(
    used: bo.Ledger, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The counter in the manifest: it is noticed where no witness is, as on another machine."""
    manifests = [manifest(tmp_path, number) for number in (1, 2)]
    assert [(one.holds, one.dataset) for one in used.check(manifests)] == [(True, "d"), (True, "d")]
    monkeypatch.setenv(STATE_DIR, str(tmp_path / "another machine"))
    first, second = bo.Ledger.open(backup).check(manifests)
    assert first.holds
    assert str(first).startswith("counted ")
    assert not second.holds
    assert "is release 2 of a data set, and this ledger has at most 1 of one" in second.said
    assert "restored from before that release" in second.said
    assert str(second).startswith("NOT KNOWN ")


def test_r25_a_release_under_another_allocation_or_that_was_given_up_is_not_counted(
    used: bo.Ledger, tmp_path: Path
) -> None:
    used.reserve("d", ASKED, "r2")
    used.void("r2")
    used.reserve("d", ASKED, "r3")
    given_up, other, unfinished = used.check(
        [manifest(tmp_path, 2), manifest(tmp_path, 1, "f" * 64), manifest(tmp_path, 3)], "d"
    )
    assert not given_up.holds
    assert "was given up, and is not counted" in given_up.said
    assert not other.holds
    assert "under an allocation that this ledger does not know by that number" in other.said
    assert (unfinished.holds, unfinished.certain) == (True, False)
    assert unfinished.said.startswith("release 3 of d, reserved: ")


def test_r25_releases_of_other_data_sets_do_not_count_where_one_is_named(
    used: bo.Ledger, tmp_path: Path
) -> None:
    used.register("e", bo.Caps(total=1.0))
    (found,) = used.check([manifest(tmp_path, 1)], "e")
    assert not found.holds
    with pytest.raises(InputError, match="is not a data set"):
        used.check([], "f")


def test_r25_what_is_no_manifest_is_refused(used: bo.Ledger, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no manifest"):
        used.check([manifest(tmp_path, 1, release="1")])
    (tmp_path / "p.json").write_text('{"format": "budget-opt/problem", "version": 1}')
    with pytest.raises(InputError, match="format"):
        used.check([tmp_path / "p.json"])


@pytest.mark.parametrize("steps", [1, 2])
def test_r25_the_last_event_cannot_be_taken_away_or_put_in_the_place_of_another(
    used: bo.Ledger, tmp_path: Path, steps: int
) -> None:
    """The witness follows at once: a ledger from before the last call is an older copy."""
    copies = []
    for call in (
        lambda: used.change("d", bo.Caps(total=2.0), "more"),
        lambda: used.add_release("d", ASKED, "made by hand"),
        lambda: used.reserve("d", ASKED, "r3"),
        lambda: used.confirm("r3", cells="e" * 64, rows=1, allocation_sha256=ALLOCATION),
    ):
        copies.append(used.path.read_bytes())
        call()
        newest = used.path.read_bytes()
        used.path.write_bytes(copies[-min(steps, len(copies))])
        with pytest.raises(LedgerError, match="restored from an older copy"):
            bo.Ledger.open(used.path)
        used.path.write_bytes(newest)
    last = len(used.events())
    void = new_event("void", release="r3", why="nothing was drawn")
    forge(used.path, last, text_of(void))
    with pytest.raises(LedgerError, match=f"its event {last} is not the one"):
        bo.Ledger.open(used.path)


def test_r25_of_two_copies_that_are_open_only_one_goes_on(used: bo.Ledger, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy2(used.path, copy)
    other = bo.Ledger.open(copy)
    used.reserve("d", ASKED, "r2")
    with pytest.raises(LedgerError, match="restored from an older copy"):
        other.reserve("d", ASKED, "r3")
    used.reserve("d", ASKED, "r4")
    assert (used.spent("d").total, other.spent("d").total) == (0.75, 0.25)


def test_r25_the_witness_never_goes_back(used: bo.Ledger) -> None:
    """Who read the ledger before somebody else appended has an older head to note."""
    before = witness.seen(used.id)
    used.reserve("d", ASKED, "r2")
    after = witness.seen(used.id)
    witness.follow(used.id, None, before, used.path)
    witness.follow(used.id, before, before, used.path)
    assert (before.events, witness.seen(used.id)) == (4, after)


def test_r25_a_witness_that_is_behind_catches_up(used: bo.Ledger) -> None:
    """As after a kill between an event and its witness."""
    behind = witness.seen(used.id)
    used.reserve("d", ASKED, "r2")
    witness.note(used.id, behind, used.path)
    bo.Ledger.open(used.path)
    assert witness.seen(used.id).events == 5


def test_r25_the_message_has_the_steps_in_the_order_that_works(
    used: bo.Ledger, backup: Path, tmp_path: Path
) -> None:
    lost = manifest(tmp_path, 2)
    shutil.copy2(backup, used.path)
    with pytest.raises(LedgerError) as found:
        bo.Ledger.open(used.path)
    said = str(found.value)
    steps = [said.index(f"{number}. ") for number in (1, 2, 3)]
    assert steps == sorted(steps)
    words = ("ledger accept", "ledger check", "ledger record", "Changes of caps")
    assert [said.index(one) for one in words] == sorted(said.index(one) for one in words)
    accepted = bo.Ledger.open(used.path, older="the disk broke")
    assert not accepted.check([lost])[0].holds
    accepted.add_release("d", ASKED, "lost with the disk")
    assert accepted.check([lost])[0].holds


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"ledger": "x"}', b'{"events": 1, "hash": "", "ledger": "%s"}', b"\xff"]
)
def test_r25_a_damaged_witness_is_no_reason_to_believe(used: bo.Ledger, content: bytes) -> None:
    path = witness.witness_path(used.id)
    path.write_bytes(content.replace(b"%s", used.id.encode()))
    with pytest.raises(InputError, match=r"is damaged.*delete this file"):
        bo.Ledger.open(used.path)


def test_r25_the_witness_is_never_ahead_of_the_ledger(
    used: bo.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a crash between the two would look like a restored copy."""
    seen = []
    note = witness.note

    def watched(ledger: str, now: witness.Head, place: Path) -> None:
        note(ledger, now, place)
        seen.append((now.events, bo.Ledger.open(used.path)))

    monkeypatch.setattr(witness, "note", watched)
    used.reserve("d", ASKED, "r2")
    assert [number for number, _ in seen] == [5]
    monkeypatch.undo()
    assert len(bo.Ledger.open(used.path).events()) == 5
    assert witness.seen(used.id).events == 5
