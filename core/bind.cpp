// The door between Python and the core: the files bind*.cpp are the only ones that know nanobind. They check arrays,
// release the GIL, keep an ear open for Ctrl-C while the work runs, and hand records out. The core owns nothing between
// calls: what is to last, such as a table with its bitmaps, belongs to an object of Python's.
#include <algorithm>
#include <numeric>

#include "bind.hpp"
#include "search_branching.hpp"
#include "search_dp.hpp"
#include "search_order.hpp"

using namespace spinney;

namespace {

Data read_columns(const std::vector<ColumnIn>& arrays, const std::vector<int>& levels) {
    must(!arrays.empty() && arrays.size() == levels.size(), "one number of levels per column");
    std::vector<Column> columns;
    const std::size_t rows = arrays[0].shape(0);
    must(rows < 0xffffffffu, "at most 2^32 - 2 rows");
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        must(arrays[i].shape(0) == rows, "columns of equal length");
        Column column{nullptr, nullptr, levels[i]};
        if (arrays[i].dtype() == nb::dtype<std::uint8_t>()) {
            column.narrow = static_cast<const std::uint8_t*>(arrays[i].data());
        } else {
            must(arrays[i].dtype() == nb::dtype<std::uint16_t>(), "columns of uint8 or uint16");
            column.wide = static_cast<const std::uint16_t*>(arrays[i].data());
        }
        must(levels[i] >= 1, "at least one level");
        columns.push_back(column);
    }
    return Data(std::move(columns), rows);
}

// A table that stays in Python's hands from call to call: its columns, and what was made of them for counting.
struct Table {
    std::vector<ColumnIn> arrays;                        // kept alive
    Data data;

    Table(const std::vector<ColumnIn>& given, const std::vector<int>& levels)
        : arrays(given), data(read_columns(given, levels)) {}
    // REQUIRES: the GIL is held, so that one call at a time adds to it; what it has added never changes.
    const Data& ready(std::span<const int> variables, Team& team) {
        data.prepare(variables, team);
        return data;
    }
    const Data& ready(Team& team) {
        std::vector<int> all(data.variables());
        std::iota(all.begin(), all.end(), 0);
        return ready(all, team);
    }
};

struct Spec {                                            // a ScoreSpec that owns its prior network
    ScoreSpec spec;
    std::unique_ptr<PriorNetwork> network;
    std::vector<int> levels;                             // of the prior network

