"""Local scores: microseconds per family beside pyAgrum, pgmpy and a bare C counting loop, in one run.

In:  --data DIR with samples/alarm.csv.gz.
Out: three tables: all families of up to two parents on 5,000 rows of alarm; two threads against one; growth with N.
One thread unless it says otherwise; values are compared with the peers' wherever both computed them."""

import ctypes
import itertools
import math
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from common import HERE, Codes, Prepare, Table, Timed, arguments, frame_of, machine, peer, race, read_codes, report

Family = tuple[str, tuple[str, ...]]
Counts = npt.NDArray[np.uint32]
Scores = dict[tuple[str, frozenset[str]], float]

ROWS = 5000
GROWTH = [1_000, 10_000, 100_000, 1_000_000]
GROWTH_COLUMNS = 12  # 804 families: a million rows stay affordable for everybody
PGMPY_FAMILIES = 300
PYAGRUM_FAMILIES = 3000
SCORES = ["bdeu(ess=1)", "bic"]
AS_LONG = 900  # families that the bare loop counts in the time of one call of ours


def families_of(names: Sequence[str]) -> list[Family]:
    return [
        (child, parents)
        for child in names
        for size in range(3)
        for parents in itertools.combinations([name for name in names if name != child], size)
    ]


def subset(families: Sequence[Family], size: int) -> list[Family]:
    chosen = np.random.default_rng(1).choice(len(families), size=min(size, len(families)), replace=False)
    return [families[position] for position in sorted(chosen)]


def spinney(
    frame: pd.DataFrame, score: str, threads: int = 1, parents: int = 2, calls: int = 1, new: bool = True
) -> Prepare:
    """All families of up to so many parents in one call, or in each of some; nothing pruned, nothing bounded away.

    A new table for every run has its bitmaps still to make; else the first run makes them for all."""
    sp = peer("spinney")
    made = sp.Dataset.from_frame(frame)

    def prepare() -> Callable[[], Any]:
        data = sp.Dataset.from_frame(frame) if new else made

        def run() -> Any:
            for _ in range(calls):
                sets = sp.score_parent_sets(
                    data, score=score, max_parents=parents, prune=False, bounds=False, n_jobs=threads
                )
            return sets

        return run

    return prepare


def spinney_one_by_one(frame: pd.DataFrame, score: str, families: Sequence[Family]) -> Prepare:
    """The way the peers are called: once per family, from Python."""
    sp = peer("spinney")
    data = sp.Dataset.from_frame(frame)
    return lambda: lambda: [sp.local_score(data, child, parents, score=score) for child, parents in families]


def pyagrum(frame: pd.DataFrame, score: str, families: Sequence[Family]) -> Prepare:
    """Its scores are in bits. Its BDeu has ess 1 and takes a prior on top of that unless told not to."""
    gum = peer("pyagrum")
    gum.setNumberOfThreads(1)
    text = frame.astype(str)
    queries = [(child, list(parents)) for child, parents in families]

    def prepare() -> Callable[[], list[float]]:
        learner = gum.BNLearner(text)
        if score == "bic":
            learner.useScoreBIC()
        else:
            learner.useScoreBDeu()
        learner.useNoPrior()
        return lambda: [learner.score(child, parents) for child, parents in queries]

    return prepare


def pgmpy(codes: Codes, score: str, families: Sequence[Family]) -> Prepare:
    """Small integers are the frame on which it is fastest. A scorer remembers its scores: a new one for every run."""
    scores = peer("pgmpy.structure_score")
    frame = pd.DataFrame({name: column.astype(np.int8) for name, column in codes.items()})

    def prepare() -> Callable[[], list[float]]:
        scorer = scores.BIC(frame) if score == "bic" else scores.BDeu(frame, equivalent_sample_size=1)
        return lambda: [scorer.local_score(child, parents) for child, parents in families]

    return prepare


@contextmanager
def compiled() -> Iterator[ctypes.CDLL]:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "count_loop.so"
        subprocess.run(["cc", "-O3", "-shared", "-fPIC", "-o", library, HERE / "count_loop.c"], check=True)
        loop = ctypes.CDLL(str(library))
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        loop.count_families.argtypes = [pointer, number, pointer, pointer, number, pointer, pointer]
        loop.count_families.restype = None
        loop.read_words.argtypes = [pointer, number]
        loop.read_words.restype = ctypes.c_uint64
        yield loop


