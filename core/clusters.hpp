// Bounds from clusters. A DAG has in every set C of variables one whose parents are all outside C:
//     sum over v in C, P disjoint from C of x(v, P) >= 1        (Jaakkola, Sontag, Globerson and Meila 2010).
// With a weight w(C) >= 0 on every cluster, and the reduced cost of a family its cost less the weights of the clusters it
// serves, no DAG costs less than  sum of weights + sum over v of the least reduced cost of v,
// and none that takes family f costs less than that + (f's reduced cost - the least of its child). This holds for any weights, so
// whoever proposes them (dual ascent, an LP's duals) need not be trusted: price() adds up anew.
#pragma once

#include "families.hpp"
#include "threads.hpp"

namespace spinney {

struct Cluster {
    std::vector<int> members;                            // sorted
    double weight = 0;
};

struct Priced {
    double bound = 0;                                    // no DAG costs less
    std::vector<double> reduced;                         // per family, above the least of its child
};

Priced price(const Families& families, const std::vector<Cluster>& clusters);

// Dual ascent: weights from families of reduced cost 0 alone (van Beek and Hoffmann 2015; Troesser, de Givry and Katsirelos 2021). Stops
// when these hold a DAG, or the bound reaches `enough`.
std::vector<Cluster> ascend(const Families& families, double enough, Control& control);

// The families that serve a cluster: children in it, parents all outside.
std::vector<int> serving(const Families& families, const std::vector<int>& cluster);

}  // namespace spinney
