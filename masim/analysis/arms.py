"""Names of arms that mean something to the analysis."""

from __future__ import annotations

EMPTIED = ", memory emptied"
"""Suffix of a trained arm that plays with its memories emptied every morning."""
