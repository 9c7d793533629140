"""Structure recovery as in Figure 4 of the PCART paper: how far from the true network, by score and number of rows.

In:  --data DIR with networks/NAME.bif.gz; the rows are drawn from them by spinney.
Out: mean structural Hamming distance between CPDAGs, as a table and a plot, and whether the paper's ordering holds.
The paper: Talvitie, Eggeling and Koivisto (2019), section 5.3; ten samples, at most four parents, proven best DAGs."""

import datetime
import math
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from common import Table, arguments, machine, peer, report
from spinney.catalog import choose_prior
from spinney.priors import prior_for

NETWORKS = ("alarm", "insurance", "water")
ROWS = (100, 200, 500, 1000, 2000, 5000)
SAMPLES = (1, 2, 3)  # seeds of the drawn rows
SCORES = {"PCART": ("pcart", "uniform"), "PCARTp": ("pcart", "sizes"), "FT": ("ft", "uniform"), "FTp": ("ft", "sizes")}
MAX_PARENTS = 4
SECONDS = 30.0  # for the proof of one network
COLOURS = {"PCART": "#0072b2", "PCARTp": "#56b4e9", "FT": "#d55e00", "FTp": "#e69f00"}

Means = dict[tuple[str, int], dict[str, float]]  # network and rows -> score -> mean distance


def one_sample(truth: Any, data: Any, name: str) -> dict[str, dict[str, Any]]:
    """Learn from one sample under both priors: every parent set is scored once, and the prior of sizes added."""
    sp = peer("spinney")
    started = time.process_time()
    sets = sp.score_parent_sets(data, name, max_parents=MAX_PARENTS, prune=False)
    scored = time.process_time() - started
    runs = {}
    for score, (of, prior) in SCORES.items():
        if of != name:
            continue
        by_size = prior_for(choose_prior(prior), len(sets.names)).by_size
        started = time.process_time()
        best = sp.search(added(sets, by_size), "exact", time_limit=SECONDS, n_jobs=1)
        runs[score] = {
            "shd": sp.compare(truth, best.parents).shd,
            "edges": sum(len(parents) for parents in best.parents.values()),
            "proven": best.optimal,
            "gap": best.gap,
            "seconds": (scored, time.process_time() - started),
        }
    return runs


def added(sets: Any, by_size: tuple[float, ...]) -> Any:
    """The same sets with the log prior of their sizes, best first again."""
    arrays = []
    for scores, sizes, parents in sets.arrays:
        total = (
            scores + np.array([by_size[min(k, len(by_size) - 1)] for k in range(MAX_PARENTS + 1)])[sizes]
            if by_size
            else scores
        )
        order = np.argsort(-total, kind="stable")
        ends = np.cumsum(sizes)
        places = np.concatenate([np.arange(ends[i] - sizes[i], ends[i]) for i in order]).astype(np.int64)
        arrays.append((total[order], sizes[order], parents[places]))
    return type(sets)(sets.names, arrays)


def run_cases(cases: list[tuple[str, int]], data: Path) -> Table:
    """One row per network, number of rows and score."""
    sp = peer("spinney")
    table = Table(
        "Every score",
        {
            "network": "",
            "N": ",",
            "score": "",
            "SHD": ".1f",
            "s.e.": ".1f",
            "SHD by sample": "",
            "edges": ".1f",
            "true edges": "",
            "proven": "",
            "largest gap %": ".4f",
            "score CPU s": ".2f",
            "search CPU s": ".2f",
        },
    )
    for network, rows in cases:
        truth = sp.Network.read(data / "networks" / f"{network}.bif.gz")
        samples = [truth.sample(rows, seed=seed) for seed in SAMPLES]
        per_sample = [{**one_sample(truth, sample, "pcart"), **one_sample(truth, sample, "ft")} for sample in samples]
        for score in SCORES:
            runs = [run[score] for run in per_sample]
            shds = [run["shd"] for run in runs]
            table.rows.append([
                network, rows, score, statistics.mean(shds), statistics.stdev(shds) / math.sqrt(len(shds)),
                " ".join(map(str, shds)), statistics.mean(run["edges"] for run in runs), len(truth.edges),
                f"{sum(run['proven'] for run in runs)} of {len(runs)}", 100 * max(run["gap"] for run in runs),
                *(statistics.mean(run["seconds"][step] for run in runs) for step in (0, 1)),
            ])  # fmt: skip
            print(*table.rows[-1], file=sys.stderr, flush=True)
    table.notes = [
        f"{len(SAMPLES)} samples (seeds {', '.join(map(str, SAMPLES))}) of `Network.sample`; every parent set of up to "
        f"{MAX_PARENTS} parents scored, then exact search on one thread for {SECONDS:g} s at the most. Proven: samples "
        "in which the DAG is proven the best, as in the paper. Seconds: CPU, per sample; both priors share "
        "the scoring.",
    ]
    return table


