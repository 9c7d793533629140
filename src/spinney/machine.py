"""Threads and memory of this machine.

In:  the user's n_jobs.
Out: a number of threads; bytes of free memory."""

from __future__ import annotations

import os
from pathlib import Path

from spinney.errors import ChoiceError, named
from spinney.limits import whole


def threads_for(n_jobs: int) -> int:
    """n_jobs as in scikit-learn: -1 is all cores, -2 all but one, and so on."""
    if not whole(n_jobs) or n_jobs == 0:
        raise ChoiceError(f"{named('n_jobs')} must be a whole number other than 0 (-1 means all cores), not {n_jobs!r}")
    if n_jobs > 0:
        return min(int(n_jobs), 256)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def available_memory() -> float:
    """Bytes that are free without swapping and within this process's limits; 4 GiB where the system does not say."""
    there = [size for size in (_of_the_machine(), _of_the_group(), _of_the_process()) if size is not None]
    return min(there) if there else 4.0 * 2**30


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
    return None if limit == resource.RLIM_INFINITY else float(limit - used)
