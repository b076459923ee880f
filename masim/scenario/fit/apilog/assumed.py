"""What the fit of a log had to assume, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from masim.scenario.fit.apilog.calls import LogOptions
from masim.scenario.fit.apilog.outages import MIN_LENGTHS
from masim.scenario.fit.apilog.result import ApiLogFit
from masim.sim.spec import Verb
from masim.units import DAY

ALWAYS = (
    "a row's time is when the call was sent; a time without a zone is UTC",
    "5xx is an error of the vendor, 429 a refusal by a rate limit, other 4xx an answer; a timeout (flag, 0, 499, 598, "
    "599, or a word like it) is the client's own",
    "latency is log-normal over the answers that are no 5xx and no 429; a timeout is a call that is later than the "
    "client's deadline, or lost",
    "a profile has one setting per endpoint for all vendors: differences among vendors are part of the spread "
    "(--vendor fits one)",
    "endpoints are drawn towards all reads or all writes, the more the fewer calls they have (normal model, moments)",
    "[I] callbacks and the age of cached answers are not in such a log: messages are those of apis-typical-v0, reads "
    "answer from the present",
)


def assumptions(
    fit: ApiLogFit, deadlines: Mapping[Verb, float], options: LogOptions, width_s: float
) -> tuple[str, ...]:
    """Return what holds for every log, and what this one made necessary."""
    return (
        *ALWAYS,
        *_deadline_notes(deadlines, options),
        *_spell_notes(fit, width_s),
        *_outage_notes(fit),
        *_others(fit),
    )


def _deadline_notes(deadlines: Mapping[Verb, float], options: LogOptions) -> list[str]:
    if not deadlines:
        return []
    if options.timeout_s is not None:
        return [f"the client's deadline is {options.timeout_s:g} s (--timeout)"]
    seen = sorted({round(value, 2) for value in deadlines.values()})
    text = ", ".join(f"{value:g} s" for value in seen[:4])
    return [f"the client's deadline is what timed-out calls waited, {text} (median; --timeout for another)"]


def _spell_notes(fit: ApiLogFit, width_s: float) -> list[str]:
    spells = fit.spells
    if spells.why:
        return [f"transient errors have one probability, no good and bad spells: {spells.why}"]
    notes = ["good and bad spells are those of a two-state Markov process per vendor, the same for all its endpoints"]
    mean = spells.bad_mean_s
    if width_s and mean is not None:
        notes.append(f"errors were counted in bins of {width_s:.3g} s")
        if mean.value < 5.0 * width_s:
            notes.append("bad spells are hardly longer than these bins: their length is rough")
    return notes


def _outage_notes(fit: ApiLogFit) -> list[str]:
    outages = fit.outages
    notes = [
        f"{outages.run} or more 5xx in a row over all endpoints of a vendor are an outage; those below "
        f"{outages.shortest_seen_s:.0f} s look like bad spells (allowed for with {MIN_LENGTHS} outages or more)"
    ]
    if 0 < len(outages.outages) < MIN_LENGTHS:
        notes.append(
            "[M] too few outages for the spread of their lengths: sigma 1.02 is that of public uptime histories"
        )
    cut = [o.vendor for o in outages.outages if o.start_s in (fit.start_s,)]
    return [*notes, *(f"the log begins in an outage of {vendor}: it is longer than it looks" for vendor in cut)]


def _others(fit: ApiLogFit) -> list[str]:
    notes = []
    if not fit.split.measured and fit.split.timeouts:
        notes.append(
            f"[I] of lost writes {fit.split.took_effect.value:.0%} took effect: only {fit.split.took_effect.n} "
            "unanswered ones were repeated under the same request id"
        )
    for kind, other in ((fit.reads, fit.writes), (fit.writes, fit.reads)):
        if kind.latency is None and other.latency is not None:
            names = ("writes", "reads") if kind.writes else ("reads", "writes")
            notes.append(f"[I] too few {names[0]} in the log: they are as {names[1]} are")
    for endpoint in fit.endpoints:
        if endpoint.latency is not None and endpoint.latency.heavy:
            notes.append(f"{endpoint.verb.value}: some answers are far later than a log-normal has it; look at a mix")
        if endpoint.limit is not None and endpoint.limit.poor:
            limit = endpoint.limit
            notes.append(
                f"{endpoint.verb.value}: a token bucket disagrees with {limit.disagree} of {limit.calls:,} calls: "
                "the limit is of another kind"
            )
    days = (fit.end_s - fit.start_s) / DAY
    return [*notes, f"the log spans {days:.3g} d"]
