"""Simulated time as decisions: the session core and its PettingZoo and Gymnasium adapters."""
