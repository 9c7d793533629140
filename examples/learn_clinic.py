"""From a CSV to a network, and back to what made the CSV."""

from pathlib import Path

import spinney as sp

here = Path(__file__).parent
data = sp.Dataset.read(here / "clinic.csv", kinds=here / "clinic.kinds.yaml")
result = sp.learn(data, score="bdeu(ess=1)", constraints=sp.Constraints.read(here / "clinic.constraints.yaml"))
for parent, child in result.network.edges:
    print(f"{parent} -> {child}")
print("proven optimal" if result.found.optimal else f"within {result.found.gap:.2%} of the best")
truth = sp.Network.read(here / "clinic.bif")
print("distance from the truth:", sp.compare(truth, result.network).shd)