def bare_loop(loop: ctypes.CDLL, codes: Codes, families: Sequence[Family]) -> Prepare:
    position = {name: index for index, name in enumerate(codes)}
    columns = np.stack([column.astype(np.uint8) for column in codes.values()])
    levels = np.array([column.max() + 1 for column in codes.values()], dtype=np.int32)
    listed = np.zeros((len(families), 4), dtype=np.int32)
    for line, (child, parents) in zip(listed, families, strict=True):
        line[: 2 + len(parents)] = position[child], len(parents), *(position[parent] for parent in parents)
    counts = np.zeros(int(np.sort(levels)[-3:].prod()), dtype=np.uint32)
    first_cells = np.zeros(len(families), dtype=np.uint32)

    def run() -> Counts:
        loop.count_families(
            columns.ctypes.data, columns.shape[1], levels.ctypes.data, listed.ctypes.data, len(families),
            counts.ctypes.data, first_cells.ctypes.data,
        )  # fmt: skip
        return first_cells

    return lambda: run


def halved_loop(loop: ctypes.CDLL, codes: Codes, families: Sequence[Family], pool: ThreadPoolExecutor) -> Prepare:
    """The same on two threads that share nothing and write nothing together: what the machine gives just now."""
    first, second = (bare_loop(loop, codes, families[start::2])() for start in (0, 1))

    def run() -> None:
        other = pool.submit(second)
        first()
        other.result()

    return lambda: run


def check_counts(codes: Codes, families: Sequence[Family], first_cells: Counts) -> None:
    """A loop that counted something else would be a useless yardstick."""
    for index in range(0, len(families), 97):
        child, parents = families[index]
        zero = np.all([codes[name] == 0 for name in (child, *parents)], axis=0)
        assert first_cells[index] == zero.sum(), "the bare loop miscounts: a bug of the benchmark"


def values_of(sets: Any, names: Sequence[str]) -> Scores:
    return {(name, frozenset(parents)): value for name in names for parents, value in sets.of(name)}


def difference(ours: Scores, families: Sequence[Family], theirs: list[float]) -> float:
    """Largest relative difference over the families that both computed."""
    pairs = [(ours[child, frozenset(parents)], value) for (child, parents), value in zip(families, theirs, strict=True)]
    return max(abs(mine - value) / max(abs(mine), 1e-300) for mine, value in pairs)


def per_family(codes: Codes, loop: ctypes.CDLL, repeats: int) -> Table:
    frame, names = frame_of(codes), list(codes)
    families = families_of(names)
    some, few = subset(families, PYAGRUM_FAMILIES), subset(families, PGMPY_FAMILIES)
    table = Table(
        f"Microseconds per family: alarm, first {ROWS:,} rows, up to two parents, one thread",
        {"who": "", "score": "", "families": ",", "us per family": ".2f", "spinney is faster by": ".1f",
         "spinney / bare loop": ".2f", "largest relative difference": ".1e"},
    )  # fmt: skip
    for score in SCORES:
        timed = race(
            {
                "spinney": spinney(frame, score),
                "bare C loop": bare_loop(loop, codes, families),
                "spinney, call by call": spinney_one_by_one(frame, score, some),
                "pyAgrum": pyagrum(frame, score, some),
                "pgmpy": pgmpy(codes, score, few),
            },
            repeats,
        )
        check_counts(codes, families, timed["bare C loop"].answer)
        ours = values_of(timed["spinney"].answer, names)
        assert len(ours) == len(families), f"spinney scored {len(ours)} families of {len(families)}"
        micro = timed["spinney"].cpu / len(families) * 1e6
        bits = [value * math.log(2) for value in timed["pyAgrum"].answer]
        loop_micro = timed["bare C loop"].cpu / len(families) * 1e6
        table.rows.append(["spinney", score, len(families), micro, None, micro / loop_micro, None])
        table.rows.append(["bare C loop", "counts only", len(families), loop_micro, loop_micro / micro, None, None])
        for who, listed, values in [
            ("spinney, call by call", some, timed["spinney, call by call"].answer),
            ("pyAgrum", some, bits),
            ("pgmpy", few, timed["pgmpy"].answer),
        ]:
            theirs = timed[who].cpu / len(listed) * 1e6
            table.rows.append([who, score, len(listed), theirs, theirs / micro, None, difference(ours, listed, values)])
    table.notes = [
        f"Where fewer than {len(families):,} families are named, they are a random subset (seed 1) of them.",
        "pyAgrum's BDeu is not exact: it agrees to 1e-6 where the pseudo-counts have two decimals (1/4, 1/50) and not "
        "elsewhere (1/3, 1/7), as a log-gamma read from a table in steps of 0.01 would; its BIC is exact.",
    ]
    return table


