#include "points.hpp"

#include <bit>
#include <limits>

#include "portable.hpp"

namespace spinney {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

SPINNEY_CLONES void fold(std::uint32_t* number, std::uint32_t cells, const std::uint16_t* codes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) number[i] = number[i] * cells + codes[i];
}

}  // namespace

void JointCells::set(std::span<const TreeColumn> parents, std::size_t rows, std::size_t width) {
    parents_.assign(parents.begin(), parents.end());
    rows_ = rows;
    double all = 1;
    for (const TreeColumn& parent : parents) all *= static_cast<double>(cells_of(parent));
    const double most = static_cast<double>(rows);
    sparse_ = all > 2 * most + 256 || all * static_cast<double>(width) > 64 * most + 4096;
    if (sparse_) return number_as_they_occur();
    count_ = static_cast<std::size_t>(all);
}

void JointCells::of_rows(std::size_t from, std::size_t n, std::uint32_t* out) const {
    if (sparse_) {
        std::copy_n(number_.data() + from, n, out);
        return;
    }
    std::fill_n(out, n, 0u);
    for (const TreeColumn& parent : parents_) {
        const auto cells = static_cast<std::uint32_t>(cells_of(parent));
        if (parent.group.empty()) {
            fold(out, cells, parent.codes + from, n);
        } else {
            for (std::size_t i = 0; i < n; ++i) out[i] = out[i] * cells + parent.group[parent.codes[from + i]];
        }
    }
}

void JointCells::number_as_they_occur() {
    keys_.assign(rows_, 0);
    double all = 1;
    for (const TreeColumn& parent : parents_) {
        const std::size_t cells = cells_of(parent);
        if (all * static_cast<double>(cells) > 0x1p62) {
            all = static_cast<double>(relabel());
            std::copy_n(number_.data(), rows_, keys_.data());
        }
        all *= static_cast<double>(cells);
        for (std::size_t row = 0; row < rows_; ++row) keys_[row] = keys_[row] * cells + parent.at(row);
    }
    count_ = relabel();
}

// Numbers the keys as they occur; back comes how many there are.
std::size_t JointCells::relabel() {
    const std::size_t places = std::bit_ceil(2 * rows_ + 2);
    const int shift = 64 - (std::bit_width(places) - 1);
    table_.assign(places, nobody);
    number_.resize(rows_);
    first_.clear();
    held_.clear();
    for (std::size_t row = 0; row < rows_; ++row) {
        if (row % 65536 == 0) Listening::look();
        const std::uint64_t key = keys_[row];
        std::size_t at = (key * 0x9e3779b97f4a7c15u) >> shift;
        while (table_[at] != nobody && held_[table_[at]] != key) at = (at + 1) & (places - 1);
        if (table_[at] == nobody) {
            table_[at] = static_cast<std::uint32_t>(held_.size());
            held_.push_back(key);
            first_.push_back(static_cast<std::uint32_t>(row));
        }
        number_[row] = table_[at];
    }
    return held_.size();
}

}  // namespace spinney
