"""Work shared out over the workers of a Dask cluster.

In:  a dask.distributed Client, or the address of a scheduler; a function, what all jobs share, and a list of jobs.
Out: the results as they come. Dask moves the work of a worker that dies to others; here are the sentences for what it
cannot help, and Step 1 in blocks of some seconds. Every family scores the same wherever it is scored, so the answer is
that of one machine."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney import _core
from spinney.constraints import Allowed
from spinney.dataset import aligned
from spinney.errors import ChoiceError, LimitError
from spinney.progress import Report
from spinney.scores.source import Portion
from spinney.store import SCORING
from spinney.store_files import Families, by_layer
from spinney.version import __version__

if TYPE_CHECKING:
    from spinney.job import Job
    from spinney.scores.source import Block, Source

TASK = 10.0  # seconds that a task should take
SHARES = 4  # tasks per worker's thread and size of sets, at least: the last ones should not be waited for
LEAST = 0.25  # seconds of a task
PATIENCE = 15.0  # seconds to wait for a scheduler, and for the first worker
RETRIES = 2  # of a task that ended with an error of the worker's
_POLL = 0.2  # seconds between looks at Ctrl-C and the clock

Cluster = Any  # a dask.distributed Client, or the address of its scheduler


@contextmanager
def connected(cluster: Cluster | None) -> Iterator[Any]:
    """The Client, checked; None for None. One that was made here is closed again."""
    if cluster is None:
        yield None
        return
    client = client_of(cluster)
    try:
        yield client
    finally:
        if client is not cluster:
            _close(client)


def client_of(cluster: Cluster) -> Any:
    """The Client, checked."""
    try:
        from distributed import Client
    except ImportError:
        raise ChoiceError(
            "cluster needs the package distributed; install it with pip install 'spinney[dask]'"
        ) from None
    if isinstance(cluster, Client):
        _check(cluster)
        return cluster
    client = _client(cluster, Client)
    try:
        _check(client)
    except BaseException:
        _close(client)
        raise
    return client


def _close(client: Any) -> None:
    with suppress(Exception):  # a cluster that is gone cannot be told goodbye
        client.close(timeout=5)


def _client(address: Any, make: Any) -> Any:
    if not isinstance(address, str) or not address.strip():
        raise ChoiceError(f"cluster is a dask.distributed.Client or the address of a scheduler, not {address!r}")
    _, _, place = address.strip().rpartition("://")
    host, _, port = place.strip("/").rpartition(":")
    if not host or not port.isdecimal():
        raise ChoiceError(f"{address!r} is no address of a scheduler; write it as in tcp://10.0.0.1:8786")
    try:
        if not _answers(host.strip("[]"), int(port)):
            raise TimeoutError
        return make(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, asyncio.TimeoutError, TimeoutError):
        raise ChoiceError(
            f"no Dask scheduler answers at {address}; start one with `dask scheduler`, or correct the address"
        ) from None
    except (ValueError, ImportError, RuntimeError) as error:
        raise ChoiceError(
            f"{address!r} is no address of a scheduler ({error}); write it as in tcp://10.0.0.1:8786"
        ) from None


def _answers(host: str, port: int) -> bool:
    """Does anybody listen there? Dask would try again for as long as its timeout; and to look up a name that nobody
    knows may take minutes, so that is done aside."""
    answers: list[bool] = []

    def look() -> None:
        with suppress(OSError), socket.create_connection((host, port), timeout=PATIENCE):
            answers.append(True)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(PATIENCE)
    return bool(answers)


def _about() -> tuple[str, int, tuple[int, ...]]:
    return __version__, SCORING, sys.version_info[:2]


_here = _about  # what is said of this process


def _check(client: Any) -> None:
    """Are there workers, and do they have what they need?"""
    if client.status not in ("running", "newly-created"):
        raise ChoiceError(f"the Dask client is {client.status}; connect it again")
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except (asyncio.TimeoutError, TimeoutError):
        raise ChoiceError(
            f"the cluster at {client.scheduler.address} has no workers; start some with `dask worker ADDRESS`"
        ) from None
    except OSError:
        raise ChoiceError("the scheduler of the cluster ended; start it again") from None
    try:
        found = client.run(_about, on_error="return")
    except Exception as error:  # of the network, of a worker that leaves while it is asked
        raise ChoiceError(f"the workers do not answer ({type(error).__name__}: {error}); start them again") from None
    for worker, answer in sorted(found.items()):
        _check_worker(worker, answer, _here())


def _check_worker(worker: str, answer: Any, own: tuple[str, int, tuple[int, ...]]) -> None:
    if isinstance(answer, ImportError):
        raise ChoiceError(f"worker {worker} has no spinney ({answer}); run pip install 'spinney[dask]' there")
    if isinstance(answer, BaseException) or answer == own:
        if isinstance(answer, BaseException):
            raise ChoiceError(f"worker {worker} cannot load spinney ({answer}); install version {own[0]} there")
        return
    theirs = tuple(answer)
    if theirs[2] != own[2]:
        python = ".".join(map(str, theirs[2])), ".".join(map(str, own[2]))
        raise ChoiceError(f"worker {worker} runs Python {python[0]} and this machine {python[1]}; use one for both")
    raise ChoiceError(
        f"worker {worker} has spinney {theirs[0]} (scores of version {theirs[1]}) and this machine {own[0]} (version "
        f"{own[1]}); install the same version on both"
    )


def check_memory_of_workers(client: Any, need: float, what: str) -> None:
    """Refuse what does not fit into the memory of some worker. `need`: bytes per worker."""
    for address, worker in client.scheduler_info(n_workers=-1)["workers"].items():
        limit = worker.get("memory_limit") or 0
        if limit and need > 0.6 * limit:  # Dask pauses workers above
            raise LimitError(
                f"worker {address} has {limit / 2**30:,.2f} GiB of memory, too little for {what} "
                f"({need / 2**30:,.2f} GiB); start workers with more, or take fewer columns"
            )


def threads_of(client: Any) -> int:
    """Threads of all workers."""
    return max(1, int(sum(client.nthreads().values())))


def as_done(client: Any, tasks: Iterable[tuple[Any, ...]], function: Callable[..., Any]) -> Iterator[tuple[int, Any]]:
    """(number, function(*task)) for every task, as they are done; futures among the arguments come as what they hold.
    Yields (-1, None) now and then, for looks at the clock. Leaving the loop cancels what has not begun."""
    from distributed import as_completed

    futures = [client.submit(function, *task, pure=False, retries=RETRIES) for task in tasks]
    number = {future.key: i for i, future in enumerate(futures)}
    try:
        done = as_completed(futures, loop=client.loop)
        while done.count():
            if done.has_ready():
                for future in done.next_batch(block=False):
                    yield number[future.key], _result(future)
            else:
                time.sleep(min(_POLL, 0.01 if len(futures) < 100 else _POLL))
                yield -1, None
    finally:
        with suppress(Exception):
            client.cancel([future for future in futures if not future.done()], force=True)


@contextmanager
def staying() -> Iterator[None]:
    """What Dask says when its scheduler goes away, at whatever moment, in a sentence."""
    from concurrent.futures import CancelledError

    from distributed.client import ClosedClientError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except (
        CommClosedError,
        ConnectionError,
        ClosedClientError,
        CancelledError,
        asyncio.CancelledError,
        asyncio.TimeoutError,
        TimeoutError,
    ):
        raise LimitError(
            "the cluster let go of its tasks: its scheduler ended, or somebody cancelled them; start it again"
        ) from None


def _result(future: Any) -> Any:
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        raise LimitError(
            f"{getattr(error, 'allowed_failures', 3) + 1} workers ended one after the other at the same task, mostly "
            "for want of memory; give them more memory, fewer threads, or more of them"
        ) from None
    except MemoryError:
        raise LimitError(
            "a worker has not enough memory for its task; give workers more memory or fewer threads"
        ) from None


def _same(value: Any) -> Any:
    return value


def held(client: Any, value: Any) -> Any:
    """A value for many tasks, sent once; workers pass it on to one another. Not scattered: what was scattered is lost
    with the workers that hold it, the answer of a task is computed again."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.submit(_same, value, pure=False)


