"""What this machine offers: threads and memory.

In:  the user's n_jobs.
Out: a number of threads; bytes of free memory."""

from __future__ import annotations

import os

from spinney.errors import ChoiceError


def threads_for(n_jobs: int) -> int:
    """n_jobs as in scikit-learn: -1 is all cores, -2 all but one, and so on."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise ChoiceError(f"n_jobs must be a whole number other than 0 (-1 means all cores), not {n_jobs!r}")
    if n_jobs > 0:
        return min(n_jobs, 256)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + n_jobs)


def available_memory() -> float:
    """Bytes that can be had without swapping, where the system says; else a cautious 4 GiB."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            fields = dict(line.split(":", 1) for line in lines)
        return float(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return 4.0 * 2**30
