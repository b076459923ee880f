"""Fitting vendor profiles from real logs."""
