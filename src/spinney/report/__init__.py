"""The report: one page of HTML that shows a network, explains it, and answers questions.

In:  a network; the data, and the result of learn(), where there are any.
Out: one file that needs no other, no server and no connection.
facts.py collects what the page says, drawing.py places the graph, page.py writes the file; assets/ has the page itself,
its style and its programs."""

from __future__ import annotations

from spinney.report.page import write_report as write_report
