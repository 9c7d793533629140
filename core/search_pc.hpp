// PC and conservative PC: from tests of independence to an equivalence class, given by one of its DAGs.
//
// Edges (PC-stable: Colombo and Maathuis 2014). All pairs are joined that are dependent given nothing. Then, for one size
// after another, a pair is parted if it is independent given some set of that size among the neighbours of either, as they
// were at the start of that size; so the order of the variables decides nothing. Where several sets part a pair, the one with
// the largest p-value is kept.
//
// Colliders. Of two neighbours a, b of z that are not adjacent, PC says a -> z <- b if z is not in the set that parts a and b.
// Conservative PC (Ramsey, Spirtes and Zhang 2006) tests a and b given all sets of neighbours of either: z is a collider if it
// is in none of those that part them; in some, it is ambiguous, and taken as no collider.
//
// Contradictions. Tests err, so colliders may disagree. They are taken by falling p-value of what parts their ends, and one that
// would turn an earlier arrow, close a cycle, oppose the constraints or give a node too many parents is no collider. Where then
// no DAG has these edges and colliders only (a cycle of four edges without a collider, say), the DAG has as few further ones as the
// rule below finds: the answer is always an equivalence class, that of a DAG.
//
// Background knowledge. A pair that may be joined in no direction is not joined, one that must be is not tested, one that may be
// joined in one direction has that direction. Neighbours that cannot be parents are not conditioned on: some set of parents of
// one of the two parts every pair that is not adjacent. Edges that cannot be directed without a cycle, or beyond max_parents, are
// left out, weakest first: those with the largest p-value.
#pragma once

#include "allowed.hpp"
#include "independence.hpp"

namespace spinney {

struct PcRequest {
    const Allowed& allowed;
    double alpha = 0.01;                                 // independent: a p-value above
    int most_given = 0;                                  // the largest set to condition on
    bool conservative = false;
};

struct Separation {
    int x, y;
    std::vector<int> given;                              // sorted, not empty
    double p;
};

struct PcResult {
    std::vector<std::vector<int>> parents;               // of a member of the class, sorted
    std::vector<Separation> separations;                 // by pairs; pairs that are parted by nothing are not listed
    std::uint64_t tests = 0;
    std::uint64_t untested = 0;                          // pairs that there was no time to test at all; they are not joined
    std::uint64_t ambiguous = 0, overruled = 0;          // triples
    std::uint64_t further = 0;                           // colliders that no test has found
    std::uint64_t dropped = 0;                           // edges
    std::uint64_t left_out = 0;                          // families that would have needed too much
};

PcResult pc(const Tests& tests, const PcRequest& request, double most_bytes, Team& team, Control& control);

}  // namespace spinney
