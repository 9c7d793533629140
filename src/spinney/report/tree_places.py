"""Where the boxes of a tree, or of a graph of questions, are drawn.

In:  a Diagram: boxes and arrows.
Out: per box its place from the left, in widths of a leaf, and its depth. A leaf stands where it is first met; a
question stands in the middle above the boxes that it leads to; depth is the longest way from the first box."""

from __future__ import annotations

from spinney.fitted.model import Diagram


def tree_places(diagram: Diagram) -> list[tuple[float, int]]:
    """(place, depth) of every box."""
    below: list[list[int]] = [[] for _ in diagram.boxes]
    entries = [0] * len(diagram.boxes)
    for a, b, _ in diagram.arrows:
        below[a].append(b)
        entries[b] += 1
    place: dict[int, float] = {}
    waiting, seen = [0], set()
    while waiting:
        box = waiting.pop()
        if box in seen:
            continue
        seen.add(box)
        if not below[box]:
            place[box] = float(len(place))
        waiting += reversed(below[box])
    order, depth = [0], [0] * len(diagram.boxes)
    for box in order:
        for under in below[box]:
            depth[under] = max(depth[under], depth[box] + 1)
            entries[under] -= 1
            if entries[under] == 0:
                order.append(under)
    for box in reversed(order):
        if below[box]:
            place[box] = sum(place[under] for under in below[box]) / len(below[box])
    return [(place[box], depth[box]) for box in range(len(diagram.boxes))]
