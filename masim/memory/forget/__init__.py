"""Strategic forgetting: what a sweep removes, by which rule, and how it is taken back.

A rule is one pure function in a file of :mod:`masim.memory.forget.rules` and one line in
:mod:`masim.memory.forget.registry`.
"""
