"""Progress of long work.

In:  what the user passed as progress=: False, True (a bar on a terminal's standard error), or a function.
Out: a function of (done, total) for the core, or None."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int, int], None]
Progress = bool | Callable[[str, int, int], None]


@contextmanager
def reporting(progress: Progress, what: str) -> Iterator[Report | None]:
    if callable(progress):
        function = progress
        yield lambda done, total: function(what, done, total)
    elif progress and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total or None)
    else:
        yield None
