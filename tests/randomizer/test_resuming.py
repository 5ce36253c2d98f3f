"""The parts of an unfinished release: lock, places, marks, journal, checkpoints, and giving files places."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.errors import DataError, InputError
from budget_opt.randomizer.resuming import lock, unfinished
from budget_opt.randomizer.resuming.journal import (
    FORMAT,
    VERSION,
    Circumstances,
    Journal,
    _digest,
    differences,
    read_journal,
)
from budget_opt.randomizer.resuming.lock import locked
from budget_opt.randomizer.resuming.marks import Mark, mark_of
from budget_opt.randomizer.resuming.places import Places, places_of
from budget_opt.randomizer.resuming.placing import Placement, place_all
from budget_opt.randomizer.resuming.unfinished import clear_remains, is_begun, open_unfinished
from budget_opt.tables.private_files import private_folder, remove_folder, require_private_folder
from budget_opt.tables.state_directory import STATE_DIR

CIRCUMSTANCES = Circumstances(
    target="/house/public/r.csv",
    source=Mark(path="/house/data.csv", files=1, size=10, changed_ns=5, listing_sha256="0" * 64),
    allocation_sha256="a" * 64,
    row_order="shuffle",
    software="budget-opt 1",
)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setenv(STATE_DIR, str(tmp_path / "state"))
    found = places_of(tmp_path / "public" / "r.csv")
    private_folder(found.root)
    return found


def test_a_lock_is_for_one_at_a_time_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path, "it"):
        with pytest.raises(InputError, match="it: another process works on this release"), locked(path, "it"):
            pass
        assert path.exists()
    assert not path.exists()


def test_the_lock_of_a_file_that_its_last_holder_removes_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, take, times = tmp_path / "lock", lock.take, []

    def removed_meanwhile(handle: int) -> None:
        if not times:
            path.unlink()
        times.append(handle)
        take(handle)

    monkeypatch.setattr(lock, "take", removed_meanwhile)
    with locked(path, "it"):
        assert len(times) == 2
        assert path.exists()


def test_a_target_has_the_same_places_by_every_way_that_leads_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STATE_DIR, str(tmp_path / "state"))
    (tmp_path / "public").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "public")
    monkeypatch.chdir(tmp_path)
    ways = [
        tmp_path / "public" / "r.csv",
        Path("public/r.csv"),
        Path("link/r.csv"),
        Path("public/../link/r.csv"),
    ]
    assert len({places_of(way) for way in ways}) == 1
    assert places_of(Path("public/s.csv")).state != places_of(Path("public/r.csv")).state


def test_without_the_variable_the_state_lies_in_the_users_own_state_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(STATE_DIR, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("HOME", str(tmp_path / "mine"))
    assert places_of(tmp_path / "public" / "r.csv").root.is_relative_to(tmp_path / "mine")


@pytest.mark.parametrize("target", ["r.csv", "state/r.csv", "state/public/r.csv"])
def test_r35_the_state_directory_is_never_in_what_is_passed_on_nor_that_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    (tmp_path / "elsewhere").symlink_to(tmp_path)  # the way there does not matter
    monkeypatch.setenv(STATE_DIR, str(tmp_path / "elsewhere" / "state"))
    with pytest.raises(InputError, match="state directory"):
        places_of(tmp_path / target)


def test_a_private_folder_is_made_for_its_owner_only_and_refused_where_others_can_enter(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a" / "b"
    private_folder(folder)
    assert [path.stat().st_mode & 0o777 for path in (folder, folder.parent)] == [0o700, 0o700]
    for mode in (0o701, 0o710, 0o750, 0o704, 0o777):
        folder.chmod(mode)
        with pytest.raises(InputError, match="chmod 700"):
            private_folder(folder)
    folder.chmod(0o700)
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(InputError, match="a link"):
        require_private_folder(tmp_path / "link")


def test_removing_a_folder_never_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").write_text("theirs")
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    with pytest.raises(InputError):
        remove_folder(tmp_path / "link")
    assert (tmp_path / "theirs" / "file").read_text() == "theirs"
    assert not remove_folder(tmp_path / "nothing")


def test_the_mark_of_a_folder_tells_a_change_of_any_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "part=1").mkdir()
    for name in ("part=1/a.parquet", "b.parquet"):
        (tmp_path / name).write_text("12345")
    first = mark_of(tmp_path)
    assert (first.files, first.size) == (2, 10)
    assert mark_of(tmp_path) == first
    os.utime(tmp_path / "part=1/a.parquet", ns=(0, 5))  # older: neither the size nor the latest change moves
    second = mark_of(tmp_path)
    assert second.listing_sha256 != first.listing_sha256
    (tmp_path / "b.parquet").rename(tmp_path / "c.parquet")
    assert mark_of(tmp_path).listing_sha256 != second.listing_sha256
    with pytest.raises(DataError, match="cannot be read"):
        mark_of(tmp_path / "nothing")


def test_what_differs_is_said_of_each_circumstance() -> None:
    source = CIRCUMSTANCES.source
    changes = {
        "target": ("/house/public/s.csv", "the target was /house/public/r.csv, is /house/public/s.csv"),
        "allocation_sha256": ("b" * 64, "the allocation is another one"),
        "row_order": ("public", "the order of rows was shuffle, is public"),
        "software": ("budget-opt 2", "the software was budget-opt 1, is budget-opt 2"),
    }
    for field, (value, said) in changes.items():
        assert differences(CIRCUMSTANCES, CIRCUMSTANCES.model_copy(update={field: value})) == [said]
    marks = {
        "path": ("/house/e.csv", "the original was /house/data.csv, is /house/e.csv"),
        "size": (12, "it had 10 bytes, has 12"),
        "files": (2, "it was of 1 file, is of 2"),
        "changed_ns": (6, "another time of change"),
        "listing_sha256": ("1" * 64, "another time of change"),
    }
    for field, (value, said) in marks.items():
        now = CIRCUMSTANCES.model_copy(update={"source": source.model_copy(update={field: value})})
        assert said in differences(CIRCUMSTANCES, now)[0]
    assert differences(CIRCUMSTANCES, CIRCUMSTANCES) == []


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    path = tmp_path_factory.mktemp("journal") / "journal.json"
    Journal(circumstances=CIRCUMSTANCES, rows=70, length=4000, new_folders=["/house/public"]).write(path)
    return path, path.read_bytes()


def test_a_journal_comes_back_as_it_was_written_and_holds_no_more_than_it_says(
    written: tuple[Path, bytes],
) -> None:
    path, content = written
    path.write_bytes(content)
    journal = read_journal(path)
    assert (journal.circumstances, journal.rows, journal.length) == (CIRCUMSTANCES, 70, 4000)
    assert set(json.loads(content)) == {
        *(
            "format",
            "version",
            "circumstances",
            "stage",
            "rows",
            "length",
            "new_folders",
            "report",
            "charge",
            "drawing",
            "originals",
        ),
        "sha256",
    }


def test_a_journal_of_before_there_were_ledgers_is_still_read(tmp_path: Path) -> None:
    circumstances = CIRCUMSTANCES.model_dump(mode="json", exclude={"ledger", "dataset"})
    content = {"format": FORMAT, "version": VERSION, "circumstances": circumstances, "stage": "writing"}
    content |= {"rows": 7, "length": 9, "new_folders": [], "report": None}
    (tmp_path / "journal.json").write_text(json.dumps({**content, "sha256": _digest(content)}))
    journal = read_journal(tmp_path / "journal.json")
    assert (journal.rows, journal.charge, journal.circumstances) == (7, None, CIRCUMSTANCES)


@given(data=st.data())
def test_a_journal_that_is_truncated_or_changed_in_any_byte_is_refused(
    written: tuple[Path, bytes], data: st.DataObject
) -> None:
    path, content = written
    at = data.draw(st.integers(0, len(content) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[at]))
    for damaged in (content[:at], content[:at] + bytes([byte]) + content[at + 1 :]):
        if damaged.split() == content.split():
            continue  # another blank between two fields
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="journal"):
            read_journal(path)


def test_checkpoints_are_not_more_frequent_than_they_need_to_be(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    release = open_unfinished(places, CIRCUMSTANCES)
    release.open_spool().file.write(b"12345678")
    for rows, seconds, noted in ((1, 0.0, 1), (2, 1.9, 1), (3, 0.2, 3), (4, 1.0, 3)):
        now[0] += seconds
        release.save(rows, rows)
        assert open_unfinished(places, CIRCUMSTANCES).journal.rows == noted
    release.drop()
    assert not is_begun(places)


def test_a_spool_that_is_shorter_than_its_journal_says_is_begun_anew_under_the_same_key(
    places: Places,
) -> None:
    release = open_unfinished(places, CIRCUMSTANCES)
    release.open_spool().file.write(b"12345678")
    release.save(5, 8)
    release.close()
    again = open_unfinished(places, CIRCUMSTANCES)
    assert again.open_spool()[1:] == (8, 5)
    again.close()
    os.truncate(places.rows, 7)
    cut = open_unfinished(places, CIRCUMSTANCES)
    assert cut.open_spool()[1:] == (0, 0)
    assert cut.release.derived(None, ()) == release.release.derived(None, ())
    cut.drop()


def test_a_key_without_a_journal_has_given_no_word_and_is_thrown_away(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(journal: Journal, path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "write", interrupted)
    monkeypatch.setattr(unfinished, "remove_folder", lambda folder: False)  # as if killed
    with pytest.raises(KeyboardInterrupt):
        open_unfinished(places, CIRCUMSTANCES)
    monkeypatch.undo()
    assert is_begun(places)
    assert (places.coming_state / "key.json").exists()
    clear_remains(places)
    assert not is_begun(places)


def test_files_get_their_places_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, public = tmp_path / "made", tmp_path / "public"
    made.mkdir()
    public.mkdir()
    placements = [Placement(made / name, public / name) for name in ("r.csv", "manifest.json")]
    for placement in placements:
        placement.made.write_text(placement.made.name)
    placements[1].place.write_text("of another release")
    with pytest.raises(InputError, match="not of this release"):
        place_all(placements)
    assert [path.name for path in public.iterdir()] == ["manifest.json"]

    placements[1].place.unlink()
    link = Path.hardlink_to

    def second_fails(place: Path, target: Path) -> None:
        if place.name == "manifest.json":
            raise FileExistsError
        link(place, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "hardlink_to", second_fails)
        with pytest.raises(InputError, match="not of this release"):
            place_all(placements)
    assert list(public.iterdir()) == []

    place_all(placements)
    place_all(placements)  # what is there already, byte for byte, stays
    assert {path.name: path.read_text() for path in public.iterdir()} == {
        "r.csv": "r.csv",
        "manifest.json": "manifest.json",
    }


def test_where_there_are_no_hard_links_files_are_moved_and_replace_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(place: Path, target: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    placement = Placement(tmp_path / "made", tmp_path / "place")
    placement.made.write_text("it")
    place_all([placement])
    assert placement.place.read_text() == "it"
    assert not placement.made.exists()

    def somebody_is_faster(place: Path, target: Path) -> None:
        place.write_text("of somebody else")
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", somebody_is_faster)
    other = Placement(tmp_path / "made", tmp_path / "other place")
    other.made.write_text("other")
    with pytest.raises(InputError, match="not of this release"):
        place_all([other])
    assert other.place.read_text() == "of somebody else"
