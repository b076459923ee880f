"""The simulated world: vendors, APIs, faults, orders. SimPy, numpy and the standard library only."""
