"""pcart, ft and pcart with linear leaves over many rows: nanoseconds per row and family, by the kinds of the parents.

In:  --rows, the sizes of the tables, which are drawn here (seed 1): a chain of ten columns, five of them categorical.
Out: CPU nanoseconds per row and family of one, two and three parents, for a continuous and a categorical child."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import HERE, Table, machine, peer, race, report

SCORES = ("pcart", "pcart(leaf=linear)", "ft")
MIXES = ("x", "k", "xx", "xk", "kk", "xxx", "xxk", "xkk")  # x: a continuous parent, k: one with four levels


def drawn(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {}
    value = rng.normal(size=rows)
    for place in range(5):
        value = 0.6 * value + 0.8 * rng.normal(size=rows)
        levels = np.clip(np.floor(value + rng.normal(size=rows) + 2), 0, 3).astype(int)
        columns[f"x{place}"] = value
        columns[f"k{place}"] = pd.Categorical.from_codes(levels, list("abcd"))
    return pd.DataFrame(columns)


def families(child: str, mix: str) -> list[tuple[str, tuple[str, ...]]]:
    """Three families, and each again: what is prepared once counts little."""
    found = []
    for last in (1, 2, 3):
        places = {"x": iter([0, last, 3 - last if last < 3 else 1]), "k": iter([0, last, 3 - last if last < 3 else 1])}
        found.append((child, tuple(sorted({f"{kind}{next(places[kind])}" for kind in mix}))))
    return found * 4


def rows_table(sizes: list[int], repeats: int) -> Table:
    sp = peer("spinney")
    columns = {"rows": ",", "child": "", "parents": ""} | dict.fromkeys(SCORES, ",.2f")
    table = Table("CPU nanoseconds per row and family, one thread", columns)
    for size in sizes:
        data = sp.Dataset.from_frame(drawn(size))
        built = {score: peer("spinney.scores").build_source(data, score) for score in SCORES}
        for own in built.values():
            own.scores  # noqa: B018 (the cells of the columns, once per table)
        for child, word in (("x4", "continuous"), ("k4", "categorical")):
            for mix in MIXES:
                asked = families(child, mix)
                runs = {
                    score: lambda own=own, asked=asked: lambda: own.local_scores(asked) for score, own in built.items()
                }
                timed = race(runs, repeats)
                table.rows.append([size, word, mix, *(1e9 * timed[s].cpu / len(asked) / size for s in SCORES)])
    table.notes = ["x: a continuous parent (32 cells, or 2 to 7 bins); k: a categorical one of four levels."]
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the fastest counts")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    args = parser.parse_args()
    facts = machine()
    report("many-rows", facts, [rows_table(args.rows, args.repeats)], args.results)
