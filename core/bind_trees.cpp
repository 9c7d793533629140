// The door for trees and binned tables.
#include "bind.hpp"
#include "tree_bounds.hpp"

namespace spinney {
namespace {

using ColumnFacts = std::tuple<std::string, int, CodesIn, std::optional<DoublesIn>, double, std::vector<std::pair<int, CodesIn>>,
                               std::vector<std::pair<int, CodesIn>>>;

// (kind, levels or halvings, codes, values of a continuous column less their centre, the centre, ways to cut it for ft,
// ways to group its levels for pcart)
TreeData make_tree_data(const std::vector<ColumnFacts>& facts) {
    TreeData data;
    must(!facts.empty(), "at least one column");
    data.rows = std::get<2>(facts[0]).shape(0);
    for (auto& [kind, levels, codes, values, centre, cuttings, groupings] : facts) {
        must(kind == "categorical" || kind == "ordinal" || kind == "continuous", "a kind");
        must(codes.shape(0) == data.rows, "columns of equal length");
        must(levels >= 0 && levels <= (kind == "continuous" ? 16 : 65536), "as many levels or halvings as codes can tell apart");
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
            must(bins >= 1 && bins <= 65536 && bin_codes.shape(0) == data.rows, "cuttings of equal length");
            for (std::size_t row = 0; row < data.rows; ++row) must(bin_codes.data()[row] < bins, "bins in range");
            own.push_back({bins, bin_codes.data()});
        }
        std::vector<Grouping> grouped;
        for (auto& [groups, of_level] : groupings) {
            must(!continuous && static_cast<int>(of_level.shape(0)) == levels && groups > 0, "a group for every level");
            grouped.push_back({groups, {of_level.data(), of_level.data() + levels}});
            for (std::uint16_t group : grouped.back().of_level) must(group < groups, "groups in range");
        }
        data.groupings.push_back(std::move(grouped));
        data.columns.push_back(column);
        data.cuttings.push_back(std::move(own));
    }
    data.find_seen();
    return data;
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

}  // namespace

void bind_trees(nb::module_& m) {
    m.attr("most_cuttings") = most_cuttings;
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
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, const nb::list& list, int threads,
           nb::object progress, double time_limit) {
            TreeData data = make_tree_data(columns);
            const auto families = to_families(list, data.columns.size());
            Control control;
            Team team(threads, control);
            WorkerScores scores(tree_scores(data, spec), data.columns.size());
            double work = 0;                             // rows that are looked at
            for (const Family& family : families) work += joint_cuttings(data, spec, family.parents) * static_cast<double>(data.rows);
            return scored(scores, families, team, control, progress, time_limit, work < 1e5);
        },
        "columns"_a, "spec"_a, "families"_a, "threads"_a = 1, "progress"_a.none() = nb::none(), "time_limit"_a = 0.0);

    m.def(
        "fit_tree",
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, int child, const std::vector<int>& parents, Control* stop) {
            TreeData data = make_tree_data(columns);
            check_family(child, parents, data.columns.size());
            return to_dict(stoppable(stop, [&] { return TreeFamilies(data, spec, child).tree(parents); },
                                      parents.empty() || parents.size() * data.rows < 1e4));
        },
        "columns"_a, "spec"_a, "child"_a, "parents"_a, "stop"_a.none() = nb::none());

    m.def(
        "fit_bins",
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, int child, const std::vector<int>& parents, Control* stop) {
            TreeData data = make_tree_data(columns);
            check_family(child, parents, data.columns.size());
            return stoppable(stop, [&] { return TreeFamilies(data, spec, child).binned(parents); },
                             joint_cuttings(data, spec, parents) * static_cast<double>(data.rows) < 1e5).choice;
        },
        "columns"_a, "spec"_a, "child"_a, "parents"_a, "stop"_a.none() = nb::none());

    m.def(
        "score_tree_sets",
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, const Allowed& allowed, bool prune, bool bounds,
           int threads, nb::object progress, double time_limit, double most_bytes) {
            TreeData data = make_tree_data(columns);
            must(allowed.variables() == static_cast<int>(data.columns.size()), "a limit per child");
            SetsRequest request{allowed, prune, bounds, time_limit > 0};
            Control control;
            Team team(threads, control);
            Ending ending;
            ScoredSets found = run(control, progress, ending, time_limit,
                                   [&] { return score_family_sets(tree_scores(data, spec, most_bytes), request, team, control); });
            return SetsHandle{std::move(found), ending};
        },
        "columns"_a, "spec"_a, "allowed"_a, "prune"_a, "bounds"_a, "threads"_a, "progress"_a.none(), "time_limit"_a, "most_bytes"_a = 0.0);

    m.def(
        "greedy_trees",
        [](const std::vector<ColumnFacts>& columns, const TreeSpec& spec, const GreedyArgs& args, nb::object progress, double most_bytes) {
            TreeData data = make_tree_data(columns);
            GreedyRequest request = args.request();
            must(request.start.size() == data.columns.size(), "a start for every variable");
            Control control;
            Team team(args.threads, control);
            const FamilyScores families = tree_scores(data, spec, most_bytes);
            WorkerScores scores(families, data.columns.size());
            Ending ending;
            auto found = run(control, progress, ending, args.time_limit, [&] { return greedy(scores, request, team, control); });
            nb::dict out = to_dict(std::move(found), ending);
            out["left_out"] = families.left_out->load();
            return out;
        },
        "columns"_a, "spec"_a, "args"_a, "progress"_a.none(), "most_bytes"_a = 0.0);

    m.def(
        "tree_prior",
        [](const std::vector<std::pair<std::string, int>>& parents) {
            std::vector<TreeColumn> columns;
            for (auto& [kind, levels] : parents) {
                must(kind == "categorical" || kind == "ordinal" || kind == "continuous", "a kind");
                must(levels >= 0 && levels <= (kind == "continuous" ? 16 : 65536), "as many levels or halvings as codes can tell apart");
                columns.push_back({kind == "categorical" ? VariableKind::categorical
                                   : kind == "ordinal"   ? VariableKind::ordinal : VariableKind::continuous,
                                   levels, nullptr, nullptr});
            }
            TreePrior prior = tree_prior(columns);
            return std::pair(prior.leaf, prior.normaliser);
        },
        "parents"_a);
}

}  // namespace spinney
