// The door between Python and the core: the only file that knows nanobind. It checks arrays, releases the GIL, keeps
// an ear open for Ctrl-C while the work runs, and hands records out. The core owns nothing between calls.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <future>
#include <stdexcept>

#include "clusters.hpp"
#include "family_sets.hpp"
#include "parent_sets.hpp"
#include "part.hpp"
#include "search_branching.hpp"
#include "search_dp.hpp"
#include "search_greedy.hpp"
#include "search_order.hpp"
#include "separate.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace spinney;

namespace {

using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Ints = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using DoublesIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IntsIn = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BoolsIn = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ColumnIn = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Lists = std::vector<std::vector<int>>;
using SetsOut = std::vector<std::tuple<Doubles, Ints, Ints>>;
using SetsIn = std::vector<std::tuple<DoublesIn, IntsIn, IntsIn>>;

template <class Array, class T>
Array to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array(kept->data(), {kept->size()}, owner);
}

template <class Array, class T>
Array copied(std::vector<T> values) {
    return to_numpy<Array>(std::move(values));
}

template <class Array, class T>
Array to_numpy(std::unique_ptr<T[]>&& values, std::size_t size) {
    T* kept = values.release();
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Array(kept, {size}, owner);
}

// The only copy of the sentence for a broken promise between our Python and our core.
void must(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("spinney's core was called wrongly: ") + what);
}

Data make_data(const std::vector<ColumnIn>& arrays, const std::vector<int>& levels, Team& team) {
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
    return Data(std::move(columns), rows, team);
}

void check_lists(const Lists& lists, int variables) {
    must(static_cast<int>(lists.size()) == variables, "one list per variable");
    for (std::size_t v = 0; v < lists.size(); ++v)
        for (std::size_t i = 0; i < lists[v].size(); ++i) {
            must(lists[v][i] >= 0 && lists[v][i] < variables && lists[v][i] != static_cast<int>(v), "variables in range");
            must(i == 0 || lists[v][i - 1] < lists[v][i], "sorted lists");
        }
}

struct Spec {                                            // a ScoreSpec that owns its prior network
    ScoreSpec spec;
    std::unique_ptr<PriorNetwork> network;

    Spec(const std::string& name, double parameter, std::vector<double> size_prior, double per_parameter,
         const std::vector<int>& levels, const std::vector<std::pair<std::vector<int>, DoublesIn>>& tables) {
        spec.score = table_score_named(name);
        spec.parameter = parameter;
        spec.size_prior = std::move(size_prior);
        spec.per_parameter = per_parameter;
        must((spec.score == TableScore::bde) == !tables.empty(), "a prior network with bde and only there");
        if (tables.empty()) return;
        std::vector<PriorTable> own;
        for (auto& [parents, values] : tables)
            own.push_back({parents, std::vector<double>(values.data(), values.data() + values.size())});
        network = std::make_unique<PriorNetwork>(levels, std::move(own));
        spec.network = network.get();
    }
};

struct Ending {                                          // why a job ended before its time, if it did
    bool interrupted = false, late = false;
};

// Runs the job on a thread of its own; this one wakes up to look for Ctrl-C and the clock, and to report progress. A
// brief job, over before anybody could press a key, is run right here: starting and ending a thread takes its time too.
template <class Job>
auto run(Control& control, nb::object progress, Ending& ending, double time_limit, Job&& job, bool brief = false) {
    nb::gil_scoped_release release;
    if (brief) return job();
    const auto start = std::chrono::steady_clock::now();
    auto future = std::async(std::launch::async, std::forward<Job>(job));
    while (future.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
        nb::gil_scoped_acquire acquire;
        if (control.stop) continue;
        if (PyErr_CheckSignals() != 0) {
            control.stop = true;
            if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {      // somebody else's signal: his error, after the job
                nb::python_error error;
                nb::gil_scoped_release wait;
                future.wait();
                throw error;
            }
            PyErr_Clear();
            ending.interrupted = true;
        } else if (time_limit > 0 && std::chrono::steady_clock::now() - start > std::chrono::duration<double>(time_limit)) {
            ending.late = true;
            control.stop = true;
        } else if (!progress.is_none()) {
            try {
                progress(control.done.load(), control.total.load());
            } catch (nb::python_error& error) {          // Ctrl-C came while it ran, or it failed: then its error goes out
                control.stop = true;
                if (error.matches(PyExc_KeyboardInterrupt)) {
                    ending.interrupted = true;
                    continue;
                }
                nb::gil_scoped_release wait;
                future.wait();
                throw;
            }
        }
    }
    return future.get();
}

