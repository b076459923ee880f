"""Conformance and determinism checks that users can run too."""
