"""Progress of long work.

In:  what the user passed as progress=: False, True (a bar on a terminal's standard error), or a function.
Out: a function of (done, total) for the core, or None; or a function of (what, done, total)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

Report = Callable[[int, int], None]
Tell = Callable[[str, int, int], None]
Progress = bool | Tell


def reporting(progress: Progress, what: str) -> AbstractContextManager[Report | None]:
    return _reporting(progress, what) if callable(progress) or (progress and sys.stderr.isatty()) else nullcontext()


@contextmanager
def _reporting(progress: Progress, what: str) -> Iterator[Report]:
    with telling(progress) as tell:
        yield lambda done, total: tell(what, done, total)


@contextmanager
def telling(progress: Progress) -> Iterator[Tell]:
    if callable(progress):
        yield progress
    elif progress and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=None)
            yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total or None)
    else:
        yield lambda what, done, total: None
