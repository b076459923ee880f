"""Fitting how APIs behave from a log of calls: one row per call."""
