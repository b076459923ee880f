"""Closed forms of queueing theory. Rates are per second, times in seconds, ``load`` is rate times mean service.

Sources: Kleinrock, Queueing Systems I (1975), for Erlang B and C, Pollaczek-Khinchine and the finite M/G/1; Sevastyanov
(1957) for the insensitivity of Erlang's loss formula to the service distribution.
"""

from __future__ import annotations

from math import exp, factorial

import numpy as np


def erlang_b(servers: int, load: float) -> float:
    """Return the share of calls that find every server busy and are lost (M/G/c/c)."""
    blocked = 1.0
    for k in range(1, servers + 1):
        blocked = load * blocked / (k + load * blocked)
    return blocked


def erlang_c(servers: int, load: float) -> float:
    """Return the share of calls that have to wait (M/M/c). ``load`` < ``servers``."""
    blocked = erlang_b(servers, load)
    return servers * blocked / (servers - load * (1.0 - blocked))


def mmc_wait_s(servers: int, rate_per_s: float, service_s: float) -> float:
    """Return the mean waiting time of M/M/c, service excluded."""
    load = rate_per_s * service_s
    return erlang_c(servers, load) * service_s / (servers - load)


def mg1_wait_s(rate_per_s: float, service_s: float, squared_cv: float) -> float:
    """Return the mean waiting time of M/G/1 (Pollaczek-Khinchine)."""
    load = rate_per_s * service_s
    return load * service_s * (1.0 + squared_cv) / (2.0 * (1.0 - load))


def md1k_blocked(places: int, load: float) -> float:
    """Return the share of calls lost by M/D/1 with ``places`` in all, service included.

    The chain of the numbers left behind by departures, solved by recursion: ``left[j]`` up to a factor. A token
    bucket of burst b that refills at rate r is this queue with b places and service 1/r: a token missing from the
    bucket is a call in the system.
    """
    arrive = [exp(-load) * load**j / factorial(j) for j in range(places)]
    left = [1.0]
    for j in range(places - 1):
        inflow = left[0] * arrive[j] + sum(left[i] * arrive[j - i + 1] for i in range(1, j + 1))
        left.append((left[j] - inflow) / arrive[0])
    empty = left[0] / float(np.sum(left))
    return 1.0 - 1.0 / (empty + load)
