"""Keyed randomness: every draw is a pure function of ``(root seed, namespace, stream, key)``.

An extra call by one agent therefore never shifts the draws of anybody else (common random numbers), and a replay
needs no generator state. One digest per key is sliced into four uniforms, which keeps a draw at about a microsecond.
Policies draw from their own namespace, which contains the rollout id; world streams never do.
"""

from __future__ import annotations

import hashlib
import struct

import numpy as np

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

    def uniforms(self, *key: Key) -> tuple[float, float, float, float]:
        """Return four independent uniforms in [0, 1) for a stream name and its semantic key."""
        digest = self._base.copy()
        digest.update("\x1f".join(map(str, key)).encode())
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

    def permutation(self, n: int, *key: Key) -> list[int]:
        """Return a random order of ``range(n)``."""
        return [int(i) for i in self.generator(*key).permutation(n)]


def digest64(*parts: object) -> int:
    """Return an unsigned 64-bit content hash of the parts' text, stable across processes (never ``hash()``)."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
