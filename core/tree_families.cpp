#include "tree_families.hpp"

#include <algorithm>
#include <cmath>

#include "linear_leaf.hpp"

namespace spinney {

void TreeData::find_seen() {
    seen = columns;
    seen_codes_.resize(columns.size());
    for (std::size_t v = 0; v < columns.size(); ++v) {
        const TreeColumn& column = columns[v];
        if (column.kind == VariableKind::continuous) continue;
        std::vector<std::uint16_t> number(column.levels, 0);
        for (std::size_t row = 0; row < rows; ++row) number[column.codes[row]] = 1;
        int levels = 0;
        for (std::uint16_t& level : number)
            if (level) level = static_cast<std::uint16_t>(levels++);
        if (levels == column.levels) continue;
        seen_codes_[v].resize(rows);
        for (std::size_t row = 0; row < rows; ++row) seen_codes_[v][row] = number[column.codes[row]];
        seen[v].levels = std::max(levels, 1);
        seen[v].codes = seen_codes_[v].data();
    }
}

namespace {

// Level sets of one parent (of 14 levels: one less than 2^14), and joint ones of all discrete parents of a family, with an
// eighth of that for every continuous parent: its cells have a block of them each.
constexpr double most_sets = 1 << 14, most_boxes = 1 << 16;

double level_sets(VariableKind kind, double levels) {
    if (kind == VariableKind::continuous) return 1;
    return kind == VariableKind::ordinal ? levels * (levels + 1) / 2 : std::ldexp(1.0, static_cast<int>(levels)) - 1;
}

}  // namespace

// The parents with the most level sets take their next grouping, all of them at once, so that nothing depends on the order of
// columns; until few enough are left. Fewer parents are never grouped more coarsely: a tree over P that does not ask x is
// a tree over P - x, as the bounds want it.
std::vector<TreeColumn> TreeFamilies::grouped(const std::vector<TreeColumn>& columns, std::span<const int> parents) const {
    std::vector<std::size_t> taken(parents.size(), 0);   // groupings gone through
    std::vector<double> sets(parents.size());
    double limit = most_boxes;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        const TreeColumn& column = data_.columns[parents[i]];
        sets[i] = level_sets(column.kind, column.levels);
        for (const auto& own = data_.groupings[parents[i]]; sets[i] > most_sets && taken[i] < own.size();)
            sets[i] = level_sets(column.kind, own[taken[i]++].groups);
        if (column.kind == VariableKind::continuous) limit /= 8;
    }
    for (;;) {
        double product = 1, largest = 0;
        for (std::size_t i = 0; i < parents.size(); ++i) {
            product *= sets[i];
            if (taken[i] < data_.groupings[parents[i]].size()) largest = std::max(largest, sets[i]);
        }
        if (product <= limit || largest == 0) break;
        for (std::size_t i = 0; i < parents.size(); ++i) {
            const auto& own = data_.groupings[parents[i]];
            if (sets[i] == largest && taken[i] < own.size())
                sets[i] = level_sets(data_.columns[parents[i]].kind, own[taken[i]++].groups);
        }
    }
    std::vector<TreeColumn> own;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        own.push_back(taken[i] ? data_.columns[parents[i]] : columns[parents[i]]);
        if (taken[i] == 0) continue;
        const Grouping& grouping = data_.groupings[parents[i]][taken[i] - 1];
        own.back().levels = grouping.groups;
        own.back().group = grouping.of_level;
    }
    return own;
}

std::vector<int> TreeFamilies::shape_of(std::span<const int> parents) const {
    std::vector<int> shape;
    for (int p : parents) shape.push_back(data_.columns[p].levels * 3 + static_cast<int>(data_.columns[p].kind));
    std::sort(shape.begin(), shape.end());
    return shape;
}

const TreePrior& TreeFamilies::prior_of(std::span<const int> parents) {
    auto [at, fresh] = priors_.try_emplace(shape_of(parents));
    if (fresh && spec_.structure_prior) at->second = tree_prior(grouped(data_.columns, parents));
    return at->second;
}

double bytes_of(const TreeColumn& child, std::span<const TreeColumn> parents, std::size_t rows, bool linear) {
    double boxes = 1, vectors = 1, cells = 1, width = child.kind == VariableKind::continuous ? 3 : child.levels;
    if (linear && child.kind == VariableKind::continuous) width = regression_width(regressors(parents));
    for (const TreeColumn& p : parents) {
        if (p.kind == VariableKind::categorical) boxes *= std::ldexp(1.0, p.levels) - 1;
        else if (p.kind == VariableKind::ordinal) boxes *= p.levels * (p.levels + 1.0) / 2;
        else vectors *= p.levels + 1;
        cells *= static_cast<double>(cells_of(p));
    }
    const double points = std::min(cells, static_cast<double>(rows));
    const double summing = 8 * width * std::min(cells, 2 * static_cast<double>(rows)) + (cells > points ? 48 * static_cast<double>(rows) : 0);
    const double blocks = vectors > 1 ? vectors * points / 2 : 1;
    return summing + boxes * (64 + 8 * width) + blocks * boxes * 8 + (vectors > 1 ? (vectors * 4 + width * 24) * points : 0);
}

double joint_cuttings(const TreeData& data, const TreeSpec& spec, std::span<const int> parents) {
    double all = 1;
    for (int p : spec.binned ? parents : std::span<const int>{}) all *= static_cast<double>(data.cuttings[p].ways.size());
    return all;
}

bool TreeFamilies::fits(std::span<const int> parents) {
    if (spec_.binned) return joint_cuttings(data_, spec_, parents) * static_cast<double>(data_.rows) <= most_cuttings;
    const auto continuous = std::ranges::count_if(parents, [&](int p) { return data_.columns[p].kind == VariableKind::continuous; });
    if (continuous > most_continuous) return false;
    return most_bytes_ == 0 || bytes_of(data_.columns[child_], grouped(searched_, parents), data_.rows, spec_.leaf.linear) <= most_bytes_;
}

double TreeFamilies::score(std::span<const int> parents) {
    if (spec_.binned) {
        int cut = 0;
        for (int p : parents) cut += data_.columns[p].kind != VariableKind::categorical;
        return binned(parents).value + cut * spec_.log_cuttings + spec_.prior(parents.size());   // the prior last: see Source
    }
    const TreePrior& prior = prior_of(parents);
    const std::vector<TreeColumn> own = grouped(searched_, parents);
    const double value = sum_ ? sum_->total(own, prior.leaf) : scorer_->best(own, prior.leaf);
    return value + prior.normaliser + spec_.prior(parents.size());
}

Tree TreeFamilies::tree(std::span<const int> parents) {
    return scorer_->fit(grouped(data_.columns, parents), prior_of(parents).leaf);
}

BinnedBest TreeFamilies::binned(std::span<const int> parents) {
    std::vector<const Cuttings*> cuttings;
    for (int p : parents) cuttings.push_back(&data_.cuttings[p]);
    return best_binned(*scorer_, cuttings);
}

}  // namespace spinney
