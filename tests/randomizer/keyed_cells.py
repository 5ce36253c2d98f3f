"""Attributes and keyed releases for tests, and what a word must be, computed one block at a time."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from budget_opt.allocation import AllocatedAttribute, AllocatedBlock
from budget_opt.mechanisms.sampler import sampler_for
from budget_opt.model.attribute import Attribute
from budget_opt.randomizer.keyed_release import KeyedRelease, _Secret
from budget_opt.tables.encoding import code_type


def attribute(
    name: str = "x",
    categories: Any = 3,
    epsilon: float = 1.0,
    *,
    least_bits: int = 32,
    other: str | None = None,
) -> AllocatedAttribute:
    declared = Attribute(name, categories=categories, other=other)
    sampler = sampler_for(epsilon, declared.cardinality, least_bits=least_bits)
    return AllocatedAttribute(declared, AllocatedBlock.alone(declared, epsilon, sampler))


def by_name(*attributes: AllocatedAttribute) -> dict[str, AllocatedAttribute]:
    return {one.name: one for one in attributes}


def parts(attributes: Mapping[str, AllocatedAttribute]) -> list[AllocatedBlock]:
    """What these attributes, none of a cluster, are randomized in."""
    return [one.part for one in attributes.values()]


def release_under(key: bytes, data: str = "survey", number: int = 1) -> KeyedRelease:
    """A release whose key is known."""
    release = KeyedRelease(data, number)
    release._secret = _Secret(key)
    return release


def codes_for(attributes: Mapping[str, AllocatedAttribute], codes: Sequence[int]) -> dict[str, Any]:
    """The same codes for every attribute, modulo its categories."""
    return {
        name: (np.asarray(codes) % one.cardinality).astype(code_type(one.cardinality))
        for name, one in attributes.items()
    }


def hkdf(key: bytes, info: bytes) -> bytes:
    """32 bytes of RFC 5869 with SHA-256 and no salt, with the standard library."""
    extracted = hmac.new(bytes(32), key, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()


def aes_block(key: bytes, block: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def word_by_hand(key: bytes, name: bytes, code: int, bits: int) -> int:
    """The low bits of AES-256 of the block (96 bits of name, 32 of code)."""
    block = aes_block(key, name + code.to_bytes(4, "little"))
    return int.from_bytes(block[: bits // 8], "little")


def integer_name(value: int) -> bytes:
    """The name of a row with this integer as its id or position."""
    return (value % 2**64).to_bytes(8, "little") + (1 if value < 0 else 0).to_bytes(4, "little")


def names_of(*values: int) -> npt.NDArray[np.uint32]:
    return np.frombuffer(b"".join(map(integer_name, values)), dtype="<u4").reshape(-1, 3)
