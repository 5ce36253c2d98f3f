"""A release that can be made again, word for word: a key that is kept, a data set, and a number.

Data, number and key name *one* release of one table. To randomize the same rows again with them, in whatever
parts and wherever, gives the same reports and costs nothing further. Another number is another release of
everybody, with words of its own, whose loss adds; so is another allocation. The guarantee is that of AES-256
as a pseudo-random function, against everyone without the key. Four things are the owner's part:

- **The key is worth the originals.** Whoever has it and the release can recover them. It lies in a file that
  only its owner can read, never beside the release, and is deleted when nothing has to be repeated any more.
- **A row's name stands for the same record for ever.** An id that is given to somebody else later would give
  them the first one's words: equal reports would then say that values may be equal. Positions name the rows
  only of a table that does not change.
- **No two rows share a name.** Rows with equal names and equal values have equal reports, so that different
  reports say for certain that the values differ. Duplicate ids are refused (`unique_names`).
- **One number is for one state of the data.** A value that has changed in between, in a correction or in the
  next wave, gets an independent report, whose loss adds for that record; and whoever sees both releases
  learns from two different reports of a row, for certain, that its value changed (a value that goes back
  has its first report again). Where a change is itself a secret, every wave takes a number of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from budget_opt.errors import InputError
from budget_opt.model.arguments import require_path
from budget_opt.randomizer.context import Field, keyed_context
from budget_opt.randomizer.key_files import KeyDocument, read_key, write_key
from budget_opt.randomizer.words import derived_key, fresh_key

LONGEST_NAME = 1000
LARGEST_NUMBER = 2**53


class KeyedRelease:
    """One release under a key that is kept: `KeyedRelease("health survey 2026", number=1)`.

    Draws a fresh key from the operating system, which stays in memory until `write` puts it into a file,
    from which `read` has it again. `data` names the data set (text, at most 1000 characters), `number`
    the release of it, from 1. Nothing shows the key, and the object is neither copied nor pickled.
    Raises `InputError` for what is no name or number, and `RandomSourceError` where the system gives no key.

    >>> KeyedRelease("health survey 2026", number=2)
    KeyedRelease(data='health survey 2026', number=2)
    """

    __slots__ = ("_data", "_number", "_secret")

    def __init__(self, data: str, number: int = 1) -> None:
        _require_names(data, number)
        # plain ones: a class of its own may be written to a file as something else than words are drawn for
        self._data, self._number = str.__str__(data), int(number)
        self._secret = _Secret(fresh_key())

    @classmethod
    def read(cls, path: str | Path) -> KeyedRelease:
        """The release of a key file; `InputError` for a file that others can read, or that is no key file."""
        document = read_key(require_path(path, "path"))
        release = cls(document.data, document.number)
        release._secret = _Secret(document.key)
        return release

    def write(self, path: str | Path) -> None:
        """Write the key file, readable by its owner only; folders that are missing are made so, too.

        Raises `InputError` where the path exists (a key is never overwritten), where its folder holds a
        release or others can write into it, and where it cannot be written.
        """
        write_key(require_path(path, "path"), KeyDocument(self._data, self._number, self._secret.content))

    @property
    def data(self) -> str:
        """The name of the data set."""
        return self._data

    @property
    def number(self) -> int:
        """The number of this release of the data set, from 1."""
        return self._number

    def derived(self, row_id: str | None, purpose: Sequence[Field]) -> bytes:
        """The key of 32 bytes for one purpose, where rows are named by a column, or by position (None)."""
        context = keyed_context(self._data, self._number, row_id, purpose)
        return derived_key(self._secret.content, context)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(data={self._data!r}, number={self._number})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be copied or pickled: its key would lie where the pickle does, "
            "and whoever has the key can undo the release. Use write(path) and read(path); to other "
            "processes send what randomizes there, such as a BatchRandomizer, which has derived keys only."
        )

    def __copy__(self) -> NoReturn:
        self.__reduce_ex__(None)

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce_ex__(None)


class KeyedRows(NamedTuple):
    """A keyed release, and what names its rows: a column of ids, or their positions (None)."""

    release: KeyedRelease
    row_id: str | None = None


class _Secret:
    """Bytes that are not shown by accident."""

    __slots__ = ("content",)

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __repr__(self) -> str:
        return "<secret>"


def _require_names(data: object, number: object) -> None:
    if not isinstance(data, str) or not data.strip() or len(data) > LONGEST_NAME or not _is_unicode(data):
        raise InputError(
            f"data: must be text of 1 to {LONGEST_NAME} characters. Name the data set, for instance "
            '"health survey 2026".'
        )
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= LARGEST_NUMBER:
        raise InputError(
            f"number: is {number!r}, must be an integer from 1 to 2^53. Number the releases of a data set."
        )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
