// The graph of a Markov equivalence class (CPDAG) with one of its members, changed one edge at a time.
//
// Idea. Beside the class stands a member of it, a DAG, and both are kept as lists of near variables. An operator turns the
// member, inside one chain component, to one in which the change is that of a single edge, and changes this edge. Which
// edges are compelled afterwards follows from child to child: the parents of a variable are all compelled, or as many as
// those of its last parent are (Chickering 1995), so only what hangs on the changed family is looked at again. An operator
// costs what its surroundings cost, for any number of variables, and can be undone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allowed.hpp"

namespace spinney {

class Cpdag {
public:
    struct Node {                                        // sorted
        std::vector<int> parents, neighbours, children;  // in the class: directed in, undirected, directed out
        std::vector<int> member;                         // parents in the member
    };
    explicit Cpdag(const std::vector<std::vector<int>>& dag);        // its class; REQUIRES: sorted, acyclic

    int variables() const { return static_cast<int>(nodes_.size()); }
    const Node& operator[](int v) const { return nodes_[v]; }
    bool adjacent(int a, int b) const;
    bool clique(std::span<const int> set) const;
    // A way from one variable to another over undirected edges and along directed ones that avoids some; the edge
    // between the two does not count. Empty: there is none.
    std::vector<int> way(int from, int to, std::span<const int> avoided, std::span<const int> also = {});

    // Such ways to all: per variable the one before it, or -1 where there is no way (and for `from`).
    std::vector<int> ways(int from, std::span<const int> avoided);

    // Chickering (2002); Hauser and Buehlmann (2012). `above`: the neighbours of y that are its parents before the change.
    // REQUIRES: the operator is valid.
    void insert(int x, int y, std::span<const int> above);           // x -> y or x - y
    void remove(int x, int y, std::span<const int> above);
    void turn(int x, int y, std::span<const int> above);             // y -> x, or y - x, becomes x -> y
    // Whose edges in the class have changed by the last operator; which edges a way can no longer use, as (from, to).
    const std::vector<int>& changed() const { return changed_; }
    const std::vector<std::pair<int, int>>& closed() const { return closed_; }

    // Turn the member, in the components of these, to one that honours the constraints. False, and the member stays as it
    // is: the class has none. Constraints are met by one component or not, whatever the others do; inside one, whoever can be
    // last still can when others have gone (Dor and Tarsi 1992), also with required, forbidden and counted parents.
    bool settle(std::span<const int> variables, const Allowed& allowed);

    // Every change after a mark can be undone, the last mark first.
    std::size_t mark();
    void undo(std::size_t mark);
    void forget();                                       // nothing is undone any more
    // Since a mark: who has other parents in the member now, with those it had.
    std::vector<std::pair<int, std::vector<int>>> members_before(std::size_t mark) const;

private:
    Node& edit(int v);                                   // remembered first, where it may be undone
    void touch(int v);
    void component(int v, std::vector<int>& found);
    template <class May> bool eliminate(std::span<const int> component, May may_be_last);
    void turn_to(int v, std::span<const int> first);     // the member: these come first in the component of v, in this order
    void set_edge(int from, int to, bool directed);      // between adjacent ones
    void drop_edge(int a, int b);
    void add_parent(int x, int y);
    void label(std::vector<int> waiting, std::size_t anyway);        // what hangs on the first of them is looked at anyway
    void start_operator();

    std::vector<Node> nodes_;
    std::vector<std::pair<int, Node>> saved_;
    std::vector<std::uint64_t> saved_at_;                // per variable: in which epoch it was saved
    std::uint64_t epoch_ = 0;
    bool remembering_ = false;
    std::vector<int> changed_;
    std::vector<std::pair<int, int>> closed_;
    std::vector<std::uint64_t> seen_;                    // stamps
    std::vector<char> is_changed_;
    std::vector<int> from_, queue_, rest_;
    std::uint64_t stamp_ = 0;
};

}  // namespace spinney