def map_jobs(
    cluster: Any,
    function: Callable[[Any, Any], Any],
    jobs: Sequence[Any],
    shared: Any = None,
    report: Report | None = None,
) -> list[Any]:
    """function(shared, job) for every job, on the workers of a connected Client; results in the order of the jobs.

    `shared` is sent to every worker once. Errors of the function come back as they are."""
    results: list[Any] = [None] * len(jobs)
    finished = 0
    with staying():
        at_workers = held(cluster, shared)
        for place, result in as_done(cluster, ((at_workers, job) for job in jobs), function):
            if place >= 0:
                results[place] = result
                finished += 1
            if report is not None:
                report(finished, len(jobs))
    return results


# Step 1


@dataclass(frozen=True)
class Shared:
    """What all blocks of one Step 1 share."""

    source: Source
    allowed: Allowed
    prune: bool
    bounds: bool
    about: tuple[str, int, tuple[int, ...]]


@dataclass
class Outcome:
    """What became of Step 1 on the cluster: everything scored went to `take`."""

    scored: int = 0
    stopped: str = ""


Layer = list[tuple[int, Any]]  # of one size: child, its (ranks, scores, closed)


def score_blocks(
    client: Any,
    job: Job,
    known: _core.KnownScores,
    take: Callable[[Families], None],
    *,
    prune: bool,
    bounds: bool,
    time_limit: float | None,
    report: Report | None,
) -> Outcome:
    """Score all families of a job on the workers, size by size: what smaller sets tell goes along with the larger
    ones. What is scored is added to `known`, and handed to `take`."""
    with staying():
        return _score_blocks(client, job, known, take, prune, bounds, time_limit, report)


