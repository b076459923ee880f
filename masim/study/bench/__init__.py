"""Benchmarks of masim on the machine at hand: ``masim bench NAME``. Timings are no tests."""
