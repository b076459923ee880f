"""Write a page per bundled scenario, and the index, to ``docs/reference/scenarios/``.

``python benchmarks/scenario_pages.py`` writes what differs and removes pages without a scenario; ``--check`` writes
nothing, names what differs, and ends with 1 when anything does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from masim.assets import asset_root
from masim.env.page import index_page, page_name, scenario_page
from masim.scenario.load import load_scenario

PAGES = Path(__file__).resolve().parents[1] / "docs/reference/scenarios"
HEAD = """# The bundled scenarios

One page each: agents, spaces, rewards, APIs and their limits, faults, versions, and the id to make it by. The pages are
written by `python benchmarks/scenario_pages.py`; `masim show ID --page` writes the page of a scenario of your own. A
change of what agents experience is a new version, with its line in the scenario's `history`.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Yield (file name, text) of the index and of every page."""
    root = asset_root() / "scenarios"
    files = sorted(f for f in root.rglob("*-v*.yaml") if f.parent.name not in ("profiles", "_parts"))
    scenarios = [load_scenario(file) for file in files]
    yield "README.md", index_page(scenarios, HEAD)
    yield from ((page_name(scenario.id), scenario_page(scenario)) for scenario in scenarios)


def differences(folder: Path = PAGES) -> Iterator[tuple[Path, str]]:
    """Yield (file, text) of every page that is not as it should be; an empty text for one that should not be there."""
    wanted = dict(pages())
    for name, text in wanted.items():
        file = folder / name
        if not file.is_file() or file.read_text("utf-8") != text:
            yield file, text
    yield from ((file, "") for file in sorted(folder.glob("*.md")) if file.name not in wanted)


def main() -> None:
    """Write, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    found = list(differences())
    if parser.parse_args().check:
        for file, text in found:
            print(f"{'out of date' if text else 'of no scenario'}: {file}")
        sys.exit(1 if found else 0)
    PAGES.mkdir(parents=True, exist_ok=True)
    for file, text in found:
        if text:
            file.write_text(text, "utf-8")
        else:
            file.unlink()
        print(file)


if __name__ == "__main__":
    main()
