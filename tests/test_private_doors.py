"""What our own Python could hand to the core wrongly: it is refused, and nothing is read out of bounds.

In:  malformed arrays, orders, prior networks and numbers of levels, straight into the bindings.
Out: ValueError with the core's sentence; never a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp
from spinney import _core

CODES = np.array([0, 1, 0, 1], np.uint16)
TABLE = _core.Table([CODES.astype(np.uint8)] * 2, [2, 2], [0.0, 0.0])
HALF, QUARTERS = np.full(2, 0.5), np.full(4, 0.5)
TREE = {"alpha": 0.5, "mu0": 0.0, "a": 1.0, "nu": 1.0, "lam": 1.0, "kappa": 0.25, "ess": 0.0}
WRONG = "core was called wrongly"


def part() -> _core.Part:
    lists = {"a": [((), -1.0), (("b",), 0.0)], "b": [((), -1.0), (("a",), 0.0)], "c": [((), 0.0)]}
    return _core.Part(sp.ParentSets.from_lists(lists).arrays)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 3], [0, 1, -1], [0, 1, 1], [0, 1, 2, 2], [2**31 - 1, 0, 1]])
def test_an_order_names_every_variable_once(order: list[int]) -> None:
    with pytest.raises(ValueError, match=WRONG):
        part().along(order)
    with pytest.raises(ValueError, match=WRONG):
        part().climb([order], [], 0, 1, 0, 1, 0.0)


def test_a_climb_has_something_to_start_from() -> None:
    with pytest.raises(ValueError, match=WRONG):
        part().climb([], [], 0, 1, 0, 1, 0.0)
    with pytest.raises(ValueError, match=WRONG):
        part().climb([], [], -1, 1, 0, 1, 0.0)


NETWORKS: list[tuple[list[int], list[tuple[list[int], Any]]]] = [
    ([2], [([], HALF), ([0], QUARTERS)]),  # fewer levels than tables
    ([2, 2], [([], HALF)]),
    ([2, 2], [([], HALF), ([2], QUARTERS)]),  # no such parent
    ([2, 2], [([], HALF), ([-1], QUARTERS)]),
    ([2, 2], [([], HALF), ([1], QUARTERS)]),  # its own parent
    ([2, 2], [([], HALF), ([0, 0], np.full(8, 0.5))]),
    ([2, 2], [([], HALF), ([0], HALF)]),  # a table that is too short
    ([2, 2], [([], HALF), ([0], np.full(5, 0.5))]),
    ([2, 0], [([], HALF), ([], np.empty(0))]),
]


@pytest.mark.parametrize("network", NETWORKS)
def test_a_prior_network_holds_together(network: tuple[list[int], list[tuple[list[int], Any]]]) -> None:
    with pytest.raises(ValueError, match=WRONG):
        _core.Spec("bde", 1.0, [], 0.0, *network)
    with pytest.raises(ValueError, match=WRONG):
        graph_spec(*network)


def bde(levels: list[int]) -> _core.Spec:
    return _core.Spec("bde", 1.0, [], 0.0, levels, [([], np.full(r, 1 / r)) for r in levels])


@pytest.mark.parametrize("variables", [[2], [-1], [1, 0], [0, 0]])
def test_a_joint_table_is_of_variables_that_there_are(variables: list[int]) -> None:
    with pytest.raises(ValueError, match=WRONG):
        _core.prior_joint(bde([2, 2]), variables)


@pytest.mark.parametrize("levels", [[2], [2, 3], [2, 2, 2]])
def test_a_prior_network_has_the_variables_of_the_table(levels: list[int]) -> None:
    with pytest.raises(ValueError, match=WRONG):
        _core.table_scores(TABLE, bde(levels))
    with pytest.raises(ValueError, match=WRONG):
        graph([(2, False, None)] * 2, graph_spec(levels, [([], np.full(r, 1 / r)) for r in levels]))


def graph_spec(levels: list[int], tables: list[tuple[list[int], Any]]) -> _core.GraphSpec:
    normal = {name: TREE[name] for name in ("mu0", "a", "nu", "lam")}
    return _core.GraphSpec(
        "CBM", False, False, False, "pn" if tables else "uniform", 1.0, levels, tables, 0.0, size_prior=[], **normal
    )


def graph(parts: Any, spec: _core.GraphSpec, family: tuple[int, list[int]] = (0, [1]), column: Any = CODES) -> Any:
    table = _core.Table([CODES, column], [2, 0 if column.dtype == np.float64 else 2], [0.0, 0.0])
    return _core.families(_core.GraphScores(table, spec, parts), [family])


def tree(
    kind: str,
    levels: int,
    codes: Any = CODES,
    values: Any = None,
    cuttings: Any = (),
    groupings: Any = (),
    seen: int = 0,
) -> Any:
    """`seen`: the levels that the table declares, if they are others."""
    spec = _core.TreeSpec(False, structure_prior=True, log_cuttings=0.0, size_prior=[], **TREE)
    continuous = values is not None
    table = _core.Table(
        [CODES, values if continuous else codes], [2, 0 if continuous else seen or max(levels, 1)], [0.0, 0.0]
    )
    parts = [
        ("categorical", 2, None, [(2, CODES)], []),
        (kind, levels, codes if continuous else None, list(cuttings), list(groupings)),
    ]
    return _core.families(_core.TreeScores(table, spec, parts), [(0, [1])])


VALUES = np.zeros(4)
BIC = _core.Spec("bic", 1.0, [], 0.0, [], [])


@pytest.mark.parametrize(
    "call",
    [
        lambda: tree("continuous", 17, values=VALUES),
        lambda: tree("continuous", 32, values=VALUES),
        lambda: tree("continuous", 64, values=VALUES),
        lambda: tree("continuous", -1, values=VALUES),
        lambda: tree("continuous", 2, values=None),
        lambda: tree("continuous", 2, codes=CODES[:3].copy(), values=VALUES),
        lambda: tree("continuous", 0, values=VALUES),  # cells beyond the range
        lambda: tree("categorical", 2, seen=3),
        lambda: tree("continuous", 2, values=np.zeros(3)),
        lambda: tree("categorical", 2, values=VALUES),
        lambda: tree("categorical", 1),  # codes beyond the levels
        lambda: tree("categorical", 70_000),
        lambda: tree("ordinal", -1),
        lambda: tree("colour", 2),
        lambda: tree("categorical", 2, codes=CODES[:3].copy()),
        lambda: tree("categorical", 2, cuttings=[(1, CODES)]),
        lambda: tree("categorical", 2, cuttings=[(-1, CODES)]),
        lambda: tree("categorical", 2, cuttings=[(2, CODES[:3].copy())]),
        lambda: tree("categorical", 3, groupings=[(2, CODES[:2].copy())]),  # a grouping names every level
        lambda: tree("categorical", 2, groupings=[(1, CODES[:2].copy())]),
        lambda: _core.tree_prior([("continuous", 64)]),
        lambda: _core.tree_prior([("colour", 2)]),
        lambda: _core.tree_prior([("ordinal", -3)]),
        lambda: graph([(0, False, None)] * 2, graph_spec([], [])),
        lambda: graph([(1, False, None)] * 2, graph_spec([], [])),
        lambda: graph([(2, False, None)], graph_spec([], [])),
        lambda: graph([(2, False, None)] * 2, graph_spec([], []), (0, [2])),
        lambda: graph([(2, False, None), (2, True, CODES)], graph_spec([], [])),
        lambda: graph([(2, False, None), (2, True, None)], graph_spec([], []), column=VALUES),
        lambda: graph([(2, False, None), (1, True, CODES)], graph_spec([], []), column=VALUES),
        lambda: graph([(2, False, None), (2, True, CODES[:2].copy())], graph_spec([], []), column=VALUES),
        lambda: _core.table_scores(_core.Table([CODES, VALUES], [2, 3], [0.0, 0.0]), bde([2, 2])),
        lambda: _core.families(_core.table_scores(_core.Table([CODES, VALUES], [2, 0], [0.0, 0.0]), BIC), [(0, [1])]),
        lambda: _core.best_scores([]),
        lambda: _core.best_scores([(_core.table_scores(TABLE, BIC), [np.ones(2, bool)])]),
        lambda: _core.best_scores([(_core.table_scores(TABLE, BIC), [np.ones(1, bool)] * 2)]),
        lambda: _core.families(
            _core.best_scores([(_core.table_scores(TABLE, BIC), [np.eye(2, dtype=bool)[i] for i in (0, 1)])]),
            [(0, [1])],
        ),
    ],
)
def test_malformed_columns_are_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=WRONG):
        call()


def test_well_formed_ones_are_not() -> None:
    assert np.isfinite(tree("continuous", 16, values=VALUES)).all()
    assert np.isfinite(_core.families(_core.table_scores(TABLE, bde([2, 2])), [(0, [1])])).all()
    assert part().along([2, 1, 0]) and part().climb([[0, 1, 2]], [], 0, 1, 0, 1, 0.0)["order"]


LARGE = """
import resource, sys
import numpy as np
from spinney import _core

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, used + 2**28))
shared, codes = list(range(20_000)), np.array([0, 1], np.uint8)
allowed, table = _core.Allowed([[]], [[]], [0]), _core.Table([codes], [2], [0.0])
spec = _core.Spec("bic", 1.0, [], 0.0, [], [])
calls = {
    "candidates": lambda: _core.Allowed([shared] * 20_000, [[]] * 20_000, [0] * 20_000),
    "required": lambda: _core.Allowed([[]] * 20_000, [shared] * 20_000, [0] * 20_000),
    "start": lambda: _core.GreedyArgs([shared] * 20_000, allowed, 0.0, 1, 0, 0, 0, 0, 0),
    "families": lambda: _core.families(_core.table_scores(table, spec), [(0, shared)] * 20_000),
}
for name in sys.argv[1:]:
    try:
        calls[name]()
    except (MemoryError, ValueError) as error:
        print(name, type(error).__name__)
"""


@pytest.mark.skipif("SPINNEY_SANITIZER" in os.environ, reason="a sanitizer ends the process where `new` would throw")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limit is set beside what /proc says is in use")
@pytest.mark.parametrize("what", ["candidates", "required", "start", "families"])
def test_arguments_larger_than_the_memory_are_an_error_and_not_the_end(what: str) -> None:
    """1.6 GB of numbers from lists that Python shares, in a process that may take 0.25 GB more."""
    done = subprocess.run([sys.executable, "-c", LARGE, what], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith(what), (done.returncode, done.stdout, done.stderr[-500:])
