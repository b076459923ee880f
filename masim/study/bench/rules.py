"""The rules of the world alone: the load's draws, fates, vendors, decisions and trucks, with no call simulated.

Every call takes effect as it is sent and nobody is answered. What is left is what any program pays that plays these
rules in this language, so the peer's cost over this one bounds what can be won by how calls are simulated.
"""

from __future__ import annotations

import gc
import time

from masim.sim.faults.baseline import FaultDesk
from masim.sim.plan import draw_plan
from masim.sim.spec import Instance, WorldSpec
from masim.sim.trace import Trace
from masim.sim.world import World
from masim.study.bench.drive import Played, unheard
from masim.study.bench.load import Load


def play_rules(spec: WorldSpec, seed: int = 0) -> Played:
    """Play one day's load without a trace, call by call, in the order of their times."""
    began = time.process_time()
    plan = draw_plan(spec, Instance(seed, 0))
    load = list(Load(spec, plan))
    world = World(spec, plan, unheard, unheard, unheard, Trace(enabled=False))
    apis, desk, attempts = {api.verb: api for api in spec.apis}, FaultDesk(plan), dict[str, int]()
    clock, draw = world.clock, world.noise.uniforms_at
    gc.collect()
    ready = time.process_time()
    for t_s, agent, call in load:
        while clock.peek() <= t_s:
            clock.step()
        clock.now = t_s
        leg, slot = str(call.leg), str(call.slot)
        text = "\x1f".join(("api", agent, call.verb, call.vendor, call.order, leg, call.stop, slot, ""))
        nth = attempts[text] = attempts.get(text, -1) + 1
        fate = desk.fate(apis[call.verb], call.vendor, t_s, draw(text + str(nth)))
        if fate.abort is None and fate.lost != "request":
            world.take_effect(agent, call, t_s)
    world.settle()
    world.outcomes()
    done = time.process_time()
    return Played(len(load), clock.events, 0, done - ready, ready - began)
