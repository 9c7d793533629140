"""Many pieces of work side by side: learning on folds, subsamples, resampled rows.

In:  tasks, a function that does one, threads, a deadline.
Out: the answers of those that were done. Ctrl-C and the time limit end the ones that are running and lose nothing that
was done. Threads suffice: the core computes without holding Python. The answer of a task may not depend on others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
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
    helpers = AtWork(job.take, beside)
    with telling(progress) as tell:
        stopped = _watch(job, helpers, deadline or Deadline(None), lambda done: tell(what, done, len(tasks)))
    if job.failures:
        raise job.failures[min(job.failures)]
    return Done(dict(sorted(job.answers.items())), stopped)


class AtWork:
    """So many threads that take work until there is none; where none can be started, all of it is done here.

    What waits for them must not use Thread.join: in Python 3.11, Ctrl-C within it marks a running thread as ended, and
    Python then ends the process within the core, which aborts. No thread is a daemon, for the same reason."""

    def __init__(self, take: Callable[[], None], threads: int) -> None:
        self._take = take
        self._lock = Lock()
        self._running = 0
        self._ended = Event()
        started = 0
        for _ in range(threads):
            with self._lock:
                self._running += 1
            try:
                Thread(target=self._run).start()
            except RuntimeError:  # no more threads: those that there are will do
                self._leave()
                break
            started += 1
        if not started:
            take()
            self._ended.set()

    def _run(self) -> None:
        try:
            self._take()
        finally:
            self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._running -= 1
            if not self._running:
                self._ended.set()

    def ended(self, seconds: float = 0.0) -> bool:
        """Whether all have ended, which is waited for so long."""
        return self._ended.wait(seconds)


def _watch(job: _Work[Task, Answer], helpers: AtWork, deadline: Deadline, report: Callable[[int], None]) -> str:
    """Until all threads have ended, or have had time to hear that they should."""
    stopped, told, end = "", -1, float("inf")
    while not helpers.ended() and time.perf_counter() < end:
        try:
            helpers.ended(LOOK)
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