def summary(means: Means) -> Table:
    table = Table(
        "Mean SHD of the CPDAG",
        {"network": "", "N": ",", **dict.fromkeys(SCORES, ".1f"), "best": "", "worst": ""},
    )
    for (network, rows), own in means.items():
        table.rows.append(
            [network, rows, *own.values(), at_end(own, min(own.values())), at_end(own, max(own.values()))]
        )
    table.notes = [*ordering(means), f"Plot: {plot_name()}, made by this script without a plotting library."]
    return table


def at_end(own: Mapping[str, float], value: float) -> str:
    return ", ".join(score for score, mean in own.items() if mean == value)


def ordering(means: Means) -> list[str]:
    """The three statements of section 5.3, counted."""
    return [
        "Paper: both PCART variants are nearer to the truth than FT for all networks and sizes. "
        + counted(means, {"PCART", "PCARTp"}, "FT", NETWORKS),
        "Paper: on insurance and water the PCART variants converge faster than FTp. "
        + counted(means, {"PCART", "PCARTp"}, "FTp", ("insurance", "water")),
        "Paper: on alarm FTp is competitive with them. "
        + counted(means, {"FTp"}, "PCARTp", ("alarm",))
        + " "
        + counted(means, {"FTp"}, "PCART", ("alarm",)),
    ]


def counted(means: Means, better: set[str], than: str, networks: tuple[str, ...]) -> str:
    cases = {case: own for case, own in means.items() if case[0] in networks}
    if not cases:
        return "Here: not run."
    failing = [case for case, own in cases.items() if not all(own[score] < own[than] for score in better)]
    who = " and ".join(sorted(better))
    text = f"Here: {who} {'has' if len(better) == 1 else 'have'} a smaller mean SHD than {than} in "
    text += f"{len(cases) - len(failing)} of {len(cases)} cases"
    return text + (": it holds." if not failing else f"; not {', '.join(f'{n} N={rows}' for n, rows in failing)}.")


def plot_name() -> str:
    return f"{datetime.date.today().isoformat()}-recovery.svg"


def plot(means: Means) -> str:
    """One panel per network: SHD over the number of rows, which is on a logarithmic axis."""
    networks = list(dict.fromkeys(network for network, _ in means))
    width, height, left, top = 260, 220, 50, 30
    parts = []
    for panel, network in enumerate(networks):
        own = {rows: scores for (name, rows), scores in means.items() if name == network}
        highest = 10 * math.ceil(max(max(scores.values()) for scores in own.values()) / 10) or 10
        x0 = left + panel * (width + left)
        x = {rows: x0 + width * math.log(rows / ROWS[0]) / math.log(ROWS[-1] / ROWS[0]) for rows in ROWS}
        parts.append(f'<text x="{x0 + width / 2}" y="{top - 10}" text-anchor="middle">{network}</text>')
        parts.append(f'<path d="M{x0} {top}V{top + height}H{x0 + width}" fill="none" stroke="black"/>')
        for rows, place in x.items():
            parts.append(f'<text x="{place:.1f}" y="{top + height + 15}" text-anchor="middle">{rows}</text>')
        for tick in range(0, highest + 1, 10 if highest <= 80 else 20):
            y = top + height * (1 - tick / highest)
            parts.append(f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>')
            parts.append(f'<path d="M{x0} {y:.1f}h{width}" stroke="#ddd"/>')
        for score, colour in COLOURS.items():
            points = [(x[rows], top + height * (1 - scores[score] / highest)) for rows, scores in own.items()]
            line = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>' for px, py in points]
    for place, (score, colour) in enumerate(COLOURS.items()):
        parts.append(f'<text x="{left + 80 * place}" y="{top + height + 40}" fill="{colour}">{score}</text>')
    parts.append(f'<text x="{left + 340}" y="{top + height + 40}">mean SHD over the number of rows</text>')
    size = f'width="{max(len(networks) * (width + left) + 30, 620)}" height="{top + height + 55}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n",
    ])  # fmt: skip


def main() -> None:
    cases = {f"{network}-{rows}": (network, rows) for network in NETWORKS for rows in ROWS}
    options = arguments("Structure recovery as in Figure 4 of the PCART paper.", list(cases))
    facts = machine()
    runs = run_cases([case for name, case in cases.items() if name in options.only], options.data)
    means: Means = {}
    for network, rows, score, mean, *_ in runs.rows:
        means.setdefault((network, rows), {})[score] = mean
    report("recovery", facts, [summary(means), runs], options.results)
    (options.results / plot_name()).write_text(plot(means))


if __name__ == "__main__":
    main()
