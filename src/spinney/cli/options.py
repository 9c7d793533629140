"""The options that several commands share, each written once.

In:  what typer hands to a command.
Out: annotated types for the signatures, and the library's objects made from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from os import W_OK, access, path
from typing import Annotated, Any

import typer

from spinney import plugins
from spinney.catalog import CANDIDATES
from spinney.constraints import Constraints
from spinney.errors import ChoiceError, FileFormatError
from spinney.formats import formats_of, suffix
from spinney.formats.plain import yaml_value
from spinney.formats.text import read_text

FAILED_PLUGINS = plugins.load()  # before the help texts, which name the formats of the catalog


def whole(option: str) -> Callable[[Any], int]:
    """A reader of whole numbers that says, in the same words under every version of typer, what it could not read."""

    def read(text: Any) -> int:
        try:
            return int(text)
        except ValueError:
            raise ChoiceError(f"{option} must be a whole number, not {text!r}") from None

    return read


def _limit(text: Any) -> int | None:
    return None if str(text).lower() == "none" else whole("--max-parents")(text)


def decimal(option: str, what: str = "a number") -> Callable[[Any], float]:
    def read(text: Any) -> float:
        try:
            return float(text)
        except ValueError:
            raise ChoiceError(f"{option} must be {what}, not {text!r}") from None

    return read


def files(holds: str, verb: str) -> str:
    """The suffixes of files that can be read, or written, for a help text."""
    return f"{' '.join(formats_of(holds, verb))}, also with .gz"


def output(help_text: str) -> Any:
    """The option -o of a command."""
    return typer.Option("--output", "-o", metavar="FILE", help=help_text)


TableFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help=f"The table: {files('table', 'read')}; - is standard input.",
    ),
]
NetworkFile = Annotated[
    str, typer.Argument(metavar="NETWORK", show_default=False, help=f"The network: {files('network', 'read')}.")
]
ScoreName = Annotated[
    str,
    typer.Option(
        "--score", metavar="SCORE", help=("The score, with its options: 'bdeu(ess=10)'; see `spinney list scores`.")
    ),
]
PriorName = Annotated[
    str,
    typer.Option("--prior", metavar="PRIOR", help=("The prior on parent sets: 'sizes'; see `spinney list priors`.")),
]
MaxParents = Annotated[
    int | None,
    typer.Option("--max-parents", metavar="N", parser=_limit, help=("The most parents of a node; 'none' is no limit.")),
]
ConstraintsFile = Annotated[
    str | None,
    typer.Option(
        "--constraints",
        metavar="FILE",
        help=("A JSON or YAML file with any of: required, forbidden, tiers, max_parents."),
    ),
]
Required = Annotated[
    list[str] | None,
    typer.Option("--required", "--whitelist", metavar="'A->B'", help=("An edge that must be there; may be repeated.")),
]
Forbidden = Annotated[
    list[str] | None,
    typer.Option(
        "--forbidden", "--blacklist", metavar="'A->B'", help=("An edge that must not be there; may be repeated.")
    ),
]
TiersFile = Annotated[
    str | None,
    typer.Option(
        "--tiers",
        metavar="FILE",
        help=("JSON or YAML with a list of lists of columns; no edge goes from a later list to an earlier one."),
    ),
]
CandidateParents = Annotated[
    str | None,
    typer.Option(
        "--candidates",
        metavar="METHOD|FILE",
        help=(
            "The method that chooses the columns that may be parents: 'forest(k=5)'; see `spinney list candidates`. Or "
            "JSON or YAML with a list of them per column; a column that is not named may have all others."
        ),
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        parser=decimal("--time-limit", "a number of seconds"),
        help=("Stop after this time, with the best network so far."),
    ),
]
StoreFolder = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DIR",
        help=("Keep the scores of parent sets in this folder as they are made, and take from it what it has."),
    ),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help=("Score parent sets on the workers of a Dask cluster: its scheduler, as in tcp://10.0.0.1:8786."),
    ),
]
MemoryLimit = Annotated[
    float | None,
    typer.Option(
        "--memory-limit",
        metavar="GIB",
        parser=decimal("--memory-limit", "a number of GiB"),
        help=("The most memory of the process; a job that would take more is made smaller, or refused."),
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", parser=whole("--seed"), help=("The seed of the random numbers."))
]
Jobs = Annotated[
    int,
    typer.Option(
        "--n-jobs",
        "--jobs",
        "-j",
        metavar="N",
        parser=whole("--n-jobs"),
        help=("Threads: -1 is all cores, -2 all but one; the result is the same."),
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output instead of text.")]
Timing = Annotated[
    bool,
    typer.Option("--timing", help=("Print the time of each step, in JSON too.")),
]


def constraints(
    names: Collection[str],
    file: str | None,
    required: list[str] | None,
    forbidden: list[str] | None,
    tiers: str | None = None,
) -> Constraints | None:
    """What the file says and what the options add; None when nothing is said."""
    if file is None and tiers is None and not required and not forbidden:
        return None
    base = Constraints.read(file) if file else Constraints()
    if tiers and base.tiers:
        raise ChoiceError(f"both {file} and {tiers} name tiers; name them in one of the two")
    return Constraints(
        [*base.required, *(_edge(text, names, "--required") for text in required or ())],
        [*base.forbidden, *(_edge(text, names, "--forbidden") for text in forbidden or ())],
        _tiers(tiers) if tiers else base.tiers,
        base.max_parents,
    )


def _edge(text: str, names: Collection[str], option: str) -> tuple[str, str]:
    """'a->b' as (a, b). Names may hold '->' and spaces themselves: a reading in which both are columns comes first."""
    pieces = text.split("->")
    readings = [("->".join(pieces[:i]), "->".join(pieces[i:])) for i in range(1, len(pieces))]
    if not readings:
        raise ChoiceError(f"{option} {text!r} is not an edge; write 'parent->child'")
    readings += [(parent.strip(), child.strip()) for parent, child in readings]
    known = {edge for edge in readings if edge[0] in names and edge[1] in names}
    if len(known) > 1:
        raise ChoiceError(f"{option} {text!r} can be read as several edges; write it in a file for --constraints")
    return known.pop() if known else readings[-1]


def _tiers(file: str) -> list[list[str]]:
    content = yaml_value(file, read_text(file), "tiers")  # every name is text; JSON is YAML too
    if not isinstance(content, list) or not all(isinstance(tier, list) for tier in content):
        raise FileFormatError(f"{file}: tiers are a list of lists of columns, as in [[age, sex], [smoker], [cough]]")
    return content


def candidates(file: str | None) -> dict[str, list[str]] | str | None:
    """What the file holds; or the text itself, if it names a method. A file of that name is written ./forest."""
    if file is None or file.partition("(")[0].strip().lower() in CANDIDATES:
        return file
    content = yaml_value(file, read_text(file), "candidates")  # every name is text; JSON is YAML too
    lists = content.values() if isinstance(content, dict) else [None]
    if not all(isinstance(own, list) and all(isinstance(name, str) for name in own) for own in lists):
        raise FileFormatError(f"{file}: candidates are a list of columns for each child, as in 'cough: [smoker, lung]'")
    return dict(content)


def check_output(name: str | None, endings: Iterable[str], *inputs: str | None) -> None:
    """Refuse, before any computing, a file that could not be written after it, or that is one of the inputs."""
    if name is None:
        return
    able = tuple(endings)
    if suffix(name) not in able:
        raise ChoiceError(
            f"{name}: this suffix names nothing that can be written here; use one of {', '.join(able)} (and .gz)"
        )
    folder = path.dirname(path.abspath(name))
    if not path.isdir(folder):
        raise FileFormatError(f"{name}: the folder {folder} is not there; make it, or choose another place")
    if not access(folder, W_OK):
        raise FileFormatError(f"{name}: the folder {folder} may not be written; choose another place")
    if path.isdir(name):
        raise FileFormatError(f"{name} is a folder; give the name of a file")
    for given in inputs:
        if given and path.exists(name) and path.isfile(given) and path.samefile(given, name):
            raise ChoiceError(f"{name} is also what this command reads; give another name for the file to write")
