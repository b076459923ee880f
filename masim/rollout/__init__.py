"""Drives environments with policies and records trajectories."""