void note(nb::dict& out, const Ending& ending) {
    out["interrupted"] = ending.interrupted;
    out["late"] = ending.late;
}

ListedSets read_sets(const SetsIn& arrays) {
    ListedSets sets(arrays.size());
    const int n = static_cast<int>(arrays.size());
    for (int v = 0; v < n; ++v) {
        auto& [scores, sizes, parents] = arrays[v];
        must(scores.size() == sizes.size(), "a size per score");
        std::size_t at = 0;
        for (std::size_t i = 0; i < scores.size(); ++i) {
            must(sizes.data()[i] >= 0 && at + sizes.data()[i] <= parents.size(), "sizes that add up");
            ListedSet set{scores.data()[i], {}};
            for (int k = 0; k < sizes.data()[i]; ++k) {
                int p = parents.data()[at++];
                must(p >= 0 && p < n && p != v && (k == 0 || set.parents.back() < p), "sorted parents in range");
                set.parents.push_back(p);
            }
            must(i == 0 || set.score <= sets[v].back().score, "sets best first");
            sets[v].push_back(std::move(set));
        }
    }
    return sets;
}

VarSet to_set(const std::vector<int>& list, int variables) {
    VarSet set(variables);
    for (int v : list) set.insert(v);
    return set;
}

struct GreedyArgs {
    Lists start, allowed, required;
    std::vector<int> most;
    int tabu, patience, restarts, shake;
    std::uint64_t seed;
    double time_limit;
    int threads;

    GreedyRequest request() const {
        const int n = static_cast<int>(start.size());
        check_lists(start, n);
        check_lists(allowed, n);
        check_lists(required, n);
        must(static_cast<int>(most.size()) == n, "a limit per child");
        GreedyRequest r;
        r.start = start;
        for (int v = 0; v < n; ++v) {
            r.allowed.push_back(to_set(allowed[v], n));
            r.required.push_back(to_set(required[v], n));
        }
        r.most = most;
        r.tabu = tabu, r.patience = patience, r.restarts = restarts, r.shake = shake;
        r.seed = seed, r.time_limit = time_limit;
        return r;
    }
};

using CodesIn = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ColumnFacts = std::tuple<std::string, int, CodesIn, std::optional<DoublesIn>, double, std::vector<std::pair<int, CodesIn>>>;

// (kind, levels or halvings, codes, values of a continuous column less their centre, the centre, ways to cut it for ft)
TreeData make_tree_data(const std::vector<ColumnFacts>& facts) {
    TreeData data;
    must(!facts.empty(), "at least one column");
    data.rows = std::get<2>(facts[0]).shape(0);
    for (auto& [kind, levels, codes, values, centre, cuttings] : facts) {
        must(kind == "categorical" || kind == "ordinal" || kind == "continuous", "a kind");
        must(codes.shape(0) == data.rows && levels >= 0 && levels <= 65536, "columns of equal length");
        TreeColumn column;
        column.kind = kind == "categorical" ? VariableKind::categorical
                      : kind == "ordinal"   ? VariableKind::ordinal : VariableKind::continuous;
        column.levels = levels;
        column.codes = codes.data();
        const bool continuous = column.kind == VariableKind::continuous;
        must(continuous == values.has_value() && (!continuous || values->shape(0) == data.rows), "values of a continuous column");
        if (values) column.values = values->data();
        column.centre = centre;
        const std::uint32_t most = continuous ? 1u << levels : static_cast<std::uint32_t>(levels);
        for (std::size_t row = 0; row < data.rows; ++row) must(column.codes[row] < most, "codes below the number of levels");
        std::vector<Cutting> own;
        for (auto& [bins, bin_codes] : cuttings) {
            must(bin_codes.shape(0) == data.rows, "cuttings of equal length");
            for (std::size_t row = 0; row < data.rows; ++row) must(bin_codes.data()[row] < bins, "bins in range");
            own.push_back({bins, bin_codes.data()});
        }
        data.columns.push_back(column);
        data.cuttings.push_back(std::move(own));
    }
    data.find_seen();
    return data;
}

