"""Hostile inputs and damaged files against the command line and the library: nothing may crash, hang, show a traceback
or answer with NaN.

In:  --inputs 500 hostile inputs, --files 10000 mutated files, --seed; --limit seconds of computing for each.
Out: counts per kind of case: answered, refused (a SpinneyError of one sentence, exit 2), FAILED; the failing cases on
standard error as they come, and in --keep FOLDER (else a temporary one). Exit 1 if something failed.
The files are mutants of valid ones that spinney writes first. Cases run in worker processes that live on, with 3 GB of
memory each; one that dies or hangs is replaced."""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import os
import queue
import random
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

MEMORY = 3 * 2**30
LONGEST = 500  # characters of a refusal
Case = dict[str, Any]  # kind; args (of a command) or call (of the library); file

FITTED = ("cg", "dg", "mvp", "lr", "graph", "pcart(leaf=linear)")  # scores whose local models are of different classes

# --- cases ----------------------------------------------------------------------------------------------------------


def make_seeds(folder: Path) -> dict[str, list[Path]]:
    """Valid files of every format, by the kind of case that they are for."""
    import numpy as np

    import spinney as sp

    rng = np.random.default_rng(0)
    n = 60
    a = rng.integers(0, 3, n)
    x = rng.normal(size=n) + a
    words = {"a": [f"l{v}" for v in a], "b": ["u" if v > 0 else "v v" for v in x], "x": x, "k": rng.integers(0, 40, n)}
    data = sp.Dataset.from_frame(words)
    discrete = data.select(["a", "b"])
    for name in ("t.csv", "t.tsv", "t.parquet", "t.feather"):
        data.write(folder / name)
    (folder / "odd.csv").write_bytes('"a; b";c;d\n"x ""y""";1,5;NA\nä;2,5;3\n"z\nz";;4\n'.encode("cp1252"))
    sp.fit(discrete, {"b": ["a"]}, "bdeu").save(folder / "net.json")
    sp.fit(discrete, {"b": ["a"]}, "bdeu").export(folder / "net.bif")
    sp.fit(discrete, {"b": ["a"]}, "bdeu").export(folder / "exact.bif", exact_names=True)
    sp.fit(data, {"x": ["a"], "b": ["x"]}, "pcart").save(folder / "tree.json")
    for score in FITTED:
        sp.fit(data, {"x": ["a", "k"], "b": ["x", "a"]}, score).save(folder / f"{score.split('(')[0]}.json")
    sp.score_parent_sets(discrete, "bdeu").write(folder / "sets.jkl")
    (folder / "sets2.jkl").write_text("3\na 2\n-10.5 0\n-9.25 1 b\nb 1\n-7.5 0\nc%20d 1\n-3.125 2 a b\n")
    data.write_kinds(folder / "kinds.yaml") if hasattr(data, "write_kinds") else _write_kinds(data, folder)
    (folder / "c.yaml").write_text(
        "required: [[a, b]]\nforbidden: [[b, a]]\ntiers: [[a], [b, x]]\nmax_parents: {b: 1}\n"
    )
    (folder / "c.json").write_text('{"required": [["a", "b"]], "tiers": [["a"], ["b"]], "max_parents": 2}')
    groups = {
        "csv": ["t.csv", "t.tsv", "odd.csv"],
        "parquet": ["t.parquet"],
        "feather": ["t.feather"],
        "json": ["net.json", "tree.json", *(f"{score.split('(')[0]}.json" for score in FITTED)],
        "bif": ["net.bif", "exact.bif"],
        "jkl": ["sets.jkl", "sets2.jkl"],
        "kinds": ["kinds.yaml"],
        "constraints": ["c.yaml", "c.json"],
    }
    return {kind: [folder / name for name in names] for kind, names in groups.items()}


def _write_kinds(data: Any, folder: Path) -> None:
    from spinney import kinds_file

    kinds_file.write(folder / "kinds.yaml", data.kinds, data.reasons)


TOKENS = [
    b"\x00", b"\xff\xfe", b'"', b"'", b"\n", b",", b"{", b"}", b"[", b"]", b"(", b"/*", b"//", b"\\", b"nan", b"inf",
    b"-1", b"1e308", b"1e-320", b"1e999", b"99999999999999999999", b"null", b"true", b"\\ud800", b"&a", b"*a", b": ",
    b"- ", b"%", b"#", b"\xf0\x9f\x98\x80", b" " * 50, b"[" * 300, b"a" * 3000,
]  # fmt: skip


