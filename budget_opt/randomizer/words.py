"""Uniform random words, one stream a purpose, each word drawn once (DESIGN 2.8).

Single use: a key of 32 bytes from the operating system for every release. Word i of a stream is word i,
little-endian, of the AES-256-CTR key stream (counter from 0) under HKDF-SHA256(key, context). Words are
ideal up to what AES is as a pseudo-random function; who has the key can undo the release, so nothing
gives it away: it is no argument, no attribute of a result, in no message, and dropped at the end.
"""

from __future__ import annotations

import os
import threading
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from budget_opt.errors import RandomSourceError

KEY_BYTES = 32

Words = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
"""Words of 32 or 64 bits, shape (n,); of 128 bits as (n, 2) with the low half first."""


class WordStream(Protocol):
    """The words of one context, in their order."""

    def take(self, count: int) -> Words:
        """The next `count` words; `RandomSourceError` if there is any doubt about them."""


class WordSource(Protocol):
    """Where words come from."""

    def stream(self, context: bytes, bits: int) -> WordStream:
        """The stream of a context, of words of `bits` bits; a context can be asked for once."""

    def close(self) -> None:
        """Drop the key; no stream gives a word afterwards."""


class _NeverCopied:
    """Refuses to be copied or pickled: two copies would give the same words twice (R6)."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled: its words would be used twice")

    def __copy__(self) -> NoReturn:
        self.__reduce_ex__(None)

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce_ex__(None)


class _KeyStream(_NeverCopied):
    """The AES-256-CTR key stream of one context, continued from take to take."""

    def __init__(self, key: bytes, bits: int) -> None:
        self._bits = bits
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._cipher: CipherContext | None = Cipher(
            algorithms.AES(key), modes.CTR(bytes(algorithms.AES.block_size // 8))
        ).encryptor()

    def take(self, count: int) -> Words:
        """The next `count` words."""
        size = count * self._bits // 8
        with self._lock:
            _require_same_process(self._process)
            if self._cipher is None:
                raise RandomSourceError("the random source is closed: its words are for one release.")
            try:
                block = self._cipher.update(bytes(size))
            except Exception as failure:  # noqa: BLE001 - whatever a cipher raises, the release must stop
                raise RandomSourceError(f"the key stream failed ({type(failure).__name__}).") from None
        if len(block) != size:
            raise RandomSourceError(f"the key stream gave {len(block)} bytes instead of {size}.")
        words = np.frombuffer(block, dtype="<u4" if self._bits == 32 else "<u8")
        return words.reshape(count, 2) if self._bits == 128 else words

    def close(self) -> None:
        """Forget the key."""
        with self._lock:
            self._cipher = None


class _KeyedWords(_NeverCopied):
    """Streams under one key, each context at most once."""

    def __init__(self, key: bytes) -> None:
        self._key: bytes | None = key
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._streams: dict[bytes, _KeyStream] = {}

    def stream(self, context: bytes, bits: int) -> WordStream:
        """The stream of a context; a second time is an error, as a word is never used twice (R6)."""
        with self._lock:
            _require_same_process(self._process)
            if self._key is None:
                raise RandomSourceError("the random source is closed: its words are for one release.")
            if context in self._streams:
                raise RandomSourceError("the same words were asked for twice: every context has one stream.")
            derived = HKDF(SHA256(), KEY_BYTES, salt=None, info=context).derive(self._key)
            stream = self._streams[context] = _KeyStream(derived, bits)
        return stream

    def close(self) -> None:
        """Drop the key and end all streams."""
        with self._lock:
            self._key = None
            for stream in self._streams.values():
                stream.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class SecureWords(_KeyedWords):
    """The words of one release, under a fresh key from the operating system.

    Raises `RandomSourceError` where the operating system gives no key.
    """

    def __init__(self) -> None:
        super().__init__(_fresh_key())


class SeededWords(_KeyedWords):
    """Words that a test can repeat, from a public seed: what they release is not private."""

    def __init__(self, seed: int) -> None:
        super().__init__(
            HKDF(SHA256(), KEY_BYTES, salt=None, info=b"seed for tests").derive(str(seed).encode())
        )


def _fresh_key() -> bytes:
    try:
        key: Any = os.urandom(KEY_BYTES)
    except (OSError, NotImplementedError) as failure:
        raise RandomSourceError(
            f"the operating system gave no random bytes ({type(failure).__name__}); nothing was written."
        ) from None
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise RandomSourceError(f"the operating system gave too few of {KEY_BYTES} random bytes.")
    return key


def _require_same_process(process: int) -> None:
    if os.getpid() != process:
        raise RandomSourceError(
            "a forked process must not use the words of its parent: both would draw the same. "
            "Start the release in the process that randomizes."
        )
