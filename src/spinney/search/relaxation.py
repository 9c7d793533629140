"""The linear program over families with cluster inequalities, cut by cut.

In:  a part with clusters from the dual ascent.
Out: a better bound, reduced costs, the clusters that carry it, and the fractional families as weights for a climb.

The solver (HiGHS) only proposes: a bound counts after the core has added up the reduced costs for its duals anew."""

from __future__ import annotations

import math
from collections.abc import Callable

import highspy
import numpy as np
from numpy.typing import NDArray

from spinney.search.parts import Clock, Cluster, Node

VIOLATION = 1e-3  # smaller ones are not worth a row
CUTS = 200  # per round
PATIENCE = 10  # rounds without a thousandth of the gap
COLUMNS = 2000  # families to begin with, or so many per variable where that is more
PER_VARIABLE = 10


def tighten(
    node: Node,
    clock: Clock,
    report: Callable[[], None],
    climb: Callable[[list[float]], None],
    most_work: float = math.inf,
) -> bool:
    """Until nothing is gained any more, or simplex steps times non-zeros exceed `most_work`: then False."""
    program = _Program(node)
    failed = 0
    for turn in range(1, 1_000_000):
        clock.check()
        if not program.solve(clock):
            break
        gap = node.gap()
        bound, reduced = node.part.price(program.clusters, program.duals)
        node.raise_lower(bound, reduced)
        node.clusters, node.weights = program.clusters, program.x
        if turn in (1, 4, 16, 64):
            climb(program.x.tolist())
        report()
        wider = program.widen(reduced)
        failed = 0 if wider or node.gap() < 0.999 * gap else failed + 1
        if not node.is_open() or failed > PATIENCE or program.work > most_work:
            break
        cuts = node.part.violated(program.x, VIOLATION, CUTS)
        if not cuts and not wider:
            break
        if turn % 5 == 0 and not failed:
            program.purge()
        program.add(cuts)
    program.purge()
    node.clusters = program.clusters
    return program.work <= most_work


class _Program:
    """Only families that look cheap are columns; the others are priced by the core and come in when they would help."""

    def __init__(self, node: Node) -> None:
        self._part = part = node.part
        self._equalities = len(part.variables)
        self.clusters: list[Cluster] = []
        self._at_least: list[bool] = []  # the form of each cluster's row
        self.x: NDArray[np.float64] = np.zeros(len(part))
        self.duals: NDArray[np.float64] = np.zeros(0)
        self.work = 0.0  # simplex steps times non-zeros: about 2e8 a second
        self._highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("solver", "simplex"),
            ("presolve", "off"),
            ("dual_feasibility_tolerance", 1e-9),
            ("primal_feasibility_tolerance", 1e-9),
        ):
            self._highs.setOptionValue(option, value)
        self._place: NDArray[np.int32] = np.full(len(part), -1, np.int32)  # family -> column
        self._active: NDArray[np.int64] = np.zeros(0, np.int64)  # column -> family
        one = np.ones(self._equalities)
        none = np.zeros(0, np.int32)
        self._highs.addRows(self._equalities, one, one, 0, np.zeros(self._equalities, np.int32), none, np.zeros(0))
        most = max(COLUMNS, PER_VARIABLE * self._equalities)
        cheap = node.reduced <= (np.partition(node.reduced, most)[most] if len(part) > most else np.inf)
        cheap[node.chosen] = True
        self._enter(np.flatnonzero(cheap))
        self.add(node.clusters)

    def _enter(self, families: NDArray[np.int64]) -> None:
        self._place[families] = np.arange(len(self._active), len(self._active) + len(families))
        self._active = np.concatenate([self._active, families])
        starts, rows = self._part.columns(families.astype(np.int32), self.clusters, self._at_least)
        n = len(families)
        cost, high = self._part.cost[families], np.full(n, highspy.kHighsInf)
        self._highs.addCols(n, cost, np.zeros(n), high, len(rows), starts, rows, np.ones(len(rows)))

    def widen(self, reduced: NDArray[np.float64]) -> bool:
        """Families that beat the best column of their child come in, and those within reach of it."""
        first = self._part.first[:-1]
        inside = np.where(self._place >= 0, reduced, np.inf)
        margin = np.minimum.reduceat(inside, first)[self._part.child]
        better = np.flatnonzero((self._place < 0) & (reduced < 1.5 * margin) & (margin > 1e-9))
        if not len(better):
            return False
        self._enter(better)
        return True

    def add(self, clusters: list[Cluster]) -> None:
        if not clusters:
            return
        rows, lower, upper = [], [], []
        for families, least, most in self._part.rows(clusters):
            columns = self._place[families]
            rows.append(columns[columns >= 0])
            lower.append(least)
            upper.append(most)
        starts = np.zeros(len(rows), np.int32)
        starts[1:] = np.cumsum([len(row) for row in rows])[:-1]
        columns = np.concatenate(rows)
        self._highs.addRows(
            len(rows), np.array(lower), np.array(upper), len(columns), starts, columns, np.ones(len(columns))
        )
        self.clusters = self.clusters + clusters
        self._at_least += [least > 0 for least in lower]

    def solve(self, clock: Clock) -> bool:
        left = clock.left()
        if left:
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)
        self._highs.run()
        iterations = self._highs.getInfo().simplex_iteration_count
        self.work += max(0, iterations) * self._highs.getNumNz()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return False
        solution = self._highs.getSolution()
        self.x = np.zeros(len(self._place))
        self.x[self._active] = solution.col_value
        # A row may say "at least" over some families or "at most" over the others: the weight is the same.
        self.duals = np.abs(np.array(solution.row_dual)[self._equalities :])
        return True

    def purge(self) -> None:
        """Rows without a dual carry nothing."""
        loose = np.flatnonzero(self.duals < 1e-9)
        if not len(loose):
            return
        self._highs.deleteRows(len(loose), (loose + self._equalities).astype(np.int32))
        gone = set(loose.tolist())
        self.clusters = [cluster for i, cluster in enumerate(self.clusters) if i not in gone]
        self._at_least = [form for i, form in enumerate(self._at_least) if i not in gone]
        self.duals = np.delete(self.duals, loose)
