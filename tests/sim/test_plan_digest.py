"""The digest of a plan covers the world itself, so runs with other settings never look like one group."""

from __future__ import annotations

from masim.scenario.load import load_scenario
from masim.sim.plan import draw_plan
from masim.sim.spec import Instance


def test_other_settings_give_another_digest() -> None:
    instance = Instance(1, 0)
    plain = load_scenario("freight/first-steps-v0").spec
    same = load_scenario("freight/first-steps-v0").spec
    other = load_scenario("freight/first-steps-v0", {"agents.max_decisions": "13"}).spec
    assert draw_plan(plain, instance).digest == draw_plan(same, instance).digest
    assert draw_plan(plain, instance).digest != draw_plan(other, instance).digest


def test_each_error_setting_has_spells_of_its_own() -> None:
    overrides = {"apis.quote.transient.bad_share": "0"}
    spec = load_scenario("freight/first-steps-v0", overrides).spec
    errors = draw_plan(spec, Instance(1, 0)).errors
    quote = next(api for api in spec.apis if api.verb == "quote").transient
    tender = next(api for api in spec.apis if api.verb == "tender").transient
    vendor = spec.carriers[0].id
    assert errors[vendor, quote] == ()
    assert errors[vendor, tender] != ()
