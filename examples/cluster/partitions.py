"""A table that is a folder of Parquet files, on a cluster of processes on this machine.

    python examples/cluster/partitions.py

The workers read the files and send counts; the network is that of all rows in one table."""

import tempfile
from pathlib import Path

from distributed import Client, LocalCluster

import spinney as sp


def main() -> None:
    clinic = sp.Dataset.read("examples/clinic.csv", kinds="examples/clinic.kinds.yaml")
    clinic = clinic.select([name for name in clinic.names if clinic.kinds[name].discrete])
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for begin in range(0, len(clinic), 100):
            rows = range(begin, min(begin + 100, len(clinic)))
            clinic.take(list(rows)).write(Path(folder) / f"rows{begin:04}.parquet")
        parts = sp.Partitions.open(folder, client)
        result = sp.learn(parts, "bdeu", search="exact")
    print(parts)
    print(result.network.parents)
    print(
        "the same as in one table:", result.network.parents == sp.learn(clinic, "bdeu", search="exact").network.parents
    )


if __name__ == "__main__":  # the workers import this file
    main()
