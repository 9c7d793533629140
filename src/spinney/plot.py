"""Pictures for papers, drawn by matplotlib (extra `plot`).

In:  a network, or a fitted local model.
Out: a matplotlib Figure with labelled axes; fig.savefig("net.pdf") and .svg keep it as lines and letters.
A table is a heat map, a tree is drawn with its questions and what its leaves say, any other model by one chart per
parent: what happens to the child when that parent moves and the others stay at usual values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney.errors import ChoiceError, LimitError
from spinney.fitted.cut_table import CutTable
from spinney.fitted.model import Columns, Floats, LocalModel
from spinney.kinds import Continuous
from spinney.report.drawing import draw, smooth
from spinney.report.tree_places import tree_places

if TYPE_CHECKING:
    from spinney.network import Network

FILLS = {"categorical": ("#e3f0fa", "#0072b2"), "ordinal": ("#fdf0dd", "#b35900"), "continuous": ("#def3ec", "#00775a")}
INKS = ("#0b5cad", "#c2410c", "#00775a", "#8e4585", "#6b5b00", "#36454f", "#a0144f")
STYLES = ("-", "--", ":", "-.", (0, (1, 3)), (0, (6, 3)), (0, (3, 1)))  # told apart without colours too
MOST_ROWS, MOST_LEAVES, MOST_LEVELS = 40, 24, 7
POINTS = 80  # of a curve
PIXELS = 72.0  # to an inch

Ranges = Mapping[str, tuple[float, float]]


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ChoiceError("plot() needs the package matplotlib: install it with pip install matplotlib") from None
    return Figure(figsize=(width, height), layout="constrained")  # no window, no global state


def plot_network(network: Network) -> Any:
    """The graph; edges that an equivalent graph has turned round are dashed."""
    drawing = draw(network.dag)
    figure = _figure(max(drawing.width / PIXELS, 1.5), max(drawing.height / PIXELS, 1.0))
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
    from matplotlib.path import Path

    axes = figure.add_subplot()
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")
    axes.axis("off")
    directed = network.cpdag().directed
    for edge, points in drawing.routes.items():
        nodes, codes = [points[0]], [Path.MOVETO]
        for bend in smooth(points, drawing.down):
            nodes += bend
            codes += [Path.CURVE4] * 3
        axes.add_patch(
            FancyArrowPatch(
                path=Path(nodes, codes),
                arrowstyle="-|>",
                mutation_scale=9,
                color="#57606a",
                linestyle="-" if edge in directed else "--",
                shrinkA=0,
                shrinkB=0,
            )
        )
    w, h = drawing.box
    for name, (x, y) in drawing.places.items():
        fill, stroke = FILLS[network.kinds[name].word]
        box = FancyBboxPatch((x - w / 2, y - h / 2), w, h, boxstyle="round,pad=0,rounding_size=6", fc=fill, ec=stroke)
        axes.add_patch(box)
        axes.text(x, y, _plain(_cut(name, max(3, int(w / 6.6)))), ha="center", va="center", fontsize=8.5)
    return figure


def plot_model(model: LocalModel, ranges: Ranges | None = None) -> Any:
    """The model of one node. `ranges` are those of continuous parents, where the model does not know them."""
    if isinstance(model, CutTable):
        model = model.table  # its continuous parents as the intervals that they are cut into
    diagram = model.diagram()
    if diagram is not None and len(diagram.boxes) > 1:
        return _tree(model)
    levels = model.family[model.child]
    if levels is not None and all(own is not None for own in model.family.values()):
        return _heat_map(model)
    return _effects(model, ranges or {})


def _plain(text: str) -> str:
    """A name as it is: matplotlib would read dollars as formulas."""
    return text.replace("$", r"\$")


def _cut(text: str, most: int = 24) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# --- tables -----------------------------------------------------------------------------------------------------------


def _heat_map(model: LocalModel) -> Any:
    sizes = [len(model.family[parent] or ()) for parent in model.parents]
    count = int(np.prod(sizes, dtype=object)) if sizes else 1
    levels = model.family[model.child] or ()
    if count > MOST_ROWS * 10 or len(levels) > 100:
        raise LimitError(f"the table of {model.child!r} has {count:,} rows, too many to be drawn; a report shows it")
    codes = (
        np.array(np.unravel_index(np.arange(count), sizes)).reshape(len(sizes), count) if sizes else np.empty((0, 1))
    )
    shares = model.conditional(Columns(count, {p: codes[i].astype(int) for i, p in enumerate(model.parents)}))
    words = [
        ", ".join(_plain(_cut((model.family[p] or ())[int(codes[i, row])])) for i, p in enumerate(model.parents))
        for row in range(count)
    ]
    figure = _figure(2.4 + 0.7 * len(levels) + 0.08 * max(map(len, words)), 1.9 + 0.28 * count)
    axes = figure.add_subplot()
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(len(levels)), [_plain(_cut(level)) for level in levels], rotation=30, ha="right")
    axes.set_yticks(range(count), words)
    axes.set(xlabel=_plain(model.child), ylabel=_plain(", ".join(model.parents)))
    if count * len(levels) <= 400:
        for (row, level), share in np.ndenumerate(shares):
            axes.text(
                level, row, f"{share:.2f}", ha="center", va="center", color="w" if share > 0.55 else "k", fontsize=8
            )
    figure.colorbar(image, ax=axes, label="probability")
    return figure


# --- trees ------------------------------------------------------------------------------------------------------------


def _tree(model: LocalModel) -> Any:
    diagram = model.diagram()
    assert diagram is not None
    leaves = sum(end for _, end in diagram.boxes)
    if leaves > MOST_LEAVES:
        raise LimitError(f"the tree of {model.child!r} has {leaves} leaves, too many to be drawn; a report shows it")
    places = tree_places(diagram)
    deep = max(depth for _, depth in places)
    figure = _figure(1.9 * max(leaves, 2), 1.35 * (deep + 1))
    axes = figure.add_subplot()
    axes.set(xlim=(-0.6, leaves - 0.4), ylim=(deep + 0.6, -0.5))
    axes.axis("off")
    for a, b, word in diagram.arrows:
        (x, y), (u, v) = places[a], places[b]
        axes.annotate("", (u, v - 0.3), (x, y + 0.2), arrowprops={"arrowstyle": "-", "color": "#57606a"})
        axes.text((x + u) / 2, (y + v) / 2, word, ha="center", va="center", fontsize=8, backgroundcolor="w")
    for (words, end), (x, y) in zip(diagram.boxes, places, strict=True):
        text = words.removeprefix(f"{model.child}: ") if end else words
        style = {"boxstyle": "round,pad=0.3", "fc": "#f2f4f7" if end else "#e3f0fa", "ec": "#57606a"}
        axes.text(x, y, _plain(_broken(text)), ha="center", va="center", fontsize=7.5, bbox=style)
    axes.set_title(_plain(model.title), fontsize=10)
    return figure


def _broken(text: str, width: int = 24) -> str:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines[:6])


# --- effects ----------------------------------------------------------------------------------------------------------


def _effects(model: LocalModel, ranges: Ranges) -> Any:
    parents = model.parents or ("",)
    figure = _figure(3.6 * len(parents), 3.0)
    ends = {parent: _ends(model, parent, ranges) for parent in model.parents if model.family[parent] is None}
    for place, parent in enumerate(parents):
        axes = figure.add_subplot(1, len(parents), place + 1)
        own = model.family.get(parent)
        moved: Any = np.zeros(1) if not parent else np.arange(len(own)) if own else np.linspace(*ends[parent], POINTS)
        columns = Columns(len(moved), {})
        for other in model.parents:
            usual = 0 if model.family[other] is not None else sum(ends[other]) / 2
            columns.put(other, moved if other == parent else np.full(len(moved), usual))
        _effect(axes, model, columns, moved, own is not None or not parent)
        if own is not None:
            axes.set_xticks(range(len(own)), [_plain(level) for level in own], rotation=30, ha="right")
        axes.set_xlabel(_plain(parent))
    return figure


def _effect(axes: Any, model: LocalModel, columns: Columns, moved: Floats, points: bool) -> None:
    levels = model.family[model.child]
    if levels is None:
        centre, scale = model.spread(columns)
        if points:
            axes.errorbar(moved, centre, yerr=scale, fmt="o", color=INKS[0], capsize=3)
        else:
            axes.fill_between(moved, centre - scale, centre + scale, color=INKS[0], alpha=0.18, linewidth=0)
            axes.plot(moved, centre, color=INKS[0])
        axes.set_ylabel(_plain(model.child))
        return
    shares = model.conditional(columns)
    for k, level in enumerate(np.argsort(-shares.max(axis=0), kind="stable")[:MOST_LEVELS].tolist()):
        marker = "o" if points else None
        axes.plot(
            moved, shares[:, level], color=INKS[k], linestyle=STYLES[k], marker=marker, label=_plain(levels[level])
        )
    axes.set(ylim=(-0.02, 1.02), ylabel=f"probability of {_plain(model.child)}")
    axes.legend(fontsize=7)


def _ends(model: Any, parent: str, ranges: Ranges) -> tuple[float, float]:
    """The range of a continuous parent: as given, as its kind says, or where the model was fitted."""
    if parent in ranges:
        low, high = ranges[parent]
        return float(low), float(high)
    place = model.parents.index(parent)
    kind = model.parent_kinds[place] if hasattr(model, "parent_kinds") else None
    if isinstance(kind, Continuous) and kind.lo is not None and kind.hi is not None:
        return kind.lo, kind.hi
    if hasattr(model, "lows") and model.highs[place] > model.lows[place]:
        return float(model.lows[place]), float(model.highs[place])
    if hasattr(model, "location"):  # a StudentRegression
        return _around(float(model.shifts[place + 1]), float(model.scales[place + 1]))
    if parent in getattr(model, "used", ()):
        used = model.used.index(parent)
        return _around(float(model.shifts[used]), float(model.scales[used]))
    if hasattr(model, "continuous") and hasattr(model, "slopes"):  # a Regression: where it can be told from the noise
        i = model.continuous.index(parent)
        slope = max(abs(float(model.slopes[-1, i])), 1e-300)
        return _around(float(model.means[-1, i + 1]), min(float(model.deviations[-1]) / slope, 1e300))
    raise ChoiceError(f"the range of {parent!r} is not in the model: give it, as in ranges={{{parent!r}: (0, 1)}}")


def _around(centre: float, scale: float) -> tuple[float, float]:
    return centre - 2.5 * scale, centre + 2.5 * scale
