// The interface for trees and binned tables.
#include "bind.hpp"
#include "tree_bounds.hpp"

namespace spinney {
namespace {

// Of a column: its kind, its levels or halvings, the cells of a continuous one, ways to cut it for ft, ways to group its
// levels for pcart.
using CodesList = std::vector<std::pair<int, CodesIn>>;
using PartIn = std::tuple<std::string, int, std::optional<CodesIn>, CodesList, CodesList>;

VariableKind kind_named(const std::string& kind, int levels) {
    must(kind == "categorical" || kind == "ordinal" || kind == "continuous", "a kind");
    must(levels >= 0 && levels <= (kind == "continuous" ? 16 : 65536), "as many levels or halvings as codes can tell apart");
    return kind == "categorical" ? VariableKind::categorical : kind == "ordinal" ? VariableKind::ordinal : VariableKind::continuous;
}

class TreeScores final : public FamilyByFamily {
public:
    TreeScores(const Table& table, TreeSpec spec, std::vector<PartIn> parts)
        : spec_(std::move(spec)), parts_(std::move(parts)), data_(made(table.data)) {}
    int variables() const override { return static_cast<int>(data_.columns.size()); }
    std::size_t rows() const override { return data_.rows; }
    FamilyScores workers(double most_bytes) const override { return tree_scores(data_, spec_, most_bytes); }
    bool brief(std::span<const Family> families) const override {
        double looked = 0;                               // rows
        for (const Family& family : families) looked += joint_cuttings(data_, spec_, family.parents) * static_cast<double>(data_.rows);
        return looked < 1e5;
    }
    const TreeData& data() const { return data_; }
    const TreeSpec& spec() const { return spec_; }

private:
    TreeData made(const Data& table) {
        TreeData data;
        data.rows = table.rows();
        must(static_cast<int>(parts_.size()) == table.variables(), "a part for every column");
        for (int v = 0; v < table.variables(); ++v) {
            auto& [kind, levels, cells, cuttings, groupings] = parts_[v];
            const Column& given = table.column(v);
            TreeColumn column;
            column.kind = kind_named(kind, levels);
            column.levels = levels;
            const bool continuous = column.kind == VariableKind::continuous;
            must(continuous == (given.values != nullptr) && continuous == cells.has_value(), "cells of a continuous column");
            if (continuous) {
                must(cells->shape(0) == data.rows, "columns of equal length");
                column.codes = cells->data();
                column.values = given.values;
                column.centre = given.centre;
                for (std::size_t row = 0; row < data.rows; ++row) must(column.codes[row] < 1u << levels, "cells in range");
            } else {
                must(levels == given.levels, "as many levels as in the table");
                column.codes = codes_.of(given, data.rows);
            }
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
            data.cuttings.push_back(own.empty() ? Cuttings{} : Cuttings(own, data.rows));
        }
        data.find_seen();
        return data;
    }

    const TreeSpec spec_;
    const std::vector<PartIn> parts_;                    // kept alive
    WideCodes codes_;
    const TreeData data_;
};

nb::list to_list(const Tree& tree) {
    nb::list nodes;
    for (const TreeNode& node : tree.nodes)
        nodes.append(nb::make_tuple(node.parent, node.left, node.right, node.cut,
                                    nb::cast(std::vector<int>(node.goes_left.begin(), node.goes_left.end())), node.leaf, node.part));
    return nodes;
}

}  // namespace

void bind_trees(nb::module_& m) {
    m.attr("most_cuttings") = most_cuttings;
    nb::class_<TreeSpec>(m, "TreeSpec")
        .def("__init__",
             [](TreeSpec* self, bool binned, double alpha, double mu0, double a, double nu, double lambda, double kappa,
                double ess, bool structure_prior, double log_cuttings, std::vector<double> size_prior, bool linear, double tau, bool average) {
                 new (self) TreeSpec{binned, {alpha, mu0, a, nu, lambda, kappa, ess, linear, tau}, structure_prior, log_cuttings, std::move(size_prior), average};
             },
             "binned"_a, "alpha"_a, "mu0"_a, "a"_a, "nu"_a, "lam"_a, "kappa"_a, "ess"_a, "structure_prior"_a, "log_cuttings"_a,
             "size_prior"_a, "linear"_a = false, "tau"_a = 1.0, "average"_a = false);

    nb::class_<TreeScores, Scores>(m, "TreeScores")
        .def(nb::init<const Table&, TreeSpec, std::vector<PartIn>>(), "table"_a, "spec"_a, "parts"_a, nb::keep_alive<1, 2>())
        .def(
            "fit_tree",
            [](const TreeScores& self, int child, const std::vector<int>& parents, Control* stop) {
                checked_family(child, parents, self.variables());
                return to_list(stoppable(stop, [&] { return TreeFamilies(self.data(), self.spec(), child).tree(parents); },
                                         parents.empty() || parents.size() * self.rows() < 1e4));
            },
            "child"_a, "parents"_a, "stop"_a.none() = nb::none())
        .def(
            "fit_bins",
            [](const TreeScores& self, int child, const std::vector<int>& parents, Control* stop) {
                const Family family = checked_family(child, parents, self.variables());
                return stoppable(stop, [&] { return TreeFamilies(self.data(), self.spec(), child).binned(parents); },
                                 self.brief({&family, 1})).choice;
            },
            "child"_a, "parents"_a, "stop"_a.none() = nb::none());

    m.def(
        "tree_prior",
        [](const std::vector<std::pair<std::string, int>>& parents) {
            std::vector<TreeColumn> columns;
            for (auto& [kind, levels] : parents) columns.push_back({kind_named(kind, levels), levels, nullptr, nullptr});
            TreePrior prior = tree_prior(columns);
            return std::pair(prior.leaf, prior.normaliser);
        },
        "parents"_a);
}

}  // namespace spinney
