#include "total_counts.hpp"

#include <algorithm>

#include "threads.hpp"

namespace spinney {
namespace {

const double nowhere = 0;                                // what columns without cells point at: they are never looked at

Data without_cells(const std::vector<int>& levels, std::size_t rows) {
    std::vector<Column> columns(levels.size());
    for (std::size_t v = 0; v < levels.size(); ++v) columns[v].levels = levels[v], columns[v].values = &nowhere;
    return Data(std::move(columns), rows);
}

}  // namespace

std::vector<SetCounts> set_counts(const Data& data, std::span<const std::vector<int>> sets) {
    std::vector<SetCounts> found(sets.size());
    Cells cells(data);
    std::vector<int> lasts;
    std::vector<const std::uint32_t*> matrices;
    for (std::size_t begin = 0, end; begin < sets.size(); begin = end) {
        const std::span<const int> prefix(sets[begin].data(), sets[begin].size() - 1);
        lasts.clear();
        for (end = begin; end < sets.size(); ++end) {
            const std::vector<int>& set = sets[end];
            if (set.size() != prefix.size() + 1 || !std::equal(prefix.begin(), prefix.end(), set.begin())) break;
            lasts.push_back(set.back());
        }
        Listening::look();
        cells.set(prefix);
        std::vector<std::uint64_t> code(cells.size(), 0);
        for (std::size_t position = 0; position < prefix.size(); ++position) {
            const auto& value = cells.without(static_cast<int>(position)).value;
            for (std::size_t c = 0; c < code.size(); ++c) code[c] = code[c] * data.levels(prefix[position]) + value[c];
        }
        std::span<const int> rest(lasts);
        for (std::size_t done = 0; done < lasts.size();) {
            const std::size_t n = cells.at_once(rest.subspan(done));
            Listening::look();
            cells.count(rest.subspan(done, n), matrices);
            for (std::size_t i = 0; i < n; ++i) {
                SetCounts& own = found[begin + done + i];
                const auto width = static_cast<std::uint64_t>(data.levels(lasts[done + i]));
                const std::uint32_t* matrix = matrices[i];
                for (std::size_t c = 0; c < code.size(); ++c, matrix += width)
                    for (std::uint64_t level = 0; level < width; ++level)
                        if (matrix[level]) own.codes.push_back(code[c] * width + level), own.counts.push_back(matrix[level]);
            }
            done += n;
        }
    }
    return found;
}

TotalScores::TotalScores(const std::vector<int>& levels, std::size_t rows, const ScoreSpec& spec)
    : data_(without_cells(levels, rows)), scorer_(data_, spec, tables_) {}

double TotalScores::score(int child, std::span<const int> set, std::span<const std::uint64_t> codes, std::span<const std::uint32_t> counts) {
    // Cells of all variables but the last, in the order of their codes, and the last one's levels beside.
    const int last = set.back();
    const auto width = static_cast<std::uint64_t>(data_.levels(last));
    prefixes_.clear();
    matrix_.clear();
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const std::uint64_t prefix = codes[i] / width;
        if (prefixes_.empty() || prefixes_.back() != prefix) {
            prefixes_.push_back(prefix);
            matrix_.resize(matrix_.size() + width, 0);
        }
        matrix_[matrix_.size() - width + codes[i] % width] = counts[i];
    }
    parents_.assign(set.begin(), set.end());
    parents_.erase(std::find(parents_.begin(), parents_.end(), child));
    totals_.clear();
    if (child == last) {                                 // the cells themselves
        for (std::size_t c = 0; c < prefixes_.size(); ++c) {
            std::uint32_t total = 0;
            for (std::uint64_t level = 0; level < width; ++level) total += matrix_[c * width + level];
            totals_.push_back(total);
        }
    } else {                                             // the cells without the child, numbered as they come up
        std::uint64_t below = 1;                         // joint levels of what stands between the child and the last
        for (std::size_t i = set.size() - 1; set[--i] != child;) below *= data_.levels(set[i]);
        const std::uint64_t own = below * data_.levels(child);
        groups_.clear();
        for (std::size_t c = 0; c < prefixes_.size(); ++c) {
            const std::uint64_t key = prefixes_[c] / own * below + prefixes_[c] % below;
            const auto [place, made] = groups_.try_emplace(key, static_cast<std::uint32_t>(groups_.size()));
            if (made) totals_.resize(totals_.size() + width, 0);
            std::uint32_t* group = totals_.data() + place->second * width;
            for (std::uint64_t level = 0; level < width; ++level) group[level] += matrix_[c * width + level];
        }
    }
    return scorer_.from_counts(child, parents_, {matrix_, totals_});
}

}  // namespace spinney
