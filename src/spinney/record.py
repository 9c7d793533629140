"""The choices that made a network, in one frozen record that is saved with it.

In:  what the user asked for.
Out: Plan: enough to run the same again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Plan:
    """The choices that made a network; saved with it, so that it can be learned again."""

    score: str
    prior: str
    search: str  # the method that ran, when the user said "auto"
    max_parents: int | None
    constraints: dict[str, Any] | None
    candidates: dict[str, list[str]] | None
    seed: int
    version: str  # of spinney
    why_score: str | None = None  # when the user left the score to "auto"
    candidates_by: str | None = None  # the method that chose the candidates, when the user named one

    def as_dict(self) -> dict[str, Any]:
        """The choices by name, for files."""
        return asdict(self)
