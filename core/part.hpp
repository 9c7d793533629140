// A part of a search over listed sets: variables that may lie on common cycles, with what is left of their lists.
#pragma once

#include <cstdint>

#include "families.hpp"
#include "threads.hpp"

namespace spinney {

struct Part {
    std::vector<int> variables;                          // local number -> the whole problem's
    ListedSets sets;                                     // local numbers; parents outside the part are gone: they are always there
    std::vector<std::vector<int>> origin;                // per variable: the places of its sets in the whole problem's list
    Families families;
};

Part whole(ListedSets sets);

// The strongly connected parts of what `keep` (per family) leaves, dominated sets dropped, parents' parts first. A DAG of
// the whole is one DAG of every part, and their scores add up.
std::vector<Part> split(const Part& part, std::span<const char> keep);

struct ClimbRequest {
    std::vector<std::vector<int>> orders;                // to start from
    std::vector<double> weights;                         // per family, as from a linear relaxation: one more start; or empty
    int random = 0;                                      // further starts
    int patience = 10;                                   // shakes per variable without a better order
    std::uint64_t seed = 0;
};

// The best order that climbs from these starts reach. Threads share the starts; the first of equals counts.
std::vector<int> best_order(const Part& part, const ClimbRequest& request, Team& team, Control& control);

}  // namespace spinney
