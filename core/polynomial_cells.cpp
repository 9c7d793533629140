#include "polynomial_cells.hpp"

#include <algorithm>
#include <cmath>

#include "threads.hpp"

namespace spinney {
namespace {

constexpr std::size_t kept_bytes = std::size_t{48} << 20;

double n_log_n(double n) { return n > 0 ? n * std::log(n) : 0; }

}  // namespace

int PolynomialSpec::degree_of(std::size_t rows) const {
    return degree > 0 ? degree : static_cast<int>(std::floor(std::log(static_cast<double>(rows))));
}

Grouped& PolynomialCells::grouped(std::span<const int> discrete, std::span<const int> continuous, int child) {
    const std::vector<int> key(discrete.begin(), discrete.end());
    auto at = kept_.find(key);
    if (bytes_ > kept_bytes) make_room(at == kept_.end() ? nullptr : &at->second, continuous, child);
    if (at == kept_.end()) {
        std::vector<const PolyColumn*> keys;
        for (int p : discrete) keys.push_back(&data_.columns[p]);
        at = kept_.emplace(key, Grouped{group_rows(keys, data_.rows), {}, {}, {}, {}, 0, 0}).first;
        count(at->second, data_.rows * sizeof(std::uint32_t) + at->second.groups.cells.size() * sizeof(RowCell) + 200);
    }
    at->second.asked = ++asked_;
    return at->second;
}

// What was not asked for lately goes, until half of the room is free; then what else there is of the grouping that is needed.
void PolynomialCells::make_room(Grouped* needed, std::span<const int> continuous, int child) {
    std::vector<std::pair<std::uint64_t, std::size_t>> others;
    for (auto& [key, own] : kept_)
        if (&own != needed) others.emplace_back(own.asked, own.bytes);
    std::sort(others.begin(), others.end());
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < others.size() && bytes_ > kept_bytes / 2; ++i) {
        last = others[i].first;
        bytes_ -= others[i].second;
    }
    std::erase_if(kept_, [&](auto& entry) { return &entry.second != needed && entry.second.asked <= last; });
    if (bytes_ <= kept_bytes || !needed) return;
    std::size_t freed = 0;
    const auto others_of = [&](auto& kept, auto&& is_other) {
        std::erase_if(kept, [&](auto& entry) { return is_other(entry.first) && (freed += entry.second.bytes, true); });
    };
    others_of(needed->bases, [&](const std::vector<int>& own) { return !std::ranges::equal(own, continuous); });
    others_of(needed->powers, [&](int own) { return std::ranges::find(continuous, own) == continuous.end(); });
    others_of(needed->responses, [&](int own) { return own != child; });
    needed->bytes -= freed;
    bytes_ -= freed;
}

const Powers& PolynomialCells::powers(Grouped& grouped, int column) {
    auto [at, fresh] = grouped.powers.try_emplace(column);
    Powers& own = at->second;
    if (!fresh) return own;
    const auto& cells = grouped.groups.cells;
    std::size_t size = 0, powers = 0;
    for (const RowCell& cell : cells) {
        own.first.push_back(size);
        own.first_share.push_back(powers);
        powers += spec_.degree_of(cell.rows());
        size += spec_.degree_of(cell.rows()) * cell.rows();
    }
    own.shares.resize(powers);
    own.values.resize(size);
    own.count.reserve(cells.size());
    try {
        for (std::size_t c = 0; c < cells.size(); ++c) {
            const std::size_t n = cells[c].rows();
            const int degree = spec_.degree_of(n);
            const bool fitted = n > static_cast<std::size_t>(degree) + 1;
            if (fitted) {
                scratch_.resize(n);
                for (std::size_t i = 0; i < n; ++i) scratch_[i] = data_.columns[column].values[grouped.groups.order[cells[c].begin + i]];
            }
            own.count.push_back(!fitted ? 0 : orthonormal_powers(scratch_.data(), n, degree, own.values.data() + own.first[c], own.shares.data() + own.first_share[c]));
        }
    } catch (...) {                                      // a stop: half of it must not be taken for the whole
        grouped.powers.erase(at);
        throw;
    }
    own.bytes = size * sizeof(double) + cells.size() * 24 + 100;
    count(grouped, own.bytes);
    return own;
}

void PolynomialCells::leave(Grouped& grouped, int column) {
    if (bytes_ <= kept_bytes) return;
    const auto at = grouped.powers.find(column);
    grouped.bytes -= at->second.bytes;
    bytes_ -= at->second.bytes;
    grouped.powers.erase(at);
}

