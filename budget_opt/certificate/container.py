"""A zip archive of one JSON text and plain arrays (.npy), the same bytes for the same content.

Nothing in it is ever executed or unpickled. Whoever opens one says which members it may have, of which type
and shape; anything else is refused before it is read, and no more is unpacked than was declared.
"""

from __future__ import annotations

import hashlib
import io
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from budget_opt.errors import CertificateError, InputError
from budget_opt.model.documents import parse_document

LARGEST = 2**32
"""Bytes in all members together; a search of a minute makes a hundredth of it."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16
_UNIX = 3
_HEADER_LIMIT = 4096
AnyArray = npt.NDArray[np.generic]


class Shape(NamedTuple):
    """What an array must be: its type, and its sizes with None for one that the file chooses."""

    dtype: str
    sizes: tuple[int | None, ...]


def packed_bytes(text: Mapping[str, str], arrays: Mapping[str, AnyArray]) -> bytes:
    """The archive of these texts and arrays, in their order."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in text.items():
            archive.writestr(_entry(name), content.encode("utf-8"))
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), (1, 0), allow_pickle=False)
            archive.writestr(_entry(f"{name}.npy"), member.getvalue())
    return target.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _LONG_AGO)
    entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, _READABLE, _UNIX
    return entry


class Container:
    """An archive that is being read; every fault is a `CertificateError` that names the member."""

    def __init__(self, path: str | Path, content: bytes) -> None:
        self._path = path
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
            raise CertificateError(
                f"{path}: is no zip archive, or part of one. Give the whole file that solve or design wrote."
            ) from None
        entries = self._archive.infolist()
        self._sizes = {entry.filename: entry.file_size for entry in entries}
        if len(self._sizes) < len(entries):
            raise CertificateError(f"{path}: has a member twice. The file was changed or is damaged.")
        if sum(self._sizes.values()) > LARGEST:
            raise CertificateError(
                f"{path}: unpacks to {sum(self._sizes.values())} bytes, at most {LARGEST} are read. "
                "Prove the bound with fewer boxes, for instance to a larger gap."
            )

    @classmethod
    def of_file(cls, path: str | Path) -> tuple[Container, str]:
        """The archive in a file, and the file's SHA-256 in hexadecimal digits."""
        try:
            content = Path(path).read_bytes()
        except (OSError, ValueError) as failure:
            why = failure.strerror if isinstance(failure, OSError) else failure
            raise CertificateError(f"{path}: cannot be read ({why}). Check the path.") from None
        return cls(path, content), hashlib.sha256(content).hexdigest()

    def text(self, name: str) -> str:
        """A text member."""
        content = self._read(name)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise self.fault(name, "is not UTF-8") from None

    def require_members(self, names: set[str]) -> None:
        """Raise unless the archive has exactly these members."""
        for name in sorted(set(self._sizes) - names):
            raise self.fault(name, "does not belong into this certificate")
        for name in sorted(names - set(self._sizes)):
            raise self.fault(name, "is missing")

    def holds(self, member: str) -> bool:
        """True where there is a member of this name."""
        return member in self._sizes

    def has(self, array: str) -> bool:
        """True where there is an array of this name."""
        return f"{array}.npy" in self._sizes

    def array(self, name: str, expected: Shape) -> AnyArray:
        """An array of the expected type and shape."""
        member = f"{name}.npy"
        content = self._read(member)
        source = io.BytesIO(content)
        try:
            version = np.lib.format.read_magic(source)
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(source, _HEADER_LIMIT)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, tokenize.TokenError):
            raise self.fault(member, "is no array") from None
        if version != (1, 0):
            raise self.fault(member, "is an array of another version than 1.0")
        fits = len(shape) == len(expected.sizes) and all(
            size in (None, stated) for size, stated in zip(expected.sizes, shape, strict=True)
        )
        if fortran or dtype.str != expected.dtype or not fits:
            wanted = tuple("any" if size is None else size for size in expected.sizes)
            raise self.fault(
                member, f"has type {dtype.str} and shape {shape}, must have {expected.dtype} and {wanted}"
            )
        count = int(np.prod(shape, dtype=object))
        if len(content) - source.tell() != count * dtype.itemsize:
            raise self.fault(member, "is shorter or longer than it says")
        return np.frombuffer(content, dtype, count, source.tell()).reshape(shape)

    def numbers(self, name: str, expected: Shape, *, signed: bool = False) -> Any:
        """An array of finite numbers, >= 0 unless `signed`."""
        found: Any = self.array(name, expected)
        sound = np.isfinite(found) & (signed | (found >= 0))
        if not np.all(sound):
            first = tuple(int(i) for i in np.argwhere(~sound)[0])
            limit = "finite" if signed else "finite and >= 0"
            raise CertificateError(
                f"{self._path}: {name}.npy is {found[first]!s} at {list(first)}, must be {limit}. "
                "The file was changed or is damaged."
            )
        return found

    def _read(self, name: str) -> bytes:
        if name not in self._sizes:
            raise self.fault(name, "is missing")
        try:
            with self._archive.open(name) as member:
                content = member.read(self._sizes[name] + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
            raise self.fault(name, "cannot be unpacked") from None
        if len(content) != self._sizes[name]:
            raise self.fault(name, "is shorter or longer than it says")
        return content

    def fault(self, name: str, what: str) -> CertificateError:
        """What is wrong with a member."""
        shown = name if name.isprintable() else repr(name)
        return CertificateError(
            f"{self._path}: {shown[:80]} {what}. The file was changed, is damaged, or is of another problem."
        )


def begins_as(path: str | Path, header: str, kind: str, version: int) -> bool:
    """True where a file is an archive whose JSON text is of this format and version; no array is read."""
    try:
        container, _ = Container.of_file(path)
        found = parse_document(container.text(header), Path(path), kind, version, CertificateError)
    except InputError:
        return False
    return isinstance(found, dict)
