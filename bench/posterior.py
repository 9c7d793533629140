"""Edge posteriors on alarm (37 columns, 1000 rows, BDeu): chains of spinney beside sumu's Gadget, in one run.

In:  the network alarm (--network FILE.bif), and the Python of an environment of its own that has sumu (--sumu PYTHON).
Out: seconds of CPU, effective samples per second, and the largest difference between the two in standard errors.

The same families (up to three parents), the same prior (uniform over the sizes of parent sets), one chain of sumu and
two of spinney. Effective samples are p (1 - p) / error^2 of the edges with 0.05 < p < 0.95, errors by batch means.
Scoring is not counted: sumu scores family by family in Python.

Two things of sumu 0.1.2 are changed, so that there is something to compare. In its Score.sum a column of which no
candidate is in the layer before counts as having no parents, though a partition asks for a parent there; the chain
then walks to partitions that hold no such graph, and the graphs that it draws from them are a hundred nats worse than
it believes (--as-it-is shows it). And its chains start at the layers of the best graph, unless --cold; spinney's start
by themselves.

sumu 0.1.2 (PyPI) runs with Python 3.10, numpy below 1.24 and Cython below 3: with PIP_CONSTRAINT naming a file that
says 'cython<3', pip install "numpy<1.24" sumu."""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import spinney as sp

MOST_EXACT = 16  # columns whose exact sums are made, too
DRAWN = 200  # graphs of spinney whose scores are shown

SUMU = """
import json, sys, time
import numpy as np
import sumu
rows, candidates, layers, out = sys.argv[1:5]
iterations, chains, mended = int(sys.argv[5]), int(sys.argv[6]), sys.argv[7]
np.random.seed(1)
data = sumu.Data(rows, discrete=True)
gadget = sumu.Gadget(data=data, scoref="bdeu", ess=1, max_id=3, K=8, d=3, cp_path=candidates, cp_algo="top",
                     mc3_chains=chains, burn_in=iterations // 3, iterations=iterations, thinning=10, tolerance=2**-32)
gadget._find_candidate_parents()
gadget._precompute_scores_for_all_candidate_psets()
gadget._precompute_candidate_restricted_scoring()
gadget._precompute_candidate_complement_scoring()
began = time.process_time()
plain = sumu.gadget.Score.sum
def with_a_parent_before(self, v, U, T):
    if not T or T.intersection(self.C[v]):
        return plain(self, v, U, T)
    return self.c_c_score.sum(v, U, T, -float("inf"))[0]
if mended == "1":
    sumu.gadget.Score.sum = with_a_parent_before
gadget._init_mcmc()
start = json.load(open(layers))
for chain in (gadget.mcmc.chains if chains > 1 else [gadget.mcmc]) if start else []:
    chain.R = tuple(map(set, start))
    chain.R_node_scores = chain._pi(chain.R)
    chain.R_score = chain.temp * sum(chain.R_node_scores)
gadget._run_mcmc()
dags, scores = gadget._sample_dags()
seconds = time.process_time() - began
n = data.n
series = np.zeros((len(dags), n, n), dtype=np.uint8)
for i, dag in enumerate(dags):
    for family in dag:
        child, parents = family[0], (family[1] if len(family) == 2 and not np.isscalar(family[1]) else family[1:])
        for p in parents:
            series[i, int(p), int(child)] = 1
np.savez_compressed(out, series=series, seconds=seconds, scores=np.array(scores, dtype=float))
"""


def batch_errors(series: np.ndarray, batches: int = 32) -> tuple[np.ndarray, np.ndarray]:
    length = len(series) // batches
    means = series[: length * batches].reshape(batches, length, *series.shape[1:]).mean(axis=1)
    return series.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(batches)


def effective(p: np.ndarray, error: np.ndarray, seconds: float) -> tuple[float, float]:
    doubtful = (p > 0.05) & (p < 0.95) & (error > 0)
    if not doubtful.any():
        return 0.0, 0.0  # a chain that does not move
    own = p[doubtful] * (1 - p[doubtful]) / error[doubtful] ** 2
    return float(np.median(own) / seconds), float(own.min() / seconds)


def layers(parents: Mapping[str, tuple[str, ...]], names: list[str]) -> list[list[int]]:
    """Columns without parents, then those that have a parent in the layer before and none later."""
    depth: dict[str, int] = {}
    while len(depth) < len(names):
        for name in names:
            if name not in depth and all(p in depth for p in parents[name]):
                depth[name] = 1 + max((depth[p] for p in parents[name]), default=-1)
    return [[v for v, name in enumerate(names) if depth[name] == at] for at in range(max(depth.values()) + 1)]


