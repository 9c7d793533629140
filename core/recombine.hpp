// What searches over orders share: a DAG's order, and the better parts of two DAGs in one.
#pragma once

#include <vector>

namespace spinney {

using ParentLists = std::vector<std::vector<int>>;

// From the sources on; fewer than all variables: there is a cycle.
std::vector<int> topological_order(const ParentLists& parents);

// Where two DAGs differ, they differ in parts that hang together: a part that is better in `other` by more than `slack` goes into
// `best`, if that closes no cycle. Scores are those of the families. An order of the DAG that comes of it.
std::vector<int> recombined_order(ParentLists best, const std::vector<double>& best_scores, const ParentLists& other,
                                  const std::vector<double>& other_scores, double slack);

}  // namespace spinney
