"""Where the nodes and edges of a graph are drawn.

In:  a DAG.
Out: Drawing: the middle of every node's box and the points that every edge passes, in pixels, y downwards.
Layers, their order and the columns are found by fast-sugiyama; it places all nodes alike, so boxes have one size. Edges
over several layers have a place of their own in each, so that no edge runs through a box. The picture goes from the top
to the bottom, or from the left to the right where that is nearer to the shape of a screen. Names alone decide, not the
order of the columns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import fast_sugiyama

from spinney.graph import DAG, Edge

Point = tuple[float, float]

NARROW, WIDE, WIDEST = 6.9, 8.9, 13.0  # of letters: small ones, capitals, those of East Asia
MARGIN, BOX_HEIGHT = 36.0, 30.0  # of a box: room beside the name
LEAST, MOST = 42.0, 150.0  # of a name; the page cuts what is wider
GAP, LAYER_GAP = 26.0, 58.0  # between boxes of a layer, between layers
SHAPE = 1.7  # width by height of a good picture
DUMMY = 0.2  # of a box: what an edge takes in a layer that it passes
SWEEPS = 12  # over the layers, down and up, that draw what is linked together
MOST_STEPS = 100_000  # of edges between layers, in all sweeps of a large graph
CLEAR = 4.0  # pixels between a box and what passes it
STEEPEST = 1.5  # sideways by along, of an edge that passes a layer
STRAIGHT = 4.0  # how much more an edge pulls between two layers that it only passes
MOST_STRETCH = 6.0  # layers of a graph that is far from that shape are drawn further apart


@dataclass(frozen=True)
class Drawing:
    """Coordinates of a picture of width by height."""

    width: float
    height: float
    box: Point  # width and height of every node's box
    down: bool  # edges run from top to bottom; else from left to right
    places: dict[str, Point]  # the middle of each box
    routes: dict[Edge, tuple[Point, ...]]  # from box to box


def smooth(points: Sequence[Point], down: bool) -> list[tuple[Point, Point, Point]]:
    """A way through the points as cubic curves: two control points and the end of each. It leaves and enters boxes at
    right angles, and never swings out beyond its points; assets/picture.js draws the same."""
    at = [(x, y) if down else (y, x) for x, y in points]  # sideways, along
    secants = [(u - a) / (v - b) for (a, b), (u, v) in itertools.pairwise(at)]
    inner = [2 * s * t / (s + t) if s * t > 0 else 0.0 for s, t in itertools.pairwise(secants)]
    slopes = [0.0, *(max(-STEEPEST, min(STEEPEST, slope)) for slope in inner), 0.0]
    found = []
    for i, ((a, b), (u, v)) in enumerate(itertools.pairwise(at)):
        half = (v - b) / 2
        curve = (a + slopes[i] * half, b + half), (u - slopes[i + 1] * half, b + half), (u, v)
        found.append(curve if down else (_turned(curve[0]), _turned(curve[1]), _turned(curve[2])))
    return found


def _turned(point: Point) -> Point:
    return point[1], point[0]


@dataclass(frozen=True)
class _Part:
    """A connected part: along its layers and across them, in steps."""

    across: dict[int, float]
    layer: dict[int, int]
    routes: dict[tuple[int, int], list[int]]  # by way of which places

    @property
    def wide(self) -> float:
        return max(self.across.values()) + 1

    @property
    def deep(self) -> int:
        return max(self.layer.values()) + 1


def draw(dag: DAG) -> Drawing:
    """The picture of a graph."""
    names = sorted(dag.names)
    number = {name: i for i, name in enumerate(names)}
    box = (min(MOST, max([LEAST, *map(_letters, names)])) + MARGIN, BOX_HEIGHT)
    parts = _parts([(number[a], number[b]) for a, b in dag.edges])
    placed = {node for part in parts for node in part.across}
    alone = [i for i in range(len(names)) if i not in placed]
    best = min((_arranged(names, parts, alone, box, down) for down in (True, False)), key=_off)
    if _off(best) < 1.5:
        return best
    stretched = (_arranged(names, parts, alone, box, best.down, times) for times in (2.0, 4.0, MOST_STRETCH))
    return min((best, *stretched), key=_off)


def _off(drawing: Drawing) -> float:
    """How far the picture is from a good shape: 1 is not at all."""
    return max(drawing.width / drawing.height / SHAPE, SHAPE * drawing.height / drawing.width)


def _letters(name: str) -> float:
    """About how wide a name is; assets/picture.js cuts by the same numbers."""
    wide = {letter: WIDE for letter in name if letter.isupper() or letter in "mw@%"}
    return sum(WIDEST if letter >= "\u2e80" else wide.get(letter, NARROW) for letter in name)


def _parts(edges: Sequence[tuple[int, int]]) -> list[_Part]:
    """The connected parts with more than one node, the largest first."""
    nodes = sorted({node for edge in edges for node in edge})
    dense = {node: i for i, node in enumerate(nodes)}
    if not edges:
        return []
    layouts: Iterable[Any] = fast_sugiyama.from_edges(
        [(dense[a], dense[b]) for a, b in edges], vertex_spacing=1.0, dummy_vertices=True, dummy_size=DUMMY
    )
    return sorted(
        (_part(places, steps or (), nodes) for places, _, _, steps in layouts),
        key=lambda part: (-len(part.across), min(part.across)),
    )


def _part(places: Sequence[tuple[int, Point]], steps: Sequence[tuple[int, int]], nodes: list[int]) -> _Part:
    def own(i: int) -> int:
        return nodes[i] if i < len(nodes) else -1 - i  # what is no node is a place on an edge

    top, left = max(y for _, (_, y) in places), min(x for _, (x, _) in places)
    across = {own(i): x - left for i, (x, _) in places}
    layer = {own(i): round(top - y) for i, (_, y) in places}
    after: dict[int, list[int]] = {}
    for a, b in steps:
        after.setdefault(own(a), []).append(own(b))
    routes: dict[tuple[int, int], list[int]] = {}
    for start in (node for node in after if node >= 0):
        for at in after[start]:
            way = [start, at]
            while way[-1] < 0:
                way.append(after[way[-1]][0])
            routes[start, way[-1]] = way
    return _Part(_together(across, layer, list(routes.values())), layer, routes)


def _together(across: dict[int, float], layer: dict[int, int], ways: list[list[int]]) -> dict[int, float]:
    """Places across that keep the order in every layer and leave room for each box, but pull what is linked together:
    the sum of squares of what edges run sideways is made small, layer by layer. Wide layers bring no wide gaps."""
    rows: dict[int, list[int]] = {}
    for node in sorted(across, key=across.__getitem__):
        rows.setdefault(layer[node], []).append(node)
    pulls: dict[int, list[tuple[int, float]]] = {node: [] for node in across}
    for way in ways:
        for a, b in itertools.pairwise(way):
            pull = STRAIGHT if a < 0 and b < 0 else 1.0
            pulls[a].append((b, pull))
            pulls[b].append((a, pull))
    place = dict(across)
    order = sorted(rows)
    steps = sum(len(way) - 1 for way in ways)
    for _ in range(max(1, min(SWEEPS, MOST_STEPS // max(steps, 1)))):
        for at in (*order, *reversed(order)):
            row = rows[at]
            weights = [sum(pull for _, pull in pulls[node]) for node in row]
            wanted = [
                sum(place[other] * pull for other, pull in pulls[node]) / weight
                for node, weight in zip(row, weights, strict=True)
            ]
            place.update(zip(row, _apart(row, wanted, weights), strict=True))
    left = min(place.values())
    return {node: x - left for node, x in place.items()}


def _apart(row: list[int], wanted: list[float], weights: list[float]) -> list[float]:
    """The places nearest to the wanted ones, by weighted squares, that leave each its room: pooled neighbours."""
    offsets = [0.0]
    for a, b in itertools.pairwise(row):
        offsets.append(offsets[-1] + ((1.0 if a >= 0 else DUMMY) + (1.0 if b >= 0 else DUMMY)) / 2)
    blocks: list[tuple[float, float, int]] = []  # the mean of a block, its weight, how many
    for want, offset, weight in zip(wanted, offsets, weights, strict=True):
        mean, heavy, count = want - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            before, other, more = blocks.pop()
            mean, heavy, count = (before * other + mean * heavy) / (other + heavy), heavy + other, count + more
        blocks.append((mean, heavy, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _arranged(
    names: list[str], parts: list[_Part], alone: list[int], box: Point, down: bool, stretch: float = 1.0
) -> Drawing:
    """Parts side by side in rows, then the nodes without edges in a grid."""
    gap = LAYER_GAP * stretch
    step = (box[0] + GAP, box[1] + gap) if down else (box[1] + GAP / 2, box[0] + gap * 1.4)
    sizes = [_size(part, step, down) for part in parts]
    room = (box[0] + GAP) * (box[1] + GAP)
    area = sum(w * h for w, h in sizes) + len(alone) * room
    row_width = max([box[0] + GAP, *(w for w, _ in sizes), (area * SHAPE) ** 0.5])
    places: dict[str, Point] = {}
    routes: dict[Edge, tuple[Point, ...]] = {}
    x = y = tallest = widest = 0.0
    for part, (w, h) in zip(parts, sizes, strict=True):
        if x and x + w > row_width:
            x, y, tallest = 0.0, y + tallest, 0.0
        at = {node: _point(part.across[node], part.layer[node], step, down, (x, y)) for node in part.across}
        places.update({names[node]: point for node, point in at.items() if node >= 0})
        for (a, b), way in part.routes.items():
            routes[names[a], names[b]] = _route([at[node] for node in way], box, down)
        x, tallest, widest = x + w, max(tallest, h), max(widest, x + w)
    y += tallest
    across = max(1, round(row_width / (box[0] + GAP)))
    for i, node in enumerate(alone):
        row, column = divmod(i, across)
        places[names[node]] = ((column + 0.5) * (box[0] + GAP), y + (row + 0.5) * (box[1] + GAP))
    rows = -(-len(alone) // across)
    width = max(widest, min(len(alone), across) * (box[0] + GAP))
    return Drawing(width, y + rows * (box[1] + GAP), box, down, places, routes)


def _size(part: _Part, step: Point, down: bool) -> Point:
    size = (part.wide * step[0], part.deep * step[1])
    return size if down else (size[1], size[0])


def _point(across: float, layer: int, step: Point, down: bool, origin: Point) -> Point:
    one, other = (across + 0.5) * step[0], (layer + 0.5) * step[1]
    return (origin[0] + (one if down else other), origin[1] + (other if down else one))


def _route(points: list[Point], box: Point, down: bool) -> tuple[Point, ...]:
    """From the edge of the first box to that of the last. A layer is passed between two points before and behind its
    boxes, no more aslant than leaves them free."""
    size, deep, gap = (box[0], box[1], GAP) if down else (box[1], box[0], GAP / 2)
    at = [(x, y) if down else (y, x) for x, y in points]  # sideways, along
    half = deep / 2 + CLEAR
    most = (size * DUMMY / 2 + gap * (1 + DUMMY) / 2 - CLEAR) / half
    found = [(at[0][0], at[0][1] + deep / 2)]
    for (a, b), (x, y), (u, v) in zip(at, at[1:], at[2:], strict=False):
        before, behind = (x - a) / (y - b), (u - x) / (v - y)
        slope = 0.0 if before * behind <= 0 else math.copysign(min(abs(before), abs(behind), most), before)
        found += [(x - slope * half, y - half), (x + slope * half, y + half)]
    found.append((at[-1][0], at[-1][1] - deep / 2))
    return tuple(found if down else map(_turned, found))
