// Step 1 for scores that look at one family at a time: trees and binned tables.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "local_bins.hpp"
#include "local_scores.hpp"
#include "local_tree.hpp"
#include "parent_sets.hpp"

namespace spinney {

// The columns of one table as tree scores see them, and the choices that are the same for all families.
struct TreeData {
    TreeData() = default;
    TreeData(TreeData&&) = default;                      // not to be copied: `seen` points into it
    std::vector<TreeColumn> columns;                     // as parents: finest cells; as children: levels or values
    std::vector<std::vector<Cutting>> cuttings;          // ft: per column the ways to cut it
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

    double prior(std::size_t parents) const {
        return size_prior.empty() ? 0 : size_prior[std::min(parents, size_prior.size() - 1)];
    }
};

// One worker for one child.
class TreeFamilies {
public:
    TreeFamilies(const TreeData& data, const TreeSpec& spec, int child)
        : data_(data), spec_(spec), searched_(shares(spec.leaf, data.columns[child]) ? data.columns : data.seen),
          scorer_(make_tree_scorer(data.columns[child], data.rows, spec.leaf)) {}
    double score(std::span<const int> parents);          // with all priors
    Tree tree(std::span<const int> parents);             // pcart
    BinnedBest binned(std::span<const int> parents);     // ft
    // Kinds and levels of the parents, sorted: all that the tree prior depends on.
    std::vector<int> shape_of(std::span<const int> parents) const;
    const TreePrior& prior_of(std::span<const int> parents);

private:
    const TreeData& data_;
    const TreeSpec& spec_;
    const std::vector<TreeColumn>& searched_;            // the parents: `seen`, or all levels
    std::unique_ptr<TreeScorer> scorer_;
    std::map<std::vector<int>, TreePrior> priors_;       // by shape
};

// What greedy search asks; a worker per child is made when it is first asked for.
class TreeScores final : public LocalScores {
public:
    TreeScores(const TreeData& data, const TreeSpec& spec) : data_(data), spec_(spec), workers_(data.columns.size()) {}
    double score(int child, std::span<const int> parents) override {
        if (!workers_[child]) workers_[child] = std::make_unique<TreeFamilies>(data_, spec_, child);
        return workers_[child]->score(parents);
    }
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) override {
        std::vector<int> larger;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            larger.assign(parents.begin(), parents.end());
            larger.insert(std::lower_bound(larger.begin(), larger.end(), candidates[i]), candidates[i]);
            out[i] = score(child, larger);
        }
    }
    std::unique_ptr<LocalScores> another() const override { return std::make_unique<TreeScores>(data_, spec_); }

private:
    const TreeData& data_;
    const TreeSpec& spec_;
    std::vector<std::unique_ptr<TreeFamilies>> workers_;
};

ScoredSets score_tree_sets(const TreeData& data, const TreeSpec& spec, const SetsRequest& request, Team& team, Control& control);

}  // namespace spinney
