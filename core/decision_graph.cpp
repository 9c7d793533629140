#include "decision_graph.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace spinney {
namespace {

// Complete splits first, then older leaves, earlier parents and levels.
bool before(const Move& a, const Move& b) {
    return std::tuple(a.kind, a.leaf, a.other, a.parent, a.left) < std::tuple(b.kind, b.leaf, b.other, b.parent, b.left);
}

// The best of the moves that come by; the earlier one of those that are as good.
struct Best {
    Move move;
    double most = -INFINITY;
    void operator()(const Move& next) {
        most = std::max(most, next.gain);
        if (move.gain < most - no_gain || (next.gain >= most - no_gain && before(next, move))) move = next;
    }
};

}  // namespace

Grower::Grower(const GraphData& data, const GraphSpec& spec, LeafScore& score, int child, std::span<const int> parents)
    : data_(data), spec_(spec), score_(score), parents_(parents.begin(), parents.end()), used_(parents.size(), 0) {
    take_rows(data.columns[child]);
    std::size_t most = 0;
    for (int p : parents_) most = std::max<std::size_t>(most, data.levels[p]);
    table_.resize(most * score.width());
    parts_.resize(most * score.exponents());
    below_.resize(2 * (score.width() + score.exponents()));
    std::vector<std::uint32_t> rows(rows_.size);
    std::iota(rows.begin(), rows.end(), 0);
    add(std::move(rows), {Box{}});
}

void Grower::take_rows(const GraphColumn& child) {
    double configurations = 1;
    for (int p : parents_) configurations *= data_.levels[p];
    if (configurations * 2 <= static_cast<double>(data_.rows)) return put_together(child, static_cast<std::size_t>(configurations));
    rows_.size = data_.rows;
    for (int p : parents_) rows_.codes.push_back(data_.columns[p].codes);
    rows_.child = child.values ? nullptr : child.codes;
    if (!child.values) return;
    rows_.sums.reserve(data_.rows * score_.width());
    for (std::size_t row = 0; row < data_.rows; ++row)
        rows_.sums.insert(rows_.sums.end(), {1, child.values[row], child.values[row] * child.values[row]});
}

// One row for every configuration of the parents that occurs.
void Grower::put_together(const GraphColumn& child, std::size_t configurations) {
    const std::size_t width = score_.width();
    std::vector<std::uint32_t> place(data_.rows, 0);
    for (int p : parents_)
        for (std::size_t row = 0; row < data_.rows; ++row)
            place[row] = place[row] * static_cast<std::uint32_t>(data_.levels[p]) + data_.columns[p].codes[row];
    std::vector<double> sums(configurations * width, 0.0);
    std::vector<char> seen(configurations, 0);
    for (std::size_t row = 0; row < data_.rows; ++row) {
        double* own = sums.data() + place[row] * width;
        seen[place[row]] = 1;
        if (child.values) {
            const double value = child.values[row];
            own[0] += 1, own[1] += value, own[2] += value * value;
        } else {
            own[child.codes[row]] += 1;
        }
    }
    rows_.own.resize(parents_.size());
    for (std::size_t at = 0; at < configurations; ++at) {
        if (!seen[at]) continue;
        rows_.sums.insert(rows_.sums.end(), sums.begin() + at * width, sums.begin() + (at + 1) * width);
        std::size_t rest = at;
        for (std::size_t i = parents_.size(); i-- > 0; rest /= data_.levels[parents_[i]])
            rows_.own[i].push_back(static_cast<std::uint16_t>(rest % data_.levels[parents_[i]]));
        ++rows_.size;
    }
    for (auto& codes : rows_.own) rows_.codes.push_back(codes.data());
}

// Adds every row to the entry of its level; without codes, all to one.
void Grower::add_up(const std::vector<std::uint32_t>& rows, const std::uint16_t* codes, double* table) const {
    const std::size_t width = score_.width();
    if (rows_.child) {
        for (std::uint32_t row : rows) table[(codes ? codes[row] : 0) * width + rows_.child[row]] += 1;
    } else {
        for (std::uint32_t row : rows) {
            const double* from = rows_.sums.data() + row * width;
            double* to = table + (codes ? codes[row] : 0) * width;
            for (std::size_t k = 0; k < width; ++k) to[k] += from[k];
        }
    }
}

