// Decision graphs: trees whose leaves can be merged (Chickering, Heckerman and Meek 1997).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "family_sets.hpp"
#include "graph_nodes.hpp"

namespace spinney {

constexpr double no_gain = 1e-9;                         // gains that differ by less are equal: rounding must not decide
constexpr double most_configurations = 12;               // of the parents, for the best of all partitions

struct Move {
    enum Kind { complete, binary, merge, none };
    double gain = -INFINITY;
    Kind kind = none;
    int leaf = -1, other = -1;                           // merge: other < leaf
    int parent = -1;                                     // place in the list of parents
    LevelSet left = 0;                                   // binary: the levels that part from the others
};

// Which operator is next: the better one of the best split and the best merge; or, with splits first, a split as long
// as one gains, then a merge as long as one gains, and so on in turns.
class Turns {
public:
    explicit Turns(const GraphSpec& spec) : splits_first_(spec.splits_first) {}
    // `price`: of a step.
    const Move* next(const Move& split, const Move& merge, double price = 0) {
        if (!splits_first_) {
            const Move& better = merge.gain > split.gain + no_gain ? merge : split;
            return better.gain > no_gain + price ? &better : nullptr;
        }
        for (int turn = 0; turn < 2; ++turn, merging_ = !merging_)
            if (const Move& move = merging_ ? merge : split; move.gain > no_gain + price) return &move;
        return nullptr;
    }

private:
    bool splits_first_, merging_ = false;
};

// Rows as a growing graph reads them. Rows with the same levels of the parents can stand as one.
struct GraphRows {
    std::vector<const std::uint16_t*> codes;             // per parent
    const std::uint16_t* child = nullptr;                // its level, if each row stands for itself and it has one
    std::vector<double> sums;                            // else: width() numbers per row
    std::size_t size = 0;
    std::vector<std::vector<std::uint16_t>> own;         // what codes point to, if rows were put together
};

// The graph of one child while it grows: its leaves, and what every operator would gain. Only operators that touch a
// new leaf are scored after a step.
class Grower {
public:
    Grower(const GraphData& data, const GraphSpec& spec, LeafScore& score, int child, std::span<const int> parents);
    // The best operators; bonus[i] is added to splits on parent i, and -infinity forbids them.
    // Ties: complete before binary splits, older leaves, earlier parents and levels.
    Move best_split(std::span<const double> bonus) const;
    Move best_merge() const;
    // With bonus[k] for a merge that leaves k of the parents that may go without effect.
    Move best_merge(std::span<const double> bonus, std::span<const char> may_go) const;
    std::vector<Move> all() const;                       // every operator
    void apply(const Move& move);
    double value() const;                                // less the price of all steps, and of ending
    // With the structure prior: log of twice the number of operators at the most. A growth that ends with probability
    // 1/2, or takes one of them, is a distribution over sequences of steps, so the prices are a prior that sums to at
    // most 1.
    double price() const;
    Graph graph() const;
    bool uses(int place) const { return used_[place]; }  // is there a split on it, even if it no longer matters?
    // Forgets this parent if the leaf does not depend on its level. True if it was forgotten.
    bool forget(int place);

private:
    struct Leaf {
        bool alive = true;
        int node = -1;
        std::vector<std::uint32_t> rows;
        Region region;
        std::vector<double> sums, exponents;
        double value = 0;
        std::vector<Move> moves;                         // per parent the best
        std::vector<double> merges;                      // by older leaf: what a merge gains
        int partner = -1;                                // the best of them
    };
    struct Node {
        int parent = -1;
        std::vector<std::pair<LevelSet, int>> below;
        int forward = -1;                                // what stands here now
        int leaf = -1;
    };
    void take_rows(const GraphColumn& child);
    void put_together(const GraphColumn& child, std::size_t configurations);
    void add_up(const std::vector<std::uint32_t>& rows, const std::uint16_t* codes, double* table) const;
    int add(std::vector<std::uint32_t>&& rows, Region&& region);
    void look(int number, int place);
    template <class Visit>
    void visit_splits(int number, int place, Visit&& visit) const;
    void look_for_partner(Leaf& leaf) const;
    void split(const Move& move);
    void merge(const Move& move);
    void replace(std::span<const int> old);
    int resolved(int node) const;

    const GraphData& data_;
    const GraphSpec& spec_;
    LeafScore& score_;
    std::vector<int> parents_;
    GraphRows rows_;
    std::vector<Leaf> leaves_;
    std::vector<int> alive_;                             // numbers of the leaves there are, oldest first
    std::vector<Node> nodes_;
    std::vector<char> used_;
    double paid_ = 0;                                    // for the steps so far
    mutable std::vector<double> table_, parts_, below_;  // scratch
};

// One child as a local score: greedy, or the best of all partitions. A graph over many parents can take minutes; it is given up
// when the work is to stop.
class GraphFamilies final : public FamilyWorker {
public:
    GraphFamilies(const GraphData& data, const GraphSpec& spec, int child)
        : data_(data), spec_(spec), child_(child), score_(data, spec, child) {}
    double score(std::span<const int> parents) override;
    Graph graph(std::span<const int> parents);

private:
    Grower grown(std::span<const int> parents);
    const GraphData& data_;
    const GraphSpec& spec_;
    int child_;
    LeafScore score_;
};

// REQUIRES: at most most_configurations of the parents.
Graph optimal_graph(const GraphData& data, LeafScore& score, int child, std::span<const int> parents);

FamilyScores graph_scores(const GraphData& data, const GraphSpec& spec);

}  // namespace spinney
