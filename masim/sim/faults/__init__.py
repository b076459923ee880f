"""Faults: what an endpoint does anyway (``baseline``), and everything a scenario injects on top (``engine``).

``rules`` says whom a fault strikes, when and how often; ``base`` what kinds of fault exist and what each may change;
``registry`` names them. A new kind is one class and one line there.
"""
