// Trees and binned tables as local scores of families.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "family_sets.hpp"
#include "local_bins.hpp"
#include "local_tree.hpp"
#include "tree_sum.hpp"

namespace spinney {

// One way to group the levels of a discrete parent.
struct Grouping {
    int groups = 0;
    std::vector<std::uint16_t> of_level;
};

// The columns of one table as tree scores see them, and the choices that are the same for all families.
struct TreeData {
    TreeData() = default;
    TreeData(TreeData&&) = default;                      // not to be copied: `seen` points into it
    std::vector<TreeColumn> columns;                     // as parents: finest cells; as children: levels or values
    std::vector<Cuttings> cuttings;                      // ft: per column the ways to cut it
    std::vector<std::vector<Grouping>> groupings;        // per column, each a union of groups of the one before it
    std::size_t rows = 0;
    // The columns as the search for a tree sees them: discrete ones with the levels that occur. A split that parts others
    // from them only adds an empty leaf, so the best tree is the same unless leaves share a pseudo-count; the prior counts
    // all declared levels.
    std::vector<TreeColumn> seen;
    void find_seen();

private:
    std::vector<std::vector<std::uint16_t>> seen_codes_;
};

struct TreeSpec {
    bool binned = false;                                 // ft; else pcart
    LeafOptions leaf;
    bool structure_prior = true;
    double log_cuttings = 0;                             // ft: log prior per parent that is cut
    std::vector<double> size_prior;
    bool average = false;                                // pcart: the sum over all trees, not the best one

    double prior(std::size_t parents) const {
        return size_prior.empty() ? 0 : size_prior[std::min(parents, size_prior.size() - 1)];
    }
};

// Bytes that the search over these parents takes at the most.
double bytes_of(const TreeColumn& child, std::span<const TreeColumn> parents, std::size_t rows, bool linear);
// How many ways there are to cut these parents jointly; for pcart 1.
double joint_cuttings(const TreeData& data, const TreeSpec& spec, std::span<const int> parents);
constexpr double most_cuttings = 1e10;                   // times the rows: about two minutes for one family

// One worker for one child.
class TreeFamilies final : public FamilyWorker {
public:
    TreeFamilies(const TreeData& data, const TreeSpec& spec, int child, double most_bytes = 0)
        : data_(data), spec_(spec), child_(child), most_bytes_(most_bytes), searched_(shares(spec.leaf, data.columns[child]) || spec.average ? data.columns : data.seen),
          scorer_(make_tree_scorer(data.columns[child], data.rows, spec.leaf)),
          sum_(spec.average ? make_tree_sum(data.columns[child], data.rows, spec.leaf) : nullptr) {}
    double score(std::span<const int> parents) override;
    bool fits(std::span<const int> parents) override;
    Tree tree(std::span<const int> parents);             // pcart
    BinnedBest binned(std::span<const int> parents);     // ft
    // These columns as parents of one family, grouped until their level sets are few enough.
    std::vector<TreeColumn> grouped(const std::vector<TreeColumn>& columns, std::span<const int> parents) const;
    // Kinds and levels of the parents, sorted: all that the tree prior depends on.
    std::vector<int> shape_of(std::span<const int> parents) const;
    const TreePrior& prior_of(std::span<const int> parents);

private:
    const TreeData& data_;
    const TreeSpec& spec_;
    int child_;
    double most_bytes_;                                  // for one family; 0: no limit
    const std::vector<TreeColumn>& searched_;            // the parents: `seen`, or all levels
    std::unique_ptr<TreeScorer> scorer_;
    std::unique_ptr<TreeSum> sum_;                       // where it is asked for
    std::map<std::vector<int>, TreePrior> priors_;       // by shape
};

}  // namespace spinney
