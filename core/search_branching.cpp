// Idea. A further vertex, the ground, is the parent of every root, so that a branching is a spanning arborescence from
// there. A path grows backwards, always along the best edge into its last vertex. Where it meets itself the cycle becomes one
// vertex, whose incoming edges weigh what they bring above the cycle edge that they would replace. It ends at the ground, or
// at what has been led there before. Then cycles are opened from the outermost inwards, each by the edge that enters it
// (Edmonds 1967; the path is Gabow's, Galil's, Spencer's and Tarjan's, 1986). A vertex keeps a row of edges, one per source,
// and a cycle's row is the best of its members', so that all n vertices and n - 1 contractions take O(n^2).
//
// Rounding decides nothing: weights that are equal within the tie become the same whole number, and from there on the
// arithmetic is exact. Trees of a score-equivalent score are equal for every root, so what decides among equals is part of
// the weight too.
#include "search_branching.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <numeric>

namespace spinney {
namespace {

// What an edge is worth, the first difference decides. Edmonds' algorithm adds, subtracts and compares, no more.
struct Worth {
    std::int64_t rule = 0;                               // no edge that is not allowed; then one root only
    std::int64_t weight = 0;
    std::int64_t taste = 0;                              // among equals
    auto operator<=>(const Worth&) const = default;
    Worth operator-(const Worth& other) const {
        return {rule - other.rule, weight - other.weight, taste - other.taste};
    }
};
constexpr std::int64_t impossible = -(std::int64_t{1} << 40);
constexpr int ground = -1;

// Weights as whole numbers, of 52 bits at the most. Where neighbours in sorted order are a tie, all are that with the lowest;
// 0 is one of them.
std::vector<std::int64_t> whole(std::span<const double> weights, double tie) {
    std::vector<std::size_t> order;
    double largest = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (std::isfinite(weights[i])) {
            order.push_back(i);
            largest = std::max(largest, std::abs(weights[i]));
        }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] < weights[b]; });
    const int shift = largest > 0 ? 52 - std::ilogb(largest) - 1 : 0;
    std::vector<std::int64_t> result(weights.size(), 0);
    for (std::size_t first = 0, end; first < order.size(); first = end) {
        bool zero = std::abs(weights[order[first]]) <= tie;
        for (end = first + 1; end < order.size() && weights[order[end]] - weights[order[end - 1]] <= tie; ++end)
            zero = zero || std::abs(weights[order[end]]) <= tie;
        const std::int64_t number = zero ? 0 : std::llround(std::ldexp(weights[order[first]], shift));
        for (std::size_t i = first; i < end; ++i) result[order[i]] = number;
    }
    return result;
}

class Branching {
public:
    explicit Branching(const BranchingRequest& request)
        : n_(request.variables), rows_(n_), inside_(n_ + 1), up_(n_, -1), entering_(n_) {
        std::iota(inside_.begin(), inside_.end(), 0);
        inside_[n_] = ground;
        const auto weights = whole(request.weights, request.tie);
        const std::int64_t n = n_;
        for (int child = 0; child < n_; ++child) {
            const bool root = request.may_be_root[child];
            rows_[child].resize(n_ + 1);
            for (int parent = 0; parent < n_; ++parent) {
                const std::size_t at = static_cast<std::size_t>(child) * n_ + parent;
                const bool out = parent == child || !std::isfinite(request.weights[at]) ||
                                 (request.forest && root && weights[at] <= 0);
                rows_[child][parent] = {{out ? impossible : 0, weights[at], -parent}, parent, child};
            }
            rows_[child][n_] = {{!root ? impossible : request.forest ? 0 : -1, 0, -child * n * n}, n_, child};
        }
    }

    std::vector<int> run() {
        for (int v = 0; v < n_; ++v)
            if (inside_[v] != ground) grow(v);
        for (int cycle = static_cast<int>(up_.size()) - 1; cycle >= n_; --cycle) {    // outer ones have later numbers
            int member = entering_[cycle].head;
            while (up_[member] != cycle) member = up_[member];
            entering_[member] = entering_[cycle];
        }
        std::vector<int> parents(n_);
        for (int v = 0; v < n_; ++v) parents[v] = entering_[v].source == n_ ? -1 : entering_[v].source;
        return parents;
    }

private:
    struct Edge {
        Worth worth;
        int source = 0, head = 0;                        // variables; n is the ground
    };

    // Leads v to the ground, and everything that the path takes along.
    void grow(int v) {
        std::vector<int> path{inside_[v]};
        for (;;) {
            const int last = path.back();
            entering_[last] = best_into(last);
            const int from = inside_[entering_[last].source];
            if (from == ground) break;
            auto met = std::find(path.begin(), path.end(), from);
            if (met == path.end()) {
                path.push_back(from);
                continue;
            }
            const std::vector<int> cycle(met, path.end());
            path.erase(met, path.end());
            path.push_back(contract(cycle));
        }
        for (int v = 0; v < n_; ++v)
            if (std::ranges::find(path, inside_[v]) != path.end()) inside_[v] = ground;
    }

    Edge best_into(int vertex) const {
        const Edge* best = nullptr;
        for (const Edge& edge : rows_[vertex])
            if (inside_[edge.source] != vertex && (!best || edge.worth > best->worth)) best = &edge;
        return *best;
    }

    int contract(const std::vector<int>& cycle) {
        const int made = static_cast<int>(up_.size());
        std::vector<Edge> row;
        for (int member : cycle) {
            for (Edge& edge : rows_[member]) edge.worth = edge.worth - entering_[member].worth;
            if (row.empty()) row.swap(rows_[member]);
            for (std::size_t i = 0; i < rows_[member].size(); ++i)
                if (rows_[member][i].worth > row[i].worth) row[i] = rows_[member][i];
            std::vector<Edge>().swap(rows_[member]);
            up_[member] = made;
        }
        for (int v = 0; v < n_; ++v)
            if (std::ranges::find(cycle, inside_[v]) != cycle.end()) inside_[v] = made;
        rows_.push_back(std::move(row));
        up_.push_back(-1);
        entering_.emplace_back();
        return made;
    }

    int n_;
    std::vector<std::vector<Edge>> rows_;                // vertex -> the edge from every variable and from the ground
    std::vector<int> inside_;                            // variable -> the vertex that it is in now; the ground once led there
    std::vector<int> up_;                                // vertex -> the cycle that it went into
    std::vector<Edge> entering_;                         // vertex -> the edge chosen for it
};

}  // namespace

std::vector<int> best_branching(const BranchingRequest& request) {
    std::vector<int> parents = Branching(request).run();
    int roots = 0;
    for (int v = 0; v < request.variables; ++v) {
        const bool root = parents[v] < 0;
        roots += root;
        if (root ? !request.may_be_root[v]
                 : !std::isfinite(request.weights[static_cast<std::size_t>(v) * request.variables + parents[v]]))
            return {};
    }
    return request.forest || roots <= 1 ? parents : std::vector<int>();
}

}  // namespace spinney
