"""A place where one release is made, killed, and taken up again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import budget_opt as bo
from budget_opt.api.releasing.publishing import Watch
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.tables.private_files import remove
from tests.cli.killable import Ended, Killable, Order

ROWS = 500


class Kind(NamedTuple):
    """What is released into what, and how."""

    data: str
    target: str
    order: str


KINDS = {
    "csv": Kind("data.csv", "r.csv", "shuffle"),
    "parquet": Kind("data.parquet", "r.parquet", "public"),
    "folder": Kind("data.parquet", "r", "shuffle"),
}
PROBLEM = bo.Problem(
    name="links",
    total_epsilon=4.0,
    attributes=[
        bo.Attribute("smoker", categories=2),
        bo.Attribute("income", categories=5),
        bo.Attribute("region", categories=["north", "south", "east", "west"]),
    ],
    moments=[bo.CrossMoment("smoker", "income"), bo.CrossMoment("income", "region")],
    public=[{"name": "wave", "why": "the same for everybody"}],
    dropped=["person"],
)


def content(path: Path) -> object:
    """The bytes of a file, or those of a folder's files by name."""
    return {one.name: content(one) for one in path.iterdir()} if path.is_dir() else path.read_bytes()


class Desk:
    """A folder in which one release is made, killed, and taken up again."""

    def __init__(self, killable: Killable, folder: Path, inputs: Path, kind: str, *options: str) -> None:
        self._killable, self.folder, self.kind = killable, folder, KINDS[kind]
        self._known: dict[bytes, tuple[object, dict[str, object]]] = {}
        shutil.copytree(inputs, folder, dirs_exist_ok=True)
        self.target, self.key = folder / "public" / self.kind.target, folder / "kept key.json"
        self.command = (
            *("randomize", "allocation.json", self.kind.data, "-o", f"public/{self.kind.target}"),
            *("--row-order", self.kind.order, *options),
        )

    def run(self, *more: str, kill_after: float | None = None, **order: object) -> Ended:
        """Run the command with --resume, or with other options instead."""
        arguments = (*self.command, *(more or ("--resume",)))
        asked = Order(arguments, str(self.folder), keep_key=str(self.key), **order)
        return self._killable.run(asked, kill_after=kill_after)

    @property
    def workplace(self) -> Path:
        return self.target.with_name(f".{self.target.name}.unfinished")

    def state(self) -> list[str]:
        """What is in the state directory, but for what a killed process locked, and how far a ledger is."""
        paths = sorted((self.folder / "state").rglob("*"))
        return [path.name for path in paths if path.suffix != ".lock" and "ledgers" not in path.parts]

    def is_complete(self) -> bool:
        """Whether the release is whole and no key or journal is left."""
        return (self.folder / "public" / "manifest.json").exists() and not {"key.json", "journal.json"} & set(
            self.state()
        )

    def undisturbed(self) -> tuple[object, dict[str, object]]:
        """Table and internal report of a release under the same key."""
        key = self.key.read_bytes()
        if key not in self._known:
            self._known = {key: self._undisturbed()}
        return self._known[key]

    def _undisturbed(self) -> tuple[object, dict[str, object]]:
        allocation, path = bo.Allocation.read(self.folder / "allocation.json"), self.folder / self.target.name
        watch = Watch(allocation, self.folder / self.kind.data, self.target.name, "", self.folder)
        options = FileOptions(
            row_order=self.kind.order,
            release=KeyedRelease.read(self.key),
            on_batch=watch.judge.add,
        )
        randomize_file(self.folder / self.kind.data, allocation, path, options)
        found = content(path)
        remove(path)
        return found, json.loads(json.dumps(watch.judge.report().to_dict()))

    def require_whole(self) -> None:
        """The release is what an undisturbed one would be, and nothing else is left anywhere."""
        table, _ = self.undisturbed()
        public = self.folder / "public"
        names = sorted(path.name for path in public.iterdir())
        assert names == ["allocation.json", "manifest.json", self.kind.target]
        assert content(self.target) == table
        assert (public / "allocation.json").read_bytes() == (self.folder / "allocation.json").read_bytes()
        manifest = json.loads((public / "manifest.json").read_text())
        assert (manifest["rows"], manifest["table"], manifest["private"]) == (ROWS, self.kind.target, True)
        assert self.state() == []

    def require_nothing_half(self) -> None:
        """At the target is the whole table or nothing, and the key is in no file but its own."""
        if self.target.exists():
            assert content(self.target) == self.undisturbed()[0]
        if self.key.exists():
            digits = json.loads(self.key.read_text())["key"].encode()
            for path in self.folder.rglob("*"):
                if path.is_file() and path != self.key and path.name != "key.json":
                    found = path.read_bytes()
                    assert digits not in found
                    assert bytes.fromhex(digits.decode()) not in found
            assert list((self.folder / "public").rglob("key.json")) == []