ODD_PARTS: list[Any] = [
    None, True, -1, 0, 1e308, 1e-320, 10**400, 0.5, "", "a", "nan", "\ud800", [], {}, [[]], {"a": 1}, ["a", "a"],
    "a" * 3000,
]  # fmt: skip


def changed_json(rng: random.Random, content: bytes) -> bytes:
    """A few of its parts replaced, taken out or doubled. It is JSON still, so that it comes past the parser."""
    record: Any = json.loads(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        part = record
        while True:
            key = rng.choice(list(part) if isinstance(part, dict) else range(len(part)))
            if not isinstance(part[key], (dict, list)) or not part[key] or rng.random() < 0.2:
                break
            part = part[key]
        step = rng.randrange(4)
        if step == 0:
            del part[key]
        elif step == 1 and isinstance(part, list):
            part.insert(rng.randrange(len(part) + 1), copy.deepcopy(part[key]))
        else:
            part[key] = copy.deepcopy(rng.choice(ODD_PARTS))
        if not record:
            break
    return json.dumps(record).encode()


def mutant(rng: random.Random, content: bytes, others: list[bytes]) -> bytes:
    """A few changes: bytes flipped, parts cut out, doubled, moved, taken from another file, tokens put in."""
    if content.startswith(b"{") and rng.random() < 0.5:
        return changed_json(rng, content)
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice((1, 2, 8, 64, 1000)))
        step = rng.randrange(8)
        if step == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif step == 1:
            del data[at:]
        elif step == 2:
            del data[at:to]
        elif step == 3:
            data[at:at] = data[at:to] * rng.choice((1, 1, 2, 50))
        elif step == 4:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            data[at:to] = other[start : start + to - at]
        elif step == 5:
            data[at:at] = rng.choice(TOKENS)
        elif step == 6:
            data[at:to] = rng.choice(TOKENS)
        elif at < len(data):
            data[at] = rng.randrange(256)
    return bytes(data[:1_000_000])


def file_cases(rng: random.Random, count: int, seeds: dict[str, list[Path]], folder: Path) -> list[Case]:
    """Mutated files; each is written when its turn comes, from its number."""
    contents = {kind: [(path, path.read_bytes()) for path in paths] for kind, paths in seeds.items()}
    cases = []
    for number in range(count):
        kind = rng.choice(list(contents))
        path, content = rng.choice(contents[kind])
        data = mutant(rng, content, [body for _, body in contents[kind]])
        target = folder / f"case{number}{path.suffix}"
        cases.append({"kind": kind, "call": kind, "file": str(target), "content": data})
    return cases


ODD_VALUES = [
    "", " ", "-1", "0", "1", "1.5", "nan", "inf", "-inf", "1e308", "9" * 30, "none", "None", "true", "[]", "{}",
    "a->b",
    "b->a", "a->a", "x", "nowhere", "bdeu(", "bdeu(ess=1e99)", "pcart", "ft(max_bins=1)", "graph", "tan",
    "tan(target=b)", "cg", "mvp(degree=99)", "lr(", "dg", "bf", "bge", "best(pcart, ft)", "best(bdeu, bic)",
    "mcar(0.5)", "hc(restarts=9999999999)", "ilp", "drop", "level", "auto", "\x00", "ä", "😀", "a" * 5000,
    "\ud800", "../..", "/",
    "-", "t.csv", "net.json", "out.bif", "out.dot", "out.csv", "out.json.gz", "kinds.yaml", "c.yaml", "sets.jkl",
]  # fmt: skip
ARGUMENTS = {
    "kinds": ["t.csv"], "score": ["t.csv", "net.json"], "families": ["t.csv"], "solve": ["sets.jkl"],
    "learn": ["t.csv"],    "predict": ["net.json", "t.csv"], "classify train": ["t.csv"],
    "classify cv": ["t.csv"], "sample": ["net.json"],
    "classify predict": ["net.json", "t.csv"], "compare": ["net.json", "tree.json"], "convert": ["net.json",
    "out.bif"],
    "list": [], "simulate mixed": [], "simulate network": [],
}  # fmt: skip


