// Cluster inequalities that a fractional choice of families violates.
#pragma once

#include "clusters.hpp"

namespace spinney {

// x: how much of each family is taken; per child it sums to 1. Clusters by how much they are violated, most first; at least `by`
// each, and at most `most`.
std::vector<Cluster> violated(const Families& families, std::span<const double> x, double by, int most);

}  // namespace spinney