using FamilyList = std::vector<std::pair<int, std::vector<int>>>;

std::vector<Family> to_families(const FamilyList& list, std::size_t columns) {
    const int n = static_cast<int>(columns);
    std::vector<Family> families;
    for (auto& [child, parents] : list) {
        must(child >= 0 && child < n, "children in range");
        for (std::size_t i = 0; i < parents.size(); ++i)
            must(parents[i] >= 0 && parents[i] < n && parents[i] != child && (i == 0 || parents[i - 1] < parents[i]),
                 "sorted parents in range");
        families.push_back({child, parents});
    }
    return families;
}

// All or nothing: Ctrl-C and the clock are errors of Python's own.
Doubles scored(LocalScores& scores, std::span<const Family> families, Team& team, Control& control, nb::object progress,
               double time_limit, bool brief) {
    Ending ending;
    auto found = run(control, progress, ending, time_limit, [&] { return score_families(scores, families, team, control); },
                     brief && time_limit == 0 && progress.is_none());
    if (ending.interrupted || ending.late) {
        PyErr_SetNone(ending.interrupted ? PyExc_KeyboardInterrupt : PyExc_TimeoutError);
        throw nb::python_error();
    }
    return to_numpy<Doubles>(std::move(found));
}

nb::dict to_dict(ScoredSets&& found, const Ending& ending) {
    nb::dict out;
    const std::size_t sets = found.sets_end.empty() ? 0 : found.sets_end.back();
    const std::size_t members = found.sets_end.empty() ? 0 : found.parents_end.back();
    out["scores"] = to_numpy<Doubles>(std::move(found.scores), sets);
    out["sizes"] = to_numpy<Ints>(std::move(found.sizes), sets);
    out["parents"] = to_numpy<Ints>(std::move(found.parents), members);
    out["sets_end"] = nb::cast(found.sets_end);
    out["parents_end"] = nb::cast(found.parents_end);
    out["families"] = found.families;
    out["scored"] = found.scored;
    note(out, ending);
    return out;
}

nb::dict to_dict(Tree&& tree) {
    nb::list nodes;
    for (TreeNode& node : tree.nodes)
        nodes.append(nb::make_tuple(node.parent, node.left, node.right, node.cut,
                                    nb::cast(std::vector<int>(node.goes_left.begin(), node.goes_left.end())), node.leaf,
                                    nb::cast(node.sums), node.part));
    nb::dict out;
    out["nodes"] = nodes;
    out["leaves"] = tree.leaves;
    out["value"] = tree.value;
    return out;
}

using ClusterList = std::vector<std::pair<std::vector<int>, int>>;        // (members, k)

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

