// Bounds from clusters. A DAG has in every set C of variables one whose parents are all outside C:
//     sum over v in C, P disjoint from C of x(v, P) >= 1        (Jaakkola, Sontag, Globerson and Meila 2010);
// its first k members in any order have fewer than k parents in C, so more generally (Cussens 2011)
//     sum over v in C, P with fewer than k members in C of x(v, P) >= k.
// With a weight w >= 0 on every cluster, and the reduced cost of a family its cost less the weights of the clusters it
// serves, no DAG costs less than  sum of k w + sum over v of the least reduced cost of v,
// and none that takes family f costs less than that + (f's reduced cost - the least of its child). This holds for any weights, so
// proposed weights (dual ascent, the duals of an LP) need not be trusted: price() computes the sum again.
#pragma once

#include "families.hpp"
#include "threads.hpp"

namespace spinney {

struct Cluster {
    std::vector<int> members;                            // sorted
    int k = 1;
    double weight = 0;
};

struct Priced {
    double bound = 0;                                    // no DAG costs less
    std::vector<double> reduced;                         // per family, above the least of its child
};

Priced price(const Families& families, const std::vector<Cluster>& clusters);

struct Ascended {
    std::vector<Cluster> clusters;
    std::vector<int> order;                              // of the DAG in the families of reduced cost 0; empty: stopped before
};

// Dual ascent: weights from families of reduced cost 0 alone (van Beek and Hoffmann 2015; Troesser, de Givry and Katsirelos
// 2021). Ends when these hold a DAG. REQUIRES: there is a DAG.
Ascended ascend(const Families& families, Control& control);

// A variable is placed when one of its families has all parents placed. The order, or as far as it goes.
std::vector<int> placed(const Families& families);

// What cannot be placed when every variable waits for one of its `available` families to have all parents placed; empty:
// they hold a DAG. Every available family of a member meets the rest, so it is a cluster that they do not serve, shrunk to
// one without a smaller one inside.
std::vector<std::vector<int>> unserved(const Families& families, const std::vector<std::vector<int>>& available);

// lower <= sum of x over these families <= upper
struct Row {
    std::vector<int> families;
    double lower, upper;
};

// The cluster's inequality over the families that serve it, or over the others of its members: the shorter one.
Row row_of(const Families& families, const Cluster& cluster);

// Per family of `chosen` the rows it stands in: that of its child, and behind the children's rows those of the clusters,
// which are over the families that serve (at_least) or over the others.
std::vector<std::vector<int>> columns_of(const Families& families, std::span<const int> chosen,
                                         const std::vector<Cluster>& clusters, const std::vector<bool>& at_least);

}  // namespace spinney
