"""Keyed randomness: every draw is a pure function of ``(root seed, namespace, stream, key)``.

An extra call by one agent therefore never shifts the draws of anybody else (common random numbers), and a replay
needs no generator state. One digest per key is sliced into four uniforms, which keeps a draw at about a microsecond.
Policies draw from their own namespace, which contains the rollout id; world streams never do.
"""

from __future__ import annotations

import hashlib
import struct

import numpy as np

from masim.arrays import F64, U64

_UNPACK = struct.Struct("<4Q").unpack
_SCALE = 2.0**-53
Key = str | int


class Noise:
    """The keyed source of one ``(root seed, namespace)``. Stateless, so it is safe to share and to copy."""

    __slots__ = ("_base", "namespace", "root_seed")

    def __init__(self, root_seed: int, namespace: str) -> None:
        self.root_seed = root_seed
        self.namespace = namespace
        self._base = hashlib.blake2b(f"{root_seed}\x1f{namespace}\x1f".encode(), digest_size=32)

    def __reduce__(self) -> tuple[type[Noise], tuple[int, str]]:
        """Copy and pickle by what it was made of; a hash in progress can be neither."""
        return type(self), (self.root_seed, self.namespace)

    def uniforms(self, *key: Key) -> tuple[float, float, float, float]:
        """Return four independent uniforms in [0, 1) for a stream name and its semantic key."""
        return self.uniforms_at("\x1f".join(map(str, key)))

    def uniforms_at(self, text: str) -> tuple[float, float, float, float]:
        """Return what :meth:`uniforms` does for a key that was joined before, its parts divided by ``\\x1f``."""
        digest = self._base.copy()
        digest.update(text.encode())
        a, b, c, d = _UNPACK(digest.digest())
        return (a >> 11) * _SCALE, (b >> 11) * _SCALE, (c >> 11) * _SCALE, (d >> 11) * _SCALE

    def uniform(self, *key: Key) -> float:
        """Return one uniform in [0, 1)."""
        return self.uniforms(*key)[0]

    def generator(self, *key: Key) -> np.random.Generator:
        """Return a generator for bulk draws that are made up front (outage timelines, arrivals)."""
        digest = self._base.copy()
        digest.update("\x1f".join(map(str, key)).encode())
        return np.random.Generator(np.random.Philox(int.from_bytes(digest.digest()[:16], "little")))

    def seed64(self, *key: Key) -> int:
        """Return an unsigned 64-bit seed for :func:`mixed_uniforms`."""
        return self.seed64_at("\x1f".join(map(str, key)))

    def seed64_at(self, text: str) -> int:
        """Return what :meth:`seed64` does for a key that was joined before, its parts divided by ``\x1f``."""
        digest = self._base.copy()
        digest.update(text.encode())
        return int.from_bytes(digest.digest()[:8], "little")

    def permutation(self, n: int, *key: Key) -> list[int]:
        """Return a random order of ``range(n)``."""
        return [int(i) for i in self.generator(*key).permutation(n)]


def digest64(*parts: object) -> int:
    """Return an unsigned 64-bit content hash of the parts' text, stable across processes (never ``hash()``)."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def mixed_uniforms(seeds: U64, counters: U64) -> F64:
    """Return a uniform in [0, 1) for every (seed, counter) pair, by SplitMix64's finaliser over arrays.

    One digest gives a decision's seed; this spreads it over the candidates, keyed by what each candidate is.
    """
    z = seeds + (counters + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.asarray((z >> np.uint64(11)).astype(np.float64) * _SCALE)


def digest64_bytes(*parts: bytes) -> int:
    """Return an unsigned 64-bit content hash of raw bytes."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return int.from_bytes(digest.digest(), "little")
