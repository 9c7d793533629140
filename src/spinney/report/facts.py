"""What the page of a report says, as plain JSON.

In:  a network; the data and the result of learn(), where there are any.
Out: one dict: columns with their distributions, nodes with their models, edges with their strengths and their way in
the picture, how the search went, what was decided about the data, and how to make the same again.
Of the data there are sums only, counts of levels and of intervals: no row can be read from a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney.dataset import Data, Dataset
from spinney.errors import SpinneyError
from spinney.fitted.cut_table import CutTable
from spinney.fitted.model import Columns, Floats, LocalModel, Numbers
from spinney.fitted.partition import Partition
from spinney.fitted.table import Table
from spinney.kinds import Continuous, Kind
from spinney.layout import counted
from spinney.report.again import again
from spinney.report.drawing import draw
from spinney.strengths import as_learned, edge_strengths
from spinney.version import __version__

if TYPE_CHECKING:
    from spinney.learn import Result
    from spinney.network import Network

BINS = 30  # of a histogram
WHOLE_BARS = 60  # of one with a bar for every whole number
FAR_OUT = 3  # times as wide as what is drawn: a range of which the ends are not drawn
LEAF_BINS = 16  # of a leaf's, and of a scatter plot's sides
GRID = 100  # values at which a density is drawn
ROWS = 300  # that a density is averaged over
FEW_ROWS, MANY_NODES = 60, 200  # in networks of so many nodes
STRENGTH_SECONDS = 60.0  # what the strengths of the edges may take
TRACE = 400  # points of the search's way
NEXT_SETS = 6  # parent sets shown of a node
FARTHEST = 4e307  # of a range: its width, and some room beside it, are numbers
SAMPLED = 1000  # rows that stand for the data where there is none


def collect(
    network: Network,
    data: Data | None = None,
    *,
    result: Result | None = None,
    target: str | None = None,
    command: str | None = None,
    source: str | None = None,
) -> dict[str, Any]:
    """The facts of a page."""
    if target is not None:
        network.model(target)  # refused where it is no node
    table = None if data is None else as_learned(network, data)
    number = {name: i for i, name in enumerate(network.names)}
    strengths, why_not = _strengths(network, table)
    given = data if isinstance(data, Dataset) else table
    return {
        "title": _title(network, source),
        "version": __version__,
        "target": None if target is None else number[target],
        "columns": _columns(network, table, given),
        "nodes": nodes_of(network, table, result),
        **_picture(network, strengths),
        "strengths_missing": why_not,
        "score": network.score,
        "rows": table.n_rows if table is not None else (network.data or {}).get("rows"),
        "with_data": table is not None,
        "search": None if result is None else _search(result),
        "data": _about_data(network, given, result),
        "again": again(network, command, source),
    }


def _title(network: Network, source: str | None) -> str:
    """What the page is called: after the file, where there is one."""
    size = f"{counted(len(network.names), 'column')}, {counted(len(network.edges), 'link')}"
    name = "" if source is None else PurePath(source).name.split(".")[0]
    return f"{name}: {size}" if name else f"A network of {size.replace(', ', ' with ')}"


def _strengths(network: Network, table: Dataset | None) -> tuple[dict[tuple[str, str], float], str]:
    """Per edge; empty, with the reason, where they are not known."""
    if table is None:
        return {}, "the report was made without the data"
    try:
        return edge_strengths(network, table, time_limit=STRENGTH_SECONDS), ""
    except SpinneyError as error:
        return {}, str(error)


def _picture(network: Network, strengths: dict[tuple[str, str], float]) -> dict[str, Any]:
    drawing = draw(network.dag)
    number = {name: i for i, name in enumerate(network.names)}
    directed = network.cpdag().directed
    return {
        "picture": {
            "width": drawing.width,
            "height": drawing.height,
            "box": drawing.box,
            "down": drawing.down,
            "places": [_rounded(drawing.places[name]) for name in network.names],
        },
        "edges": [
            {
                "from": number[edge[0]],
                "to": number[edge[1]],
                "strength": strengths.get(edge),
                "compelled": edge in directed,
                "route": [_rounded(point) for point in drawing.routes[edge]],
            }
            for edge in network.edges
        ],
    }


def _rounded(point: tuple[float, float]) -> list[float]:
    return [round(value, 1) for value in point]


# --- columns ----------------------------------------------------------------------------------------------------------


def _columns(network: Network, table: Dataset | None, given: Dataset | None) -> list[dict[str, Any]]:
    drawn = table if table is not None else network.sample(SAMPLED)
    rows = FEW_ROWS if len(network.names) > MANY_NODES else ROWS
    chosen = np.linspace(0, drawn.n_rows - 1, min(rows, drawn.n_rows)).astype(np.int64)
    some = Columns(len(chosen), {name: _column(drawn, name)[chosen] for name in network.names})
    found = []
    for name, kind in network.kinds.items():
        own: dict[str, Any] = {"name": name, "kind": kind.word, "levels": None, "range": None}
        if given is not None and name in given.reasons:
            own["reason"] = given.reasons[name]
        if name in network.cuts:
            own["cuts"] = list(network.cuts[name])
        if isinstance(kind, Continuous):
            own |= _numbers(network.models[name], kind, drawn, table is not None, some)
        else:
            own["levels"] = list(network.levels(name))
            if table is not None:
                own["counts"] = np.bincount(table.codes(name), minlength=len(own["levels"])).tolist()
        found.append(own)
    return found


def _column(data: Dataset, name: str) -> Numbers:
    return data.codes(name) if data.kinds[name].discrete else data.values(name)


def _numbers(model: LocalModel, kind: Kind, drawn: Dataset, real: bool, some: Columns) -> dict[str, Any]:
    values = drawn.values(model.child)
    low, high = _ends(kind, values)
    found: dict[str, Any] = {"range": [low, high]}
    if real:
        view = _view(values)
        if view is not None:
            found["view"] = low, high = view
        edges = _edges(values, low, high)
        if edges is not None:
            counts = np.histogram(values, edges)[0]
            found["histogram"] = counts.tolist()
            found["bins"] = [float(edges[0]), float(edges[-1])]
            found["beyond"] = int(len(values) - counts.sum())
        found["same"] = int(np.unique(values, return_counts=True)[1].max(initial=0))  # rows of the most frequent value
        found["whole"] = bool((values == np.round(values)).all())
        found["mean"] = float(values.mean())
        found["deviation"] = float(values.std())
        found["quartiles"] = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    room = (high / 2 - low / 2) * 0.16
    grid = np.linspace(low - room, high + room, GRID) if high > low else np.array([low])
    density = _density(model, some, grid)
    if np.isfinite(grid).all() and np.isfinite(density).all():
        found["density"] = [[float(grid[0]), float(grid[-1])], [float(f"{value:.5g}") for value in density]]
    return found


def _edges(values: Floats, low: float, high: float) -> Floats | None:
    """The ends of a histogram's bars: one bar for each of some whole numbers, else of equal widths."""
    if not high > low:
        return None
    if high - low <= WHOLE_BARS and (values == np.round(values)).all() and low == round(low):
        return np.arange(low, high + 2) - 0.5
    return np.linspace(low, high, BINS + 1)