int Grower::add(std::vector<std::uint32_t>&& rows, Region&& region) {
    const int number = static_cast<int>(leaves_.size());
    Leaf leaf;
    leaf.node = static_cast<int>(nodes_.size());
    nodes_.emplace_back().leaf = number;
    leaf.rows = std::move(rows);
    leaf.region = std::move(region);
    leaf.sums.assign(score_.width(), 0.0);
    add_up(leaf.rows, nullptr, leaf.sums.data());
    leaf.exponents.resize(score_.exponents());
    score_.read(leaf.region, leaf.exponents.data());
    leaf.value = score_(leaf.sums.data(), leaf.exponents.data());
    leaf.moves.resize(parents_.size());
    if (spec_.merge) {
        leaf.merges.resize(number, -INFINITY);
        double *sums = below_.data(), *exponents = sums + score_.width();
        for (int other : alive_) {
            const Leaf& older = leaves_[other];
            for (std::size_t k = 0; k < leaf.sums.size(); ++k) sums[k] = leaf.sums[k] + older.sums[k];
            for (std::size_t k = 0; k < leaf.exponents.size(); ++k) exponents[k] = leaf.exponents[k] + older.exponents[k];
            leaf.merges[other] = score_(sums, exponents) - leaf.value - older.value;
        }
        look_for_partner(leaf);
    }
    leaves_.push_back(std::move(leaf));
    alive_.push_back(number);
    for (std::size_t i = 0; i < parents_.size(); ++i) look(number, static_cast<int>(i));
    return number;
}

// All splits of a leaf on one parent. What leaves the partition as it is, is none; what makes the same one as another
// comes once: with two possible levels, as a complete split where there are such.
template <class Visit>
void Grower::visit_splits(int number, int place, Visit&& visit) const {
    const Leaf& leaf = leaves_[number];
    const int parent = parents_[place], levels = data_.levels[parent];
    const LevelSet there = possible(leaf.region, parent, levels);
    const int count = std::popcount(there);
    if (count < 2) return;
    const std::size_t width = score_.width(), exponents = score_.exponents();
    std::fill_n(table_.data(), levels * width, 0.0);
    add_up(leaf.rows, rows_.codes[place], table_.data());
    score_.read(leaf.region, parent, parts_.data());
    auto sums_of = [&](int level) { return table_.data() + level * width; };
    auto parts_of = [&](int level) { return parts_.data() + level * exponents; };
    // A leaf without rows has sums of 0 alone: counts, or first of all the number of rows.
    auto filled = [&](const double* sums) { return std::any_of(sums, sums + width, [](double sum) { return sum != 0; }); };
    if (spec_.filled) {
        int with_rows = 0;
        for (int k = 0; k < levels; ++k) with_rows += filled(sums_of(k));
        if (with_rows < 2) return;                       // no split on this parent parts the rows
    }
    Move move;
    move.leaf = number, move.parent = place;
    if (spec_.complete) {
        move.kind = Move::complete;
        move.gain = -leaf.value;
        for (int k = 0; k < levels; ++k)
            if (there >> k & 1) move.gain += score_(sums_of(k), parts_of(k));
        visit(move);
    }
    if (!spec_.binary || (spec_.complete && count == 2)) return;
    move.kind = Move::binary;
    move.left = 0;
    const bool ordered = data_.columns[parent].ordered;
    double *sums[2], *parts[2];                          // of the levels that part, of the others
    for (int side : {0, 1}) sums[side] = below_.data() + side * (width + exponents), parts[side] = sums[side] + width;
    std::fill(below_.begin(), below_.end(), 0.0);
    LevelSet left = there;
    for (int k = 0; k < levels; ++k) {
        if (!(there >> k & 1)) continue;
        left &= left - 1;                                // the levels after k
        if (ordered && !left) break;                     // all of them would be low
        if (!ordered && count == 2 && !left) break;      // the same two sides again
        // The others are added up, not taken away from all: exponents and squares would lose digits.
        if (!ordered) std::fill(below_.begin(), below_.end(), 0.0), move.left = 0;
        move.left |= LevelSet{1} << k;
        std::fill_n(sums[1], width + exponents, 0.0);
        for (int other = 0; other < levels; ++other) {
            const int side = ordered ? other > k : other != k;
            if (ordered && side == 0 && other < k) continue;       // there already
            for (std::size_t i = 0; i < width; ++i) sums[side][i] += sums_of(other)[i];
            for (std::size_t i = 0; i < exponents; ++i) parts[side][i] += parts_of(other)[i];
        }
        if (spec_.filled && !(filled(sums[0]) && filled(sums[1]))) continue;
        move.gain = score_(sums[0], parts[0]) + score_(sums[1], parts[1]) - leaf.value;
        visit(move);
    }
}