def command_cases(rng: random.Random, count: int) -> list[Case]:
    """Every command with one or two odd options or arguments."""
    import typer

    from spinney.cli import COMMANDS, app

    root: Any = typer.main.get_command(app)
    cases = []
    for _ in range(count):
        name = rng.choice(list(COMMANDS))
        command = root
        for word in name.split():
            command = command.commands[word]
        args = [*ARGUMENTS.get(name, ["net.json"])]
        if args and rng.random() < 0.3:
            args[rng.randrange(len(args))] = rng.choice(ODD_VALUES)
        for _ in range(rng.choice((0, 1, 1, 2))):
            option = rng.choice([p for p in command.params if p.opts[0].startswith("-")])
            args += [rng.choice(option.opts), *([] if option.is_flag else [rng.choice(ODD_VALUES)])]
        if name in ("learn", "families", "solve") and "--time-limit" not in args:
            args += ["--time-limit", "1"]
        cases.append({"kind": "command", "args": [*name.split(), *args]})
    return cases


ODD_OBJECTS = (
    "None, True, 0, -1, 1.5, 10**30, float('nan'), float('inf'), '', 'a', 'ab', b'a', [], {}, set(), (), [1, 'a'], "
    "[[1, 2], [3]], {'a': []}, {'a': 3}, {'a': ['a']}, {'a': {'b'}}, {1: [2]}, object(), lambda: 0, np.nan, "
    "np.arange(3), np.zeros((2, 2)), data, net, {'a': [1, 1, 1]}, {'a': [None, None]}, {'a': [-1.0, 1.0] * 20, 'b': "
    "[-2.0, 2.0] * 20}, {'id': list(range(50)), 'y': [0, 1] * 25}, {'a': [10**30, 1]}, {'a': [1e300, -1e300, 0.5]}, "
    "{'': [1, 2]}, {'a\\x00': ['x', 'y']}, {'a': ['\\ud800', 'x']}, 'x' * 100000, ['x'] * 3, {'a': 'xyz'}, "
    "{'a': [[1], [2]]}, {'a': [b'x', b'y']}, {'a': [1 + 2j, 3]}"
)
FUNCTIONS = (
    "sp.learn(data, {k}={o}, time_limit=1)", "sp.learn({o}, time_limit=1)", "sp.fit(data, {o})",
    "sp.score(data, {o})",
    "sp.local_score(data, {o}, {o2})", "sp.local_score(data, 'b', {o})", "sp.Dataset.from_frame({o})",
    "sp.Dataset.from_frame({o}, kinds={o2})", "sp.Constraints(required={o})", "sp.Constraints(tiers={o})",
    "sp.score_parent_sets(data, {k2}={o}, time_limit=1)", "net.sample({o})", "net.predict({o}, 'b')",
    "net.predict(data, {o})",    "net.predict_proba({o}, {o2})", "net.log_prob({o})", "sp.compare({o}, {o2})",
    "sp.Ordinal({o})",
    "sp.Categorical({o})",    "sp.BDeu({o})", "sp.search({o})",
    "sp.TANClassifier({o}).fit(data.to_arrow(), {o2})", "net.levels({o})",
    "sp.NaiveBayesClassifier().fit({o}, {o2})", "sp.Dataset.read({o})", "sp.Network.read({o})", "sp.DAG({o}, {o2})",
    "sp.independence({o}, 'a', 'b')", "sp.independence(data, 'a', {o}, {o2})",
    "sp.independence(data, 'a', 'b', test={o})", "sp.simulate.mixed({o}, {o2}, 20)",
    "sp.simulate.mixed(5, 2, {o}, {k3}={o2})", "sp.simulate.mixed(5, 2, 20, {k3}={o})",
    "sp.simulate.random_network({o}, {o2})", "sp.simulate.random_network(5, 2, {k4}={o})",
    "sp.simulate.from_network(net, {o}, {o2})", "sp.CustomScore({o})", "sp.register({o})",
    "sp.learn(data, sp.CustomScore(lambda d, c, p: {o}), time_limit=1)",
    "sp.local_score({o}, 'a', [], score={s})", "sp.learn({o}, score={s}, time_limit=1)",
    "data.select({o})", "data.take({o})", "net.export({o})", "sp.Continuous({o}, {o2})",
)  # fmt: skip


