// The door for decision graphs.
#include "bind.hpp"
#include "search_local_global.hpp"

namespace spinney {
namespace {

using ColumnFacts = std::tuple<int, bool, CodesIn, std::optional<DoublesIn>, double>;

struct OwnedSpec {                                       // a GraphSpec that owns its prior network
    GraphSpec spec;
    std::unique_ptr<PriorNetwork> network;
    std::vector<int> levels;                             // of the prior network
};

// (levels or bins, ordered, codes, values of a continuous column less their centre, the centre)
GraphData make_graph_data(const std::vector<ColumnFacts>& facts, const OwnedSpec& spec) {
    GraphData data;
    must(!facts.empty(), "at least one column");
    data.rows = std::get<2>(facts[0]).shape(0);
    for (auto& [levels, ordered, codes, values, centre] : facts) {
        must(codes.shape(0) == data.rows && (!values || values->shape(0) == data.rows), "columns of equal length");
        must(levels >= 1 && levels <= 65536, "between 1 and 65536 levels");
        for (std::size_t row = 0; row < data.rows; ++row) must(codes.data()[row] < levels, "codes below the number of levels");
        data.columns.push_back({levels, ordered, codes.data(), values ? values->data() : nullptr, centre});
        data.levels.push_back(levels);
    }
    must(!spec.network || spec.levels == data.levels, "a prior network of the same variables and levels");
    return data;
}

// Columns of more levels may be children; as parents they have no room in a LevelSet.
void check_parents(const GraphData& data, const GraphSpec& spec, const std::vector<int>& parents) {
    double configurations = 1;
    for (int p : parents) {
        must(data.levels[p] <= most_graph_levels, "parents of at most 64 levels");
        configurations *= data.levels[p];
    }
    must(!spec.optimal || configurations <= most_configurations, "few configurations");
}

constexpr std::size_t few_parents = 8;                   // the graph of so many is there before anybody could press a key

void check_allowed(const GraphData& data, const Allowed& allowed) {
    const int n = static_cast<int>(data.columns.size());
    must(allowed.variables() == n, "a limit per child");
    for (int v = 0; v < n; ++v)
        if (allowed.most[v] > 0)
            for (int p : allowed.candidates[v]) must(data.levels[p] <= most_graph_levels, "parents of at most 64 levels");
}

nb::dict to_dict(Graph&& graph) {
    nb::list nodes;
    for (const GraphNode& node : graph.nodes) nodes.append(nb::make_tuple(node.parent, node.left, node.right, node.goes_left, node.leaf));
    nb::dict out;
    out["nodes"] = nodes;
    out["exponents"] = nb::cast(graph.exponents);
    out["value"] = graph.value;
    return out;
}

}  // namespace

void bind_graphs(nb::module_& m) {
    m.attr("most_graph_levels") = most_graph_levels;
    m.attr("most_graph_configurations") = most_configurations;

    nb::class_<OwnedSpec>(m, "GraphSpec")
        .def("__init__",
             [](OwnedSpec* self, const std::string& operators, bool splits_first, bool filled, bool optimal, const std::string& prior, double ess,
                const std::vector<int>& levels, const NetworkIn& tables, double per_parameter, double mu0, double a, double nu,
                double lambda, std::vector<double> size_prior) {
                 must(prior == "uniform" || prior == "upn" || prior == "pn", "a prior of the parameters");
                 must((prior == "pn") == !tables.empty(), "a prior network with pn and only there");
                 auto network = prior_network(levels, tables);
                 new (self) OwnedSpec;
                 auto has = [&](char letter) { return operators.find(letter) != std::string::npos; };
                 GraphSpec& spec = self->spec;
                 spec.complete = has('C'), spec.binary = has('B'), spec.merge = has('M'), spec.splits_first = splits_first;
                 spec.filled = filled, spec.optimal = optimal;
                 spec.exponents = prior == "uniform" ? Exponents::uniform : prior == "upn" ? Exponents::shared : Exponents::network;
                 spec.ess = ess, spec.per_parameter = per_parameter;
                 spec.normal.mu0 = mu0, spec.normal.a = a, spec.normal.nu = nu, spec.normal.lambda = lambda;
                 spec.size_prior = std::move(size_prior);
                 self->network = std::move(network);
                 self->levels = levels;
                 spec.network = self->network.get();
             },
             "operators"_a, "splits_first"_a, "filled"_a, "optimal"_a, "prior"_a, "ess"_a, "network_levels"_a, "network_tables"_a, "per_parameter"_a, "mu0"_a,
             "a"_a, "nu"_a, "lam"_a, "size_prior"_a);

    m.def(
        "graph_scores",
        [](const std::vector<ColumnFacts>& columns, const OwnedSpec& spec, const nb::list& list, int threads, nb::object progress,
           double time_limit) {
            GraphData data = make_graph_data(columns, spec);
            const auto families = to_families(list, data.columns.size());
            for (const Family& family : families) check_parents(data, spec.spec, family.parents);
            Control control;
            Team team(threads, control);
            WorkerScores scores(graph_scores(data, spec.spec), data.columns.size());
            std::size_t columns_read = 0;
            for (const Family& family : families) columns_read += family.parents.size() + 1;
            // What a prior network takes to answer nobody knows beforehand.
            bool brief = spec.spec.exponents != Exponents::network && columns_read * data.rows < 1e5;
            for (const Family& family : families) brief = brief && family.parents.size() <= few_parents;
            return scored(scores, families, team, control, progress, time_limit, brief);
        },
        "columns"_a, "spec"_a, "families"_a, "threads"_a = 1, "progress"_a.none() = nb::none(), "time_limit"_a = 0.0);

    m.def(
        "fit_graph",
        [](const std::vector<ColumnFacts>& columns, const OwnedSpec& spec, int child, const std::vector<int>& parents, Control* stop) {
            GraphData data = make_graph_data(columns, spec);
            check_family(child, parents, data.columns.size());
            check_parents(data, spec.spec, parents);
            return to_dict(stoppable(stop, [&] { return GraphFamilies(data, spec.spec, child).graph(parents); },
                                      data.rows < 1e5 && parents.size() <= few_parents));
        },
        "columns"_a, "spec"_a, "child"_a, "parents"_a, "stop"_a.none() = nb::none());

    // A look at the way: the graph after some steps (-1: all) and one move more, if named, with what every operator gains there.
    m.def(
        "graph_moves",
        [](const std::vector<ColumnFacts>& columns, const OwnedSpec& spec, int child, const std::vector<int>& parents, int steps,
           int then) {
            GraphData data = make_graph_data(columns, spec);
            check_family(child, parents, data.columns.size());
            check_parents(data, spec.spec, parents);
            LeafScore score(data, spec.spec, child);
            Grower grower(data, spec.spec, score, child, parents);
            const std::vector<double> bonus(parents.size(), 0.0);
            Turns turns(spec.spec);
            while (steps-- != 0) {
                const Move split = grower.best_split(bonus), merge = grower.best_merge();
                const Move* next = turns.next(split, merge);
                if (!next) break;
                grower.apply(*next);
            }
            auto moves = grower.all();
            must(then < static_cast<int>(moves.size()), "a move that there is");
            if (then >= 0) grower.apply(moves[then]);
            nb::list out;
            for (const Move& move : moves)
                out.append(nb::make_tuple(std::string(1, "CBM"[move.kind]), move.gain));
            nb::dict all = to_dict(grower.graph());
            all["moves"] = out;
            return all;
        },
        "columns"_a, "spec"_a, "child"_a, "parents"_a, "steps"_a, "then"_a);

    m.def(
        "score_graph_sets",
        [](const std::vector<ColumnFacts>& columns, const OwnedSpec& spec, const Allowed& allowed, bool prune, int threads,
           nb::object progress, double time_limit) {
            GraphData data = make_graph_data(columns, spec);
            check_allowed(data, allowed);
            SetsRequest request{allowed, prune, false, time_limit > 0};
            Control control;
            Team team(threads, control);
            Ending ending;
            ScoredSets found = run(control, progress, ending, time_limit,
                                   [&] { return score_family_sets(graph_scores(data, spec.spec), request, team, control); });
            return SetsHandle{std::move(found), ending};
        },
        "columns"_a, "spec"_a, "allowed"_a, "prune"_a, "threads"_a, "progress"_a.none(), "time_limit"_a);

    m.def(
        "greedy_graphs",
        [](const std::vector<ColumnFacts>& columns, const OwnedSpec& spec, const GreedyArgs& args, nb::object progress) {
            GraphData data = make_graph_data(columns, spec);
            GreedyRequest request = args.request();
            must(request.start.size() == data.columns.size(), "a start for every variable");
            Control control;
            Team team(args.threads, control);
            WorkerScores scores(graph_scores(data, spec.spec), data.columns.size());
            Ending ending;
            auto found = run(control, progress, ending, args.time_limit, [&] { return greedy(scores, request, team, control); });
            return to_dict(std::move(found), ending);
        },
        "columns"_a, "spec"_a, "args"_a, "progress"_a.none());

    m.def(
        "local_global",
        [](const std::vector<ColumnFacts>& columns, const OwnedSpec& spec, const Allowed& allowed, int threads, nb::object progress,
           double time_limit) {
            GraphData data = make_graph_data(columns, spec);
            check_allowed(data, allowed);
            Control control;
            Team team(threads, control);
            Ending ending;
            auto found = run(control, progress, ending, time_limit,
                             [&] { return local_global(data, spec.spec, allowed, team, control); });
            nb::list graphs;
            for (Graph& graph : found.graphs) graphs.append(to_dict(std::move(graph)));
            nb::dict out;
            out["parents"] = nb::cast(found.parents);
            out["graphs"] = graphs;
            out["trace"] = nb::cast(found.trace);
            note(out, ending);
            return out;
        },
        "columns"_a, "spec"_a, "allowed"_a, "threads"_a, "progress"_a.none(), "time_limit"_a);
}

}  // namespace spinney
