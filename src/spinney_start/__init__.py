"""The command's first step: Ctrl-C is answered from here on, before the imports that take most of a second.

In:  the process that a shell started.
Out: the exit code of spinney.cli.main. This is a package of its own because importing anything from spinney imports
numpy and pyarrow first. Ctrl-C once stops the work, and the best network so far is given; twice, it ends the
process."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from contextlib import suppress
from types import FrameType

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
FEWEST_THREADS = 4  # besides the first: numpy's and Arrow's libraries end the process where they cannot start theirs
TOO_FEW_THREADS = (
    "the system lets this process start no more threads; end other programs, or raise the limit (ulimit -u)"
)
LEAST_SPACE = 1_200_000_000  # bytes of addresses: what the libraries take, though most of it is never used
TOO_LITTLE_SPACE = "spinney needs 1.2 GB of address space, and the limit is lower; raise it (ulimit -v)"


def main() -> int:
    for fits, sentence in (
        (_limit("RLIMIT_AS") >= LEAST_SPACE, TOO_LITTLE_SPACE),
        (threads_that_start(FEWEST_THREADS) >= FEWEST_THREADS, TOO_FEW_THREADS),
    ):
        if not fits:
            _say(sentence)
            return 2
    if not _answers(_leave):
        return _command()
    try:
        code = _command()
    except KeyboardInterrupt:  # before or after the part of the command that answers it
        _answers(signal.SIG_IGN)
        _say()
        return INTERRUPTED
    _answers(signal.SIG_IGN)  # all is said, and only the process has still to end
    return code


def _command() -> int:
    from spinney.cli import main as command

    _answers(_Once())
    return command()


def _answers(handler: signal.Handlers | _Once | object) -> bool:
    """Whether Ctrl-C is ours to answer: not where whoever started us has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return False
    signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]
    return True


class _Once:
    """The first time KeyboardInterrupt, for the search to stop; the second time the end. An import that is broken off
    would leave half a module behind, so there it is the end at once."""

    def __init__(self) -> None:
        self._asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._asked or _importing(frame):
            _leave(number, frame)
        self._asked = True
        raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def threads_that_start(most: int) -> int:
    """How many threads can be there at the same time, up to `most`; they end at once.

    Tried only where the system allows few: the memory allocator reserves address space for each that is started."""
    if _limit("RLIMIT_NPROC") >= 1024:
        return most
    gate, started = _thread.allocate_lock(), 0
    gate.acquire()
    try:
        while started < most:
            _thread.start_new_thread(_through, (gate,))
            started += 1
    except RuntimeError:
        pass
    gate.release()
    time.sleep(0.05)  # the system counts them until they have ended
    return started


def _limit(name: str) -> float:
    """What the system allows this process; infinite where it does not say."""
    try:
        import resource

        found = resource.getrlimit(getattr(resource, name))[0]
    except (ImportError, AttributeError, ValueError, OSError):  # Windows has no such limits
        return float("inf")
    return float("inf") if found == resource.RLIM_INFINITY else found


def _through(gate: _thread.LockType) -> None:
    with gate:
        pass


def _leave(number: int, frame: FrameType | None) -> None:
    _say()
    os._exit(INTERRUPTED)


def _say(sentence: str = "interrupted before there was a result") -> None:
    """Written past Python's buffers, which the moment may have left locked. A progress bar has hidden the cursor."""
    shown = "\x1b[?25h" if sys.stderr is not None and sys.stderr.isatty() else ""
    with suppress(OSError):  # standard error may be closed
        os.write(2, f"{shown}spinney: {sentence}\n".encode())