def quartiles(scores: np.ndarray) -> str:
    return ", ".join(f"{own:.1f}" for own in np.quantile(scores, [0.25, 0.5, 0.75]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", required=True, help="alarm as .bif or .bif.gz")
    parser.add_argument("--sumu", help="a Python that can import sumu")
    parser.add_argument("--iterations", type=int, default=20_000, help="of sumu")
    parser.add_argument("--mc3", type=int, default=1, help="tempered chains of sumu")
    parser.add_argument("--as-it-is", action="store_true", help="leave the sums of sumu as they are")
    parser.add_argument("--cold", action="store_true", help="let sumu start at random")
    parser.add_argument("--columns", type=int, help="the first ones by name; more than 9, fewer mix faster")
    parser.add_argument("--samples", type=int, default=500, help="of each of spinney's two chains")
    options = parser.parse_args()
    drawn = sp.Network.read(options.network).sample(1000, seed=1)
    taken = sorted(drawn.names)[: options.columns]
    columns = {name: np.unique(drawn.codes(name), return_inverse=True)[1] for name in taken}
    data = sp.Dataset.from_frame({name: codes.astype(str) for name, codes in columns.items()},
                                 kinds=dict.fromkeys(columns, "categorical"))  # fmt: skip
    names = sorted(columns)
    began = time.process_time()
    sets = sp.score_parent_sets(data, "bdeu(ess=1)", "sizes", max_parents=3, prune=False, n_jobs=1)
    scoring = time.process_time() - began
    began = time.process_time()
    ours = sp.posterior(sets, samples=options.samples, seed=1, n_jobs=1, networks=DRAWN, method="mcmc")
    seconds = time.process_time() - began
    rank = [ours.names.index(name) for name in names]
    p, error = ours.edges[np.ix_(rank, rank)], ours.errors[np.ix_(rank, rank)]
    assert ours.chains is not None
    drawn_scores = np.array([sets.total(graph) for graph in ours.networks])
    median, least = effective(p, error, seconds)
    print(
        f"spinney: scoring {scoring:.1f} s, chains {seconds:.1f} s; {ours.how}; apart by {ours.chains.difference:.3f}"
    )
    print(f"spinney: effective samples per second: median {median:.1f}, least {least:.1f}")
    print(f"spinney: log posterior of the graphs drawn: {quartiles(drawn_scores)}", flush=True)
    if len(names) <= MOST_EXACT:
        exact = sp.posterior(sets, method="exact").edges[np.ix_(rank, rank)]
        apart = np.abs(p - exact)
        print(f"spinney: chains and exact sums are apart by {apart.max():.4f} at the most", flush=True)
    if not options.sumu:
        print("sumu: left out; name a Python that has it with --sumu")
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        np.savetxt(place / "rows", np.column_stack([columns[name] for name in names]), fmt="%d")
        joined = p + p.T - np.eye(len(names))  # a column is not its own candidate
        listed = [sorted(np.argsort(-own, kind="stable")[:8].tolist()) for own in joined]
        (place / "candidates").write_text("\n".join(" ".join(map(str, own)) for own in listed))
        (place / "run.py").write_text(SUMU)
        best = sp.search(sets, method="exact").parents
        (place / "layers").write_text(json.dumps([] if options.cold else layers(best, names)))
        files = [str(place / name) for name in ("rows", "candidates", "layers", "out.npz")]
        numbers = [str(options.iterations), str(options.mc3), "0" if options.as_it_is else "1"]
        subprocess.run([options.sumu, str(place / "run.py"), *files, *numbers], check=True)
        with np.load(place / "out.npz") as found:
            series, its_seconds, its_scores = found["series"].astype(float), float(found["seconds"]), found["scores"]
    q, its_error = batch_errors(series)
    median, least = effective(q, its_error, its_seconds)
    print(f"sumu: chains {its_seconds:.1f} s; effective samples per second: median {median:.1f}, least {least:.1f}")
    print(f"sumu: log posterior of the graphs drawn: {quartiles(its_scores)}")
    if len(names) <= MOST_EXACT:
        print(f"sumu: its graphs and the exact sums are apart by {np.abs(q - exact).max():.4f} at the most")
    both = np.sqrt(error**2 + its_error**2)
    doubtful = ((p > 0.02) & (p < 0.98)) | ((q > 0.02) & (q < 0.98))
    apart = np.abs(p - q)[doubtful] / np.maximum(both[doubtful], 1e-3)
    quantiles = [round(float(x), 2) for x in np.quantile(apart, [0.5, 0.95, 1])]
    print(f"{int(doubtful.sum())} edges in doubt; apart by {np.abs(p - q).max():.4f} at the most;")
    print(f"in standard errors (median, 95 %, largest): {quantiles}")


if __name__ == "__main__":
    main()
