"""Key files: strict JSON that only its owner can read.

    {"format": "budget-opt/key", "version": 1, "data": "health survey 2026", "number": 1,
     "key": "…", "check": "…"}

`key` is the 32 bytes in hexadecimal, `check` eight that follow from all the rest: a changed file would give
other words in silence, and so a second noisy copy of everybody (R20). No message, and nothing that hangs
on one, shows anything of a file's content.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from budget_opt.errors import InputError
from budget_opt.randomizer.words import KEY_BYTES, derived_key
from budget_opt.tables.translation import translated
from budget_opt.tables.whole_files import sync_folder

FORMAT = "budget-opt/key"
VERSION = 1

_MANIFEST = "manifest.json"
"""What stands beside the table in the folder of a release."""

_FIELDS = ("format", "version", "data", "number", "key", "check")
_CHECK_BYTES = 8
_LARGEST_FILE = 2**16
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class KeyDocument(NamedTuple):
    """What a key file holds; `data` and `number` are as they stand there."""

    data: Any
    number: Any
    key: bytes

    def __repr__(self) -> str:
        return f"KeyDocument(data={self.data!r}, number={self.number!r})"


def write_key(path: Path, document: KeyDocument) -> None:
    """Make the file with mode 0600, and with it the folders that are missing with mode 0700.

    It is on the disk when this returns. Raises `InputError` where there is something at the path, the
    folder holds a release or others can write into it, or the file cannot be written; then none is left.
    """
    values = (FORMAT, VERSION, document.data, document.number, document.key.hex(), _check(document))
    content = json.dumps(dict(zip(_FIELDS, values, strict=True)), ensure_ascii=False, indent=2) + "\n"
    with _told(path):
        _require_no_release(path)
        _make_private(path.parent)
        _require_private_folder(path)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flag("O_NOFOLLOW"), 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode())
                file.flush()
                os.fsync(file.fileno())
            if os.name == "posix":
                sync_folder(path.parent)
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def read_key(path: Path) -> KeyDocument:
    """The content of a key file; `InputError` where others can read it, and for anything but a key file."""
    with _told(path):
        _require_private_folder(path)
        # by an opener, so that what it opened is closed even where that is a folder
        with open(path, "rb", opener=_opened_itself) as file:
            status = os.fstat(file.fileno())
            _require_own_file(path, status)
            content = file.read(_LARGEST_FILE + 1)
            _require_private_file(path, status, content)
    return _parsed(path, content)


def _parsed(path: Path, content: bytes) -> KeyDocument:
    # the failure of a reader carries the whole text, and so the key
    fields = translated(lambda: _json(content), lambda failure: _refusal(path, "is not JSON"))
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise _refusal(path, f'has not "format": "{FORMAT}"')
    if fields.get("version") != VERSION or isinstance(fields["version"], bool | float):
        raise _refusal(path, f'has not "version": {VERSION}, the only one that is read here')
    if set(fields) != set(_FIELDS):
        raise _refusal(path, f"must have exactly the fields {', '.join(_FIELDS)}")
    key = fields["key"]
    if not isinstance(key, str) or len(key) != 2 * KEY_BYTES or not set(key) <= set("0123456789abcdef"):
        raise _refusal(path, f"must have a key of {2 * KEY_BYTES} hexadecimal digits")
    document = KeyDocument(fields["data"], fields["number"], bytes.fromhex(key))
    if fields["check"] != _check(document):
        raise _refusal(path, "its data, number, key or check have been changed")
    return document


def _check(document: KeyDocument) -> str:
    """What no other content has but one of 2^64; it follows from the key and tells nothing of it."""
    named = json.dumps((FORMAT, VERSION, "check", document.data, document.number))
    return derived_key(document.key, named.encode("ascii"))[:_CHECK_BYTES].hex()


def _json(content: bytes) -> Any:
    return json.loads(content.decode(), object_pairs_hook=_distinct, parse_constant=_no_number)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands twice")
    return fields


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _refusal(path: Path, what: str) -> InputError:
    return InputError(
        f"{path}: is no whole key file: {what}. Use the file that KeyedRelease.write made, unchanged."
    )


def _require_own_file(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: is not a file. Give the path of a key file.")
    if os.name == "posix" and status.st_uid not in (os.geteuid(), 0):
        raise InputError(f"{path}: belongs to somebody else, who knows the key. Use a key file of your own.")


def _require_private_file(path: Path, status: os.stat_result, content: bytes) -> None:
    """`InputError` where others can use it, which also says where it is no key file in the first place."""
    if os.name != "posix":
        return
    if status.st_mode & _OTHERS:
        if FORMAT.encode() not in content:
            raise _refusal(path, f'has not "format": "{FORMAT}", and others than its owner can use it')
        raise InputError(
            f"{path}: can be used by others than its owner (mode {stat.S_IMODE(status.st_mode):04o}, must be "
            "0600). If nobody had access to it: chmod 600. Else whoever did can undo the release."
        )


def _require_private_folder(path: Path) -> None:
    """`InputError` where others can put another file in the place of this one."""
    if os.name != "posix":
        return
    mode = path.parent.stat().st_mode
    if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
        raise InputError(
            f"{path}: others can write into its folder (mode {stat.S_IMODE(mode):04o}). Use a folder of your "
            "own: chmod 700."
        )


def _require_no_release(path: Path) -> None:
    """`InputError` where the folder of the key is one that is passed on."""
    if (path.parent / _MANIFEST).exists():
        raise InputError(
            f"{path}: its folder holds a release ({_MANIFEST}), and whoever gets the key with it has the "
            "originals. Choose another folder, which is never passed on."
        )


def _make_private(folder: Path) -> None:
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)  # another process may have made it by now


def _opened_itself(path: str, flags: int) -> int:
    """No link is followed, and no pipe is waited for."""
    return os.open(path, flags | _flag("O_NOFOLLOW") | _flag("O_NONBLOCK"))


def _flag(name: str) -> int:
    """A flag of `os.open`, 0 where the system has none of the kind."""
    return int(getattr(os, name, 0))


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system refuses, as `InputError`."""
    try:
        yield
    except FileExistsError:
        raise InputError(f"{path}: exists, and a key is never overwritten. Choose another path.") from None
    except OSError as failure:
        if failure.errno == errno.ELOOP:
            raise InputError(f"{path}: is a symbolic link. Give the path of the file itself.") from None
        raise InputError(f"{path}: cannot be used ({failure.strerror}). Check the path.") from None
    except InputError:
        raise
    except ValueError:
        raise InputError(f"{str(path)!r}: can be the name of no file. Check the path.") from None