void Grower::look(int number, int place) {
    Listening::look();
    Best best;
    visit_splits(number, place, best);
    leaves_[number].moves[place] = best.move;
}

void Grower::look_for_partner(Leaf& leaf) const {
    leaf.partner = -1;
    for (int other : alive_) {
        if (other >= static_cast<int>(leaf.merges.size())) break;
        if (leaf.partner < 0 || leaf.merges[other] > leaf.merges[leaf.partner] + no_gain) leaf.partner = other;
    }
}

Move Grower::best_split(std::span<const double> bonus) const {
    Best best;
    for (int number : alive_)
        for (std::size_t i = 0; i < parents_.size(); ++i) {
            Move move = leaves_[number].moves[i];
            if (move.kind == Move::none || std::isinf(bonus[i])) continue;
            move.gain += bonus[i];
            best(move);
        }
    return best.move;
}

Move Grower::best_merge() const {
    Best best;
    for (int number : alive_)
        if (const Leaf& leaf = leaves_[number]; leaf.partner >= 0)
            best({leaf.merges[leaf.partner], Move::merge, number, leaf.partner, -1, 0});
    return best.move;
}

// A graph depends on a parent as long as leaves of it do: never one alone, and none any more when they are two and merged.
Move Grower::best_merge(std::span<const double> bonus, std::span<const char> may_go) const {
    std::map<std::pair<int, int>, std::size_t> going;    // by (leaf, older leaf): how many parents
    for (std::size_t i = 0; i < parents_.size(); ++i) {
        if (!used_[i] || !may_go[i]) continue;
        std::vector<int> depend;
        for (int number : alive_)
            if (!indifferent(leaves_[number].region, parents_[i], data_.levels)) depend.push_back(number);
        if (depend.size() == 2) ++going[{depend[1], depend[0]}];
    }
    Best best;
    for (int number : alive_)
        for (int other : alive_) {
            if (other >= number || !spec_.merge) break;
            auto at = going.find({number, other});
            best({leaves_[number].merges[other] + bonus[at == going.end() ? 0 : at->second], Move::merge, number, other, -1, 0});
        }
    return best.move;
}

std::vector<Move> Grower::all() const {
    std::vector<Move> moves;
    for (int number : alive_) {
        for (std::size_t i = 0; i < parents_.size(); ++i)
            visit_splits(number, static_cast<int>(i), [&](const Move& move) { moves.push_back(move); });
        if (!spec_.merge) continue;
        for (int other : alive_)
            if (other < number) moves.push_back({leaves_[number].merges[other], Move::merge, number, other, -1, 0});
    }
    return moves;
}

void Grower::apply(const Move& move) { move.kind == Move::merge ? merge(move) : split(move); }

// The leaves `old` are gone.
void Grower::replace(std::span<const int> old) {
    for (int number : old) {
        leaves_[number].alive = false;
        leaves_[number].moves = {};
        leaves_[number].rows = {};
        leaves_[number].merges = {};
        alive_.erase(std::find(alive_.begin(), alive_.end(), number));
    }
    for (int number : alive_)
        if (Leaf& leaf = leaves_[number]; leaf.partner >= 0 && !leaves_[leaf.partner].alive) look_for_partner(leaf);
}

void Grower::split(const Move& move) {
    const int parent = parents_[move.parent], levels = data_.levels[parent];
    const Region region = std::move(leaves_[move.leaf].region);
    const std::vector<std::uint32_t> rows = std::move(leaves_[move.leaf].rows);
    const int node = leaves_[move.leaf].node;
    const LevelSet there = possible(region, parent, levels);
    std::vector<LevelSet> groups;
    if (move.kind == Move::binary) groups = {move.left, there & ~move.left};
    else
        for (int k = 0; k < levels; ++k)
            if (there >> k & 1) groups.push_back(LevelSet{1} << k);
    std::vector<std::size_t> group_of(levels, 0);
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (int k = 0; k < levels; ++k)
            if (groups[g] >> k & 1) group_of[k] = g;
    std::vector<std::vector<std::uint32_t>> apart(groups.size());
    for (std::uint32_t row : rows) apart[group_of[rows_.codes[move.parent][row]]].push_back(row);
    replace(std::array{move.leaf});
    used_[move.parent] = 1;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const int leaf = add(std::move(apart[g]), narrowed(region, parent, groups[g], levels));
        nodes_[node].below.emplace_back(groups[g], leaves_[leaf].node);
    }
    nodes_[node].parent = parent;
    nodes_[node].leaf = -1;
}

