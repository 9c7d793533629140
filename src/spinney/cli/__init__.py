"""The command line: the steps of learn(), with files as input and output.

In:  the words after `spinney`.
Out: results on standard output, notes on standard error, and the exit code: 0 done, 1 done and the answer is "no",
2 the user must change something (one sentence), 130 stopped by Ctrl-C.
Commands are one file each, and are listed here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from spinney.cli import (
    classify,
    compare,
    convert,
    evaluate,
    families,
    kinds,
    learn,
    list,
    posterior,
    predict,
    report,
    sample,
    score,
    show,
    simulate,
    solve,
    store,
)
from spinney.cli.answer import say_aside
from spinney.cli.options import FAILED_PLUGINS
from spinney.errors import Command, LimitError, SpinneyError, shortened, speaking_to, way
from spinney.machine import available_memory
from spinney.version import __version__
from spinney_start import TOO_FEW_THREADS

OUR_FAULT = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
BROKEN_PIPE = 141  # 128 + SIGPIPE
LITTLE_MEMORY = 2**27

COMMANDS: dict[str, Callable[..., None]] = {  # of two words: a group and a command in it
    "kinds": kinds.kinds,
    "score": score.score,
    "families": families.families,
    "solve": solve.solve,
    "learn": learn.learn,
    "posterior": posterior.posterior,
    "predict": predict.predict,
    "classify train": classify.train,
    "classify cv": classify.cross_validate,
    "classify predict": classify.predict,
    "sample": sample.sample,
    "simulate mixed": simulate.mixed,
    "simulate network": simulate.network,
    "show": show.show,
    "report": report.report,
    "compare": compare.compare,
    "evaluate log-loss": evaluate.log_loss,
    "evaluate stability": evaluate.stability,
    "evaluate bootstrap": evaluate.bootstrap,
    "evaluate compare": evaluate.compare,
    "convert": convert.convert,
    "store": store.store,
    "list": list.list_,
}

GROUPS = {
    "evaluate": "How good is what is learned, where nobody knows the truth: prediction, structure, edges.",
    "classify": "Predict the class of rows: train a classifier, cross-validate it, apply it.",
    "simulate": "Make a table whose network is known: mixed data as in a paper, or a sample of a random network.",
}

app = typer.Typer(name="spinney", add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
_groups = {"": app}
for _name, _function in COMMANDS.items():
    _group, _, _own = _name.rpartition(" ")
    if _group not in _groups:
        _groups[_group] = typer.Typer(help=GROUPS[_group])
        app.add_typer(_groups[_group], name=_group)
    _groups[_group].command(_own)(_function)


@app.callback(invoke_without_command=True)
def spinney(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Bayesian networks from real tables: many scores and searches, with a proof of optimality where possible."""
    if version:
        print(__version__)
    elif context.invoked_subcommand is None:
        print(context.get_help())
    else:
        return
    raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. Whatever goes wrong is one sentence on standard error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the calling program
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # names hold any text, whatever the locale
    for sentence in FAILED_PLUGINS:
        say_aside(f"warning: {sentence}")
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return code
    except OSError as error:  # of the streams: those of files are FileFormatErrors by now
        # Python would try and complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader of the pipe has ended, `head` for example
            return BROKEN_PIPE
        return _refuse(f"standard output cannot be written ({error.strerror or error}); choose another place", 2)


def _run(arguments: Sequence[str]) -> int:
    with speaking_to(lambda: _command(arguments)):
        return _answered(arguments)


def _answered(arguments: Sequence[str]) -> int:
    try:
        command = typer.main.get_command(app)
        with command.make_context("spinney", [*arguments]) as context:
            command.invoke(context)
        return 0
    except typer.Exit as exit:
        return exit.exit_code
    except KeyboardInterrupt:
        return _refuse("interrupted before there was a result", INTERRUPTED)
    except SpinneyError as error:
        return _refuse(str(error), 2)
    except MemoryError:
        return _refuse(str(_no_memory()), 2)
    except OSError:
        raise
    except Exception as error:
        return _unforeseen(error)


def _unforeseen(error: Exception) -> int:
    # Errors of usage are click's, which newer versions of typer carry inside: their class has no lasting name.
    if hasattr(error, "format_message"):
        return _refuse(_usage(error.format_message(), getattr(error, "ctx", None)), 2)
    if "start new thread" in str(error) or "launch worker thread" in str(error):  # of Python, of Arrow
        return _refuse(TOO_FEW_THREADS, 2)
    if available_memory() < LITTLE_MEMORY:  # libraries that find none have many names for it
        return _refuse(str(_no_memory()), 2)
    if os.environ.get("SPINNEY_TRACEBACK"):
        raise error
    return _refuse(
        f"a fault of spinney itself ({type(error).__name__}: {error}); please report it, with what "
        "SPINNEY_TRACEBACK=1 in the environment shows",
        OUR_FAULT,
    )


def _usage(message: str, context: typer.Context | None) -> str:
    sentence = message[:1].lower() + message[1:].replace(". Did", ", did").rstrip(".?")
    return f"{sentence}; see {context.command_path if context else 'spinney'} --help"


def _command(arguments: Sequence[str]) -> Command:
    """The command that is run, by its options, so that messages name these and no others."""
    found: Any = typer.main.get_command(app)
    for word in arguments:
        found = getattr(found, "commands", {}).get(word, found)
    options = {}
    for option in found.params:
        words = tuple((option.metavar or "").split("|"))
        for flag in option.opts:
            if flag.startswith("--"):
                negation = next(iter(option.secondary_opts), "")
                options[flag[2:].replace("-", "_")] = (flag, negation, words if len(words) > 1 else ())
    return Command(options)


def _no_memory() -> LimitError:
    return LimitError(
        "there is not enough memory for this",
        "use fewer columns",
        way("lower {}", "n_jobs"),
        way("lower {}", "max_parents"),
        way("use {}", "search", "hc"),
    )


def _refuse(sentence: str, code: int) -> int:
    print(f"spinney: {' '.join(shortened(sentence).split())}", file=sys.stderr)
    return code