def two_threads(codes: Codes, loop: ctypes.CDLL, repeats: int) -> Table:
    frame = frame_of(codes)
    table = Table(
        "Two threads against one, wall clock",
        {"score": "", "parents up to": "", "families": ",", "table": "", "calls in a row": "", "one thread, ms": ".2f",
         "two threads, ms": ".2f", "speed-up": ".2f"},
    )  # fmt: skip
    jobs = (
        (2, 1, True, 60 * repeats),
        (2, 1, False, 60 * repeats),
        (2, 20, False, 20 * repeats),
        (3, 1, True, 4 * repeats),
    )
    for parents, calls, new, runs in jobs:
        count = sum(math.comb(len(codes) - 1, size) for size in range(parents + 1)) * len(codes)
        for score in SCORES:
            timed = race({str(n): spinney(frame, score, n, parents, calls, new) for n in (1, 2)}, runs)
            one, two = timed["1"].wall / calls, timed["2"].wall / calls
            table.rows.append(
                [score, parents, count, "new" if new else "asked before", calls, one * 1e3, two * 1e3, one / two]
            )
    families = families_of(list(codes))
    with ThreadPoolExecutor(1) as pool:
        for size, runs in ((AS_LONG, 60 * repeats), (len(families), 4 * repeats)):
            some = subset(families, size)
            timed = race({"1": bare_loop(loop, codes, some), "2": halved_loop(loop, codes, some, pool)}, runs)
            one, two = timed["1"].wall, timed["2"].wall
            table.rows.append(["bare C loop", 2, len(some), "-", 1, one * 1e3, two * 1e3, one / two])
    table.notes = [
        "The bare C loop, halved between two threads that share nothing, is the yardstick: what the machine gave in "
        "that minute for a job as long as ours, and for a long one.",
        "Milliseconds of one call; the first one on a new table makes its bitmaps too. A single call finds the second "
        "thread asleep; of calls in a row only the first does.",
    ]
    return table


def growth(codes: Codes, loop: ctypes.CDLL, repeats: int) -> Table:
    names = list(codes)[:GROWTH_COLUMNS]
    families = families_of(names)
    table = Table(
        f"Growth with N: {len(families)} families over {GROWTH_COLUMNS} columns of alarm, rows drawn with replacement",
        {"N": ",", "spinney BDeu, us per family": ".1f", "spinney BIC": ".1f", "bare C loop": ".1f",
         "pyAgrum BIC": ".1f", "spinney BIC, ns per row": ".3f", "spinney / bare loop": ".2f",
         "GB/s of columns": ".2f"},
    )  # fmt: skip
    columns_read = sum(1 + len(parents) for _, parents in families)
    available = len(next(iter(codes.values())))
    for rows in GROWTH:
        drawn = np.random.default_rng(1).integers(0, available, size=rows)
        # Few rows may miss a level: renumber, as a reader of that table would.
        resampled = {name: np.unique(codes[name][drawn], return_inverse=True)[1] for name in names}
        frame = frame_of(resampled)
        timed = race(
            {
                **{score: spinney(frame, score) for score in SCORES},
                "loop": bare_loop(loop, resampled, families),
                "pyAgrum": pyagrum(frame, "bic", families),
            },
            repeats,
        )
        micro = {name: result.cpu / len(families) * 1e6 for name, result in timed.items()}
        bic = timed["bic"].cpu
        table.rows.append([
            rows, micro[SCORES[0]], micro["bic"], micro["loop"], micro["pyAgrum"], micro["bic"] * 1e3 / rows,
            micro["bic"] / micro["loop"], columns_read * rows / bic / 1e9,
        ])  # fmt: skip
    table.notes = [
        "GB/s of columns: one byte per row, child and parents of every family, as if each family read them all anew; "
        f"one thread of this machine reads {read_bandwidth(loop, repeats):.1f} GB/s from memory in a plain C loop."
    ]
    return table


def read_bandwidth(loop: ctypes.CDLL, repeats: int) -> float:
    words = np.ones(2**25, dtype=np.uint64)  # 256 MB: no cache holds it
    timed: Timed = race({"read": lambda: lambda: loop.read_words(words.ctypes.data, len(words))}, repeats)["read"]
    assert timed.answer == len(words), "the read loop missed words: a bug of the benchmark"
    return words.nbytes / timed.cpu / 1e9


def main() -> None:
    options = arguments("Local scores beside pyAgrum, pgmpy and a bare C loop.", ["families", "threads", "growth"])
    facts = machine()
    codes = read_codes("alarm", ROWS, options.data)
    tables = []
    with compiled() as loop:
        if "families" in options.only:
            tables.append(per_family(codes, loop, options.repeats))
        if "threads" in options.only:
            tables.append(two_threads(codes, loop, options.repeats))
        if "growth" in options.only:
            tables.append(growth(codes, loop, options.repeats))
    report("local_scores", facts, tables, options.results)


if __name__ == "__main__":
    main()
