// The interface for searches: greedy and boss over any scores; dynamic programming and orders over listed sets; best trees.
#include "bind.hpp"
#include "near_scores.hpp"
#include "search_boss.hpp"
#include "search_branching.hpp"
#include "search_dp.hpp"
#include "search_ges.hpp"
#include "search_greedy.hpp"
#include "search_order.hpp"

namespace spinney {
namespace {

// What every search is told that asks for scores as it goes.
struct SearchArgs {
    Lists start;
    const Allowed* allowed;                              // kept alive by Python
    double time_limit;
    int threads;
};
struct GreedyArgs : SearchArgs {
    int tabu, patience, restarts, shake;
    std::uint64_t seed;
};
struct GesArgs : SearchArgs {
    bool equivalent, extended;
};
struct BossArgs : SearchArgs {                           // the start may be empty
    int runs, patience;
    std::uint64_t seed;
};

// search(local, team, control) runs it; more(found, out) adds what it alone gives back.
template <class Search, class More>
nb::dict ask(const Scores& scores, const SearchArgs& args, nb::object& progress, double most_bytes, Search&& search, More&& more) {
    const int n = scores.variables();
    if (!args.start.empty()) check_lists(args.start, n);
    must(args.allowed->variables() == n, "a limit per child");
    scores.check(*args.allowed);
    Control control;
    Team team(args.threads, control);
    scores.prepare(everybody(n), team);
    const auto local = scores.local(most_bytes);
    Ending ending;
    auto found = run(control, progress, ending, args.time_limit, [&] { return search(*local, team, control); });
    for (int v = 0; v < n; ++v) found.parents[v] = scores.meant(v, found.parents[v]);
    nb::dict out;
    out["parents"] = nb::cast(found.parents);
    out["score"] = found.score;
    out["local"] = nb::cast(found.local);
    out["trace"] = nb::cast(found.trace);
    out["left_out"] = local->left_out();
    out["stopped"] = ending.text();
    more(found, out);
    return out;
}

}  // namespace

void bind_searches(nb::module_& m) {
    m.attr("most_dp_variables") = most_dp_variables;
    m.def("dp_bytes", &dp_bytes, "variables"_a, "threads"_a);

    nb::class_<SearchArgs>(m, "SearchArgs").def_ro("threads", &SearchArgs::threads);

    nb::class_<GreedyArgs, SearchArgs>(m, "GreedyArgs")
        .def("__init__",
             [](GreedyArgs* self, const nb::list& start, const Allowed* allowed, double time_limit, int threads, int tabu, int patience,
                int restarts, int shake, std::uint64_t seed) {
                 new (self) GreedyArgs{{to_lists(start), allowed, time_limit, threads}, tabu, patience, restarts, shake, seed};
             },
             "start"_a, "allowed"_a, "time_limit"_a, "threads"_a, "tabu"_a, "patience"_a, "restarts"_a, "shake"_a, "seed"_a,
             nb::keep_alive<1, 3>());

    m.def(
        "greedy",
        [](const Scores& scores, const GreedyArgs& args, nb::object progress, double most_bytes) {
            must(static_cast<int>(args.start.size()) == scores.variables(), "a start for every variable");
            const GreedyRequest request{args.start, *args.allowed, args.tabu, args.patience, args.restarts, args.shake, args.seed};
            return ask(
                scores, args, progress, most_bytes,
                [&](LocalScores& local, Team& team, Control& control) { return greedy(local, request, team, control); },
                [](const GreedyResult&, nb::dict&) {});
        },
        "scores"_a, "args"_a, "progress"_a.none(), "most_bytes"_a = 0.0);

    nb::class_<GesArgs, SearchArgs>(m, "GesArgs")
        .def("__init__",
             [](GesArgs* self, const nb::list& start, const Allowed* allowed, double time_limit, int threads, bool equivalent,
                bool extended) { new (self) GesArgs{{to_lists(start), allowed, time_limit, threads}, equivalent, extended}; },
             "start"_a, "allowed"_a, "time_limit"_a, "threads"_a, "equivalent"_a, "extended"_a, nb::keep_alive<1, 3>());

    m.def(
        "ges",
        [](const Scores& scores, const GesArgs& args, nb::object progress, double most_bytes) {
            must(static_cast<int>(args.start.size()) == scores.variables(), "a start for every variable");
            const GesRequest request{args.start, *args.allowed, args.equivalent, args.extended};
            return ask(
                scores, args, progress, most_bytes,
                [&](LocalScores& local, Team& team, Control& control) { return ges(local, request, team, control); },
                [](const GesResult& found, nb::dict& out) {
                    out["directed"] = nb::cast(found.directed);
                    out["undirected"] = nb::cast(found.undirected);
                    out["steps"] = found.steps;
                });
        },
        "scores"_a, "args"_a, "progress"_a.none(), "most_bytes"_a = 0.0);

    nb::class_<BossArgs, SearchArgs>(m, "BossArgs")
        .def("__init__",
             [](BossArgs* self, const nb::list& start, const Allowed* allowed, double time_limit, int threads, int runs, int patience,
                std::uint64_t seed) {
                 must(runs >= 1 && patience >= 0, "a run");
                 new (self) BossArgs{{to_lists(start), allowed, time_limit, threads}, runs, patience, seed};
             },
             "start"_a, "allowed"_a, "time_limit"_a, "threads"_a, "runs"_a, "patience"_a, "seed"_a, nb::keep_alive<1, 3>());

    m.def(
        "boss",
        [](const Scores& scores, const BossArgs& args, nb::object progress, double most_bytes) {
            const BossRequest request{*args.allowed, args.start, args.runs, args.patience, args.seed};
            return ask(
                scores, args, progress, most_bytes,
                [&](LocalScores& local, Team& team, Control& control) { return boss(local, request, team, control); },
                [](const BossResult& found, nb::dict& out) { out["order"] = nb::cast(found.order); });
        },
        "scores"_a, "args"_a, "progress"_a.none(), "most_bytes"_a = 0.0);

    m.def(
        "near_scores",                                   // of a family with each candidate, as searches rank them
        [](const Scores& scores, int child, const std::vector<int>& parents, const std::vector<int>& candidates) {
            const int n = scores.variables();
            Family family = checked_family(child, parents, n);
            for (int c : candidates) scores.check(checked_family(child, with(family.parents, c), n));
            Control control;
            Team team(1, control);
            scores.prepare(everybody(n), team);
            const auto local = scores.local();
            std::vector<double> found(candidates.size());
            auto* near = dynamic_cast<NearScores*>(local.get());
            must(near, "a score that has near scores");
            near->near(child, family.parents, candidates, -std::numeric_limits<double>::infinity(), found.data());
            return found;
        },
        "scores"_a, "child"_a, "parents"_a, "candidates"_a);

    m.def(
        "near_scores_without",                           // of a family without each of its parents; None where there are none
        [](const Scores& scores, int child, const std::vector<int>& parents) -> std::optional<std::vector<double>> {
            const int n = scores.variables();
            const Family family = checked_family(child, parents, n);
            scores.check(family);
            Control control;
            Team team(1, control);
            scores.prepare(everybody(n), team);
            const auto local = scores.local();
            std::vector<double> found(family.parents.size());
            auto* near = dynamic_cast<NearScores*>(local.get());
            if (!near || !near->near_without(child, family.parents, found.data())) return std::nullopt;
            return found;
        },
        "scores"_a, "child"_a, "parents"_a);

    m.def(
        "project_order",
        [](const Scores& scores, const Allowed& allowed, const std::vector<int>& order) {
            const int n = scores.variables();
            must(allowed.variables() == n, "a limit per child");
            std::vector<int> sorted(order);
            std::sort(sorted.begin(), sorted.end());
            must(sorted == everybody(n), "every variable once");
            scores.check(allowed);
            Control control;
            Team team(1, control);
            scores.prepare(everybody(n), team);
            const auto local = scores.local();
            return project_order(*local, allowed, order).parents;
        },
        "scores"_a, "allowed"_a, "order"_a);

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
            out["feasible"] = found.feasible;
            out["stopped"] = ending.text();
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
            const OrderRequest request{std::move(start), runs, patience, seed};
            Control control;
            Team team(threads, control);
            Ending ending;
            OrderResult found = run(control, progress, ending, time_limit, [&] { return order_search(sets, request, team, control); });
            nb::dict out;
            out["parents"] = nb::cast(found.parents);
            out["order"] = nb::cast(found.order);
            out["trace"] = nb::cast(found.trace);
            out["stopped"] = ending.text();
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

}

}  // namespace spinney
