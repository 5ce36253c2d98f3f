"""The cells of an original, row by row, as one keyed hash: a later run must draw for the same ones."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

import numpy as np

from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.tables.encoding import Codes

_PURPOSE = ("cells of the original",)


class CodesDigest:
    """Takes the codes of all rows in their order, in whatever parts; the release's key keys it."""

    def __init__(self, release: KeyedRelease) -> None:
        self._key = release.derived(None, _PURPOSE)
        self._columns: dict[str, blake2b] = {}

    def add(self, codes: Mapping[str, Codes]) -> None:
        """Take the next rows, a column for each attribute."""
        for name, column in codes.items():
            hashed = self._columns.setdefault(name, blake2b(key=self._key))
            hashed.update(np.ascontiguousarray(column, dtype="<u4").data)

    def hexdigest(self) -> str:
        """The hash of what was taken."""
        whole = blake2b(key=self._key, digest_size=32)
        for name, column in sorted(self._columns.items()):
            whole.update(blake2b(name.encode(), key=self._key).digest() + column.digest())
        return whole.hexdigest()
