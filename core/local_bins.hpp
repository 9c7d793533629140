// FT: a full table over the parents, continuous and ordinal ones cut at quantiles (Talvitie, Eggeling and Koivisto 2019).
#pragma once

#include "local_tree.hpp"

namespace spinney {

// One way to cut a parent: the bin of every row.
struct Cutting {
    int bins = 0;
    const std::uint16_t* codes = nullptr;
};

// All ways to cut one parent. Rows that no way tells apart are in the same finest bin.
struct Cuttings {
    struct Way { int bins = 0; std::vector<std::uint16_t> of_finest; };
    int finest = 1;                                      // bins
    std::vector<std::uint16_t> codes;                    // the finest bin of every row
    std::vector<Way> ways;
    Cuttings() = default;
    Cuttings(std::span<const Cutting> cuttings, std::size_t rows);
    TreeColumn column() const { return {VariableKind::categorical, finest, codes.data()}; }
};

struct BinnedBest {
    double value = 0;                                    // log marginal likelihood of the best joint choice
    std::vector<int> choice;                             // per parent: which of its cuttings
};

// REQUIRES: at least one cutting per parent (a categorical parent has just the one by its levels).
BinnedBest best_binned(TreeScorer& scorer, const std::vector<const Cuttings*>& parents);

}  // namespace spinney
