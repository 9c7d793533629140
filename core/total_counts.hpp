// Tables whose rows lie elsewhere, in parts: the counts of sets of variables in one part, and scores from the sums of all
// parts. Counts are laid out as Step 1 does it with the whole table (parent_sets.cpp), so the scores are the same in every
// digit.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "table_score.hpp"

namespace spinney {

// The joint levels that occur, numbered with the first variable as the highest digit, rising; and how many rows have each.
struct SetCounts {
    std::vector<std::uint64_t> codes;
    std::vector<std::uint32_t> counts;
};

// Of sets of variables, each sorted; those with the same variables but the last are counted in one pass.
// REQUIRES: the data is prepared, and the joint levels of a set fit 64 bits.
std::vector<SetCounts> set_counts(const Data& data, std::span<const std::vector<int>> sets);

class TotalScores {
public:
    // REQUIRES: a score that reads nothing but the counts of the family. The spec must outlive it.
    TotalScores(const std::vector<int>& levels, std::size_t rows, const ScoreSpec& spec);
    int variables() const { return data_.variables(); }
    // The set is the child and its parents, sorted.
    double score(int child, std::span<const int> set, std::span<const std::uint64_t> codes, std::span<const std::uint32_t> counts);

private:
    Data data_;                                          // no cells: the levels, and how many rows there are
    Tables tables_;
    FamilyScorer scorer_;
    std::vector<std::uint32_t> matrix_, totals_;
    std::vector<std::uint64_t> prefixes_;
    std::vector<int> parents_;
    std::unordered_map<std::uint64_t, std::uint32_t> groups_;
};

}  // namespace spinney
