"""Bad tables at the door of every score for mixed columns: one sentence, or a right answer.

In:  small tables, each with one thing wrong or extreme in it, and every mixed score of the catalog.
Out: a SpinneyError, or finite scores of all families of up to two parents that do not depend on the order of rows, a
fitted network with the same score, finite log-probabilities, conditional probabilities that sum to 1, draws, and a file
that holds it all."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spinney as sp

SCORES = [
    "cg",
    "cg(exact=True)",
    "cgd",
    "mn",
    "mvp",
    "mvp(degree=log)",
    "lr",
    "lr(degree=2)",
    "dg",
    "bf",
    "bge",
    "pcart(leaf=linear)",
    "best",
]
ABOVE_ZERO = {"cg", "dg", "bf"}  # equivalent scores: the child's share of a set function (docs/mixed.md)
ROWS = 24

Frame = dict[str, Any]
Made = tuple[Frame, dict[str, Any]]
X, C, O = sp.Continuous(), "categorical", "ordinal"  # noqa: E741
KINDS = {"x": X, "y": X, "d": C, "e": C}


def usual(rows: int = ROWS) -> Frame:
    """Two continuous and two discrete columns that depend on one another."""
    rng = np.random.default_rng(7)
    x, d = rng.normal(size=rows), np.arange(rows) % 3
    y = x * (d - 1) + rng.normal(size=rows)
    e = (y + rng.normal(size=rows) > 0).astype(int)
    return {"x": x, "y": y, "d": [f"d{code}" for code in d], "e": [f"e{code}" for code in e]}


def with_(rows: int = ROWS, kinds: dict[str, Any] | None = None, **columns: Any) -> Made:
    """The usual table with other columns; a function is called with the usual one."""
    frame = usual(rows)
    new = {name: column(frame) if callable(column) else column for name, column in columns.items()}
    return frame | new, KINDS | (kinds or {})


def times(name: str, factor: float, shift: float = 0.0) -> Callable[[Frame], Any]:
    return lambda frame: shift + factor * frame[name]


def one_value(value: float) -> Callable[[Frame], Any]:
    return lambda frame: np.r_[value, frame["x"][1:]]


def by_level(constant: bool, exact: bool) -> Callable[[Frame], Any]:
    """y in the cells of d: constant in the first cell, or in all; or one linear function of x."""

    def column(frame: Frame) -> Any:
        codes = np.array([int(level[1:]) for level in frame["d"]])
        if constant:
            return np.where((codes == 0) | exact, codes * 1.5, frame["y"])
        return np.where((codes == 0) | exact, 2 * frame["x"] + codes, frame["y"])

    return column


def text(codes: Any) -> list[str]:
    return [f"l{code}" for code in np.asarray(codes).astype(int)]


TABLES: dict[str, Callable[[], Made]] = {
    "one row": lambda: with_(1),
    "two rows": lambda: with_(2),
    "two equal rows": lambda: ({n: [c[0]] * 2 for n, c in usual().items()}, KINDS),
    "three rows": lambda: with_(3),
    "four rows": lambda: with_(4),
    "every row twice": lambda: ({n: [*c, *c] for n, c in usual(9).items()}, KINDS),
    "one row many times": lambda: ({n: [c[0]] * 20 for n, c in usual().items()}, KINDS),
    "one row per level": lambda: with_(d=text(range(ROWS))),
    "one row per level of two columns": lambda: with_(d=text(range(ROWS)), e=text(range(ROWS))[::-1]),
    "two rows per level": lambda: with_(d=text(np.arange(ROWS) // 2)),
    "one row in a cell": lambda: with_(d=text([0] + [1] * (ROWS - 1))),
    "cells of one to six rows": lambda: with_(21, d=text(np.repeat(range(6), range(1, 7)))),
    "perfect separation": lambda: with_(e=lambda f: text(f["x"] > 0)),
    "perfect separation of three levels": lambda: with_(e=lambda f: text(np.digitize(f["x"], [-0.5, 0.5]))),
    "separation in one cell only": lambda: with_(
        e=lambda f: text(np.where(np.array(f["d"]) == "d0", f["x"] > 0, np.arange(ROWS) % 2))
    ),
    "separation by one tie": lambda: with_(x=lambda f: np.arange(ROWS) // 2, e=text(np.arange(ROWS) > ROWS // 2)),
    "separation in the middle": lambda: with_(e=lambda f: text(np.abs(f["x"]) < 0.5)),
    "constant within a cell": lambda: with_(y=by_level(True, False)),
    "constant within every cell": lambda: with_(y=by_level(True, True)),
    "linear within a cell": lambda: with_(y=by_level(False, False)),
    "linear within every cell": lambda: with_(y=by_level(False, True)),
    "a function of another": lambda: with_(y=lambda f: f["x"] ** 2),
    "a level is a function of another": lambda: with_(e=lambda f: [level.replace("d", "e") for level in f["d"]]),
    "a level refines another": lambda: with_(e=text(np.arange(ROWS) % 6)),
    "constant numbers": lambda: with_(y=[2.5] * ROWS),
    "constant numbers, all": lambda: with_(x=[1e9] * ROWS, y=[0.0] * ROWS),
    "constant level": lambda: with_(d=["only"] * ROWS),
    "a level that never occurs": lambda: with_(kinds={"d": sp.Categorical(["d0", "d1", "d2", "d3"])}),
    "nine levels that never occur": lambda: with_(
        d=["d0"] * ROWS, kinds={"d": sp.Categorical([f"d{i}" for i in range(10)])}
    ),
    "levels that never meet": lambda: with_(
        d=text(np.arange(ROWS) % 2), e=text(np.arange(ROWS) % 2 * (1 + np.arange(ROWS) // 2 % 2))
    ),
    "1e300": lambda: with_(x=times("x", 1e300), y=times("y", -1e300)),
    "one cell of 1e300": lambda: with_(x=one_value(1e300)),
    "the largest numbers": lambda: with_(x=lambda f: np.where(f["x"] > 0, 1.7e308, -1.7e308)),
    "one outlier": lambda: with_(x=one_value(1e6)),
    "1e-300": lambda: with_(x=times("x", 1e-300)),
    "the smallest numbers": lambda: with_(x=lambda f: np.where(f["x"] > 0, 5e-324, 0.0)),
    "an offset of 1e8": lambda: with_(x=times("x", 1, 1e8), y=times("y", 1, -1e8)),
    "an offset of 1e15": lambda: with_(x=times("x", 1, 1e15)),
    "neighbouring numbers": lambda: with_(x=lambda f: np.where(f["x"] > 0, 1.0, np.nextafter(1.0, 2.0))),
    "1e200 beside 1e-200": lambda: with_(x=times("x", 1e200), y=times("y", 1e-200)),
    "no standard units, large": lambda: with_(x=times("x", 1e5, 1e6)),
    "duplicated column": lambda: with_(y=lambda f: f["x"]),
    "duplicated in other units": lambda: with_(y=times("x", -1.8, 32)),
    "duplicated but for a hair": lambda: with_(y=lambda f: f["x"] + 1e-9 * f["y"]),
    "duplicated level": lambda: with_(e=lambda f: f["d"]),
    "collinear": lambda: with_(z=lambda f: f["x"] + f["y"], kinds={"z": X}),
    "collinear but for a hair": lambda: with_(z=lambda f: f["x"] + f["y"] + 1e-8 * f["x"] ** 2, kinds={"z": X}),
    "a column and its square": lambda: with_(y=lambda f: f["x"] ** 2, z=lambda f: f["x"] ** 3, kinds={"z": X}),
    "integers as continuous": lambda: with_(x=np.arange(ROWS), y=np.arange(ROWS) % 4),
    "large integers": lambda: with_(x=2**62 + np.arange(ROWS)),
    "levels as numbers": lambda: with_(x=np.arange(ROWS) % 2, y=np.arange(ROWS) % 3),
    "nearly all zero": lambda: with_(x=np.r_[np.zeros(ROWS - 1), 1.0], y=np.r_[np.zeros(ROWS - 2), 1.0, 2.0]),
    "minus zero": lambda: with_(x=lambda f: np.where(f["x"] > 0, 0.0, -0.0)),
    "heavy tails": lambda: with_(x=lambda f: np.tan(1.57 * np.tanh(f["x"])), y=lambda f: np.exp(5 * f["y"])),
    "numbers of half precision": lambda: with_(x=lambda f: f["x"].astype(np.float32)),
    "true and false": lambda: with_(e=lambda f: f["x"] > 0, kinds={"e": C}),
    "ordered levels": lambda: with_(d=np.arange(ROWS) % 5, kinds={"d": O}),
    "an ordered level per row": lambda: with_(d=np.arange(ROWS), kinds={"d": O}),
    "ordered levels that never occur": lambda: with_(kinds={"d": sp.Ordinal(["a", "d0", "b", "d1", "d2", "z"])}),
    "levels with odd names": lambda: with_(d=["nan", "1e5", "a, b", "= 2", " é", "x|y"] * 4),
    "sixty levels": lambda: with_(120, d=text(np.arange(120) % 60)),
    "a declared range": lambda: with_(kinds={"x": sp.Continuous(-50, 1e6)}),
    "more columns than rows": lambda: (
        {f"v{i}": np.random.default_rng(i).normal(size=4) if i % 2 else text([0, 1, 1, i % 3]) for i in range(9)},
        {f"v{i}": X if i % 2 else C for i in range(9)},
    ),
    "continuous columns only": lambda: ({n: usual()[n] for n in "xy"}, dict.fromkeys("xy", X)),
    "discrete columns only": lambda: ({n: usual()[n] for n in "de"}, dict.fromkeys("de", C)),
    "one continuous column": lambda: ({"x": usual()["x"]}, {"x": X}),
    "one discrete column": lambda: ({"d": usual()["d"]}, {"d": C}),
}


def dataset(name: str, score: str, order: Any = None) -> sp.Dataset:
    frame, kinds = TABLES[name]()
    if score == "bge":
        frame = {n: column for n, column in frame.items() if kinds[n] is X or isinstance(kinds[n], sp.Continuous)}
        if not frame:
            pytest.skip("bge is for continuous columns, and there is none")
    if order is not None:
        frame = {n: [column[i] for i in order(len(column))] for n, column in frame.items()}
    return sp.Dataset.from_frame(frame, kinds={n: kinds[n] for n in frame}, standardise="no standard" not in name)


def families(data: sp.Dataset) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (child, own)
        for child in data.names
        for size in range(3)
        for own in itertools.combinations([n for n in data.names if n != child], size)
    ]


def shuffled(rows: int) -> Any:
    return np.random.default_rng(3).permutation(rows)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", TABLES)
def test_a_sentence_or_a_right_answer(name: str, score: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            data = dataset(name, score)
            asked = families(data)
            scores = np.array(sp.local_scores(data, asked, score))
        except sp.SpinneyError as error:
            assert 20 < len(str(error)) < 400 and "\n" not in str(error)
            return
        check_scores(data, score, asked, scores)
        again = np.array(sp.local_scores(dataset(name, score, shuffled), asked, score))
        assert again == pytest.approx(scores, rel=1e-9, abs=1e-6)
        check_network(data, score, tmp_path)


def check_scores(data: sp.Dataset, score: str, asked: Any, scores: Any) -> None:
    assert np.isfinite(scores).all(), [f for f, s in zip(asked, scores, strict=True) if not np.isfinite(s)]
    if score not in ABOVE_ZERO:
        discrete = np.array([data.kinds[child].discrete for child, _ in asked])
        assert (scores[discrete] <= 1e-9).all()


def check_network(data: sp.Dataset, score: str, tmp_path: Path) -> None:
    found = sp.learn(data, score, search="hc(restarts=2)", max_parents=2, n_jobs=1)
    full = {n: tuple(sorted(data.names[:i])[:2]) for i, n in enumerate(data.names)}
    for net in (found.network, sp.fit(data, full, score)):
        assert net.score == pytest.approx(sp.score(data, net.parents, score), rel=1e-12, abs=1e-9)
        logs = np.asarray(net.log_prob(data))
        assert np.isfinite(logs).all()
        for child, model in net.models.items():
            if data.kinds[child].discrete:
                shares = model.conditional(data)
                assert shares.sum(axis=1) == pytest.approx(1.0) and (shares >= 0).all()
            assert str(model)
        assert np.isfinite(net.log_prob(net.sample(10, seed=1))).all()
        net.save(tmp_path / "net.json")
        assert np.array_equal(sp.Network.load(tmp_path / "net.json").log_prob(data), logs)
    check_predictions(found.network, data)


def check_predictions(net: sp.Network, data: sp.Dataset) -> None:
    """Of every column from all the others: a level, or a number within reach of a number; a row may be refused."""
    few = data.take(np.arange(min(3, data.n_rows)))
    for name in data.names:
        try:
            found = net.predict(few, name)
        except sp.SpinneyError as error:
            assert "\n" not in str(error)
            continue
        if data.kinds[name].discrete:
            assert set(found) <= set(data.levels(name))
        else:
            assert np.isfinite(np.asarray(found, float)).all()