nb::dict to_dict(GreedyResult&& result, const Ending& ending) {
    nb::dict out;
    out["parents"] = nb::cast(result.parents);
    out["score"] = result.score;
    out["trace"] = nb::cast(result.trace);
    out["stopped"] = result.stopped;
    note(out, ending);
    return out;
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of spinney; the public API is in Python.";
    m.attr("most_dp_variables") = most_dp_variables;
    m.def("dp_bytes", &dp_bytes, "variables"_a, "threads"_a);

    nb::class_<Spec>(m, "Spec").def(
        nb::init<const std::string&, double, std::vector<double>, double, const std::vector<int>&,
                 const std::vector<std::pair<std::vector<int>, DoublesIn>>&>(),
        "name"_a, "parameter"_a, "size_prior"_a, "per_parameter"_a, "network_levels"_a, "network_tables"_a);

    m.def(
        "prior_joint",
        [](const Spec& spec, const std::vector<int>& variables) {
            must(spec.network != nullptr, "a prior network");
            return to_numpy<Doubles>(spec.network->joint(variables));
        },
        "spec"_a, "variables"_a);

    nb::class_<GreedyArgs>(m, "GreedyArgs")
        .def(nb::init<Lists, Lists, Lists, std::vector<int>, int, int, int, int, std::uint64_t, double, int>(), "start"_a,
             "allowed"_a, "required"_a, "most"_a, "tabu"_a, "patience"_a, "restarts"_a, "shake"_a, "seed"_a,
             "time_limit"_a, "threads"_a);

    m.def(
        "local_scores",
        [](const std::vector<ColumnIn>& columns, const std::vector<int>& levels, const Spec& spec, const FamilyList& list,
           int threads, nb::object progress, double time_limit) {
            Control control;
            Team team(threads, control);
            Data data = make_data(columns, levels, team);
            const auto families = to_families(list, data.variables());
            Tables tables(static_cast<std::uint32_t>(data.rows()));
            CountedScores scores(data, spec.spec, tables);
            return scored(scores, families, team, control, progress, time_limit,
                          !spec.spec.slow() && families.size() * (data.rows() + 2000.0) < 2e8);
        },
        "columns"_a, "levels"_a, "spec"_a, "families"_a, "threads"_a = 1, "progress"_a.none() = nb::none(), "time_limit"_a = 0.0);

    m.def(
        "score_parent_sets",
        [](const std::vector<ColumnIn>& columns, const std::vector<int>& levels, const Spec& spec, const Lists& candidates,
           const Lists& required, const std::vector<int>& most, bool prune, bool bounds, int threads, nb::object progress, double time_limit) {
            Control control;
            Team team(threads, control);
            Data data = make_data(columns, levels, team);
            check_lists(candidates, data.variables());
            check_lists(required, data.variables());
            must(static_cast<int>(most.size()) == data.variables(), "a limit per child");
            SetsRequest request{candidates, required, most, prune, bounds};
            Ending ending;
            ScoredSets found = run(control, progress, ending, time_limit,
                                   [&] { return score_parent_sets(data, spec.spec, request, team, control); },
                                   time_limit == 0 && progress.is_none() && !spec.spec.slow() &&
                                       count_families(request) * (data.rows() + 2000.0) < 2e8);
            team.dismiss();
            return to_dict(std::move(found), ending);
        },
        "columns"_a, "levels"_a, "spec"_a, "candidates"_a, "required"_a, "most"_a, "prune"_a, "bounds"_a, "threads"_a,
        "progress"_a.none(), "time_limit"_a);

    nb::class_<TreeSpec>(m, "TreeSpec")
        .def("__init__",
             [](TreeSpec* self, bool binned, double alpha, double mu0, double a, double nu, double lambda, double kappa,
                double ess, bool structure_prior, double log_cuttings, std::vector<double> size_prior) {
                 new (self) TreeSpec{binned, {alpha, mu0, a, nu, lambda, kappa, ess}, structure_prior, log_cuttings, std::move(size_prior)};
             },
             "binned"_a, "alpha"_a, "mu0"_a, "a"_a, "nu"_a, "lam"_a, "kappa"_a, "ess"_a, "structure_prior"_a, "log_cuttings"_a,
             "size_prior"_a);

    m.def(
        "tree_scores",
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, const FamilyList& list, int threads,
           nb::object progress, double time_limit) {
            TreeData data = make_tree_data(columns);
            const auto families = to_families(list, data.columns.size());
            Control control;
            Team team(threads, control);
            TreeScores scores(data, spec);
            return scored(scores, families, team, control, progress, time_limit, families.size() * data.rows < 1e5);
        },
        "columns"_a, "spec"_a, "families"_a, "threads"_a = 1, "progress"_a.none() = nb::none(), "time_limit"_a = 0.0);

    m.def(
        "fit_tree",
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, int child, const std::vector<int>& parents) {
            TreeData data = make_tree_data(columns);
            to_families({{child, parents}}, data.columns.size());
            return to_dict(TreeFamilies(data, spec, child).tree(parents));
        },
        "columns"_a, "spec"_a, "child"_a, "parents"_a);

    m.def(
        "fit_bins",
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, int child, const std::vector<int>& parents) {
            TreeData data = make_tree_data(columns);
            to_families({{child, parents}}, data.columns.size());
            return TreeFamilies(data, spec, child).binned(parents).choice;
        },
        "columns"_a, "spec"_a, "child"_a, "parents"_a);

    m.def(
        "score_tree_sets",
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, const Lists& candidates, const Lists& required,
           const std::vector<int>& most, bool prune, bool bounds, int threads, nb::object progress, double time_limit) {
            TreeData data = make_tree_data(columns);
            const int n = static_cast<int>(data.columns.size());
            check_lists(candidates, n);
            check_lists(required, n);
            must(static_cast<int>(most.size()) == n, "a limit per child");
            SetsRequest request{candidates, required, most, prune, bounds};
            Control control;
            Team team(threads, control);
            Ending ending;
            ScoredSets found = run(control, progress, ending, time_limit,
                                   [&] { return score_tree_sets(data, spec, request, team, control); });
            return to_dict(std::move(found), ending);
        },
        "columns"_a, "spec"_a, "candidates"_a, "required"_a, "most"_a, "prune"_a, "bounds"_a, "threads"_a, "progress"_a.none(),
        "time_limit"_a);

    m.def(
        "greedy_trees",
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, const GreedyArgs& args, nb::object progress) {
            TreeData data = make_tree_data(columns);
            GreedyRequest request = args.request();
            must(request.start.size() == data.columns.size(), "a start for every variable");
            Control control;
            Team team(args.threads, control);
            TreeScores scores(data, spec);
            Ending ending;
            auto found = run(control, progress, ending, args.time_limit, [&] { return greedy(scores, request, team, control); });
            return to_dict(std::move(found), ending);
        },
        "columns"_a, "spec"_a, "args"_a, "progress"_a.none());

    m.def(
        "tree_prior",
        [](const std::vector<std::pair<std::string, int>>& parents) {
            std::vector<TreeColumn> columns;
            for (auto& [kind, levels] : parents)
                columns.push_back({kind == "categorical" ? VariableKind::categorical
                                   : kind == "ordinal"   ? VariableKind::ordinal : VariableKind::continuous,
                                   levels, nullptr, nullptr});
            TreePrior prior = tree_prior(columns);
            return std::pair(prior.leaf, prior.normaliser);
        },
        "parents"_a);

    m.def(
        "greedy_counted",
        [](const std::vector<ColumnIn>& columns, const std::vector<int>& levels, const Spec& spec, const GreedyArgs& args,
           nb::object progress) {
            Control control;
            Team team(args.threads, control);
            Data data = make_data(columns, levels, team);
            GreedyRequest request = args.request();
            must(static_cast<int>(request.start.size()) == data.variables(), "a start for every variable");
            Tables tables(static_cast<std::uint32_t>(data.rows()));
            CountedScores scores(data, spec.spec, tables);
            Ending ending;
            auto found = run(control, progress, ending, args.time_limit, [&] { return greedy(scores, request, team, control); });
            return to_dict(std::move(found), ending);
        },
        "columns"_a, "levels"_a, "spec"_a, "args"_a, "progress"_a.none());

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
        [](const SetsIn& arrays, Lists start, int runs, int patience, std::uint64_t seed, int threads, nb::object progress,
           double time_limit) {
            ListedSets sets = read_sets(arrays);
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
                 note(out, ending);
                 return out;
             },
             "time_limit"_a)
        .def("climb",
             [](const Part& part, const Lists& orders, const std::vector<double>& weights, int random, int patience,
                std::uint64_t seed, int threads, double time_limit) {
                 const std::size_t n = part.variables.size();
                 for (auto& order : orders) must(order.size() == n, "an order of all variables");
                 must(weights.empty() || static_cast<int>(weights.size()) == part.families.size(), "a weight per family");
                 Control control;
                 Team team(threads, control);
                 Ending ending;
                 ClimbRequest request{orders, weights, random, patience, seed};
                 auto order = run(control, nb::none(), ending, time_limit,
                                  [&] { return best_order(part, request, team, control); });
                 nb::dict out;
                 out["order"] = nb::cast(order);
                 note(out, ending);
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
                 must(static_cast<int>(order.size()) == part.families.variables, "an order of all variables");
                 return along(part.families, order);
             },
             "order"_a);
}
