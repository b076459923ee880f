"""The honest experiments: each claim is a protocol that was written first, and code that plays and judges it."""
