"""xges in an interpreter of its own, since it needs an older numpy: classes.py starts this file with --xges PYTHON.

In:  lines of JSON, {"values": file.npy, "penalty": 2}.
Out: for each a line of JSON: the adjacency matrix of the class and the CPU seconds of the fit."""

import json
import sys
import time

import numpy as np
from xges import XGES  # type: ignore[import-not-found, unused-ignore]


def main() -> None:
    warm = np.random.default_rng(0).normal(size=(100, 5))
    XGES(alpha=2.0).fit(warm, verbose=0)  # what is compiled when first used
    for line in sys.stdin:
        given = json.loads(line)
        values = np.load(given["values"])
        model = XGES(alpha=float(given["penalty"]))
        began = time.process_time()
        model.fit(values, verbose=0)
        seconds = time.process_time() - began
        edges = np.asarray(model.get_adjacency_matrix(), dtype=int).tolist()
        print(json.dumps({"edges": edges, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
