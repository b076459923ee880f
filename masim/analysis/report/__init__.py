"""The self-contained HTML report."""

from __future__ import annotations

from masim.analysis.report.build import build_report

__all__ = ["build_report"]