    Spec(const std::string& name, double parameter, std::vector<double> size_prior, double per_parameter,
         const std::vector<int>& network_levels, const NetworkIn& tables)
        : levels(network_levels) {
        spec.score = table_score_named(name);
        spec.parameter = parameter;
        spec.size_prior = std::move(size_prior);
        spec.per_parameter = per_parameter;
        must((spec.score == TableScore::bde) == !tables.empty(), "a prior network with bde and only there");
        network = prior_network(levels, tables);
        spec.network = network.get();
    }
    const ScoreSpec& checked(const Data& data) const {
        if (network) {
            must(static_cast<int>(levels.size()) == data.variables(), "a prior network of the table's variables");
            for (int v = 0; v < data.variables(); ++v) must(levels[v] == data.levels(v), "as many levels in the prior network");
        }
        return spec;
    }
};

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of spinney; the public API is in Python.";
    nb::set_leak_warnings(false);                        // a table may live to the end: in a cache, or frozen by gc.freeze()
    m.attr("most_dp_variables") = most_dp_variables;
    m.def("dp_bytes", &dp_bytes, "variables"_a, "threads"_a);

    nb::class_<Control>(m, "Stop").def(nb::init<>()).def("set", [](Control& self) { self.stop = true; });

    nb::class_<Spec>(m, "Spec").def(
        nb::init<const std::string&, double, std::vector<double>, double, const std::vector<int>&, const NetworkIn&>(),
        "name"_a, "parameter"_a, "size_prior"_a, "per_parameter"_a, "network_levels"_a, "network_tables"_a);

    m.def(
        "prior_joint",
        [](const Spec& spec, const std::vector<int>& variables) {
            must(spec.network != nullptr, "a prior network");
            for (std::size_t i = 0; i < variables.size(); ++i)
                must(variables[i] >= 0 && variables[i] < static_cast<int>(spec.levels.size()) && (i == 0 || variables[i - 1] < variables[i]),
                     "sorted variables of the prior network");
            return to_numpy<Doubles>(spec.network->joint(variables));
        },
        "spec"_a, "variables"_a);

    nb::class_<SetsHandle>(m, "ScoredSets")
        .def("of",
             [](nb::pointer_and_handle<SetsHandle> self, std::size_t child) {
                 const ScoredSets& all = self.p->sets;
                 must(child < all.sets_end.size(), "a child that there is");
                 const std::size_t set = child ? all.sets_end[child - 1] : 0, parent = child ? all.parents_end[child - 1] : 0;
                 const std::size_t sets = all.sets_end[child] - set, parents = all.parents_end[child] - parent;
                 return std::tuple(Doubles(all.scores.get() + set, {sets}, self.h), Ints(all.sizes.get() + set, {sets}, self.h),
                                   Ints(all.parents.get() + parent, {parents}, self.h));
             },
             "child"_a)
        .def_prop_ro("families", [](const SetsHandle& self) { return self.sets.families; })
        .def_prop_ro("looked", [](const SetsHandle& self) { return self.sets.looked; })
        .def_prop_ro("left_out", [](const SetsHandle& self) { return self.sets.left_out; })
        .def_prop_ro("scored", [](const SetsHandle& self) { return self.sets.scored; })
        .def_prop_ro("interrupted", [](const SetsHandle& self) { return self.ending.interrupted; })
        .def_prop_ro("late", [](const SetsHandle& self) { return self.ending.late; });

    nb::class_<Table>(m, "Table").def(nb::init<const std::vector<ColumnIn>&, const std::vector<int>&>(), "columns"_a, "levels"_a);

    nb::class_<Allowed>(m, "Allowed")
        .def("__init__",
             [](Allowed* self, const nb::list& own_candidates, const nb::list& own_required, const nb::list& own_most) {
                 Lists required = to_lists(own_required), candidates(own_candidates.size());
                 std::vector<int> most = to_ints(own_most);
                 for (std::size_t v = 0; v < candidates.size(); ++v) {
                     if (!own_candidates[v].is_none()) {
                         candidates[v] = to_ints(own_candidates[v]);
                         continue;
                     }
                     candidates[v].reserve(candidates.size() - 1);      // None: all others
                     for (std::size_t u = 0; u < candidates.size(); ++u)
                         if (u != v) candidates[v].push_back(static_cast<int>(u));
                 }
                 check_lists(candidates, static_cast<int>(most.size()));
                 check_lists(required, static_cast<int>(most.size()));
                 for (std::size_t v = 0; v < most.size(); ++v) {
                     must(most[v] >= 0 && most[v] <= static_cast<int>(candidates[v].size()), "a limit within the candidates");
                     must(std::ranges::includes(candidates[v], required[v]), "required parents among the candidates");
                 }
                 new (self) Allowed(std::move(candidates), std::move(required), std::move(most));
             },
             "candidates"_a, "required"_a, "most"_a)
        .def_ro("candidates", &Allowed::candidates)
        .def_ro("most", &Allowed::most);

    nb::class_<GreedyArgs>(m, "GreedyArgs")
        .def("__init__",
             [](GreedyArgs* self, const nb::list& start, const Allowed* allowed, int tabu, int patience, int restarts, int shake,
                std::uint64_t seed, double time_limit, int threads) {
                 new (self) GreedyArgs{to_lists(start), allowed, tabu, patience, restarts, shake, seed, time_limit, threads};
             },
             "start"_a, "allowed"_a, "tabu"_a, "patience"_a, "restarts"_a, "shake"_a, "seed"_a, "time_limit"_a, "threads"_a,
             nb::keep_alive<1, 3>())
        .def_ro("threads", &GreedyArgs::threads)
        .def_prop_ro("allowed", [](const GreedyArgs& self) { return self.allowed; }, nb::rv_policy::reference);

    m.def(
        "local_scores",
        [](Table& table, const Spec& spec, const nb::list& list, int threads, nb::object progress, double time_limit) {
            const auto families = to_families(list, table.data.variables());
            std::vector<int> named;
            for (const Family& family : families) {
                named.push_back(family.child);
                named.insert(named.end(), family.parents.begin(), family.parents.end());
            }
            Control control;
            Team team(threads, control);
            const Data& data = table.ready(named, team);
            Tables tables;
            CountedScores scores(data, spec.checked(data), tables);
            return scored(scores, families, team, control, progress, time_limit,
                          !spec.spec.slow() && families.size() * (data.rows() + 2000.0) < 2e8);
        },
        "table"_a, "spec"_a, "families"_a, "threads"_a = 1, "progress"_a.none() = nb::none(), "time_limit"_a = 0.0);

    m.def(
        "score_parent_sets",
        [](Table& table, const Spec& spec, const Allowed& allowed, bool prune, bool bounds, int threads, nb::object progress,
           double time_limit) {
            Control control;
            Team team(threads, control);
            const Data& data = table.ready(team);
            must(allowed.variables() == data.variables(), "a limit per child");
            SetsRequest request{allowed, prune, bounds, time_limit > 0};
            Ending ending;
            ScoredSets found = run(control, progress, ending, time_limit,
                                   [&] { return score_parent_sets(data, spec.checked(data), request, team, control); },
                                   time_limit == 0 && progress.is_none() && !spec.spec.slow() &&
                                       allowed.families() * (data.rows() + 2000.0) < 2e8);
            team.dismiss();
            return SetsHandle{std::move(found), ending};
        },
        "table"_a, "spec"_a, "allowed"_a, "prune"_a, "bounds"_a, "threads"_a, "progress"_a.none(), "time_limit"_a);

    m.def(
        "greedy_counted",
        [](Table& table, const Spec& spec, const GreedyArgs& args, nb::object progress) {
            Control control;
            Team team(args.threads, control);
            const Data& data = table.ready(team);
            GreedyRequest request = args.request();
            must(static_cast<int>(request.start.size()) == data.variables(), "a start for every variable");
            Tables tables;
            CountedScores scores(data, spec.checked(data), tables);
            Ending ending;
            auto found = run(control, progress, ending, args.time_limit, [&] { return greedy(scores, request, team, control); });
            return to_dict(std::move(found), ending);
        },
        "table"_a, "spec"_a, "args"_a, "progress"_a.none());

    m.def(
        "greedy_listed",
        [](const SetsIn& arrays, const GreedyArgs& args, nb::object progress) {
            ListedSets sets = read_sets(arrays);
            GreedyRequest request = args.request();
            must(request.start.size() == sets.size(), "a start for every variable");
            ListedScores scores(sets);
            Control control;
            Team team(args.threads, control);
            Ending ending;
            auto found = run(control, progress, ending, args.time_limit, [&] { return greedy(scores, request, team, control); });
            // What a larger set stands for is the best listed set within it.
            for (std::size_t v = 0; v < sets.size(); ++v)
                if (auto* set = ListedScores::best_within(sets[v], found.parents[v])) found.parents[v] = set->parents;
            return to_dict(std::move(found), ending);
        },
        "sets"_a, "args"_a, "progress"_a.none());

    m.def(
        "dp",
        [](const SetsIn& arrays, int threads, nb::object progress, double time_limit) {
            ListedSets sets = read_sets(arrays);
            must(!sets.empty() && sets.size() <= most_dp_variables, "at most 32 variables");
            Control control;
            Team team(threads, control);
            Ending ending;
            DpResult found = run(control, progress, ending, time_limit, [&] { return dp(sets, team, control); });
            nb::dict out;
            out["parents"] = nb::cast(found.parents);
            out["score"] = found.score;
            out["feasible"] = found.feasible;
            note(out, ending);
            return out;
        },
        "sets"_a, "threads"_a, "progress"_a.none(), "time_limit"_a);

    m.def(
        "order",
        [](const SetsIn& arrays, const nb::list& given, int runs, int patience, std::uint64_t seed, int threads, nb::object progress,
           double time_limit) {
            ListedSets sets = read_sets(arrays);
            Lists start = to_lists(given);
            if (!start.empty()) check_lists(start, static_cast<int>(sets.size()));
            must(!sets.empty() && runs >= 1 && patience >= 0, "a variable, a run");
            OrderRequest request{std::move(start), runs, patience, seed, time_limit};
            Control control;
            Team team(threads, control);
            Ending ending;
            OrderResult found = run(control, progress, ending, time_limit, [&] { return order_search(sets, request, team, control); });
            nb::dict out;
            out["parents"] = nb::cast(found.parents);
            out["order"] = nb::cast(found.order);
            out["trace"] = nb::cast(found.trace);
            out["stopped"] = found.stopped;
            note(out, ending);
            return out;
        },
        "sets"_a, "start"_a, "runs"_a, "patience"_a, "seed"_a, "threads"_a, "progress"_a.none(), "time_limit"_a);

    m.def(
        "branching",
        [](DoublesIn weights, const std::vector<bool>& may_be_root, bool forest, double tie) {
            must(weights.size() == may_be_root.size() * may_be_root.size() && tie >= 0, "a weight for every pair");
            return best_branching({static_cast<int>(may_be_root.size()), {weights.data(), weights.size()}, may_be_root, forest, tie});
        },
        "weights"_a, "may_be_root"_a, "forest"_a, "tie"_a);

    bind_parts(m);
    bind_trees(m);
    bind_graphs(m);
    bind_gaussian(m);
}
