"""The repository networks: read, written, re-read, sampled.

In:  --data DIR with networks/*.bif.gz.
Out: per network its size, seconds to read, to write and read again (and whether equal), to sample 50,000 rows, and how
far the sampled marginals are from the network's own, in standard errors.

The network's marginal of a node is estimated from the same rows as the mean of P(node | sampled parents); its
difference from the sampled frequency has mean zero and a known variance at every level, so the largest of K of them
should be near sqrt(2 log K). Where pyAgrum is there, exact marginals by its junction tree are compared too."""

import math
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import Table, arguments, machine, peer, report

ROWS = 50_000
EXACT = ["asia", "sachs", "alarm", "insurance", "hailfinder", "hepar2", "win95pts", "andes", "munin"]


def timed(work: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def against_conditionals(network: Any, sample: Any) -> tuple[float, int]:
    """The largest |z| over all levels of all nodes, and how many there are."""
    largest, levels = 0.0, 0
    for name in network.names:
        conditional = network.models[name].conditional(sample)
        seen = np.bincount(sample.codes(name), minlength=conditional.shape[1])
        variance = (conditional * (1 - conditional)).sum(axis=0)
        moving = variance > 1e-9
        z = np.abs(seen - conditional.sum(axis=0))[moving] / np.sqrt(variance[moving])
        largest, levels = max(largest, float(z.max(initial=0.0))), levels + int(moving.sum())
    return largest, levels


def against_junction_tree(network: Any, sample: Any, folder: Path) -> float:
    gum = peer("pyagrum")
    network.export(folder / "own.bif")
    model = gum.loadBN(str(folder / "own.bif"))
    engine = gum.LazyPropagation(model)
    engine.makeInference()
    largest = 0.0
    for name in network.names:
        exact = engine.posterior(name)
        order = [model.variable(name).labels().index(level) for level in network.levels(name)]
        p = np.clip(exact.toarray()[order], 0, 1)
        seen = np.bincount(sample.codes(name), minlength=len(p)) / sample.n_rows
        error = np.sqrt(p * (1 - p) / sample.n_rows)
        moving = error > 1e-9
        largest = max(largest, float((np.abs(seen - p)[moving] / error[moving]).max(initial=0.0)))
    return largest


def main() -> None:
    options = arguments("Reading, writing and sampling the repository networks.", [])
    sp = peer("spinney")
    table = Table(
        f"Repository networks; samples of {ROWS:,} rows, seed 1",
        {"network": "", "nodes": ",", "numbers": ",", "read s": ".2f", "write + read s": ".2f", "equal": "",
         "sample s": ".2f", "largest |z|": ".2f", "of": ",", "expected about": ".2f", "|z|, exact marginals": ".2f"},
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for path in sorted((options.data / "networks").glob("*.bif.gz")):
            name = path.name.removesuffix(".bif.gz")
            network, reading = timed(lambda path=path: sp.Network.read(path))
            target = folder / "again.bif.gz"
            again, writing = timed(lambda n=network, t=target: (n.export(t), sp.Network.read(t))[1])
            sample, drawing = timed(lambda n=network: n.sample(ROWS, seed=1))
            z, levels = against_conditionals(network, sample)
            exact = against_junction_tree(network, sample, folder) if name in EXACT else None
            numbers = sum(model.probabilities.size for model in network.models.values())
            table.rows.append([name, len(network.names), numbers, reading, writing, "yes" if network == again else "NO",
                               drawing, z, levels, math.sqrt(2 * math.log(levels)), exact])  # fmt: skip
    report("networks", machine(), [table], options.results)


if __name__ == "__main__":
    main()
