"""Step 1 on a cluster of processes on this machine.

    python examples/cluster/local.py examples/clinic.csv

It is the same on any other cluster: give sp.learn the address of its scheduler, or its Client."""

import sys

from distributed import Client, LocalCluster

import spinney as sp


def main(path: str) -> None:
    data = sp.Dataset.read(path)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        result = sp.learn(data, search="exact", cluster=client)
    print(result.network)
    print(f"score {result.found.score:.4f}, {'optimal' if result.found.optimal else 'not proven'}")


if __name__ == "__main__":  # the workers import this file
    main(sys.argv[1] if len(sys.argv) > 1 else "examples/clinic.csv")
