// The interface for exact search by clusters.
#include "bind.hpp"
#include "clusters.hpp"
#include "part.hpp"
#include "search_order.hpp"
#include "separate.hpp"

namespace spinney {
namespace {

using ClusterList = std::vector<std::pair<std::vector<int>, int>>;        // (members, k)

void check_order(const std::vector<int>& order, std::size_t variables) {
    must(order.size() == variables, "an order of all variables");
    std::vector<char> seen(variables, 0);
    for (int v : order) {
        must(v >= 0 && v < static_cast<int>(variables) && !seen[v], "every variable once in an order");
        seen[v] = 1;
    }
}

std::vector<Cluster> to_clusters(const Part& part, const ClusterList& given) {
    std::vector<Cluster> clusters;
    for (auto& [members, k] : given) {
        must(k >= 1 && k < static_cast<int>(members.size()), "clusters with more than k members");
        for (int v : members) must(v >= 0 && v < part.families.variables, "clusters of the part's variables");
        clusters.push_back({members, k, 0});
    }
    return clusters;
}

ClusterList to_list(std::vector<Cluster>&& clusters) {
    ClusterList out;
    for (Cluster& cluster : clusters) out.emplace_back(std::move(cluster.members), cluster.k);
    return out;
}

SetsOut to_arrays(const ListedSets& sets) {
    SetsOut out;
    for (auto& own : sets) {
        std::vector<double> scores;
        std::vector<std::int32_t> sizes, parents;
        for (const ListedSet& set : own) {
            scores.push_back(set.score);
            sizes.push_back(static_cast<std::int32_t>(set.parents.size()));
            parents.insert(parents.end(), set.parents.begin(), set.parents.end());
        }
        out.emplace_back(to_numpy<Doubles>(std::move(scores)), to_numpy<Ints>(std::move(sizes)), to_numpy<Ints>(std::move(parents)));
    }
    return out;
}

}  // namespace

void bind_parts(nb::module_& m) {
    nb::class_<Part>(m, "Part")
        .def("__init__", [](Part* self, const SetsIn& arrays) { new (self) Part(whole(read_sets(arrays))); }, "sets"_a)
        .def_ro("variables", &Part::variables)
        .def_ro("origin", &Part::origin)
        .def("__len__", [](const Part& part) { return part.families.size(); })
        .def_prop_ro("first", [](const Part& part) { return copied<Ints>(part.families.first); }, nb::rv_policy::move)
        .def_prop_ro("child", [](const Part& part) { return copied<Ints>(part.families.child); }, nb::rv_policy::move)
        .def_prop_ro("cost", [](const Part& part) { return copied<Doubles>(part.families.cost); }, nb::rv_policy::move)
        .def_prop_ro("parents",
                     [](const Part& part) {
                         std::vector<Ints> out;
                         for (int i = 0; i < part.families.size(); ++i) {
                             auto own = part.families.parents(i);
                             out.push_back(to_numpy<Ints>(std::vector<std::int32_t>(own.begin(), own.end())));
                         }
                         return out;
                     }, nb::rv_policy::move)
        .def_prop_ro("arrays", [](const Part& part) { return to_arrays(part.sets); }, nb::rv_policy::move)
        .def("split",
             [](const Part& part, BoolsIn keep) {
                 must(static_cast<int>(keep.size()) == part.families.size(), "a word per family");
                 return split(part, {reinterpret_cast<const char*>(keep.data()), keep.size()});
             },
             "keep"_a)
        .def_prop_ro("placed", [](const Part& part) { return placed(part.families); }, nb::rv_policy::move)
        .def("ascend",
             [](const Part& part, double time_limit) {
                 Control control;
                 Ending ending;
                 auto found = run(control, nb::none(), ending, time_limit, [&] { return ascend(part.families, control); });
                 Priced priced = price(part.families, found.clusters);
                 nb::dict out;
                 out["bound"] = priced.bound;
                 out["reduced"] = to_numpy<Doubles>(std::move(priced.reduced));
                 out["order"] = nb::cast(found.order);
                 out["clusters"] = nb::cast(to_list(std::move(found.clusters)));
                 out["stopped"] = ending.text();
                 return out;
             },
             "time_limit"_a)
        .def("climb",
             [](const Part& part, const Lists& orders, const std::vector<double>& weights, int random, int patience,
                std::uint64_t seed, int threads, double time_limit) {
                 const std::size_t n = part.variables.size();
                 for (auto& order : orders) check_order(order, n);
                 must(random >= 0 && patience >= 0 && (random > 0 || !orders.empty() || !weights.empty()), "something to start from");
                 must(weights.empty() || static_cast<int>(weights.size()) == part.families.size(), "a weight per family");
                 Control control;
                 Team team(threads, control);
                 Ending ending;
                 ClimbRequest request{orders, weights, random, patience, seed};
                 auto order = run(control, nb::none(), ending, time_limit,
                                  [&] { return best_order(part, request, team, control); });
                 nb::dict out;
                 out["order"] = nb::cast(order);
                 out["stopped"] = ending.text();
                 return out;
             },
             "orders"_a, "weights"_a, "random"_a, "patience"_a, "seed"_a, "threads"_a, "time_limit"_a)
        .def("price",
             [](const Part& part, const ClusterList& given, DoublesIn weights) {
                 must(given.size() == weights.size(), "a weight per cluster");
                 auto clusters = to_clusters(part, given);
                 for (std::size_t c = 0; c < clusters.size(); ++c) {
                     must(weights.data()[c] >= 0, "weights of at least 0");
                     clusters[c].weight = weights.data()[c];
                 }
                 Priced priced = price(part.families, clusters);
                 return std::pair(priced.bound, to_numpy<Doubles>(std::move(priced.reduced)));
             },
             "clusters"_a, "weights"_a)
        .def("violated",
             [](const Part& part, DoublesIn x, double by, int most) {
                 must(static_cast<int>(x.size()) == part.families.size(), "a share per family");
                 return to_list(violated(part.families, {x.data(), x.size()}, by, most));
             },
             "x"_a, "by"_a, "most"_a)
        .def("rows",
             [](const Part& part, const ClusterList& clusters) {
                 std::vector<std::tuple<Ints, double, double>> out;
                 for (const Cluster& cluster : to_clusters(part, clusters)) {
                     Row row = row_of(part.families, cluster);
                     out.emplace_back(to_numpy<Ints>(std::move(row.families)), row.lower, row.upper);
                 }
                 return out;
             },
             "clusters"_a)
        .def("columns",
             [](const Part& part, IntsIn chosen, const ClusterList& clusters, const std::vector<bool>& at_least) {
                 must(clusters.size() == at_least.size(), "a form per cluster");
                 for (std::size_t i = 0; i < chosen.size(); ++i)
                     must(chosen.data()[i] >= 0 && chosen.data()[i] < part.families.size(), "families of the part");
                 std::vector<std::int32_t> starts, flat;
                 auto found = columns_of(part.families, {chosen.data(), chosen.size()}, to_clusters(part, clusters), at_least);
                 for (auto& rows : found) {
                     starts.push_back(static_cast<std::int32_t>(flat.size()));
                     flat.insert(flat.end(), rows.begin(), rows.end());
                 }
                 return std::pair(to_numpy<Ints>(std::move(starts)), to_numpy<Ints>(std::move(flat)));
             },
             "chosen"_a, "clusters"_a, "at_least"_a)
        .def("closing",
             [](const Part& part, BoolsIn alive) {
                 must(static_cast<int>(alive.size()) == part.families.size(), "a word per family");
                 return closing(part.families, std::vector<char>(alive.data(), alive.data() + alive.size()));
             },
             "alive"_a)
        .def("along",
             [](const Part& part, const std::vector<int>& order) {
                 check_order(order, static_cast<std::size_t>(part.families.variables));
                 return along(part.families, order);
             },
             "order"_a);
}

}  // namespace spinney