def call_cases(rng: random.Random, count: int) -> list[Case]:
    """Functions of the library with odd objects; as expressions, so that a failing one can be tried by hand."""
    objects = _split(ODD_OBJECTS)
    keys = ("score", "search", "prior", "max_parents", "constraints", "candidates", "n_jobs", "seed", "start")
    mixed = ("max_degree", "nonlinear", "discrete_share", "seed", "missing", "levels", "bins", "standardise")
    network = ("kinds", "local", "max_degree", "seed", "levels", "alpha")
    scores = ("cg", "cgd", "mn", "mvp", "lr", "dg", "bf", "bge", "best(pcart, ft, graph)", "best(bdeu)")
    cases = []
    for _ in range(count):
        words = {
            "o": rng.choice(objects), "o2": rng.choice(objects), "k": rng.choice(keys), "k2": rng.choice(keys[:1]),
            "k3": rng.choice(mixed), "k4": rng.choice(network), "s": repr(rng.choice(scores)),
        }  # fmt: skip
        text = rng.choice(FUNCTIONS)
        for word, value in words.items():
            text = text.replace("{" + word + "}", value)
        cases.append({"kind": "library", "expression": text})
    return cases


def _split(text: str) -> list[str]:
    """At the commas that stand in no brackets or quotes."""
    parts, depth, quoted, last = [], 0, "", ""
    for letter in text + ",":
        if letter == "," and not depth and not quoted:
            parts.append(last.strip())
            last = ""
            continue
        last += letter
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        depth += 0 if quoted else (letter in "([{") - (letter in ")]}")
    return parts


# --- worker ---------------------------------------------------------------------------------------------------------


def work(folder: str) -> None:
    """Cases from standard input, one JSON object a line; answers to standard output."""
    if "SPINNEY_SANITIZER" not in os.environ:  # which takes 20 TB of address space
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(folder)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import numpy as np

    import spinney as sp
    from spinney.cli import main

    sp.TANClassifier(sp.Discretiser())  # imports scikit-learn, whose seconds are of no case
    scope = {
        "sp": sp,
        "np": np,
        "data": sp.Dataset.read("t.csv").select(["a", "b"]),
        "net": sp.Network.load("net.json"),
    }
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        with contextlib.suppress(OSError):
            os.chdir(folder)
        if "args" in case:
            found = _run(main, case["args"])
        elif "expression" in case:
            found = _called(partial(eval, case["expression"], dict(scope)), sp)
        else:
            found = _read(case["call"], case["file"], main, sp, np)
        print(json.dumps(found), file=answers, flush=True)


def _run(main: Callable[[list[str]], int], args: list[str]) -> str:
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    cases, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b"a,b\nx,u\ny,v\n"))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(args)
        except SystemExit as left:
            code = int(left.code or 0)
        except BaseException as error:
            return f"FAILED: {type(error).__name__}: {error}"[:LONGEST]
        finally:
            sys.stdin = cases
    said = err.getvalue()
    if code in (0, 1):
        answer = out.buffer.getvalue().decode("utf-8", "replace")
        wrong = "Warning:" in said or "NaN" in answer or '"score": null' in answer
        return f"FAILED: {said} {answer}"[:LONGEST] if wrong else "answered"
    if code == 2 and said.count("\n") == 1 and len(said) <= LONGEST + len("spinney: \n"):
        return "refused"
    return f"FAILED: exit {code}: {said}"[: 2 * LONGEST]


def _called(call: Callable[[], Any], sp: Any) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            value = call()
    except sp.SpinneyError as error:
        said = str(error)
        return "refused" if len(said) <= LONGEST and "\n" not in said else f"FAILED: long: {said}"[:LONGEST]
    except MemoryError:
        return "refused"
    except BaseException as error:
        if isinstance(error, (ValueError, TypeError)) and _raised_in(error).startswith("sklearn."):
            return "refused"  # its own checks of X and y, in the words that its users know
        return f"FAILED: {type(error).__name__}: {error}"[:LONGEST]
    return "FAILED: NaN" if isinstance(value, float) and value != value else "answered"


def _raised_in(error: BaseException) -> str:
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return "" if step is None else str(step.tb_frame.f_globals.get("__name__", ""))


