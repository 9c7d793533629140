// The interface for decision graphs.
#include "bind.hpp"
#include "search_local_global.hpp"

namespace spinney {
namespace {

// Of a column: its levels or bins, whether they are ordered, the bins of a continuous one.
using PartIn = std::tuple<int, bool, std::optional<CodesIn>>;

struct OwnedSpec {                                       // a GraphSpec that owns its prior network
    GraphSpec spec;
    std::unique_ptr<PriorNetwork> network;
    std::vector<int> levels;                             // of the prior network
};

constexpr std::size_t few_parents = 8;                   // the graph of so many is there before anybody could press a key

class GraphScores final : public FamilyByFamily {
public:
    // REQUIRES: the specification lives as long as this.
    GraphScores(const Table& table, const OwnedSpec& spec, std::vector<PartIn> parts)
        : own_(spec), parts_(std::move(parts)), data_(made(table.data)) {
        must(!spec.network || spec.levels == data_.levels, "a prior network of the same variables and levels");
    }
    int variables() const override { return static_cast<int>(data_.columns.size()); }
    std::size_t rows() const override { return data_.rows; }
    FamilyScores workers(double) const override { return graph_scores(data_, spec()); }
    // Columns of more levels may be children; as parents they have no room in a LevelSet.
    void check(const Family& family) const override {
        double configurations = 1;
        for (int p : family.parents) {
            must(data_.levels[p] <= most_graph_levels, "parents of at most 64 levels");
            configurations *= data_.levels[p];
        }
        must(!spec().optimal || configurations <= most_configurations, "few configurations");
    }
    void check(const Allowed& allowed) const override {
        for (int v = 0; v < allowed.variables(); ++v)
            if (allowed.most[v] > 0)
                for (int p : allowed.candidates(v)) must(data_.levels[p] <= most_graph_levels, "parents of at most 64 levels");
    }
    bool brief(std::span<const Family> families) const override {
        if (spec().exponents == Exponents::network) return false;      // what it takes to answer is not known beforehand
        std::size_t columns_read = 0;
        for (const Family& family : families) {
            columns_read += family.parents.size() + 1;
            if (family.parents.size() > few_parents) return false;
        }
        return static_cast<double>(columns_read * data_.rows) < 1e5;
    }
    const GraphData& data() const { return data_; }
    const GraphSpec& spec() const { return own_.spec; }

private:
    GraphData made(const Data& table) {
        GraphData data;
        data.rows = table.rows();
        must(static_cast<int>(parts_.size()) == table.variables(), "a part for every column");
        for (int v = 0; v < table.variables(); ++v) {
            auto& [levels, ordered, bins] = parts_[v];
            const Column& given = table.column(v);
            must(levels >= 1 && levels <= 65536, "between 1 and 65536 levels");
            must(bins.has_value() == (given.values != nullptr), "bins of a continuous column");
            GraphColumn column{levels, ordered, nullptr, given.values, given.centre};
            if (bins) {
                must(bins->shape(0) == data.rows, "columns of equal length");
                column.codes = bins->data();
                for (std::size_t row = 0; row < data.rows; ++row) must(column.codes[row] < levels, "bins in range");
            } else {
                must(levels == given.levels, "as many levels as in the table");
                column.codes = codes_.of(given, data.rows);
            }
            data.columns.push_back(column);
            data.levels.push_back(levels);
        }
        return data;
    }

    const OwnedSpec& own_;
    const std::vector<PartIn> parts_;                    // kept alive
    WideCodes codes_;
    const GraphData data_;
};

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
                double lambda, std::vector<double> size_prior, bool structure_prior) {
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
                 spec.structure_prior = structure_prior;
                 self->network = std::move(network);
                 self->levels = levels;
                 spec.network = self->network.get();
             },
             "operators"_a, "splits_first"_a, "filled"_a, "optimal"_a, "prior"_a, "ess"_a, "network_levels"_a, "network_tables"_a, "per_parameter"_a, "mu0"_a,
             "a"_a, "nu"_a, "lam"_a, "size_prior"_a, "structure_prior"_a = false);

    nb::class_<GraphScores, Scores>(m, "GraphScores")
        .def(nb::init<const Table&, const OwnedSpec&, std::vector<PartIn>>(), "table"_a, "spec"_a, "parts"_a, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>())
        .def(
            "fit",
            [](const GraphScores& self, int child, const std::vector<int>& parents, Control* stop) {
                self.check(checked_family(child, parents, self.variables()));
                return to_dict(stoppable(stop, [&] { return GraphFamilies(self.data(), self.spec(), child).graph(parents); },
                                         self.rows() < 1e5 && parents.size() <= few_parents));
            },
            "child"_a, "parents"_a, "stop"_a.none() = nb::none())
        // For tests: the graph after some steps (-1: all) and one move more, if named, with what every operator gains there.
        .def(
            "moves",
            [](const GraphScores& self, int child, const std::vector<int>& parents, int steps, int then) {
                self.check(checked_family(child, parents, self.variables()));
                const GraphSpec& spec = self.spec();
                LeafScore score(self.data(), spec, child);
                Grower grower(self.data(), spec, score, child, parents);
                const std::vector<double> bonus(parents.size(), 0.0);
                Turns turns(spec);
                while (steps-- != 0) {
                    const Move split = grower.best_split(bonus), merge = grower.best_merge();
                    const Move* next = turns.next(split, merge, grower.price());
                    if (!next) break;
                    grower.apply(*next);
                }
                auto moves = grower.all();
                must(then < static_cast<int>(moves.size()), "a move that there is");
                if (then >= 0) grower.apply(moves[then]);
                nb::list out;
                for (const Move& move : moves) out.append(nb::make_tuple(std::string(1, "CBM"[move.kind]), move.gain));
                nb::dict all = to_dict(grower.graph());
                all["moves"] = out;
                return all;
            },
            "child"_a, "parents"_a, "steps"_a, "then"_a)
        .def(
            "local_global",
            [](const GraphScores& self, const Allowed& allowed, int threads, nb::object progress, double time_limit) {
                must(allowed.variables() == self.variables(), "a limit per child");
                self.check(allowed);
                Control control;
                Team team(threads, control);
                Ending ending;
                auto found = run(control, progress, ending, time_limit,
                                 [&] { return local_global(self.data(), self.spec(), allowed, team, control); });
                nb::list graphs;
                for (Graph& graph : found.graphs) graphs.append(to_dict(std::move(graph)));
                nb::dict out;
                out["parents"] = nb::cast(found.parents);
                out["graphs"] = graphs;
                out["trace"] = nb::cast(found.trace);
                out["stopped"] = ending.text();
                return out;
            },
            "allowed"_a, "threads"_a, "progress"_a.none(), "time_limit"_a);
}

}  // namespace spinney
