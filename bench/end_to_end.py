"""From a table to a proven network: learn with optimal trees, up to four parents, and exact search.

In:  --data DIR with networks/NAME.bif.gz; the rows are drawn from them by spinney.
Out: seconds of Step 1 and Step 2, peak memory, and whether the network is proven the best."""

import multiprocessing
import resource
from pathlib import Path
from typing import Any

from common import Table, arguments, machine, peer, report

NETWORKS = ("alarm", "insurance", "water")
ROWS, MAX_PARENTS, SEED = 1000, 4, 1


def one_network(data: Path, network: str) -> list[Any]:
    """In a process of its own: the peak of memory is the process's."""
    sp = peer("spinney")
    truth = sp.Network.read(data / "networks" / f"{network}.bif.gz")
    sample = truth.sample(ROWS, seed=SEED)
    before = peak_megabytes()
    result = sp.learn(sample, score="pcart", prior="sizes", search="exact", max_parents=MAX_PARENTS, n_jobs=2)
    found, sets = result.found, result.sets
    return [
        network, len(sets.names), sets.families, 1 - sets.scored / sets.families, len(sets), result.seconds["score"],
        result.seconds["search"], found.score, "yes" if found.optimal else f"no, gap {100 * found.gap:.4f} %",
        sp.compare(truth, found.parents).shd, len(truth.edges), before, peak_megabytes(),
    ]  # fmt: skip


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # kilobytes on Linux


def main() -> None:
    options = arguments("Learn with optimal trees and exact search, end to end.", list(NETWORKS))
    facts = machine()
    table = Table(
        f"learn: pcart, sizes prior, up to {MAX_PARENTS} parents, {ROWS:,} rows, exact search, two threads",
        {
            "network": "",
            "variables": ",",
            "families": ",",
            "skipped by bounds": ".1%",
            "sets kept": ",",
            "Step 1 s": ".1f",
            "Step 2 s": ".2f",
            "score": ".4f",
            "proven": "",
            "SHD": "",
            "true edges": "",
            "MB before": ",.0f",
            "peak MB": ",.0f",
        },
    )
    for network in options.only:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            table.rows.append(pool.apply(one_network, (options.data, network)))
        print(table.rows[-1], flush=True)
    table.notes = [
        f"Rows from `Network.sample` (seed {SEED}). Seconds: wall clock. Memory: resident, of the whole process "
        "(getrusage), with Python and its libraries.",
    ]
    report("end_to_end", facts, [table], options.results)


if __name__ == "__main__":
    main()