def _score_blocks(
    client: Any,
    job: Job,
    known: _core.KnownScores,
    take: Callable[[Families], None],
    prune: bool,
    bounds: bool,
    time_limit: float | None,
    report: Report | None,
) -> Outcome:
    source, allowed = job.source, job.allowed
    assert source is not None
    end = None if time_limit is None else time.perf_counter() + time_limit
    discrete = [source.given.kinds[name].discrete for name in source.names]
    bytes_needed = 3.0 * source.given.n_rows * (2 * sum(discrete) + 8 * (len(discrete) - sum(discrete)))
    check_memory_of_workers(client, bytes_needed, "the table")
    outcome = Outcome()
    from_store = known.families > 0
    walks = source.scores.walks
    layers: list[Any] = []  # per size: the futures of what is known, of all children together or of each
    try:
        shared = held(client, Shared(source, allowed, prune, bounds, _about()))
        pace = source.family_cost(0) * 1e-9
        done = 0
        for size in range(max(allowed.most.values(), default=0) + 1):
            blocks = _blocks(source, allowed, size, pace, threads_of(client))
            weights = [sum(weight for _, weight in own) for own in blocks]
            # What a store has of this size goes along too: it is not scored again.
            here = [_sent(client, known, allowed, size, walks)] if from_store else []
            tasks = ((shared, tuple(block for block, _ in own), *(_below(layers + here, own, walks))) for own in blocks)
            busy = 0.0
            for place, result in as_done(client, tasks, _score):
                if place >= 0:
                    seconds, columns = result
                    families = Families(*columns)
                    keep(known, allowed, families)
                    take(families)
                    outcome.scored += len(families)
                    busy += seconds
                    done += weights[place]
                if report is not None:
                    report(min(done, allowed.families), allowed.families)
                if end is not None and time.perf_counter() > end:
                    outcome.stopped = "time limit"
                    return outcome
            pace = max(1e-8, busy / max(1, sum(weights)))
            pace *= max(1.0, source.family_cost(size + 1) / max(1.0, source.family_cost(size)))
            layers.append(_sent(client, known, allowed, size, walks))
    except KeyboardInterrupt:
        outcome.stopped = "interrupted"
    return outcome


