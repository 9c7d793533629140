"""Table 1 of Andrews, Ramsey and Cooper (2018): cg with the exact mixture in its denominator against one Gaussian.

In:  nothing: tables of 100 variables are drawn by `sp.simulate.mixed`, ten for each average degree and number of rows.
     --search: the paper has fGES; any search of the catalog can be named.
Out: adjacency and arrowhead precision and recall, and seconds, beside the paper's figures; results `andrews-table1`."""

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from common import HERE, Table, machine, peer, report

VARIABLES, REPETITIONS, PRIOR = 100, 10, "binomial(r=1)"
DEGREES, ROWS = (2, 4), (200, 1000)
WAYS = {"Exact": True, "Approx": False}
MEASURES = ("ap", "ar", "ahp", "ahr")
PAPER = {  # average degree, way -> AP, AR, AHP, AHR, seconds; with 200 rows, with 1,000 rows
    (2, "Exact"): ((0.56, 0.56, 0.37, 0.31, 1.03), (0.79, 0.79, 0.65, 0.55, 2.94)),
    (2, "Approx"): ((0.82, 0.53, 0.75, 0.19, 0.31), (0.91, 0.81, 0.85, 0.49, 0.59)),
    (4, "Exact"): ((0.59, 0.39, 0.44, 0.26, 0.73), (0.84, 0.64, 0.73, 0.51, 3.73)),
    (4, "Approx"): ((0.82, 0.36, 0.69, 0.23, 0.17), (0.92, 0.62, 0.84, 0.51, 0.99)),
}


def one(drawn: Any, exact: bool, df: str, search: str) -> tuple[float, ...]:
    sp = peer("spinney")
    data = sp.Dataset.from_frame(drawn.complete.to_pandas(), kinds=dict(drawn.complete.kinds))  # nothing remembered
    started = time.process_time()
    found = sp.find(data, sp.CG(exact=exact, df=df), PRIOR, search=search, max_parents=None, n_jobs=1)
    seconds = time.process_time() - started
    graph = found.graph if found.cpdag is not None else found.graph.cpdag()
    compared = sp.compare(drawn.truth, graph)
    degree = 2 * sum(len(own) for own in found.parents.values()) / VARIABLES
    return (*(getattr(compared, measure) for measure in MEASURES), compared.ahr_common, degree, seconds)


def table(df: str, search: str, repetitions: int) -> Table:
    sp = peer("spinney")
    headings = ("AP", "AR", "AHP", "AHR", "AHR in found", "degree", "CPU s")
    found = Table(
        f"Exact against approximate denominator, search {search}, df={df}",
        {"rows": ",", "degree of truth": "", "way": "", "whose": ""} | dict.fromkeys(headings, ".2f"),
    )
    for rows in ROWS:
        for degree in DEGREES:
            drawn = [sp.simulate.mixed(VARIABLES, degree, rows, seed=seed) for seed in range(repetitions)]
            for way, exact in WAYS.items():
                runs = [one(sample, exact, df, search) for sample in drawn]
                means = [statistics.mean(column) for column in zip(*runs, strict=True)]
                paper = PAPER[degree, way][ROWS.index(rows)]
                found.rows.append([rows, degree, way, "spinney", *means])
                found.rows.append([rows, degree, way, "paper", *paper[:4], None, None, paper[4]])
                print(*found.rows[-2], file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--search", default="tabu(restarts=0)", help="the search, as learn takes it")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    args = parser.parse_args()
    facts = machine()
    tables = [table(df, args.search, args.repetitions) for df in ("paper", "full")]
    tables[-1].notes = [
        f"Means of {args.repetitions} tables of {VARIABLES} variables (`simulate.mixed`, seeds from 0), prior {PRIOR}, "
        "no limit on parents, one thread. AP, AR: precision and recall of adjacencies; AHP, AHR: of arrowheads of the "
        "CPDAG that was found, against the arrowheads of the true DAG; AHR in found: of those whose adjacency was "
        "found. degree: of the graph that was found. df=paper leaves the means out of the free parameters, as the "
        "paper prints them.",
        "The paper searched by fGES, on its own simulated tables, with another program and machine: its rows show what "
        "to expect, not the same experiment.",
    ]
    report("andrews-table1", facts, tables, args.results)


if __name__ == "__main__":
    main()
