"""A fitted partition of the parents' space: a decision tree, an adaptive table, a decision graph.

In:  binary splits as flat arrays, and the sums of the child in every leaf.
Out: log-probabilities, distributions, means and draws of the child for rows of data, and the splits in words.
A row walks from node 0 to a leaf; what the leaf's rows predict is in leaves.py. A node may be reached from several
nodes: the partition is then a graph, without cycles."""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ChoiceError
from spinney.fitted import leaves
from spinney.fitted.model import Columns, Diagram, Floats, Ints, Levels, LocalModel, Numbers, align, draw_codes
from spinney.fitted.plain import whole
from spinney.kinds import Continuous, Kind, Ordinal
from spinney.layout import ROWS, counted, cut, shown_number

if TYPE_CHECKING:
    from spinney.dataset import Dataset

Bools = NDArray[np.bool_]
Nodes = NDArray[np.int32]
# What the options of leaves may be at the least, and one part of at the most: beyond, products of them are no numbers.
_LEAST = {"alpha": 1e-100, "a": 1e-100, "nu": 1e-100, "lam": 1e-100, "kappa": 1e-100}
_MOST_SUM = 1e100
_NODES, _PRIOR = ("feature", "left", "right", "leaf"), ("alpha", "mu0", "a", "nu", "lam", "kappa")  # in files
_SHOWN = 10  # levels that describe() names in one place


