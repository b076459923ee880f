"""How figures look: colour-blind-safe colours, one per arm everywhere, and SVG that follows the page's light or dark.

Figures are drawn in light colours (so they work in a notebook); :func:`svg_text` swaps each known colour for a CSS
variable of the page. The hues are spaced for the common colour-vision deficiencies, and no figure tells things apart
by colour alone: lines and bars carry their names.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from masim.analysis.arms import EMPTIED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#1c2026"
MUTED = "#5d6470"
GRID = "#dcdfe4"
PAPER = "#fdfdfb"
BLUE = "#0b6bb5"
RED = "#c8500a"
GREEN = "#14805e"
AMBER = "#a87400"
PURPLE = "#9b4f96"
SKY = "#2f95b8"
GREY = "#7f858f"

CSS_NAMES = {
    INK: "--ink", MUTED: "--muted", GRID: "--grid", PAPER: "--paper", BLUE: "--blue", RED: "--red", GREEN: "--green",
    AMBER: "--amber", PURPLE: "--purple", SKY: "--sky", GREY: "--grey",
}  # fmt: skip
"""Colour of a figure -> the page's variable; ``report.css`` gives each a light and a dark value."""

ARM_COLOURS = {
    "null": GREY, "random": GREY, "naive": PURPLE, "scripted": GREEN, "workflow": SKY, "untrained": AMBER,
    "grpo": RED, "progpo": BLUE, "reinforce": PURPLE,
}  # fmt: skip
_OTHERS = (PURPLE, SKY, AMBER, GREEN, RED, BLUE)
_NAMES = {"grpo": "GRPO", "progpo": "ProGPO", "reinforce": "REINFORCE", "gigpo": "GiGPO"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

_RC: dict[Any, Any] = {
    "svg.fonttype": "none", "text.parse_math": False, "font.family": ["DejaVu Sans"], "font.size": 10,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": MUTED, "xtick.color": MUTED, "ytick.color": MUTED,
    "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.facecolor": "none", "figure.facecolor": PAPER,
    "savefig.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False, "axes.grid": False,
    "grid.color": GRID, "grid.linewidth": 0.8, "axes.axisbelow": True, "axes.linewidth": 0.8, "legend.frameon": False,
    "lines.solid_capstyle": "round", "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
}  # fmt: skip


@contextmanager
def house_style() -> Iterator[None]:
    """Draw inside with the settings of all masim figures; the caller's settings come back afterwards."""
    import matplotlib as mpl

    with mpl.rc_context(_RC):
        yield


def arm_colour(arm: str) -> str:
    """Return the colour of an arm, the same in every figure and process; with emptied memories it keeps its own."""
    arm = arm.removesuffix(EMPTIED)
    return ARM_COLOURS.get(arm.lower(), _OTHERS[sum(arm.encode("utf-8", "replace")) % len(_OTHERS)])


def arm_label(arm: str) -> str:
    """Return the name of an arm as people write it."""
    return _NAMES.get(arm.lower(), plain_text(arm, 28)) or "agents"


def printable(text: str) -> str:
    """Return untrusted text with every control and direction character replaced by a space."""
    return _CONTROL.sub(" ", text)


def plain_text(text: str, limit: int = 60) -> str:
    """Return untrusted text fit for a figure or a page: no control or direction characters, at most ``limit`` long."""
    cleaned = " ".join(printable(text).split())
    return cleaned if len(cleaned) <= limit else cleaned[: limit - 1] + "…"


def svg_text(figure: Figure, prefix: str) -> str:
    """Return a figure as an ``<svg>`` element to be placed in a page, and close nothing.

    Ids get ``prefix``, so that several figures can live in one page; known colours become CSS variables; the size is
    left to the page. The same figure gives the same bytes.
    """
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context(_RC | {"svg.hashsalt": prefix}), warnings.catch_warnings():
        # The browser draws the text with its own fonts, so a glyph that ours lack is no loss.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = "\n".join(printable(line) for line in text.split("\n"))
    text = re.sub(r'^(<svg[^>]*?) width="[^"]*"', r"\1", text)
    text = re.sub(r'^(<svg[^>]*?) height="[^"]*"', r"\1", text)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = text.replace("url(#", f"url(#{prefix}-").replace('href="#', f'href="#{prefix}-')
    for colour, name in CSS_NAMES.items():
        text = text.replace(colour, f"var({name})")
    return text