Basis::Cell PolynomialCells::orthonormal(const Grouped& grouped, std::size_t cell, std::span<const Powers* const> powers, bool origins,
                                         std::unique_ptr<double[]>& values, std::size_t& bytes) {
    Basis::Cell found;
    const std::size_t n = grouped.groups.cells[cell].rows();
    std::size_t most = 0;
    for (std::size_t p = 1; p < powers.size(); ++p) most += powers[p]->count[cell];
    if (most > 0) values = std::make_unique_for_overwrite<double[]>(most * n);
    bytes += most * n * sizeof(double);
    double* next = values.get();
    for (std::size_t p = 0; p < powers.size(); ++p) {
        const bool first = found.columns.empty();        // orthonormal as they are
        for (int k = 0; k < powers[p]->count[cell]; ++k) {
            const double* column = powers[p]->values.data() + powers[p]->first[cell] + k * n;
            const double share = powers[p]->shares[powers[p]->first_share[cell] + k];
            std::vector<double> taken;
            if (!first) {
                std::copy(column, column + n, next);
                if (origins) taken.resize(found.columns.size() + 1);
                const double left = orthogonalise(next, found.columns.data(), found.columns.size(), n, share, origins ? taken.data() : nullptr);
                if (left == 0) {
                    found.whole = false;
                    continue;
                }
                found.product *= left * left;
                column = next;
                next += n;
            }
            found.share = std::min(found.share, share);
            found.columns.push_back(column);
            if (origins) found.origins.push_back({p, k, std::move(taken)});
        }
    }
    return found;
}

const Basis& PolynomialCells::basis(Grouped& grouped, std::span<const int> continuous) {
    auto [at, fresh] = grouped.bases.try_emplace(std::vector<int>(continuous.begin(), continuous.end()));
    Basis& own = at->second;
    if (!fresh) return own;
    try {
        std::vector<const Powers*> powers;
        for (int p : continuous) powers.push_back(&this->powers(grouped, p));
        const auto& cells = grouped.groups.cells;
        own.cells.resize(cells.size());
        for (std::size_t c = 0; c < cells.size(); ++c) {
            const std::size_t n = cells[c].rows();
            if (n <= continuous.size() * spec_.degree_of(n) + 1) continue;
            std::unique_ptr<double[]> values;
            own.cells[c] = orthonormal(grouped, c, powers, false, values, own.bytes);
            if (values) own.values.push_back(std::move(values));
        }
    } catch (...) {
        grouped.bases.erase(at);
        throw;
    }
    own.bytes += own.cells.size() * sizeof(Basis::Cell) + 100;
    count(grouped, own.bytes);
    return own;
}

const Response& PolynomialCells::response(Grouped& grouped, int child) {
    auto [at, fresh] = grouped.responses.try_emplace(child);
    Response& own = at->second;
    if (!fresh) return own;
    const PolyColumn& column = data_.columns[child];
    const auto& order = grouped.groups.order;
    if (column.levels == 0) {
        own.values.resize(data_.rows);
        for (std::size_t i = 0; i < data_.rows; ++i) own.values[i] = column.values[order[i]];
    } else {
        own.codes.resize(data_.rows);
        for (std::size_t i = 0; i < data_.rows; ++i) own.codes[i] = column.codes[order[i]];
    }
    std::vector<std::uint32_t> counts(column.levels, 0);
    for (const RowCell& cell : grouped.groups.cells) {
        const std::size_t n = cell.rows();
        double alone = 0;
        if (column.levels == 0) {
            double* y = own.values.data() + cell.begin;
            const double first = y[0];                   // of equal values the mean is that value, exactly
            for (std::size_t i = 0; i < n; ++i) y[i] -= first;
            const double mean = sum(y, n) / static_cast<double>(n);
            for (std::size_t i = 0; i < n; ++i) y[i] -= mean;
            alone = dot(y, y, n);
        } else {
            own.first_level.push_back(static_cast<std::uint32_t>(own.levels.size()));
            for (std::size_t i = cell.begin; i < cell.end; ++i) ++counts[own.codes[i]];
            const auto level = [&](int h) {
                if (counts[h] == 0) return;
                own.levels.push_back({h, static_cast<double>(counts[h])});
                alone += n_log_n(counts[h]);
                counts[h] = 0;
            };
            if (n >= counts.size() / 8)
                for (int h = 0; h < column.levels; ++h) level(h);
            else {                                       // few rows of very many levels
                std::vector<std::uint16_t> seen(own.codes.begin() + cell.begin, own.codes.begin() + cell.end);
                std::sort(seen.begin(), seen.end());
                for (int h : seen) level(h);
            }
            alone -= n_log_n(static_cast<double>(n));
        }
        own.alone.push_back(alone);
    }
    own.first_level.push_back(static_cast<std::uint32_t>(own.levels.size()));
    own.bytes = data_.rows * (column.levels ? sizeof(std::uint16_t) : sizeof(double)) + own.alone.size() * 12 + own.levels.size() * sizeof(Response::Level) + 100;
    count(grouped, own.bytes);
    return own;
}

const std::vector<std::uint32_t>& PolynomialCells::cell_of(Grouped& grouped) {
    if (grouped.cell_of.empty()) {
        grouped.cell_of.resize(data_.rows);
        const auto& cells = grouped.groups.cells;
        for (std::size_t c = 0; c < cells.size(); ++c)
            for (std::size_t i = cells[c].begin; i < cells[c].end; ++i) grouped.cell_of[grouped.groups.order[i]] = static_cast<std::uint32_t>(c);
        count(grouped, data_.rows * sizeof(std::uint32_t));
    }
    return grouped.cell_of;
}

}  // namespace spinney
