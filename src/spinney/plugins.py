"""Scores, searches and formats from other packages.

In:  the entry points of the group `spinney.plugins`. Each names a module that calls sp.register when it is imported,
     or a function that does.
Out: their rows in the catalog, before anybody reads it. A plug-in that fails is left out, and a sentence names it."""

from __future__ import annotations

import threading
from importlib import metadata
from inspect import ismodule

GROUP = "spinney.plugins"

_lock = threading.RLock()  # a plug-in may read the catalog itself, in the same thread
_began = False


def load() -> list[str]:
    """Load all plug-ins, the first time; a sentence for each that failed."""
    global _began
    with _lock:
        if _began:
            return []
        _began = True
        found = sorted(metadata.entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
        return [sentence for entry in found if (sentence := _failure(entry))]


def _failure(entry: metadata.EntryPoint) -> str:
    """Load one; what went wrong, or nothing."""
    try:
        plugin = entry.load()
        if not ismodule(plugin):
            plugin()
    except Exception as error:  # whatever other people's code does wrong
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return f"plug-in {entry.name!r} ({entry.value}) was left out, because it failed ({reason}); mend or remove it"
    return ""
