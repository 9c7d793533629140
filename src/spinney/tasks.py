"""Many pieces of work side by side: learning on folds, subsamples, resampled rows.

In:  tasks, a function that does one, threads, a deadline.
Out: the answers of those that were done. Ctrl-C and the time limit end the ones that are running and lose nothing that
was done. Threads suffice: the core computes without holding Python. The answer of a task may not depend on others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Thread
from typing import Generic, TypeVar

from spinney.deadline import Deadline
from spinney.errors import LimitError, way
from spinney.machine import threads_for
from spinney.progress import Progress, Tell, telling

Task = TypeVar("Task")
Answer = TypeVar("Answer")

LOOK = 0.05  # seconds between looks at the clock
AFTER_STOP = 3.0  # seconds for what is running to hear that it should end


class Stopped(Exception):
    """Raised within a task that is not wanted any more, by the function that it tells its progress."""


@dataclass(frozen=True)
class Worker:
    """What a task may use."""

    threads: int
    progress: Tell  # to be handed to whatever takes long


@dataclass
class Done(Generic[Answer]):
    """Answers by the number of the task, and why not all tasks were done."""

    answers: dict[int, Answer] = field(default_factory=dict)
    stopped: str = ""  # "time limit" or "interrupted"


class _Work(Generic[Task, Answer]):
    def __init__(self, tasks: Sequence[Task], work: Callable[[Task, Worker], Answer], threads: int) -> None:
        self.next: Iterator[tuple[int, Task]] = iter(list(enumerate(tasks)))  # of a list: threads may share it
        self.work = work
        self.threads = threads
        self.stop = False
        self.answers: dict[int, Answer] = {}
        self.failures: dict[int, BaseException] = {}

    def tell(self, what: str, done: int, total: int) -> None:
        if self.stop:
            raise Stopped

    def take(self) -> None:
        worker = Worker(self.threads, self.tell)
        for number, task in self.next:
            if self.stop:
                return
            try:
                self.answers[number] = self.work(task, worker)
            except Stopped:
                return
            except BaseException as failure:
                self.failures[number] = failure
                self.stop = True
                return


def side_by_side(
    tasks: Sequence[Task],
    work: Callable[[Task, Worker], Answer],
    *,
    n_jobs: int = -1,
    deadline: Deadline | None = None,
    progress: Progress = False,
    what: str,
) -> Done[Answer]:
    """Do all tasks, earlier ones first. Where there are more threads than tasks, each may use several."""
    threads = threads_for(n_jobs)
    beside = max(1, min(threads, len(tasks)))
    job = _Work(tasks, work, max(1, threads // beside))
    helpers = []
    for _ in range(beside):
        thread = Thread(target=job.take)  # no daemon: Python ends those at exit within the core, which aborts
        try:
            thread.start()
        except RuntimeError:  # no more threads: those that there are will do
            break
        helpers.append(thread)
    if not helpers:
        job.take()
    with telling(progress) as tell:
        stopped = _watch(job, helpers, deadline or Deadline(None), lambda done: tell(what, done, len(tasks)))
    if job.failures:
        raise job.failures[min(job.failures)]
    return Done(dict(sorted(job.answers.items())), stopped)


def _watch(
    job: _Work[Task, Answer], helpers: Sequence[Thread], deadline: Deadline, report: Callable[[int], None]
) -> str:
    """Until all threads have ended, or have had time to hear that they should."""
    stopped, told, end = "", -1, float("inf")
    while any(thread.is_alive() for thread in helpers) and time.perf_counter() < end:
        try:
            for thread in helpers:
                thread.join(LOOK / len(helpers))
            if len(job.answers) > told:
                told = len(job.answers)
                report(told)
            if deadline.over() and not stopped:
                stopped = "time limit"
        except KeyboardInterrupt:
            stopped = "interrupted"
        if stopped and not job.stop:
            job.stop = True
            end = time.perf_counter() + AFTER_STOP
    return stopped


def nothing_done(stopped: str, what: str) -> Exception | KeyboardInterrupt:
    """What to raise where no task was done in time."""
    if stopped == "interrupted":
        return KeyboardInterrupt()
    return LimitError(f"the time limit ended before {what} was done", way("raise {}", "time_limit"))