@dataclass(frozen=True, eq=False)
class Splits:
    """The nodes of a partition, one entry per node; what they mean is said in Partition."""

    feature: Nodes
    left: Nodes
    right: Nodes
    threshold: Floats
    goes_left: tuple[Bools | None, ...]
    leaf: Nodes

    @property
    def arrays(self) -> dict[str, Any]:
        """By the names that they have in Partition."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _sides(self) -> tuple[Bools, Ints]:
        """All goes_left one after the other, and where each node's begins."""
        lengths = [0 if side is None else len(side) for side in self.goes_left]
        known = [side for side in self.goes_left if side is not None]
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        return np.concatenate([np.zeros(0, dtype=bool), *known]), starts

    def leaf_of(self, parents: Sequence[Numbers], n_rows: int) -> Ints:
        """The number of the leaf that each row falls into. All rows take one step at a time."""
        sides, starts = self._sides
        at = np.zeros(n_rows, dtype=np.int64)
        moving = np.arange(n_rows) if self.feature[0] >= 0 else np.empty(0, dtype=np.int64)
        while len(moving):
            node = at[moving]
            feature = self.feature[node]
            to_left = np.empty(len(moving), dtype=bool)
            for place in np.unique(feature).tolist():
                mine = np.flatnonzero(feature == place)
                there, column = node[mine], parents[place][moving[mine]]
                if self.goes_left[there[0]] is not None:
                    to_left[mine] = sides[starts[there] + column]
                else:
                    to_left[mine] = column < self.threshold[there]
            at[moving] = np.where(to_left, self.left[node], self.right[node])
            moving = moving[self.feature[at[moving]] >= 0]
        return self.leaf[at].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Partition(LocalModel):
    """P(child | parents), one distribution per leaf.

    Per node: `feature`, the place of the parent that it splits on (-1: a leaf); `left` and `right`, the nodes below
    (-1 at a leaf); `threshold`, for a continuous parent, in the user's units: a value >= threshold goes right (else
    NaN); `goes_left`, for a discrete parent: one truth per level (else None); `leaf`, the leaf's number (else -1).
    `sums` has a row per leaf: counts per level, or rows, sum and sum of squares of the standardised child, which is
    (value - shift) / scale. The leaf priors are alpha (categorical), alpha and kappa (ordinal), and mu0, a, nu, lam
    (continuous). `alphas` (else None) are the leaves' own pseudo-counts, one per leaf or per leaf and level; with them
    the levels of an ordinal child, too, are taken one by one."""

    word: ClassVar[str] = "partition"

    child: str
    parents: tuple[str, ...]
    kind: Kind
    parent_kinds: tuple[Kind, ...]
    feature: Nodes
    left: Nodes
    right: Nodes
    threshold: Floats
    goes_left: tuple[Bools | None, ...]
    leaf: Nodes
    sums: Floats
    alpha: float = 0.5
    mu0: float = 0.0
    a: float = 1.0
    nu: float = 1.0
    lam: float = 1.0
    kappa: float = 0.25
    shift: float = 0.0
    scale: float = 1.0
    score: float | None = None
    alphas: Floats | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

        put("parents", tuple(self.parents))
        put("parent_kinds", tuple(self.parent_kinds))
        for name in ("feature", "left", "right", "leaf"):
            put(name, np.array(getattr(self, name), dtype=np.int32))
        for name in ("threshold", "sums"):
            put(name, np.array(getattr(self, name), dtype=np.float64))
        if self.alphas is not None:
            put("alphas", np.array(self.alphas, dtype=np.float64))
        put("goes_left", tuple(None if side is None else np.array(side, dtype=bool) for side in self.goes_left))
        for name in ("alpha", "mu0", "a", "nu", "lam", "kappa", "shift", "scale"):
            put(name, float(getattr(self, name)))
        for side in self.goes_left:
            if side is not None:
                side.setflags(write=False)
        self._check_family()
        self._check_nodes()
        self._check_splits()
        self._check_leaves()

    # --- checks -----------------------------------------------------------------------------------------------------

    @property
    def _where(self) -> str:
        return f"the partition of {self.child!r}"

    def _check_family(self) -> None:
        where = self._where
        if len(self.parents) != len(self.parent_kinds):
            raise ChoiceError(
                f"{where} has {len(self.parents)} parents but kinds of {len(self.parent_kinds)}: give each its kind"
            )
        if len({self.child, *self.parents}) <= len(self.parents):
            raise ChoiceError(f"{where} has a variable twice in {[self.child, *self.parents]}: name each once")
        for name, kind in zip((self.child, *self.parents), (self.kind, *self.parent_kinds), strict=True):
            if kind.discrete and _levels(kind) is None:
                raise ChoiceError(f"{where} has {name!r} without levels: give its kind the levels")
        if not 0 < self.scale < math.inf:
            raise ChoiceError(f"{where} has the scale {self.scale!r}: give a finite number above 0")
        for name in ("alpha", "a", "nu", "lam", "kappa"):
            if not _LEAST[name] <= getattr(self, name) <= 1 / _LEAST[name]:
                least = _LEAST[name]
                raise ChoiceError(
                    f"{where} has the {name} {getattr(self, name)!r}: give a number between {least:g} and {1 / least:g}"
                )
        for name, most in (("mu0", 1e100), ("shift", sys.float_info.max)):
            if not abs(getattr(self, name)) <= most:
                raise ChoiceError(f"{where} has the {name} {getattr(self, name)!r}: give one of at most {most:g}")

    def _check_nodes(self) -> None:
        where, n = self._where, len(self.feature)
        for name in ("feature", "left", "right", "threshold", "leaf", "goes_left"):
            found = np.shape(getattr(self, name)) if name != "goes_left" else (len(self.goes_left),)
            if n == 0 or found != (n,):
                raise ChoiceError(f"{where} has {n} nodes and {name} of shape {found}: give one entry per node")
        split = self.feature >= 0
        if self.feature.min() < -1 or self.feature.max() >= len(self.parents):
            raise ChoiceError(f"{where} splits on a parent that it does not have: use -1 to {len(self.parents) - 1}")
        for name in ("left", "right"):
            below = getattr(self, name)
            if (below[~split] != -1).any() or (below[split] < 0).any() or (below[split] >= n).any():
                raise ChoiceError(f"{where}: {name} must name a node from 0 to {n - 1} at a split and -1 at a leaf")
        if ((self.leaf >= 0) == split).any() or self.leaf.min() < -1:
            raise ChoiceError(f"{where}: a node is a split and a leaf, or neither; number the leaves, -1 at splits")
        if len(self._order) < n:
            raise ChoiceError(f"{where} has nodes that cannot be reached from node 0, or a cycle: leave them out")

    @cached_property
    def _entries(self) -> Ints:
        """How many splits lead to each node."""
        below = np.concatenate([self.left, self.right])
        return np.bincount(below[below >= 0], minlength=len(self.feature))

    @cached_property
    def _order(self) -> list[int]:
        """The nodes, each after all that lead to it; fewer if there is a cycle, or one that cannot be reached."""
        if self._entries[0]:
            return []
        waiting, order, at = self._entries.tolist(), [0], 0
        while at < len(order):
            for below in self._below(order[at]):
                waiting[below] -= 1
                if waiting[below] == 0:
                    order.append(below)
            at += 1
        return order

    def _below(self, node: int) -> tuple[int, ...]:
        return (int(self.left[node]), int(self.right[node])) if self.feature[node] >= 0 else ()

    def _check_splits(self) -> None:
        where = self._where
        for node, (feature, side) in enumerate(zip(self.feature.tolist(), self.goes_left, strict=True)):
            levels = _levels(self.parent_kinds[feature]) if feature >= 0 else None
            wanted = None if levels is None else (len(levels),)
            if (None if side is None else side.shape) != wanted:
                raise ChoiceError(
                    f"{where}, node {node}: goes_left must have one true or false per level of the discrete parent "
                    f"that the node splits on, and be None elsewhere: correct it"
                )
            cut = self.threshold[node]
            if not (math.isfinite(cut) if feature >= 0 and levels is None else math.isnan(cut)):
                raise ChoiceError(
                    f"{where}, node {node}: the threshold {float(cut)!r} must be finite where the node splits on a "
                    f"continuous parent, and NaN elsewhere: correct it"
                )

    def _check_leaves(self) -> None:
        where, levels = self._where, _levels(self.kind)
        shape = (int(self.leaf.max()) + 1, 3 if levels is None else len(levels))
        if self.sums.shape != shape:
            raise ChoiceError(
                f"{where} has sums of shape {self.sums.shape}: give {shape[1]} for each of {shape[0]} leaves"
            )
        if len(np.unique(self.leaf[self.leaf >= 0])) < shape[0]:
            raise ChoiceError(f"{where} has sums of a leaf that no node has: number the leaves without gaps")
        positive = self.sums if levels is not None else self.sums[:, [0, 2]]
        part_of_a_row = levels is None and ((self.sums[:, 0] > 0) & (self.sums[:, 0] < 1)).any()
        if not (np.abs(self.sums) <= _MOST_SUM).all() or (positive < 0).any() or part_of_a_row:
            raise ChoiceError(f"{where} has sums that no rows can have: give counts from 0 to {_MOST_SUM:g}")
        if self.alphas is None:
            return
        if levels is None or self.alphas.shape not in (shape[:1], shape):
            raise ChoiceError(
                f"{where} has alphas: give one for each of {shape[0]} leaves of a discrete child, or for each of them "
                f"and each level"
            )
        if not ((self.alphas <= _MOST_SUM) & (self.alphas > 0)).all():
            raise ChoiceError(
                f"{where} has alphas that are not pseudo-counts: give numbers from above 0 to {_MOST_SUM:g}"
            )

    # --- answers ----------------------------------------------------------------------------------------------------

    @property
    def family(self) -> dict[str, Levels]:
        return {name: _levels(kind) for name, kind in self._kinds.items()}

    @property
    def _kinds(self) -> dict[str, Kind]:
        return dict(zip((self.child, *self.parents), (self.kind, *self.parent_kinds), strict=True))

    def fits(self, name: str, kind: Kind) -> bool:
        return self._kinds[name] == kind

    @cached_property
    def rows(self) -> Floats:
        """How many rows each leaf was fitted from."""
        return self.sums.sum(axis=1) if self.kind.discrete else self.sums[:, 0]

    @cached_property
    def probabilities(self) -> Floats:
        """Of a child with levels: one row per leaf. REQUIRES: the child has levels."""
        if self.alphas is not None:
            return leaves.categorical(self.sums, self.alphas.reshape(len(self.sums), -1))
        if isinstance(self.kind, Ordinal):
            return leaves.ordinal(self.sums, self.alpha, self.kappa)
        return leaves.categorical(self.sums, self.alpha)

    @cached_property
    def student(self) -> leaves.Student:
        """Of a continuous child: one Student t per leaf, in the user's units. REQUIRES: the child is continuous."""
        predicted = leaves.Student.predicted(self.sums, self.mu0, self.a, self.nu, self.lam)
        return predicted.moved(self.shift, self.scale)

    @cached_property
    def splits(self) -> Splits:
        return Splits(*(getattr(self, field.name) for field in fields(Splits)))

    def leaf_of(self, data: Dataset | Columns) -> Ints:
        """The number of the leaf that each row falls into."""
        family = self.family
        columns = align(data, {parent: family[parent] for parent in self.parents})
        return self.splits.leaf_of([columns[parent] for parent in self.parents], columns.n_rows)

    def log_prob(self, data: Dataset | Columns) -> Floats:
        """The log of the posterior predictive probability, or of the density in the user's units, of each row."""
        columns = align(data, self.family)
        leaf = self.leaf_of(columns)
        if self.kind.discrete:
            logs: Floats = np.log(self.probabilities[leaf, columns.codes(self.child)])
            return logs
        return self.student.at(leaf).log_density(columns.values(self.child))

    def conditional(self, data: Dataset | Columns) -> Floats:
        return self.probabilities[self.leaf_of(data)] if self.kind.discrete else super().conditional(data)

    def mean(self, data: Dataset | Columns) -> Floats:
        """The posterior predictive mean; of a leaf with too few rows to have one, the centre of its Student t."""
        return super().mean(data) if self.kind.discrete else self.student.location[self.leaf_of(data)]

    def spread(self, data: Dataset | Columns) -> tuple[Floats, Floats]:
        if self.kind.discrete:
            return super().spread(data)
        leaf = self.leaf_of(data)
        return self.student.location[leaf], self.student.scale[leaf]

    def pieces(self, data: Dataset | Columns, cuts: Floats) -> tuple[Floats, Floats]:
        leaf = self.leaf_of(data)
        log_mass, mean = self.student.pieces(cuts)
        return log_mass[leaf], mean[leaf]

    def cuts(self, parent: str) -> Floats | None:
        return np.unique(self.threshold[self.feature == self.parents.index(parent)])

    def sample(self, data: Dataset | Columns, rng: np.random.Generator) -> Numbers:
        leaf = self.leaf_of(data)
        return draw_codes(self.probabilities, leaf, rng) if self.kind.discrete else self.student.at(leaf).draw(rng)

    @property
    def title(self) -> str:
        """P(child | parents), and the size of the tree or graph."""
        shape = "decision graph" if (self._entries > 1).any() else "decision tree"
        return f"{super().title}, {shape} with {counted(len(self.sums), 'leaf', 'leaves')}"

    def text(self, rows: int | None = ROWS) -> str:
        """The title and the splits as lines of if and else; a continuous child in the user's units."""
        return "\n".join([self.title, *cut([f"  {line}" for line in self._lines()], rows, "line")])

    def to_plain(self) -> dict[str, object]:
        return {
            **{name: getattr(self, name).tolist() for name in _NODES},
            "threshold": [None if np.isnan(cut) else cut for cut in self.threshold.tolist()],
            "goes_left": [None if side is None else np.flatnonzero(side).tolist() for side in self.goes_left],  # levels
            "sums": self.sums.tolist(),
            "prior": {name: getattr(self, name) for name in _PRIOR},
            **({} if self.alphas is None else {"alphas": self.alphas.tolist()}),
            "shift": self.shift,
            "scale": self.scale,
        }

    @classmethod
    def from_plain(cls, node: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Partition:
        child, parents = node["child"], tuple(node["parents"])
        features = whole(node["feature"])
        if len(node["goes_left"]) != len(features):
            raise ChoiceError(
                f"the partition of {child!r} has goes_left for other than all nodes: give one entry per node"
            )
        sides: list[Bools | None] = []
        for feature, codes in zip(features.tolist(), node["goes_left"], strict=True):
            if codes is None or not 0 <= feature < len(parents):
                sides.append(None)
                continue
            side = np.zeros(len(_levels(kinds[parents[feature]]) or ()), dtype=bool)
            if any(not 0 <= code < len(side) for code in codes):
                raise ChoiceError(
                    f"the partition of {child!r} splits {parents[feature]!r} at a level that it does not have"
                )
            side[whole(codes)] = True
            sides.append(side)
        return cls(
            child=child,
            parents=parents,
            kind=kinds[child],
            parent_kinds=tuple(kinds[parent] for parent in parents),
            feature=features,
            left=whole(node["left"]),
            right=whole(node["right"]),
            threshold=np.array([np.nan if cut is None else cut for cut in node["threshold"]], dtype=np.float64),
            goes_left=tuple(sides),
            leaf=whole(node["leaf"]),
            sums=np.array(node["sums"], dtype=np.float64),
            shift=node["shift"],
            scale=node["scale"],
            score=node["score"],
            alphas=None if node.get("alphas") is None else np.array(node["alphas"], dtype=np.float64),
            **{name: node["prior"][name] for name in _PRIOR},
        )

    def _repr_html_(self) -> str:
        """As a tree, where it is small enough."""
        from spinney.report.svg import tree_svg

        drawn = tree_svg(self.diagram())
        return f"<p>{html.escape(self.title)}</p>{drawn}" if drawn else super()._repr_html_()

    def for_page(self) -> dict[str, object]:
        """The splits, and what each leaf predicts instead of its sums."""
        plain = self.to_plain()
        kept = {name: plain[name] for name in (*_NODES, "threshold", "goes_left")}
        return {**kept, "rows": self.rows.tolist(), **self._leaves_for_page()}

    def _leaves_for_page(self) -> dict[str, object]:
        if self.kind.discrete:
            return {"probabilities": self.probabilities.tolist()}
        student = self.student
        return {"student": [student.location.tolist(), student.scale.tolist(), student.freedom.tolist()]}

    def as_dict(self) -> dict[str, object]:
        levels = _levels(self.kind)
        return {
            "node": self.child,
            "model": self.word,
            "parents": list(self.parents),
            "levels": None if levels is None else list(levels),
            "score": self.score,
            "leaves": len(self.sums),
            "text": self.describe(),
        }

    def attributes(self) -> dict[str, object]:
        return {"levels": _levels(self.kind), "parents": self.parents, "partition": self.describe()}

    def diagram(self) -> Diagram:
        splits = np.flatnonzero(self.feature >= 0).tolist()
        sides = ((self.left, "yes"), (self.right, "no"))
        return Diagram(
            tuple((words, feature < 0) for words, feature in zip(self.words(), self.feature.tolist(), strict=True)),
            tuple((node, int(below[node]), word) for node in splits for below, word in sides),
        )

    # --- words ------------------------------------------------------------------------------------------------------

    def describe(self) -> str:
        """The splits as indented lines of if and else, in the user's names and units, with what each leaf predicts.

        A node that several splits lead to is written out once, with its number; elsewhere there is only the number."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        told = np.zeros(len(self.feature), dtype=bool)
        words = self.words()
        waiting: list[tuple[int, str, int]] = [(0, "", 0)]  # node, the line before it, depth
        while waiting:
            node, line, depth = waiting.pop()
            if line:
                yield "  " * (depth - 1) + line
            if node < 0:
                continue
            indent, feature = "  " * depth, int(self.feature[node])
            name = f"node {node}" if self._entries[node] > 1 else ""
            if told[node]:
                yield f"{indent}as {name}"
                continue
            told[node] = True
            if name:
                yield f"{indent}{name}:"
            if feature < 0:
                yield f"{indent}{words[node]}"
                continue
            waiting.append((int(self.right[node]), "else:", depth + 1))
            waiting.append((int(self.left[node]), f"if {words[node]}:", depth + 1))

    def words(self) -> list[str]:
        """Every node in words: what a split asks (yes goes left), what a leaf predicts."""
        possible = self._possible()
        return [
            self._leaf_in_words(int(self.leaf[node])) if self.feature[node] < 0 else self._question(node, possible)
            for node in range(len(self.feature))
        ]

    def _question(self, node: int, possible: list[Bools]) -> str:
        feature = int(self.feature[node])
        parent, side, kind = self.parents[feature], self.goes_left[node], self.parent_kinds[feature]
        if side is None:
            assert isinstance(kind, Continuous)
            width = 0.0 if kind.lo is None or kind.hi is None else kind.hi / 1000 - kind.lo / 1000
            return f"{parent} < {shown_number(float(self.threshold[node]), width)}"
        levels = _levels(kind) or ()
        named = [levels[code] for code in np.flatnonzero(side & possible[feature][node])]
        return f"{parent} is {_listed(named, ' or ')}" if named else f"{parent} is none of its levels"

    def _possible(self) -> list[Bools]:
        """Per parent: one row per node, the levels that can reach it (a continuous parent has none)."""
        found = []
        for place, kind in enumerate(self.parent_kinds):
            reach = np.zeros((len(self.feature), len(_levels(kind) or ())), dtype=bool)
            reach[0] = True
            for node in self._order:
                side = self.goes_left[node] if self.feature[node] == place else None
                for below, passes in zip(self._below(node), (side, None if side is None else ~side), strict=False):
                    reach[below] |= reach[node] if passes is None else reach[node] & passes
            found.append(reach)
        return found

    def _leaf_in_words(self, leaf: int) -> str:
        levels, rows = _levels(self.kind), float(self.rows[leaf])
        start = f"{self.child}: {rows:.10g} row{'' if rows == 1 else 's'}, "
        if levels is None:
            student = self.student
            location, scale, freedom = (float(x[leaf]) for x in (student.location, student.scale, student.freedom))
            mean = shown_number(location, scale / 100)
            return f"{start}mean {mean}, scale {scale:.6g}, {freedom:.6g} degrees of freedom"
        shares = self.probabilities[leaf]
        codes = range(len(levels))
        # Of many levels the most probable are shown, in falling order.
        order = codes if len(levels) <= _SHOWN else np.argsort(-shares, kind="stable").tolist()
        return start + _listed([f"{levels[code]} {shares[code]:.4g}" for code in order], ", ")

    def __eq__(self, other: object) -> bool:
        """The same splits, sums and options; the score is not compared."""
        if not isinstance(other, Partition):
            return NotImplemented
        plain = (
            "child",
            "parents",
            "kind",
            "parent_kinds",
            "alpha",
            "mu0",
            "a",
            "nu",
            "lam",
            "kappa",
            "shift",
            "scale",
        )
        arrays = ("feature", "left", "right", "leaf", "sums")
        return (
            all(getattr(self, name) == getattr(other, name) for name in plain)
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)
            and np.array_equal(self.threshold, other.threshold, equal_nan=True)
            and all(
                (mine is None and its is None) or (mine is not None and its is not None and np.array_equal(mine, its))
                for mine, its in zip((self.alphas, *self.goes_left), (other.alphas, *other.goes_left), strict=True)
            )
        )


def _levels(kind: Kind) -> Levels:
    return getattr(kind, "levels", None)


def _listed(words: list[str], between: str) -> str:
    """All words, or the first and how many more."""
    rest = len(words) - _SHOWN
    return between.join(words if rest <= 0 else [*words[:_SHOWN], f"{rest:,} more"])