void Grower::merge(const Move& move) {
    Leaf &a = leaves_[move.other], &b = leaves_[move.leaf];
    std::vector<std::uint32_t> rows;
    std::merge(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(), std::back_inserter(rows));
    Region region = std::move(a.region);
    region.insert(region.end(), b.region.begin(), b.region.end());
    const std::array nodes{a.node, b.node};
    replace(std::array{move.other, move.leaf});
    const int leaf = add(std::move(rows), std::move(region));
    for (int node : nodes) nodes_[node].forward = leaves_[leaf].node, nodes_[node].leaf = -1;
}

double Grower::value() const {
    double value = 0;
    for (int number : alive_) value += leaves_[number].value;
    return spec_.structure_prior && !parents_.empty() ? value - paid_ - std::log(2.0) : value;
}

double Grower::price() const {
    if (!spec_.structure_prior) return 0;
    const auto leaves = static_cast<double>(alive_.size());
    double splits = 0;
    for (int p : parents_) {
        splits += spec_.complete;
        if (spec_.binary) splits += data_.levels[p] - (data_.columns[p].ordered ? 1 : 0);
    }
    return std::log(2 * (leaves * splits + (spec_.merge ? leaves * (leaves - 1) / 2 : 0)));
}

int Grower::resolved(int node) const {
    while (nodes_[node].forward >= 0) node = nodes_[node].forward;
    return node;
}

bool Grower::forget(int place) {
    const int parent = parents_[place], levels = data_.levels[parent];
    for (int number : alive_)
        if (!indifferent(leaves_[number].region, parent, data_.levels)) return false;
    // As if every row had the first level. A node that the first level does not reach is not reached any more.
    for (Node& node : nodes_)
        if (node.parent == parent)
            for (auto& [group, below] : node.below)
                if (group & 1) node.forward = below;
    used_[place] = 0;
    for (int number : alive_) {
        Leaf& leaf = leaves_[number];
        Region region;
        for (const Box& box : leaf.region) {
            const LevelSet* limit = box.limit_of(parent);
            if (!limit || *limit & 1) region.push_back(box.with(parent, all_levels(levels), levels));
        }
        leaf.region = std::move(region);
        look(number, place);
    }
    return true;
}

Graph Grower::graph() const {
    GraphBuilder builder(data_);
    std::vector<int> built(nodes_.size(), -1);
    // Nodes below a node are younger, but for merged ones, so this is no simple loop.
    auto build = [&](auto& self, int node) -> int {
        node = resolved(node);
        if (built[node] >= 0) return built[node];
        if (nodes_[node].parent < 0) return built[node] = builder.leaf(nodes_[node].leaf);
        std::vector<std::pair<LevelSet, int>> groups;
        for (auto& [levels, below] : nodes_[node].below) groups.emplace_back(levels, self(self, below));
        return built[node] = builder.split(nodes_[node].parent, std::move(groups));
    };
    Graph graph;
    std::vector<int> numbers;
    graph.nodes = builder.finish(build(build, 0), numbers);
    graph.value = value();
    for (int number : numbers) graph.exponents.push_back(score_.spread(leaves_[number].exponents.data()));
    return graph;
}

Grower GraphFamilies::grown(std::span<const int> parents) {
    Grower grower(data_, spec_, score_, child_, parents);
    const std::vector<double> bonus(parents.size(), 0.0);
    Turns turns(spec_);
    for (Move split, merge;;) {
        split = grower.best_split(bonus), merge = grower.best_merge();
        const Move* next = turns.next(split, merge, grower.price());
        if (!next) return grower;
        grower.apply(*next);
    }
}

double GraphFamilies::score(std::span<const int> parents) {
    const double value = spec_.optimal ? optimal_graph(data_, score_, child_, parents).value : grown(parents).value();
    return value + spec_.prior(parents.size());
}

Graph GraphFamilies::graph(std::span<const int> parents) {
    return spec_.optimal ? optimal_graph(data_, score_, child_, parents) : grown(parents).graph();
}

FamilyScores graph_scores(const GraphData& data, const GraphSpec& spec) {
    return {data.rows, [&data, &spec](int child) { return std::make_unique<GraphFamilies>(data, spec, child); }};
}

}  // namespace spinney
