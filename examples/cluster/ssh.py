"""Step 1 on machines that ssh reaches without a password; each has spinney[dask].

    python examples/cluster/ssh.py table.parquet scores/ localhost worker1 worker2

The first host runs the scheduler, the others the workers. If a worker, or all of them, or this process ends: run it
again, and it goes on where the store ends."""

import sys

from distributed import Client, SSHCluster

import spinney as sp


def main(path: str, store: str, hosts: list[str]) -> None:
    workers = {"nthreads": 1, "n_workers": 4}  # four processes on every machine
    with SSHCluster(hosts, worker_options=workers) as cluster, Client(cluster) as client:
        sets = sp.score_parent_sets(sp.Dataset.read(path), max_parents=3, cluster=client, store=store)
    sets.write("sets.jkl")
    print(f"{len(sets):,} parent sets; {sets.known:,} scores came from {store}, {sets.scored:,} were made")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
