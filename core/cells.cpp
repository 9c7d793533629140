#include "cells.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "bits.hpp"

namespace spinney {
namespace {

constexpr std::size_t block_words = 512;                 // 4 KiB of each bitmap: cells and levels of a block stay in L1/L2

void list_rows(const Word* bits, std::size_t words, std::uint32_t* out) {
    for (std::size_t w = 0; w < words; ++w)
        for (Word word = bits[w]; word; word &= word - 1)
            *out++ = static_cast<std::uint32_t>(w * 64 + std::countr_zero(word));
}

}  // namespace

Cells::Cells(const Data& data)
    : data_(data), small_(static_cast<std::uint32_t>(data.words() * bits::list_share) + 8), stack_(1) {
    add(stack_[0], 0, 0, static_cast<std::uint32_t>(data.rows()), Cell{data.all_rows(), 0});
}

void Cells::add(Layer& layer, int parent, int value, std::uint32_t count, Cell cell) {
    layer.parent.push_back(parent);
    layer.value.push_back(value);
    layer.count.push_back(count);
    layer.cell.push_back(cell);
}

std::span<const std::uint32_t> Cells::rows_of(const Layer& layer, int cell, std::vector<std::uint32_t>& scratch) const {
    const Cell& c = layer.cell[cell];
    if (!c.bits) return {layer.rows.data() + c.first, layer.count[cell]};
    scratch.resize(layer.count[cell]);
    list_rows(c.bits, data_.words(), scratch.data());
    return scratch;
}

void Cells::push(int variable) {
    if (static_cast<int>(stack_.size()) < depth_ + 2) stack_.resize(depth_ + 2);
    const Layer& from = stack_[depth_];
    Layer& to = stack_[++depth_];
    to.variable = variable;
    for (auto* v : {&to.count, &to.rows, &to.parent, &to.value}) v->clear();
    to.cell.clear();
    to.without.resize(std::max<std::size_t>(to.without.size(), depth_));
    to.known.assign(depth_, 0);

    const int levels = data_.levels(variable);
    const std::size_t words = data_.words();
    // A large cell needs small_ rows, so there are at most rows / small_ of them, and one trial slot.
    std::size_t slots = std::min<std::size_t>(from.cell.size() * levels, data_.rows() / std::max(1u, small_)) + 1;
    std::size_t used = 0;
    Word* store = depth_ > 1 || !data_.has_bitmaps(variable) ? to.bits.need(slots * words) : nullptr;

    for (int c = 0; c < static_cast<int>(from.cell.size()); ++c) {
        const Cell& cell = from.cell[c];
        if (cell.bits && data_.has_bitmaps(variable)) {
            for (int level = 0; level < levels; ++level) {
                const Word* own = data_.bitmap(variable, level);
                Word* slot = store ? store + used * words : nullptr;
                std::uint32_t count = 0;
                if (store) {
                    count = bits::and_into(cell.bits, own, words, slot);
                } else {                                 // the first variable: its own bitmaps serve
                    bits::and_counts(data_.all_rows(), &own, 1, words, &count);
                }
                if (!count) continue;
                if (count >= small_) {
                    add(to, c, level, count, Cell{store ? slot : own, 0});
                    ++used;
                } else {
                    std::size_t first = to.rows.size();
                    to.rows.resize(first + count);
                    list_rows(store ? slot : own, words, to.rows.data() + first);
                    add(to, c, level, count, Cell{nullptr, first});
                }
            }
            continue;
        }
        auto rows = rows_of(from, c, scratch_);
        std::size_t first = to.rows.size();
        to.rows.resize(first + rows.size());
        starts_.assign(levels + 1, 0);
        data_.column(variable).visit([&](auto* values) {
            for (std::uint32_t row : rows) ++starts_[values[row] + 1];
            for (int level = 0; level < levels; ++level) starts_[level + 1] += starts_[level];
            for (std::uint32_t row : rows) to.rows[first + starts_[values[row]]++] = row;
        });
        for (int level = 0; level < levels; ++level) {   // starts_ has moved on by one level
            std::uint32_t begin = level ? starts_[level - 1] : 0, count = starts_[level] - begin;
            if (!count) continue;
            Cell made{nullptr, first + begin};
            if (count >= small_) {
                Word* slot = store + used++ * words;
                std::memset(slot, 0, words * sizeof(Word));
                for (std::uint32_t i = 0; i < count; ++i) {
                    std::uint32_t row = to.rows[first + begin + i];
                    slot[row >> 6] |= Word{1} << (row & 63);
                }
                made.bits = slot;
            }
            add(to, c, level, count, made);
        }
    }
}

void Cells::set(std::span<const int> variables) {
    int shared = 0;
    while (shared < depth_ && shared < static_cast<int>(variables.size()) && variable(shared) == variables[shared])
        ++shared;
    depth_ = shared;
    for (std::size_t i = shared; i < variables.size(); ++i) push(variables[i]);
}

const Cells::Without& Cells::without(int layer, int position) {
    Layer& at = stack_[layer];
    Without& result = at.without[position];
    if (at.known[position]) return result;
    at.known[position] = 1;
    if (position == layer - 1) {                         // the variable pushed last
        result.value = at.value;
        result.group = at.parent;
        result.groups = static_cast<int>(stack_[layer - 1].count.size());
        return result;
    }
    const Without& before = without(layer - 1, position);
    const std::size_t levels = data_.levels(at.variable), cells = at.count.size(), keys = before.groups * levels;
    result.value.resize(cells);
    result.group.resize(cells);
    result.groups = 0;
    auto fill = [&](auto&& number) {
        for (std::size_t c = 0; c < cells; ++c) {
            result.value[c] = before.value[at.parent[c]];
            result.group[c] = number(before.group[at.parent[c]] * levels + at.value[c]);
        }
    };
    if (keys <= 16 * cells + 4096) {
        relabel_.assign(keys, -1);
        fill([&](std::size_t key) {
            if (relabel_[key] < 0) relabel_[key] = result.groups++;
            return static_cast<std::uint32_t>(relabel_[key]);
        });
    } else {
        std::unordered_map<std::size_t, std::uint32_t> numbers;
        fill([&](std::size_t key) {
            auto [place, made] = numbers.try_emplace(key, result.groups);
            result.groups += made;
            return place->second;
        });
    }
    return result;
}

std::size_t Cells::at_once(std::span<const int> others) const {
    constexpr std::size_t most = 16u << 20;              // numbers: 64 MiB
    std::size_t total = 0, n = 0;
    while (n < others.size() && (n == 0 || total + top().cell.size() * data_.levels(others[n]) <= most))
        total += top().cell.size() * data_.levels(others[n++]);
    return n;
}

void Cells::count(std::span<const int> others, std::vector<const std::uint32_t*>& out) {
    const Layer& at = top();
    const std::size_t cells = at.cell.size(), words = data_.words();
    offsets_.assign(others.size(), 0);
    std::size_t total = 0;
    for (std::size_t i = 0; i < others.size(); ++i) {
        offsets_[i] = total;
        total += cells * data_.levels(others[i]);
    }
    table_.assign(total, 0);
    out.clear();
    for (std::size_t i = 0; i < others.size(); ++i) out.push_back(table_.data() + offsets_[i]);

    // Bitmaps of all levels but the last of every packed variable, one after another.
    bitmaps_.clear();
    for (int v : others)
        if (data_.has_bitmaps(v))
            for (int level = 0; level + 1 < data_.levels(v); ++level) bitmaps_.push_back(data_.bitmap(v, level));
    const std::size_t flat = bitmaps_.size();
    levels_of_.assign(flat * cells, 0);
    for (std::size_t w = 0; flat && w < words; w += block_words) {
        std::size_t width = std::min(block_words, words - w);
        for (std::size_t c = 0; c < cells; ++c)
            if (at.cell[c].bits)
                bits::and_counts(at.cell[c].bits + w, bitmaps_.data(), static_cast<int>(flat), width,
                                 levels_of_.data() + c * flat);
        for (const Word*& b : bitmaps_) b += width;
    }

    // Small cells: one pass per variable over all their rows together, each with the number of its cell.
    thin_rows_.clear();
    thin_cells_.clear();
    for (std::size_t c = 0; c < cells; ++c) {
        if (at.cell[c].bits) continue;
        auto first = at.rows.begin() + at.cell[c].first;
        thin_rows_.insert(thin_rows_.end(), first, first + at.count[c]);
        thin_cells_.insert(thin_cells_.end(), at.count[c], static_cast<std::uint32_t>(c));
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
        std::uint32_t* own = table_.data() + offsets_[i];
        const std::size_t levels = data_.levels(others[i]);
        data_.column(others[i]).visit([&](auto* values) {
            // From four places at once: neighbours in the list often raise the same counter, and would wait for each other.
            const std::size_t all = thin_rows_.size(), quarter = all / 4;
            auto raise = [&](std::size_t k) { ++own[thin_cells_[k] * levels + values[thin_rows_[k]]]; };
            for (std::size_t k = 0; k < quarter; ++k) {
                raise(k);
                raise(k + quarter);
                raise(k + 2 * quarter);
                raise(k + 3 * quarter);
            }
            for (std::size_t k = 4 * quarter; k < all; ++k) raise(k);
        });
    }
    for (std::size_t c = 0; c < cells; ++c) {
        if (!at.cell[c].bits) continue;
        const std::uint32_t* counted = levels_of_.data() + c * flat;
        bool listed = false;
        for (std::size_t i = 0; i < others.size(); ++i) {
            const int levels = data_.levels(others[i]);
            std::uint32_t* own = table_.data() + offsets_[i] + c * levels;
            if (data_.has_bitmaps(others[i])) {
                std::uint32_t left = at.count[c];
                for (int level = 0; level + 1 < levels; ++level) left -= own[level] = *counted++;
                own[levels - 1] = left;
                continue;
            }
            if (!listed) rows_of(at, static_cast<int>(c), scratch_);
            listed = true;
            data_.column(others[i]).visit([&](auto* values) {
                for (std::uint32_t row : scratch_) ++own[values[row]];
            });
        }
    }
}

}  // namespace spinney