def _blocks(source: Source, allowed: Allowed, size: int, pace: float, threads: int) -> list[list[tuple[Block, int]]]:
    """Tasks: blocks, each with about how many families it has. `pace`: seconds per family, as far as known."""
    pieces: list[tuple[Block, int]] = []
    if source.scores.walks:
        tasks = _core.walk_tasks(allowed.for_core, size).reshape(-1, 2)
        weights = _walk_weights(tasks, len(allowed.names), size)
    else:
        sets = [(c, _sets(allowed, name, size)) for c, name in enumerate(allowed.names)]
        weights = np.array([count for _, count in sets], np.float64)
    total = float(weights.sum())
    most = max(1.0, min(TASK, max(LEAST, total * pace / (SHARES * threads))) / pace)
    if source.scores.walks:
        begin, own = 0, 0.0
        for place, weight in enumerate(weights):
            own += weight
            if own >= most or place == len(weights) - 1:
                pieces.append(((size, -1, begin, place + 1), int(own)))
                begin, own = place + 1, 0.0
        return [[piece] for piece in pieces]
    for child, count in sets:
        step = max(1, int(most))
        pieces += [((size, child, at, min(at + step, count)), min(step, count - at)) for at in range(0, count, step)]
    return _bundled(pieces, most)


def _bundled(pieces: list[tuple[Block, int]], most: float) -> list[list[tuple[Block, int]]]:
    """Small blocks together."""
    bundles: list[list[tuple[Block, int]]] = []
    own = most
    for piece in pieces:
        if own + piece[1] > most:
            bundles.append([])
            own = 0.0
        bundles[-1].append(piece)
        own += piece[1]
    return bundles


def _sets(allowed: Allowed, child: str, size: int) -> int:
    from math import comb

    return comb(len(allowed.candidates[child]), size) if size <= allowed.most[child] else 0


def _walk_weights(tasks: Any, n: int, size: int) -> Any:
    """How many families the sets of variables have that begin with these."""
    from math import comb

    last = tasks.max(axis=1)
    rest = np.where(tasks[:, 1] >= 0, size - 1, size)  # variables that are still to come
    return np.array([(size + 1) * comb(n - 1 - int(v), max(0, int(k))) for v, k in zip(last, rest, strict=True)])


def _below(layers: list[Any], own: list[tuple[Block, int]], walks: bool) -> list[Any]:
    """What is known of smaller sets, for these blocks."""
    if walks:
        return layers
    children = sorted({block[1] for block, _ in own})
    return [layer[child] for layer in layers for child in children if child in layer]


def _sent(client: Any, known: _core.KnownScores, allowed: Allowed, size: int, walks: bool) -> Any:
    """What is known of one size, at the workers."""
    children = [c for c, name in enumerate(allowed.names) if size <= allowed.most[name]]
    found = [(child, size, known.layer(child, size)) for child in children]
    if walks:
        return held(client, found)
    return {child: held(client, [one]) for child, one in zip(children, found, strict=True)}


def keep(known: _core.KnownScores, allowed: Allowed, families: Families) -> None:
    """Add what was scored elsewhere to what is known."""
    for child, size, part in by_layer(families):
        count = len(allowed.candidates[allowed.names[child]])
        known.add(child, size, part.rank, part.score, part.closed, count, None)


def _score(shared: Shared, blocks: Sequence[Block], *below: Any) -> tuple[float, tuple[Any, ...]]:
    """At a worker: the seconds that the blocks took, and what was scored."""
    _check_worker("that joined later", _about(), shared.about)
    began = time.perf_counter()
    source, allowed = shared.source, shared.allowed
    known = _core.KnownScores(allowed.for_core)
    for layer in below:
        for child, size, (ranks, scores, closed) in layer:
            count = len(allowed.candidates[allowed.names[child]])
            known.add(child, size, aligned(ranks), aligned(scores), closed, count, None)
    log = _core.FamilyLog(1)
    for block in blocks:
        portion = Portion(known, log, block)
        source.parent_sets(allowed, prune=shared.prune, bounds=shared.bounds, keep=True, portion=portion)
    return time.perf_counter() - began, log.drain()
