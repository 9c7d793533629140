"""Small pictures for notebooks: static SVG, no programs, every text escaped.

In:  a graph, a tree of questions, counts of a column.
Out: text of SVG; nothing where the picture would be too large to be read."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from spinney.fitted.model import Diagram
from spinney.graph import CPDAG, DAG
from spinney.kinds import Kind
from spinney.report.drawing import Drawing, Point, draw, smooth
from spinney.report.tree_places import tree_places

MOST_NODES, MOST_LEAVES = 60, 16
MOST_WIDTH = 900.0
INK, PAPER = "#1b1f24", "#ffffff"
FILLS = {"categorical": ("#e3f0fa", "#0072b2"), "ordinal": ("#fdf0dd", "#b35900"), "continuous": ("#def3ec", "#00775a")}
LEAF = ("#f2f4f7", "#57606a")
LETTER = 6.4  # width of a letter of 11 pixels


def graph_svg(dag: DAG, kinds: Mapping[str, Kind] | None = None, cpdag: CPDAG | None = None) -> str:
    """A graph; edges that an equivalent graph has turned round are dashed."""
    if not 1 <= len(dag.names) <= MOST_NODES:
        return ""
    drawing = draw(dag)
    directed = (cpdag or dag.cpdag()).directed
    lines = [_edge(drawing, edge, edge in directed) for edge in dag.edges]
    boxes = [_node(drawing, name, kinds[name].word if kinds else "") for name in dag.names]
    return _svg(drawing.width, drawing.height, [*lines, *boxes], f"graph of {len(dag.names)} nodes")


def _edge(drawing: Drawing, edge: tuple[str, str], sure: bool) -> str:
    points = drawing.routes[edge]
    way = curve(points, drawing.down)
    dash = "" if sure else ' stroke-dasharray="5 3"'
    x, y = points[-1]
    head = f"M{x:.1f} {y:.1f}l-4.5 -9h9z" if drawing.down else f"M{x:.1f} {y:.1f}l-9 -4.5v9z"
    return f'<path d="{way}" fill="none" stroke="#57606a" stroke-width="1.4"{dash}/><path d="{head}" fill="#57606a"/>'


def curve(points: Sequence[Point], down: bool) -> str:
    """A smooth way through the points."""
    text = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for bend in smooth(points, down):
        text += "C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in bend)
    return text


def _node(drawing: Drawing, name: str, word: str) -> str:
    (x, y), (w, h) = drawing.places[name], drawing.box
    return _box(x - w / 2, y - h / 2, w, h, [name], FILLS.get(word, LEAF))


def _box(x: float, y: float, w: float, h: float, lines: Sequence[str], colours: tuple[str, str]) -> str:
    fill, stroke = colours
    most = max(3, int((w - 8) / LETTER))
    texts = "".join(
        f'<text x="{x + w / 2:.1f}" y="{y + h / 2 + 4 + 13 * (i - (len(lines) - 1) / 2):.1f}" text-anchor="middle" '
        f'fill="{INK}" font-size="11" font-family="sans-serif">{html.escape(_cut(line, most))}</text>'
        for i, line in enumerate(lines)
    )
    title = html.escape("\n".join(lines))
    return (
        f'<g><title>{title}</title><rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="6" '
        f'fill="{fill}" stroke="{stroke}"/>{texts}</g>'
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def tree_svg(diagram: Diagram) -> str:
    """A tree or a graph of questions, from the top."""
    if not 1 <= sum(end for _, end in diagram.boxes) <= MOST_LEAVES:
        return ""
    places = tree_places(diagram)
    w, h, step = 150.0, 62.0, 104.0
    at = [(10 + (x + 0.5) * (w + 14), 8 + depth * step) for x, depth in places]
    parts = []
    for a, b, word in diagram.arrows:
        (x, y), (u, v) = (at[a][0], at[a][1] + h), at[b]
        parts.append(f'<path d="{curve([(x, y), (u, v)], True)}" fill="none" stroke="#57606a"/>')
        parts.append(
            f'<text x="{(x + u) / 2:.1f}" y="{(y + v) / 2 + 4:.1f}" text-anchor="middle" font-size="11" '
            f'font-family="sans-serif" fill="#57606a" stroke="{PAPER}" stroke-width="3" paint-order="stroke">'
            f"{html.escape(word)}</text>"
        )
    for (words, end), (x, y) in zip(diagram.boxes, at, strict=True):
        lines = _wrapped(words, int((w - 8) / LETTER), 4)
        parts.append(_box(x - w / 2, y, w, h, lines, LEAF if end else FILLS["categorical"]))
    width, height = max(x for x, _ in at) + w / 2 + 10, max(y for _, y in at) + h + 8
    return _svg(width, height, parts, "tree")


def _wrapped(text: str, width: int, most: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines if len(lines) <= most else [*lines[: most - 1], lines[most - 1] + " …"]


def bars_svg(counts: Sequence[float]) -> str:
    """The counts of a column, as bars."""
    w, h, most = 90.0, 22.0, max(max(counts, default=0.0), 1e-300)
    step = w / max(len(counts), 1)
    bars = [
        f'<rect x="{i * step:.1f}" y="{h - h * count / most:.1f}" width="{max(step - 0.8, 0.6):.1f}" '
        f'height="{h * count / most:.1f}" fill="#4b8ec9"/>'
        for i, count in enumerate(counts)
    ]
    return _svg(w, h, bars, "counts")


def _svg(width: float, height: float, parts: Sequence[str], words: str) -> str:
    shown = min(1.0, MOST_WIDTH / width)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{html.escape(words)}" '
        f'width="{width * shown:.0f}" height="{height * shown:.0f}" viewBox="0 0 {width:.1f} {height:.1f}">'
        f"{''.join(parts)}</svg>"
    )
