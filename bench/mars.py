"""MARS beside R's earth and mars-earth of PyPI: milliseconds per fit on the same data, one thread; fits per second in
Step 1.

In:  tables made here (Friedman's function, and factors); Rscript with the package earth, where it is installed; a
     Python that has mars-earth, by default this one: MARS_EARTH=/of/another/env/bin/python names another.
Out: results/DATE-mars.{json,md}. All are timed in CPU seconds, earth and ours in turns; earth's clock is R's own
proc.time around several fits, with the matrices in memory (earth.default, no formula); mars-earth is fitted once in
each size, until one takes too long."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import spinney as sp
from common import Table, arguments, machine, report

CASES = ("fits", "mars-earth", "step1", "candidates")
PYTHON_SECONDS = 60  # of one fit of mars-earth
SIZES = (  # rows, predictors, degree
    (200, 3, 1),
    (1000, 5, 1),
    (1000, 5, 2),
    (1000, 5, 3),
    (5000, 5, 2),
    (5000, 5, 5),
    (5000, 20, 2),
)
SCRIPT = """
suppressMessages(library(earth)); a <- commandArgs(TRUE)
d <- as.matrix(read.csv(a[1])); x <- d[, -ncol(d), drop = FALSE]; y <- d[, ncol(d)]; k <- as.integer(a[3])
e <- earth(x, y, degree = as.integer(a[2])); t <- proc.time()
for (i in 1:k) e <- earth(x, y, degree = as.integer(a[2]))
t <- proc.time() - t
cat((t[1] + t[2]) / k, length(e$selected.terms), sprintf("%.15g", e$gcv), as.character(packageVersion("earth")))
"""

PYTHON = """
import sys, time, numpy as np, pymars, importlib.metadata as known
d = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1); degree = int(sys.argv[2])
m = pymars.Earth(max_degree=degree, penalty=3.0 if degree > 1 else 2.0); t = time.process_time()
m.fit(d[:, :-1], d[:, -1]); t = time.process_time() - t
print(t, len(m.basis_), float(m.gcv_), known.version("mars-earth"))
"""


def friedman(rows: int, columns: int, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(rows, max(columns, 5)))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x[:, :columns], y + rng.normal(size=rows)


def ours(x: Any, y: Any, degree: int, runs: int) -> tuple[float, Any]:
    model = sp.MARSRegressor(degree).fit(x, y)
    started = time.process_time()
    for _ in range(runs):
        model = sp.MARSRegressor(degree).fit(x, y)
    return (time.process_time() - started) / runs, model


def theirs(path: Path, degree: int, runs: int) -> list[str] | None:
    if shutil.which("Rscript") is None:
        return None
    done = subprocess.run(
        ["Rscript", "-e", SCRIPT, str(path), str(degree), str(runs)], capture_output=True, text=True, check=False
    )
    return done.stdout.split() if done.returncode == 0 else None


def written(folder: str, x: Any, y: Any) -> Path:
    path = Path(folder) / "table.csv"
    names = ",".join(map(str, range(x.shape[1] + 1)))
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", fmt="%.17g", comments="", header=names)
    return path


def fits(repeats: int) -> Table:
    table = Table(
        "One fit, milliseconds of CPU",
        {
            "rows": "d",
            "predictors": "d",
            "degree": "d",
            "spinney": ".2f",
            "earth": ".2f",
            "times as fast": ".1f",
            "terms": "d",
            "earth's terms": "d",
            "GCV over earth's, less 1": ".1e",
        },
    )
    version = ""
    for rows, columns, degree in SIZES:
        x, y = friedman(rows, columns)
        runs = 20 if rows <= 1000 else 5
        best, peer, model, answer = np.inf, np.inf, None, None
        with tempfile.TemporaryDirectory() as folder:
            path = written(folder, x, y)
            for _ in range(repeats):  # in turns
                seconds, model = ours(x, y, degree, runs)
                best = min(best, seconds)
                answer = theirs(path, degree, runs)
                peer = min(peer, float(answer[0])) if answer else peer
        assert model is not None
        version = answer[3] if answer else version
        table.rows.append(
            [
                rows,
                columns,
                degree,
                1e3 * best,
                1e3 * peer if answer else None,
                peer / best if answer else None,
                len(model.basis_),
                int(answer[1]) if answer else None,
                model.gcv_ / float(answer[2]) - 1 if answer else None,
            ]
        )
    table.notes.append(
        f"R earth {version}; fit of the estimator beside earth(x, y, degree), all else by default on both sides."
        if version
        else "Rscript with the package earth is not here (Debian: r-cran-earth), so its columns are empty."
    )
    return table


def mars_earth(repeats: int) -> Table:
    table = Table(
        "One fit beside mars-earth, milliseconds of CPU",
        {
            "rows": "d", "predictors": "d", "degree": "d", "spinney": ".2f", "mars-earth": ".0f",
            "times as fast": ".0f", "terms": "d", "its terms": "d", "its GCV over ours, less 1": ".1e",
        },
    )  # fmt: skip
    python, version = os.environ.get("MARS_EARTH", sys.executable), ""
    for rows, columns, degree in SIZES:
        x, y = friedman(rows, columns)
        with tempfile.TemporaryDirectory() as folder:
            command = [python, "-c", PYTHON, str(written(folder, x, y)), str(degree)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PYTHON_SECONDS)
            except subprocess.TimeoutExpired:
                case = f"{rows:,} rows, {columns} predictors, degree {degree}"
                table.notes.append(f"{case}: not done in {PYTHON_SECONDS} s of clock; larger ones were not tried.")
                break
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            table.notes.append(f"{python} could not fit mars-earth (pip install mars-earth): {last}.")
            break
        seconds, model = min(
            (ours(x, y, degree, 20 if rows <= 1000 else 5) for _ in range(repeats)), key=lambda r: r[0]
        )
        its_seconds, its_terms, its_gcv, version = done.stdout.split()
        table.rows.append([
            rows, columns, degree, 1e3 * seconds, 1e3 * float(its_seconds), float(its_seconds) / seconds,
            len(model.basis_), int(its_terms), float(its_gcv) / model.gcv_ - 1,
        ])  # fmt: skip
    if version:
        table.notes.append(f"mars-earth {version} with its defaults, but for earth's penalty; one fit.")
    return table


def operations(model: Any, x: Any) -> float:
    """Of the sweeps of a forward pass, at the least: every function that may be a parent takes every orthonormal column
    out of its line and its hinges with every predictor, by five additions and multiplications per row where it is not 0
    (two for the line, three for the sums over the rows above a knot)."""
    count = 0.0
    for factors in model.forward_basis_:
        if len(factors) < model.degree:
            values = np.ones(len(x))
            for column, direction, knot in factors:
                values *= np.maximum(0, direction * (x[:, column] - knot)) if direction else x[:, column]
            count += 5.0 * np.count_nonzero(values) * (x.shape[1] - len(factors)) * len(model.forward_basis_)
    return count


def share_of_the_limit(repeats: int) -> str:
    x, y = friedman(1000, 5)
    seconds, model = min((ours(x, y, 2, 20) for _ in range(repeats)), key=lambda r: r[0])
    a = np.random.default_rng(1).normal(size=2048)
    best = np.inf
    for _ in range(repeats):
        started = time.process_time()
        for _ in range(20000):
            a @ a
        best = min(best, time.process_time() - started)
    own, limit = operations(model, x) / seconds / 1e9, 2 * 2048 * 20000 / best / 1e9
    return (
        f"One fit of 1,000 rows, 5 predictors, degree 2: {own:.1f}e9 operations of the sweeps per second, "
        f"{own / limit:.0%} of numpy's dot product in the cache ({limit:.1f}); the whole fit is on the clock."
    )


def candidates(repeats: int) -> Table:
    table = Table(
        "Step 1 with forest(k=5), one thread: all subsets of the candidates",
        {"network": "", "columns": "d", "rows": "d", "families": "d", "forests, s": ".1f", "scores, s": ".1f",
         "fits per second": ".0f"},
    )  # fmt: skip
    for rows in (1000, 5000):
        for local in ("table", "spline"):
            data = sp.simulate.random_network(60, 2, local=local, max_degree=4, seed=1).sample(rows, seed=1)
            moments = [time.process_time()]
            chosen = sp.learn(data, "mars", search="hc(restarts=0)", max_parents=0, candidates="forest(k=5)", n_jobs=1)
            moments.append(time.process_time())
            lists = chosen.plan.candidates
            sp.score_parent_sets(data, "mars", max_parents=None, candidates=lists, prune=False, n_jobs=1)
            moments.append(time.process_time())
            forests, scores = np.diff(moments)
            words = {"table": "tables", "spline": "continuous, splines"}
            families = sum(2 ** len(own) for own in (lists or {}).values())
            table.rows.append([words[local], 60, rows, families, forests, scores, families / scores])
    table.notes.append(share_of_the_limit(repeats))
    return table


def step1(repeats: int) -> Table:
    table = Table(
        "Step 1, one thread: all parent sets",
        {"columns": "", "rows": "d", "most parents": "d", "families": "d", "seconds": ".2f", "fits per second": ".0f"},
    )
    rng = np.random.default_rng(3)
    for kind in ("continuous", "discrete (3 levels)", "half and half"):
        n, columns = 1000, 8
        values = rng.normal(size=(n, columns))
        for i in range(1, columns):
            values[:, i] += np.abs(values[:, i - 1]) + 0.5 * values[:, i // 2]
        frame: dict[str, Any] = {}
        for i in range(columns):
            discrete = kind.startswith("d") or (kind.startswith("h") and i % 2)
            codes = np.digitize(values[:, i], np.quantile(values[:, i], [1 / 3, 2 / 3]))
            frame[f"v{i}"] = np.array(["a", "b", "c"])[codes] if discrete else values[:, i]
        data = sp.Dataset.from_frame(frame)
        best, count = np.inf, 0
        for _ in range(min(repeats, 2)):
            started = time.process_time()
            sets = sp.score_parent_sets(data, "mars", max_parents=3, prune=False, n_jobs=1)
            best, count = min(best, time.process_time() - started), len(list(sets))
        table.rows.append([kind, n, 3, count, best, count / best])
    table.notes.append("mars with its defaults (degree 2), 8 columns; sorting the columns is on the clock.")
    return table


def main() -> None:
    given = arguments(__doc__ or "", CASES, needs_data=False)
    facts = machine()
    tables = [
        {"fits": fits, "mars-earth": mars_earth, "step1": step1, "candidates": candidates}[case](given.repeats)
        for case in given.only
    ]
    report("mars", facts, tables, given.results)


if __name__ == "__main__":
    main()
