#include "graph_leaf.hpp"

#include <algorithm>
#include <array>

namespace spinney {

LeafScore::LeafScore(const GraphData& data, const GraphSpec& spec, int child) : data_(data), spec_(spec), child_(child) {
    const GraphColumn& column = data.columns[child];
    width_ = column.values ? 3 : column.levels;
    price_ = spec.per_parameter * (column.values ? 2 : column.levels - 1);
    exponents_ = column.values || spec.exponents == Exponents::uniform ? 0 : spec.exponents == Exponents::shared ? 1 : width_;
    if (column.values) {
        LeafOptions options = spec.normal;
        options.mu0 -= column.centre;
        normal_.emplace(TreeColumn{}, data.rows, options);  // it is given sums, and reads no rows
    } else if (spec.exponents == Exponents::uniform) {
        of_level_ = rising_table(1, data.rows);
        of_total_ = rising_table(column.levels, data.rows);
    }
}

double LeafScore::operator()(const double* sums, const double* exponents) {
    double value = 0;
    if (normal_) {
        normal_->scores(sums, 1, 1, &value);
    } else if (spec_.exponents == Exponents::shared) {
        value = shared(sums, *exponents);
    } else if (spec_.exponents == Exponents::uniform) {
        double total = 0;
        for (std::size_t c = 0; c < width_; ++c) value += of_level_[static_cast<std::size_t>(sums[c])], total += sums[c];
        value -= of_total_[static_cast<std::size_t>(total)];
    } else {
        double total = 0, mass = 0;
        for (std::size_t c = 0; c < width_; ++c) {
            value += rising_log(exponents[c], static_cast<std::uint32_t>(sums[c]));
            total += sums[c], mass += exponents[c];
        }
        value -= rising_log(mass, static_cast<std::uint32_t>(total));
    }
    return value + price_;
}

// `mass` over all levels of the child together.
double LeafScore::shared(const double* sums, double mass) {
    if (risings_.size() > 4096) risings_.clear();        // large graphs have any number of masses
    auto at = risings_.find(mass);
    if (at == risings_.end())
        at = risings_.emplace(mass, Risings{RisingLog(mass / static_cast<double>(width_)), RisingLog(mass)}).first;
    double value = 0, total = 0;
    for (std::size_t c = 0; c < width_; ++c) value += at->second.level(static_cast<std::uint32_t>(sums[c])), total += sums[c];
    return value - at->second.total(static_cast<std::uint32_t>(total));
}

std::vector<double> LeafScore::spread(const double* exponents) const {
    if (normal_) return {};
    if (spec_.exponents == Exponents::uniform) return std::vector<double>(width_, 1.0);
    if (spec_.exponents == Exponents::shared) return std::vector<double>(width_, *exponents / static_cast<double>(width_));
    return {exponents, exponents + width_};
}

// Good until the next one is asked for.
void LeafScore::read(const Region& region, double* out) {
    if (exponents_ == 0) return;
    if (spec_.exponents == Exponents::shared) {
        *out = spec_.ess * part_of(region);
        return;
    }
    std::fill_n(out, width_, 0.0);
    std::vector<double> by_level(data_.levels[child_] * width_);
    read(region, child_, by_level.data());               // P(leaf, child = c): on the diagonal
    for (std::size_t c = 0; c < width_; ++c) out[c] = by_level[c * width_ + c];
}

// The prior network is asked for the child and one parent, however many others a box limits: their limits are evidence.
void LeafScore::read(const Region& region, int parent, double* out) {
    const int levels = data_.levels[parent];
    if (exponents_ == 0) return;
    std::fill_n(out, levels * exponents_, 0.0);
    for (const Box& box : region) {
        const LevelSet* own = box.limit_of(parent);
        const LevelSet here = own ? *own : all_levels(levels);
        if (spec_.exponents == Exponents::shared) {
            const double each = spec_.ess * box.part / std::popcount(here);
            for (int k = 0; k < levels; ++k)
                if (here >> k & 1) out[k] += each;
        } else {
            const std::array both{std::min(child_, parent), std::max(child_, parent)};
            const auto table = spec_.network->joint(std::span(both).first(parent == child_ ? 1 : 2), box.limits);
            for (int k = 0; k < levels; ++k)
                for (std::size_t c = 0; c < width_; ++c) {
                    const std::size_t cell = parent == child_ ? c : parent < child_ ? k * width_ + c : c * levels + k;
                    if (parent != child_ || k == static_cast<int>(c)) out[k * width_ + c] += spec_.ess * table[cell];
                }
        }
    }
}

}  // namespace spinney
