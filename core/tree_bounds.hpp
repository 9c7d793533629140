// Upper bounds for trees: can a parent set be left unscored, because a subset is known to do as well?
#pragma once

#include <map>
#include <span>
#include <vector>

#include "tree_families.hpp"

namespace spinney {

// One worker for one child.  REQUIRES: the best tree of pcart, and a discrete child: what leaves can score at the most says little for a density;
// leaves that share no pseudo-count: if they do, a split that leaves a side without rows can gain.
class TreeBounds {
public:
    TreeBounds(const TreeData& data, const TreeSpec& spec, int child, TreeFamilies& families);
    // Is every tree over these parents provably no better than `known`, the best score of their allowed subsets?
    // `likelihood` comes in as that of any subset's finest cells and goes out as these parents' own where it was counted.
    // REQUIRES: `required` of the parents are in all allowed subsets.
    bool closed(std::span<const int> parents, std::size_t required, double known, double& likelihood);

private:
    struct Line { double start, slope; };                // a leaf of n rows pays at least start + slope * log n
    struct StandIn { bool always, unless_leaf; };
    double fewest_cost(std::size_t leaves, double price) const;
    StandIn stand_in(std::span<const int> parents);
    double finest(std::span<const int> parents);
    bool split_prefix(std::span<const int> prefix, std::size_t most);

    const TreeData& data_;
    const TreeSpec& spec_;
    const TreeColumn& child_;
    TreeFamilies& families_;
    std::vector<double> n_log_n_;
    std::vector<Line> lines_;
    std::map<std::vector<int>, StandIn> stand_in_;       // by the parents' shapes
    std::vector<int> prefix_;
    struct Split { std::vector<std::uint32_t> number; std::size_t seen = 1; };
    std::vector<Split> splits_;                          // [k]: every row's configuration of the first k of the prefix
    std::vector<std::uint32_t> own_, counts_;            // own_: configuration of the prefix and level of the child
    std::vector<std::int64_t> label_;
};

// The workers of pcart and ft, with bounds where there are some. `most_bytes`: of one family; 0: no limit.
FamilyScores tree_scores(const TreeData& data, const TreeSpec& spec, double most_bytes = 0);

}  // namespace spinney
