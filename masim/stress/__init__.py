"""Stress tests of agents: replications under held seeds, how many of them are enough, intervals, and the gate."""
