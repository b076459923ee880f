"""The results of the benchmarks as tables, one function per benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from masim.cli.common import table

if TYPE_CHECKING:
    from rich.table import Table


def shown(result: Mapping[str, Any]) -> Table:
    """Return a benchmark's result as one table."""
    return SHOWN[result["bench"]](result)


def world(result: Mapping[str, Any]) -> Table:
    """Return what ``masim bench world`` found."""
    made = table("what", ">calls/s", ">events/s", ">us per call", ">ratio", "of what")
    for row in result["peer"]["rows"]:
        if row["trace"] != "streamed":
            made.add_row(f"peer, trace {row['trace']}", rate(row["peer_calls_per_s"]), "", "", "", "")
        cells = (rate(row["calls_per_s"]), rate(row["events_per_s"]), "", ratio(row["ratio"]))
        made.add_row(f"masim, trace {row['trace']}", *cells, "masim's calls/s over the peer's")
    cost, bound = result["peer"]["rules_us_per_call"], ratio(result["peer"]["bound"])
    made.add_row("the rules alone, no calls simulated", "", "", f"{cost['mean']:.1f}", bound, "most that any could win")
    for row in result["profiles"]:
        made.add_row(f"profile {row['profile']}", rate(row["calls_per_s"]), rate(row["events_per_s"]), "", "", "")
    for row in result["sizes"]:
        cells = ("", "", f"{row['us_per_call']['mean']:.1f}", ratio(row["cost_ratio"]))
        made.add_row(f"{row['n']:,} {row['what']}", *cells, "cost per call over the first size's")
    for row in result["memory"]:
        cells = ("", "", f"{row['us_per_call']:.1f}", f"{row['peak_mib']:.0f} MiB")
        made.add_row(f"{row['calls']:,} calls, {row['days']:,} days, streamed", *cells, "peak memory of the process")
    both = result["processes"]
    speedup = ratio(both["speedup"]) if both["measurable"] else "not measurable"
    same = "equal bytes" if both["equal_bytes"] else "UNEQUAL BYTES"
    made.add_row("two processes", "", "", "", speedup, f"wall time of one over that of two; {same}")
    return made


def env(result: Mapping[str, Any]) -> Table:
    """Return what ``masim bench env`` found."""
    made = table("what", ">decisions/s", ">events/s", ">us per decision", ">ratio", "of what")
    for row in result["rates"]:
        cells = (rate(row["decisions_per_s"]), rate(row["events_per_s"]), f"{row['us_per_decision']:.1f}", "", "")
        made.add_row(row["what"], *cells)
    for row in result["peers"]:
        peer = f"decisions/s over those of {row['peer']}, {rate(row['peer_decisions_per_s'])}"
        made.add_row(f"{row['what']}, first part", rate(row["decisions_per_s"]), "", "", ratio(row["ratio"]), peer)
    for row in result["sizes"]:
        cells = (rate(row["decisions_per_s"]), rate(row["events_per_s"]), f"{row['us_per_decision']:.1f}", "", "")
        made.add_row(f"{row['agents']:,} agents, {row['what']}", *cells)
    for row in result["targets"]:
        figure = f"{row['figure']:,.0f}" if row["target"] >= 100 else f"{row['figure']:.1f}"
        verdict = "reached" if row["met"] else "MISSED"
        made.add_row(f"target, {row['what']}", "", "", "", figure, f"{row['target']:,}: {verdict}")
    return made


def memory(result: Mapping[str, Any]) -> Table:
    """Return what ``masim bench memory`` found."""
    made = table("what", ">us, median", ">us, mean", ">load, ms", "of what")
    for row in result["graph"]:
        mean = "{mean:.1f} [{low:.1f}, {high:.1f}]".format(**row["us_mean"])
        made.add_row(row["what"], f"{row['us_median']:.1f}", mean)
    long = result["long"]
    made.add_row(f"{long['steps']:,} steps", "", f"{long['us_last']:.1f}", "", f"first tenth {long['us_first']:.1f}")
    for row in result["stores"]:
        step, load = row["step_us"], row["load_ms"]
        part = f"tenth to ninetieth percentile {step['p10']:.0f} to {step['p90']:.0f} us"
        cells = (f"{step['median']:.1f}", f"{step['mean']:.1f}", f"{load['median']:.1f}")
        made.add_row(f"store {row['store']}", *cells, part)
    for row in result["targets"]:
        verdict = "reached" if row["met"] else "MISSED"
        made.add_row(f"target, {row['what']}", f"{row['figure']:.2f}", "", "", f"{row['target']:g}: {verdict}")
    return made


def learn(result: Mapping[str, Any]) -> Table:
    """Return what ``masim bench learn`` found."""
    made = table("what", ">s", ">us per decision", ">ratio", "of what")
    for row in result["rates"]:
        seconds = "{median:.3f} [{low:.3f}, {high:.3f}]".format(**row["s"])
        each = f"{1e6 * row['s']['median'] / result['decisions']:.3f}"
        made.add_row(row["what"], seconds, each, "", f"{result['decisions']:,} decisions")
    for row in result["growth"]:
        part = (
            f"{row['decisions']:,} decisions, over a tenth of them; {row['ratio_user']:.2f} without the kernel's time"
        )
        cells = (f"{row['us']:.3f}", f"{row['ratio']:.2f}", part)
        made.add_row(row["what"], "", *cells)
    for row in result["targets"]:
        verdict = "reached" if row["met"] else "MISSED"
        made.add_row(f"target, {row['what']}", "", "", f"{row['figure']:.3f}", f"{row['target']:g}: {verdict}")
    return made


def llm(result: Mapping[str, Any]) -> Table:
    """Return what ``masim bench llm`` found."""
    made = table("what", ">decisions/s", ">ratio", "of what")
    for row in result["rates"]:
        each = "{median:.2f} [{low:.2f}, {high:.2f}]".format(**row["decisions_per_s"])
        made.add_row(row["what"], each, ratio(row["ratio"]), "decisions/s over those of generate")
    tokens = result["model"]["tokens"]
    part = f"{result['model']['source']}, {tokens['prompt']:.0f} tokens read, {tokens['call']:.0f} in a call"
    made.add_row("peak memory", "", f"{result['peak_mib']:.0f} MiB", part)
    for row in result["targets"]:
        verdict = "reached" if row["met"] else "MISSED"
        made.add_row(f"target, {row['what']}", "", f"{row['figure']:.2f}", f"{row['target']:g}: {verdict}")
    return made


def rate(spread: Mapping[str, float]) -> str:
    """Return ``52,000 [49,000, 55,000]``: mean, smallest and largest run."""
    return f"{spread['mean']:,.0f} [{spread['low']:,.0f}, {spread['high']:,.0f}]"


def ratio(spread: Mapping[str, float]) -> str:
    """Return ``1.91 [1.80, 2.04]``: median, smallest and largest."""
    return f"{spread['median']:.2f} [{spread['low']:.2f}, {spread['high']:.2f}]"


SHOWN: dict[str, Callable[[Mapping[str, Any]], Table]] = {
    "world": world,
    "env": env,
    "memory": memory,
    "learn": learn,
    "llm": llm,
}
