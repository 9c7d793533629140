"""Threads and memory of this machine.

In:  the user's n_jobs.
Out: a number of threads; bytes of free memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spinney.errors import ChoiceError, LimitError, named
from spinney.limits import whole
from spinney_start import FEWEST_THREADS, TOO_FEW_THREADS, threads_that_start

SPACE_PER_THREAD = 2.0**27  # bytes of address space: its stack and what its allocator reserves
MANY_THREADS = 16  # more than Arrow starts at a time on a machine of few cores


def threads_for(n_jobs: int) -> int:
    """n_jobs as in scikit-learn: -1 is all cores, -2 all but one, and so on."""
    if not whole(n_jobs) or n_jobs == 0:
        raise ChoiceError(f"{named('n_jobs')} must be a whole number other than 0 (-1 means all cores), not {n_jobs!r}")
    if n_jobs > 0:
        return min(int(n_jobs), 256, _threads_that_fit())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(1, cores + 1 + int(n_jobs)), _threads_that_fit())


def _threads_that_fit() -> int:
    """In the address space of the process, where that is limited: a thread that finds none ends the process."""
    space = _of_the_process()
    return 256 if space is None else max(1, int(space / SPACE_PER_THREAD))


def check_threads() -> bool:
    """Whether Arrow may start many threads; it ends the process where it can start none, so that is an error here."""
    started = threads_that_start(MANY_THREADS)
    if started < FEWEST_THREADS:
        raise LimitError(TOO_FEW_THREADS)
    return started == MANY_THREADS


def available_memory() -> float:
    """Bytes that are free without swapping and within this process's limits; 4 GiB where the system does not say."""
    there = [
        size for size in (_of_the_machine(), _of_the_group(), _of_the_process(), _of_the_user()) if size is not None
    ]
    return min(there) if there else 4.0 * 2**30


@contextmanager
def memory_limited(gib: float | None) -> Iterator[None]:
    """While this lasts, the process has no more memory than this, what it has taken already included."""
    global _limit
    before, _limit = _limit, None if gib is None else gib * 2.0**30
    try:
        yield
    finally:
        _limit = before


_limit: float | None = None  # bytes


def is_limited() -> bool:
    """Has the user said how much memory there may be?"""
    return _limit is not None


def _of_the_user() -> float | None:
    return None if _limit is None else max(0.0, _limit - resident())


def resident() -> float:
    """Bytes that this process has in memory; where the system does not say, the most that it has had."""
    try:
        return float(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, AttributeError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    most = float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return most if sys.platform == "darwin" else most * 1024


def _of_the_machine() -> float | None:
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text("ascii").splitlines())
        return float(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _of_the_group() -> float | None:
    """What a container may still take (cgroup version 2)."""
    try:
        group = Path("/sys/fs/cgroup")
        return float((group / "memory.max").read_text()) - float((group / "memory.current").read_text())
    except (OSError, ValueError):  # no such group, or its limit is the word "max"
        return None


def _of_the_process() -> float | None:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return None
    # Half: every thread's allocator reserves much more than it uses.
    return None if limit == resource.RLIM_INFINITY else max(0.0, float(limit - used)) / 2
