"""MARS beside R's earth on drawn tables with drawn options: are the fits the same?

In:  tables drawn here (20 to 1,000 rows, up to six predictors: continuous, whole numbers, rounded, of two values,
     factors; one to four responses) and options of earth; Rscript with the package earth (Debian: r-cran-earth).
Out: results/DATE-earth.{json,md}: how many fits have the same numbers of terms and the same GCV, with and without the
     option fast.k below 6, and every case that has not."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import spinney as sp
from common import Table, arguments, machine, report

CASES = 1200
OPTIONS: dict[str, tuple[str, float, list[Any]]] = {  # of earth: ours, how often, and values
    "nk": ("max_terms", 0.25, [5, 9, 15, 31, 41, 51]),
    "penalty": ("penalty", 0.25, [0, 1, 2, 2.5, 4, -1]),
    "thresh": ("threshold", 0.25, [0, 1e-4, 0.01, 0.05]),
    "minspan": ("minspan", 0.25, [1, 2, 5, 10]),
    "endspan": ("endspan", 0.25, [1, 2, 5, 10, 30]),
    "fast.k": ("fast_k", 0.2, [0, 1, 3, 5, 10]),
    "fast.beta": ("fast_beta", 0.15, [0, 1, 2]),
    "Auto.linpreds": ("lines", 0.15, [True, False]),
}
SCRIPT = """
suppressMessages(library(earth)); a <- commandArgs(TRUE)
for (line in readLines(a[1])) {
  p <- strsplit(line, "|", fixed = TRUE)[[1]]
  x <- read.csv(paste0(p[1], ".x.csv"), stringsAsFactors = TRUE); y <- as.matrix(read.csv(paste0(p[1], ".y.csv")))
  e <- try(eval(parse(text = paste0("earth(x, y, ", p[2], ")"))), silent = TRUE)
  if (inherits(e, "try-error")) cat("refused\\n")
  else cat(nrow(e$dirs), length(e$selected.terms), sprintf("%.15g", e$gcv), sprintf("%.15g", e$rss), "\\n")
}
"""


def predictor(rng: np.random.Generator, n: int) -> Any:
    kind = rng.choice(
        ["normal", "uniform", "whole", "two", "factor", "skewed", "rounded"], p=[0.3, 0.2, 0.12, 0.08, 0.12, 0.1, 0.08]
    )
    if kind == "normal":
        return rng.normal(size=n) * rng.choice([0.1, 1, 10]) + rng.choice([0, 5, -100])
    if kind == "factor":
        return rng.choice(list("abcd")[: rng.integers(2, 5)], n)
    if kind == "whole":
        return rng.integers(0, rng.integers(3, 30), n).astype(float)
    if kind == "two":
        return rng.integers(0, 2, n).astype(float)
    if kind == "uniform":
        return rng.uniform(size=n)
    return rng.exponential(size=n) if kind == "skewed" else np.round(rng.normal(size=n), 1)


def standard(values: Any) -> Any:
    codes = pd.Series(values).astype("category").cat.codes.to_numpy(float)
    return codes if isinstance(values[0], str) else (values - values.mean()) / (values.std() + 1e-9)


def drawn_case(seed: int) -> tuple[pd.DataFrame, Any, dict[str, Any], dict[str, Any]]:
    """Predictors, responses, options as earth and as we call them."""
    rng = np.random.default_rng(seed + 10_000)
    n, p = int(rng.choice([20, 50, 100, 200, 300, 500, 1000])), int(rng.integers(1, 7))
    columns = {f"x{j + 1}": predictor(rng, n) for j in range(p)}
    z = [standard(values) for values in columns.values()]
    shape = str(
        rng.choice(["smooth", "hinge", "product", "noise", "two", "classes"], p=[0.3, 0.2, 0.25, 0.08, 0.1, 0.07])
    )
    responses = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        a, b = z[int(rng.integers(p))], z[int(rng.integers(p))]
        signal = {
            "smooth": np.sin(2 * a) + 0.3 * b**2,
            "hinge": np.maximum(0, a - 0.3) - 2 * np.maximum(0, -b),
            "product": a * b + np.maximum(0, a),
            "noise": 0 * a,
            "two": a + b * a,
            "classes": a - b**2,
        }[shape]
        responses.append(signal + rng.normal(size=n) * rng.choice([0.1, 0.5, 1]))
    y = np.column_stack(responses)
    if shape == "two":
        y = (y > y.mean(axis=0)).astype(float)
    if shape == "classes" and y.shape[1] == 1:
        y = np.eye(4)[np.digitize(y[:, 0], np.quantile(y[:, 0], [0.25, 0.5, 0.75]))]
    if rng.random() < 0.2:
        y = y * rng.choice([1e-2, 100])
    theirs: dict[str, Any] = {"degree": int(rng.integers(1, 4))}
    ours = dict(theirs)
    for name, (own, share, values) in OPTIONS.items():
        if rng.random() < share:
            theirs[name] = ours[own] = values[int(rng.integers(len(values)))]
    if rng.random() < 0.1:
        theirs["pmethod"], ours["prune"] = "none", False
    return pd.DataFrame(columns), y, theirs, ours


def in_r(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def main() -> None:
    given = arguments(__doc__ or "", [], needs_data=False)
    facts = machine()
    summary = Table(
        "Fits",
        {"options": "", "fits": ",", "same": ",", "same terms": ",", "GCV within 1 %": ",", "RSS within 1 %": ","},
    )
    others = Table(
        "Fits that are not the same",
        {"rows": ",", "predictors": ",", "responses": ",", "options": "", "earth: forward": "", "terms": "",
         "GCV": ".6g", "ours: forward": "", "our terms": "", "our GCV": ".6g"},
    )  # fmt: skip
    counts = {"fast.k below 6": [0] * 5, "all others": [0] * 5}
    with tempfile.TemporaryDirectory() as folder:
        lines, cases = [], []
        for seed in range(CASES):
            x, y, theirs, ours = drawn_case(seed)
            path = Path(folder) / str(seed)
            x.to_csv(f"{path}.x.csv", index=False)
            pd.DataFrame(y).to_csv(f"{path}.y.csv", index=False)
            lines.append(f"{path}|" + ", ".join(f"{name}={in_r(value)}" for name, value in theirs.items()))
            cases.append((path, theirs, ours))
        (Path(folder) / "cases.txt").write_text("\n".join(lines) + "\n")
        command = ["Rscript", "-e", SCRIPT, f"{folder}/cases.txt"]
        answers = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        for (path, theirs, ours), answer in zip(cases, answers, strict=True):
            if answer == "refused":  # fewer rows than endspan
                continue
            x, y = pd.read_csv(f"{path}.x.csv"), pd.read_csv(f"{path}.y.csv")
            model = sp.MARSRegressor(**ours).fit(x, y if y.shape[1] > 1 else y.iloc[:, 0])
            forward, terms, gcv, rss = (float(word) for word in answer.split())
            found = (len(model.forward_basis_), len(model.basis_))
            same = found == (forward, terms) and abs(model.gcv_ - gcv) <= 1e-8 * abs(gcv)
            few = theirs.get("fast.k", 0) in (1, 3, 5)
            of_gcv, of_rss = abs(model.gcv_ - gcv) <= 0.01 * abs(gcv), abs(model.rss_ - rss) <= 0.01 * abs(rss)
            own = counts["fast.k below 6" if few else "all others"]
            own[:] = [a + b for a, b in zip(own, (1, same, found[1] == terms, of_gcv, of_rss), strict=True)]
            if not same:
                options = ", ".join(f"{name}={value}" for name, value in theirs.items())
                others.rows.append(
                    [len(x), x.shape[1], y.shape[1], options, int(forward), int(terms), gcv, *found, model.gcv_]
                )
    summary.rows += [[name, *own] for name, own in counts.items()]
    report("earth", facts, [summary, others], given.results)


if __name__ == "__main__":
    main()