def _read(kind: str, file: str, main: Callable[[list[str]], int], sp: Any, np: Any) -> str:
    if kind in ("csv", "parquet", "feather"):
        return _run(main, ["learn", file, "--json", "--time-limit", "1"])
    if kind == "jkl":
        return _run(main, ["solve", file, "--json", "--time-limit", "1"])
    if kind == "kinds":
        return _run(main, ["kinds", "t.csv", "--kinds", file])
    if kind == "constraints":
        return _run(main, ["learn", "t.csv", "--json", "--time-limit", "1", "--constraints", file])

    def answer() -> float:
        network = sp.Network.read(file)
        rows = network.sample(4)
        logs = network.log_prob(rows)
        with tempfile.TemporaryDirectory() as folder:
            network.save(f"{folder}/again.json")
            assert sp.Network.load(f"{folder}/again.json") == network
        return float("nan") if np.isnan(logs).any() else 0.0

    return _called(answer, sp)


# --- parent ---------------------------------------------------------------------------------------------------------


class Worker:
    """A process that answers cases. Its clock is its own computing time, so that a busy machine is no hang."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work", str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.answer(120.0)

    def ask(self, case: Case, limit: float) -> str:
        assert self.process.stdin is not None
        try:
            print(json.dumps({k: v for k, v in case.items() if k != "content"}), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            return f"FAILED: died of {self.process.wait()}"
        return self.answer(limit)

    def answer(self, limit: float) -> str:
        assert self.process.stdout is not None
        began, used = time.monotonic(), self.computed()
        while not select.select([self.process.stdout], [], [], 0.2)[0]:
            late = time.monotonic() - began
            if late > 10 * limit or (late > limit and self.computed() - used > limit):
                return f"FAILED: no answer in {late:.1f} s"
        line = self.process.stdout.readline()
        return json.loads(line) if line else f"FAILED: died of {self.process.wait()}"

    def computed(self) -> float:
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return time.monotonic()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def run(cases: list[Case], folder: Path, limit: float, workers: int) -> list[tuple[Case, str]]:
    waiting: queue.SimpleQueue[Case] = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    results: list[tuple[Case, str]] = []

    def serve() -> None:
        worker = Worker(folder)
        with contextlib.suppress(queue.Empty):
            while True:
                case = waiting.get_nowait()
                if "content" in case:
                    Path(case["file"]).write_bytes(case["content"])
                found = worker.ask(case, limit)
                if "content" in case:
                    Path(case["file"]).unlink()
                results.append((case, found))
                if found.startswith("FAILED"):
                    print(f"{_what(case)}: {' '.join(found.split())[:300]}"[:500], file=sys.stderr, flush=True)
                if "no answer" in found or "died of" in found:
                    worker.end()
                    worker = Worker(folder)
        worker.end()

    threads = [threading.Thread(target=serve) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=None)
    parser.add_argument("--work", default=None, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work)
        return 0
    with tempfile.TemporaryDirectory() as place:
        folder, rng = Path(place), random.Random(given.seed)
        seeds = make_seeds(folder)
        cases = command_cases(rng, given.inputs // 2) + call_cases(rng, given.inputs - given.inputs // 2)
        cases += file_cases(rng, given.files, seeds, folder)
        began = time.monotonic()
        results = run(cases, folder, given.limit, given.workers)
        failed = [(case, found) for case, found in results if found.startswith("FAILED")]
        _say(results, time.monotonic() - began)
        if failed:
            _keep(failed, folder, given.keep or Path(tempfile.mkdtemp(prefix="fuzz-")))
    return 1 if failed else 0


def _what(case: Case) -> str:
    return f"{case['kind']}: {case.get('expression') or case.get('args') or Path(case['file']).name}"


def _say(results: list[tuple[Case, str]], seconds: float) -> None:
    counts = Counter((case["kind"], found.split(":")[0]) for case, found in results)
    print(f"{'kind':12} {'answered':>9} {'refused':>9} {'FAILED':>9}")
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind:12} " + " ".join(f"{counts[kind, word]:9}" for word in ("answered", "refused", "FAILED")))
    print(f"{len(results):,} cases in {seconds:.0f} s")


def _keep(failed: list[tuple[Case, str]], folder: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for number, (case, found) in enumerate(failed):
        record = {**{k: v for k, v in case.items() if k != "content"}, "found": found}
        (target / f"{number}.json").write_text(json.dumps(record))
        if "content" in case:
            (target / f"{number}-{Path(case['file']).name}").write_bytes(case["content"])
    for path in folder.iterdir():
        if path.is_file() and not path.name.startswith("case"):
            shutil.copy(path, target)
    print(f"the failing cases and the files they need are in {target}")


if __name__ == "__main__":
    raise SystemExit(main())
