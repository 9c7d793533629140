"""One learning job: what Step 1, the search and the fit work with.

In:  a score source, the resolved constraints, threads, the time limit, the seed, and whether to show progress.
Out: one frozen record that goes through all steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from spinney.constraints import Allowed
from spinney.deadline import Deadline
from spinney.progress import Progress

if TYPE_CHECKING:
    from spinney.candidates import Chosen
    from spinney.scores.source import Source
    from spinney.shared_scores import SharedScores
    from spinney.store import Store


@dataclass(frozen=True)
class Job:
    """`source` is None where scored parent sets are all that there is; it holds the data."""

    allowed: Allowed
    source: Source | None = None
    threads: int = 1
    deadline: Deadline = field(default_factory=lambda: Deadline(None))
    seed: int = 0
    progress: Progress = False
    named: Mapping[str, tuple[str, ...]] | None = None  # the candidates that the user listed, or that were chosen;
    why_score: str | None = None  # where the data decided the score, or its options
    chosen: Chosen | None = None  # how, if they were chosen from the data. `allowed` has them

    store: Store | SharedScores | None = None  # where Step 1 keeps the scores of families
    cluster: Any = None  # a connected Client: whose workers score them

    def quiet(self) -> Job:
        """The same without progress."""
        return replace(self, progress=False)
