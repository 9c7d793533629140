"""kill -9 at random moments: nothing that was written is lost, nothing is scored twice, the answer is the same.

    python bench/kills.py --times 50 --workers 0 1 2 4

In:  how often; numbers of workers (0: no cluster, a store alone, whose writer is killed; else client, worker and
     scheduler are killed in turn); the score.
Out: a line per kill, and per number of workers a row in results/kills-rows.json and results/DATE-kills.md: kills, at
     how many written scores they came, scores that were written and are gone, scores that were written twice, and runs
     whose parent sets (jkl) or fitted network (JSON) differ in any byte from those of one undisturbed thread. Exit 1
     unless the last three are 0. Runs with further seeds add to the rows."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import spinney as sp
from common import HERE, Table, machine, report
from spinney.store import Store
from spinney.store_files import read_families

ROWS_FILE = "kills-rows.json"
BYTES = 24  # of a score in a stream, about
LEARN = """
import sys
from pathlib import Path
import spinney as sp
from spinney.formats import jkl

path, out, score, store, address = sys.argv[1:]
data = sp.Dataset.read(path)
print("begun", flush=True)
words = {"store": store} if store else {}
if address:
    words["cluster"] = address
found = sp.learn(data, score, search="exact", max_parents=3, n_jobs=1, **words)
found.network.export(out + ".json")
Path(out + ".jkl").write_text(jkl.text(found.sets))
print("done", found.sets.scored, found.sets.known, flush=True)
"""


def table(path: Path, columns: int, rows: int) -> None:
    rng = np.random.default_rng(5)
    last = rng.integers(0, 3, rows)
    found: dict[str, Any] = {}
    for i in range(columns):  # every third one is continuous
        last = np.where(rng.random(rows) < 0.6, last, rng.integers(0, 3, rows))
        found[f"x{i}"] = last + rng.normal(size=rows) if i % 3 == 2 else [f"l{value}" for value in last]
    sp.Dataset.from_frame(found).write(path)


@dataclass
class Written:
    """What the files of a store hold."""

    families: int = 0  # different ones
    twice: int = 0  # written again

    @classmethod
    def of(cls, folder: Path) -> Written:
        own = Store(folder, make=True)
        everything = sum(len(read_families(path, own.damages)) for run in own.runs() for path in run.files)
        families = sum(len(own.read(run)) for run in own.runs())
        assert not own.damages, own.damages
        return cls(families, everything - families)


@dataclass
class Row:
    """What became of the kills with one number of workers."""

    workers: int
    kills: dict[str, int] = field(default_factory=dict)
    at: list[int] = field(default_factory=list)  # scores that had been written when the kill came
    ended: int = 0  # runs that came to their end
    lost: int = 0
    twice: int = 0
    differ: int = 0

    def add(self, other: Row) -> None:
        """Kills of another run."""
        for what, count in other.kills.items():
            self.kills[what] = self.kills.get(what, 0) + count
        self.at += other.at
        self.ended += other.ended
        self.lost += other.lost
        self.twice += other.twice
        self.differ += other.differ

    @property
    def bad(self) -> bool:
        return bool(self.lost or self.twice or self.differ)


def start(words: list[str], **pipes: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, *words], text=True, **pipes)


class Cluster:
    """A scheduler and workers, each a process that can be killed; started again when it was."""

    def __init__(self, folder: Path, size: int) -> None:
        self.file, self.size = folder / "scheduler.json", size
        self.scheduler: subprocess.Popen[str] | None = None
        self.workers: list[subprocess.Popen[str]] = []

    def up(self) -> str:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.down()
            self.file.unlink(missing_ok=True)
            words = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
            self.scheduler = start([*words, "--scheduler-file", str(self.file)], **quiet)
            while not self.file.exists():
                time.sleep(0.1)
            time.sleep(0.5)
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < self.size:
            words = ["-m", "distributed.cli.dask_worker", "--scheduler-file", str(self.file), "--host", "127.0.0.1"]
            self.workers.append(start([*words, "--nthreads", "1", "--no-nanny", "--no-dashboard"], **quiet))
        address: str = json.loads(self.file.read_text())["address"]
        return address

    def process(self, what: str, rng: random.Random) -> subprocess.Popen[str]:
        assert self.scheduler is not None
        return rng.choice(self.workers) if what == "worker" else self.scheduler

    def down(self) -> None:
        for process in (*self.workers, *([self.scheduler] if self.scheduler else [])):
            process.kill()
            process.wait()
        self.workers, self.scheduler = [], None


class Campaign:
    """Kills with one number of workers."""

    def __init__(self, given: argparse.Namespace, folder: Path, workers: int) -> None:
        self.given, self.folder = given, folder
        self.rng = random.Random(given.seed + workers)
        self.cluster = Cluster(folder, workers) if workers else None
        self.victims = ["client", "worker", "scheduler"] if workers else ["client"]
        self.row = Row(workers)
        self.path, self.out = folder / "table.csv", folder / "found"
        self.scored, self.files = self.undisturbed()

    def learned(self, store: Path | str, address: str) -> subprocess.Popen[str]:
        """One process that learns the network; it has read the table when this returns."""
        words = ["-c", LEARN, str(self.path), str(self.out), self.given.score, str(store), address]
        process = start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    def undisturbed(self) -> tuple[int, list[bytes]]:
        """One thread, no store: how many families it scores, and its files."""
        process = self.learned("", "")
        out, err = process.communicate()
        assert process.returncode == 0, err
        return int(out.split()[1]), self.results()

    def results(self) -> list[bytes]:
        paths = [self.folder / f"found.{suffix}" for suffix in ("jkl", "json")]
        found = [path.read_bytes() for path in paths]
        for path in paths:
            path.unlink()
        return found

    def run(self) -> Row:
        try:
            while sum(self.row.kills.values()) < self.given.times:
                self.until_the_end(self.folder / f"store{self.row.ended}")
                self.row.ended += 1
        finally:
            if self.cluster is not None:
                self.cluster.down()
        return self.row

    def until_the_end(self, store: Path) -> None:
        """Learn with a new store, and kill, until a run comes to its end."""
        row, before = self.row, Written()
        while True:
            process = self.learned(store, self.cluster.up() if self.cluster is not None else "")
            what = "nobody"
            if sum(row.kills.values()) < self.given.times:
                what = self.kill(process, store, self.rng.uniform(before.families, self.scored))
            if self.cluster is not None and what == "worker":
                self.cluster.up()  # as whatever looks after workers would
            out, err = process.communicate(timeout=600)
            now = Written.of(store)
            row.lost += max(0, before.families - now.families)
            row.twice += now.twice - before.twice
            if what != "nobody":
                row.at.append(now.families)
                print(f"{len(row.at):3d} {what:9s} {now.families:,} of {self.scored:,} {row}"[:150], flush=True)
            if out.startswith("done"):
                scored, known = map(int, out.split()[1:])
                row.twice += abs(scored + known - self.scored) + max(0, before.families - known)
                row.differ += self.results() != self.files
                break
            if process.returncode != -signal.SIGKILL:
                assert what == "scheduler" and ("LimitError: the cluster" in err or "ChoiceError" in err), err
            before = now
        shutil.rmtree(store)

    def kill(self, client: subprocess.Popen[str], store: Path, when: float) -> str:
        """Wait until about so many scores are written and a moment longer, then kill the next in turn; "nobody" if the
        client had come to its end before."""
        while client.poll() is None and BYTES * when > sum(path.stat().st_size for path in store.glob("*")):
            time.sleep(0.02)
        time.sleep(self.rng.uniform(0, 0.15))
        kills = self.row.kills
        what = self.victims[sum(kills.values()) % len(self.victims)]
        if client.poll() is not None:
            return "nobody"
        victim = client if self.cluster is None or what == "client" else self.cluster.process(what, self.rng)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        kills[what] = kills.get(what, 0) + 1
        return what


def shown(rows: dict[str, Any], facts: dict[str, Any], folder: Path) -> None:
    kept = Table(
        "kill -9 at random moments",
        {
            "score": "", "workers": "", "families": ",", "client": "", "worker": "", "scheduler": "",
            "runs to the end": "", "written at the kills, median": ",.0f", "lost": ",", "scored twice": ",",
            "other answers": ",",
        },
        notes=[
            "Workers 0: no cluster, the process that writes the store is killed. Lost: scores that were in the store "
            "and no longer are. Scored twice: scores that were in the store and were made, or written, again. Other "
            "answers: runs to the end whose parent sets (jkl) or network (JSON) are not those of one undisturbed "
            "thread, byte for byte."
        ],
    )  # fmt: skip
    for name, row in sorted(rows.items()):
        kills = row["kills"]
        kept.rows.append([
            *name.split("|"), row["families"], *(kills.get(what, 0) for what in ("client", "worker", "scheduler")),
            row["ended"], float(np.median(row["at"])), row["lost"], row["twice"], row["differ"],
        ])  # fmt: skip
    report("kills", facts, [kept], folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2, 4])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--score", default="pcart")
    parser.add_argument("--columns", type=int, default=17)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the dated results go")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no worker is left behind
    facts, kept, bad = machine(), given.results / ROWS_FILE, False
    for workers in given.workers:
        folder = Path(tempfile.mkdtemp(prefix="spinney-kills-"))
        try:
            table(folder / "table.csv", given.columns, given.rows)
            campaign = Campaign(given, folder, workers)
            row = campaign.run()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        bad |= row.bad
        rows = json.loads(kept.read_text()) if kept.exists() else {}
        name = f"{given.score}|{workers}"
        if name in rows:  # of a run with another seed
            row.add(Row(**{word: value for word, value in rows[name].items() if word != "families"}))
        rows[name] = {**asdict(row), "families": campaign.scored}
        kept.write_text(json.dumps(rows, indent=0) + "\n")
        shown(rows, facts, given.results)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
