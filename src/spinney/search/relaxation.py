"""The linear program over families with cluster inequalities, cut by cut.

In:  a part with clusters from the dual ascent.
Out: a better bound, reduced costs, the clusters that carry it, and the fractional families as weights for a climb.

The solver (HiGHS) only proposes: a bound counts after the core has added up the reduced costs for its duals anew."""

from __future__ import annotations

from collections.abc import Callable

import highspy
import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.search.parts import Clock, Cluster, Node

VIOLATION = 1e-3  # smaller ones are not worth a row
CUTS = 200  # per round
PATIENCE = 10  # rounds without a thousandth of the gap


def tighten(node: Node, clock: Clock, report: Callable[[], None]) -> None:
    program = _Program(node.part, node.clusters)
    failed = 0
    for turn in range(1, 1_000_000):
        clock.check()
        if not program.solve(clock):
            break
        gap = node.gap()
        node.raise_lower(*node.part.price(program.clusters, program.duals))
        node.clusters, node.weights = program.clusters, program.x
        report()
        failed = 0 if node.gap() < 0.999 * gap else failed + 1
        if not node.is_open() or failed > PATIENCE:
            break
        cuts = node.part.violated(program.x, VIOLATION, CUTS)
        if not cuts:
            break
        if turn % 5 == 0 and not failed:
            program.purge()
        program.add(cuts)
    program.purge()
    node.clusters = program.clusters


class _Program:
    def __init__(self, part: _core.Part, clusters: list[Cluster]) -> None:
        self._part, self._first = part, len(part.variables)
        self.clusters: list[Cluster] = []
        self.x: NDArray[np.float64] = np.zeros(len(part))
        self.duals: NDArray[np.float64] = np.zeros(0)
        columns = len(part)
        self._highs = highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("solver", "simplex"),
            ("presolve", "off"),
            ("dual_feasibility_tolerance", 1e-9),
            ("primal_feasibility_tolerance", 1e-9),
        ):
            highs.setOptionValue(option, value)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = columns, self._first
        program.col_cost_ = part.cost
        program.col_lower_, program.col_upper_ = np.zeros(columns), np.full(columns, highspy.kHighsInf)
        program.row_lower_ = program.row_upper_ = np.ones(self._first)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = part.first
        program.a_matrix_.index_ = np.arange(columns, dtype=np.int32)
        program.a_matrix_.value_ = np.ones(columns)
        highs.passModel(program)
        self.add(clusters)

    def add(self, clusters: list[Cluster]) -> None:
        rows = self._part.rows(clusters)
        if not rows:
            return
        starts = np.zeros(len(rows), np.int32)
        starts[1:] = np.cumsum([len(columns) for columns, _, _ in rows])[:-1]
        columns = np.concatenate([columns for columns, _, _ in rows])
        lower, upper = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
        self._highs.addRows(len(rows), lower, upper, len(columns), starts, columns, np.ones(len(columns)))
        self.clusters = self.clusters + clusters

    def solve(self, clock: Clock) -> bool:
        left = clock.left()
        if left:
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return False
        solution = self._highs.getSolution()
        self.x = np.array(solution.col_value)
        # A row may say "at least" over some families or "at most" over the others: the weight is the same.
        self.duals = np.abs(np.array(solution.row_dual)[self._first :])
        return True

    def purge(self) -> None:
        """Rows without a dual carry nothing."""
        loose = np.flatnonzero(self.duals < 1e-9)
        if not len(loose):
            return
        self._highs.deleteRows(len(loose), (loose + self._first).astype(np.int32))
        gone = set(loose.tolist())
        self.clusters = [cluster for i, cluster in enumerate(self.clusters) if i not in gone]
        self.duals = np.delete(self.duals, loose)