def _view(values: Floats) -> list[float] | None:
    """Where 98 of 100 rows lie, with some room, if that is less than a third of the range: the rest would press them
    into a corner of every chart."""
    if not len(values):
        return None
    least, low, high, most = np.quantile(values, [0.0, 0.01, 0.99, 1.0]).tolist()
    width = high - low
    if not 0 < width < (most - least) / FAR_OUT:
        return None
    return [max(least, low - width / 10), min(most, high + width / 10)]


def _ends(kind: Kind, values: Floats) -> tuple[float, float]:
    """The range of the kind; the values, where it has none or they go beyond."""
    lows = [*([] if getattr(kind, "lo", None) is None else [kind.lo]), *([values.min()] if len(values) else [])]  # type: ignore[union-attr]
    highs = [*([] if getattr(kind, "hi", None) is None else [kind.hi]), *([values.max()] if len(values) else [])]  # type: ignore[union-attr]
    low, high = float(min(lows, default=0.0)), float(max(highs, default=1.0))
    return max(low, -FARTHEST), min(high, FARTHEST)


def _density(model: LocalModel, some: Columns, grid: Floats) -> Floats:
    """The fitted density of the column by itself: the mean over the parents of some rows."""
    n = some.n_rows
    repeated = Columns(n * len(grid), {model.child: np.tile(grid, n)})
    for parent in model.parents:
        repeated.put(parent, np.repeat(some[parent], len(grid)))  # type: ignore[arg-type]
    with np.errstate(over="ignore", under="ignore"):
        density: Floats = np.exp(model.log_prob(repeated)).reshape(n, len(grid)).mean(axis=0)
    return density


# --- nodes ------------------------------------------------------------------------------------------------------------


def nodes_of(network: Network, table: Dataset | None = None, result: Result | None = None) -> list[dict[str, Any]]:
    """The models, as the page computes with them and draws them."""
    number = {name: i for i, name in enumerate(network.names)}
    found = []
    for name, model in network.models.items():
        own = {
            "model": model.word,
            "title": model.title,
            "score": model.score,
            **model.for_page(),
            "parents": [number[parent] for parent in model.parents],
        }
        if table is not None:
            own |= _behind(model, table, number)
        if result is not None and result.sets is not None:
            own["sets"] = _next_sets(result, name, number)
        found.append(own)
    return found


