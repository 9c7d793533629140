"""Slow twins: the formulas and searches again, in plain Python, written from the papers and never from the core.

In:  a Case (columns of small integers with their declared sizes).
Out: numbers and networks that the fast path must reproduce."""
