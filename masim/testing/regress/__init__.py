"""Reported failures as cases: a scenario, an agent that falls into its trap, one that avoids it, and what must hold.

``cases`` lists them, ``constraints`` says what may hold of a world's state, ``play`` plays a case and judges it. A new
case is a scenario file and one entry in the list.
"""