def _behind(model: LocalModel, table: Dataset, number: dict[str, int]) -> dict[str, Any]:
    """The data behind a drawing: of a tree with a continuous child a histogram per leaf; of equations, per continuous
    parent, the counts of rows in a grid of parent and child."""
    levels, child = model.family[model.child], model.child
    if type(model) is Partition:
        return {"leaf_histograms": _leaf_histograms(model, table)} if levels is None else {}
    if isinstance(model, (Table, CutTable)):
        return {}
    behind = {}
    for parent in model.parents:
        if model.family[parent] is None:
            across = _binned(table.values(parent))
            up = _binned(table.values(child)) if levels is None else table.codes(child).astype(np.int64)
            high = LEAF_BINS if levels is None else len(levels)
            if high > LEAF_BINS:
                continue
            drawn = (across >= 0) & (up >= 0)
            counts = np.bincount(across[drawn] * high + up[drawn], minlength=LEAF_BINS * high)
            behind[str(number[parent])] = counts.reshape(LEAF_BINS, high).tolist()
    return {"behind": behind}


def _binned(values: Floats) -> Any:
    """Each value's interval of what is drawn; -1 outside."""
    low, high = _view(values) or (float(values.min()), float(values.max()))
    if not high > low:
        return np.zeros(len(values), dtype=np.int64)
    place = np.minimum((values / 2 - low / 2) / (high / 2 - low / 2) * LEAF_BINS, 2.0 * LEAF_BINS)
    return np.where(values > high, -1, np.where(values < low, -1, np.minimum(place.astype(np.int64), LEAF_BINS - 1)))


def _leaf_histograms(model: Partition, table: Dataset) -> list[list[float]] | None:
    """Per leaf the density of its rows over what is drawn of the column."""
    values = table.values(model.child)
    low, high = _view(values) or (float(values.min()), float(values.max()))
    if not high > low or not math.isfinite(high - low):
        return None
    leaves, bins = len(model.sums), _binned(values)
    counts = np.bincount((model.leaf_of(table) * LEAF_BINS + bins)[bins >= 0], minlength=leaves * LEAF_BINS)
    shares = counts.reshape(leaves, LEAF_BINS) / np.maximum(model.rows, 1)[:, None] / ((high - low) / LEAF_BINS)
    return [[float(f"{value:.4g}") for value in row] for row in shares.tolist()]


def _next_sets(result: Result, child: str, number: dict[str, int]) -> list[dict[str, Any]]:
    """The best parent sets that were scored, and the one that the network has, with its rank among them."""
    assert result.sets is not None
    scores, sizes, members = result.sets.arrays[result.sets.order.index(child)]
    ends = np.cumsum(sizes[:NEXT_SETS])
    own = set(result.network.parents[child])
    found = []
    for rank, (size, end) in enumerate(zip(sizes[:NEXT_SETS].tolist(), ends.tolist(), strict=True)):
        parents = [result.sets.order[p] for p in members[end - size : end]]
        found.append(_set(rank, parents, float(scores[rank]), own, number))
    if not any(entry["chosen"] for entry in found):
        score = result.network.models[child].score
        if score is not None:
            rank = int((scores > score + 1e-9).sum())
            found.append(_set(rank, sorted(own), score, own, number))
    return found


def _set(rank: int, parents: Sequence[str], score: float, own: set[str], number: dict[str, int]) -> dict[str, Any]:
    return {
        "rank": rank + 1,
        "parents": [number[parent] for parent in parents],
        "score": score,
        "chosen": set(parents) == own,
    }


# --- the search and the data ------------------------------------------------------------------------------------------


def _search(result: Result) -> dict[str, Any]:
    found, sets = result.found, result.sets
    trace = list(found.trace)
    if len(trace) > TRACE:
        trace = [trace[i] for i in np.linspace(0, len(trace) - 1, TRACE).astype(int).tolist()]
    return {
        "method": result.plan.search,
        "score": found.score,
        "bound": found.bound if math.isfinite(found.bound) else None,
        "gap": found.gap if math.isfinite(found.bound) else None,
        "optimal": found.optimal,
        "closed": found.closed,
        "over": found.over,
        "unproven": found.unproven,
        "stopped": found.stopped,
        "why": result.why,
        "notes": list(found.notes),
        "seconds": dict(result.seconds),
        "trace": [list(point) for point in trace],
        "stages": [list(stage) for stage in found.counts],
        "families": None if sets is None else sets.families,
        "kept": None if sets is None else len(sets),
        "max_parents": result.plan.max_parents,
        "constrained": result.plan.constraints is not None,
        "alternatives": [
            {
                "score": other.score,
                "differs": [
                    {"child": child, "parents": list(own)}
                    for child, own in islice(
                        (pair for pair in other.parents.items() if set(pair[1]) != set(found.parents[pair[0]])), 5
                    )
                ],
            }
            for other in found.alternatives[:10]
        ],
    }


def _about_data(network: Network, given: Dataset | None, result: Result | None) -> dict[str, Any]:
    facts = network.data or {}
    notes = result.notes if result is not None else given.notes if given is not None else ()
    dropped = given.rows_dropped if given is not None else facts.get("rows_dropped", 0)
    return {
        "rows": given.n_rows if given is not None else facts.get("rows"),
        "rows_dropped": dropped or 0,
        "left_out": [] if given is None else [list(pair) for pair in given.left_out.items()],
        "notes": list(notes),
    }
