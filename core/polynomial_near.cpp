// A family and one parent more, for many candidates at once, to all digits but the last ones. What the family has is orthonormal
// already, so a continuous candidate needs its inner products alone (a discrete child: its columns made orthogonal). With powers
// of degree 1, or without continuous parents, sums over the rows of every cell are enough for a discrete candidate. Where so
// little is left of a column or of the child that sums have lost digits, or that a column might be dropped, the family is scored
// by itself.
#include <algorithm>
#include <cmath>

#include "polynomial.hpp"
#include "portable.hpp"
#include "threads.hpp"

namespace spinney {
namespace {

constexpr double least_pivot = 1e-4;                     // of a column given others: what is left of its square
constexpr double least_kept = 1e-7;                      // a thousand times what a column is dropped at, in squares (least_share)
constexpr double least_left = 1e-4;                      // of the child's squares
constexpr std::size_t few_logs = std::size_t{1} << 16;

// sums[cell of the row] += the row, for rows of `width` numbers, a multiple of 4.
SPINNEY_CLONES void add_rows(const double* rows, std::size_t width, const std::uint32_t* cells, std::size_t n, double* sums) {
    for (std::size_t i = 0; i < n; ++i, rows += width) {
        double* to = sums + cells[i] * width;
        for (std::size_t q = 0; q < width; q += 4)
            for (std::size_t l = 0; l < 4; ++l) to[q + l] += rows[q + l];
    }
}

// The squares of the last of `count` + 1 columns that are left given the others, from one cell's number of rows, sums, and sums of
// products. None where digits were lost, or where a column might be dropped.
std::optional<double> squares_from_sums(const double* sums, std::size_t count, std::vector<double>& matrix) {
    const double n = sums[0];
    const std::size_t k = count + 1;
    const double* products = sums + 1 + k;               // of column i with columns j <= i
    if (n == 1) return 0;
    const bool fitted = n > static_cast<double>(k);
    matrix.resize(k * k);
    double kept = 1;
    for (std::size_t i = fitted ? 0 : count; i < k; ++i) {
        const double* own = products + i * (i + 1) / 2;
        const double mean = sums[1 + i] / n, square = own[i] / n, variance = square - mean * mean;
        double left = variance;
        for (std::size_t j = 0; fitted && j < i; ++j) {
            double entry = own[j] / n - mean * (sums[1 + j] / n);
            for (std::size_t m = 0; m < j; ++m) entry -= matrix[i * k + m] * matrix[j * k + m] * matrix[m * k + m];
            matrix[i * k + j] = entry / matrix[j * k + j];
            left -= entry * matrix[i * k + j];
        }
        if (i == count) return left >= least_left * square ? std::optional(left * n) : std::nullopt;
        kept *= left / variance;
        // The column's own power is at least sqrt(2/n) of its polynomial, which least_share is a share of.
        if (!(variance > least_pivot * square) || !(kept > std::max(least_pivot, n * 5e-10))) return {};
        matrix[i * k + i] = left;
    }
    return {};
}

}  // namespace

struct PolynomialFamilies::Larger {
    int child;
    std::vector<int> discrete, continuous;
    Grouped& grouped;
    const Response& response;
    const Basis& basis;
    // Made when a candidate needs them. Of a continuous child: what is left of it in the order of the groups, and its squares per cell.
    std::vector<double> rest, left;
    // Of a discrete one, per cell: sums by level, fitted values level after level.
    std::vector<std::vector<double>> sums, fitted;
    // Per row of the table: 1, the continuous parents and the child, their products; `width` numbers in all.
    std::vector<double> products;
    std::size_t width = 0;
    std::vector<std::uint32_t> cells;                    // scratch: of the rows
};

double PolynomialFamilies::n_log_n(std::size_t n) {
    if (logs_.empty()) {
        logs_.resize(std::min(data_.rows + 1, few_logs));
        for (std::size_t i = 1; i < logs_.size(); ++i) logs_[i] = static_cast<double>(i) * std::log(static_cast<double>(i));
    }
    return n < logs_.size() ? logs_[n] : static_cast<double>(n) * std::log(static_cast<double>(n));
}

void PolynomialFamilies::near(int child, std::span<const int> parents, std::span<const int> candidates, double, double* out) {
    if (data_.rows == 0 || !fits(child, parents) || candidates.empty()) return extend(child, parents, candidates, out);
    std::vector<int> discrete, continuous;
    split(parents, discrete, continuous);
    Grouped& grouped = cells_.grouped(discrete, continuous, child);
    Larger family{child, discrete, continuous, grouped, cells_.response(grouped, child), cells_.basis(grouped, continuous), {}, {}, {}, {}, {}, 0, {}};
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const int c = candidates[i];
        std::optional<FamilyLikelihood> found;
        const bool column = data_.columns[c].levels == 0;
        if (!column) found = with_levels(family, c);
        else if (fits(child, with(parents, c))) found = with_column(family, c);
        if (found) out[i] = from(*found, parents.size() + 1);
        else others.push_back(i);
        Listening::look();
    }
    for (std::size_t i : others) extend(child, parents, candidates.subspan(i, 1), out + i);              // these may take the family's place in memory
}

// --- a continuous candidate ----------------------------------------------------------------------------------------------

std::optional<FamilyLikelihood> PolynomialFamilies::with_column(Larger& family, int column) {
    const bool known = family.grouped.powers.contains(column);
    const Powers& powers = cells_.powers(family.grouped, column);
    const auto all = [&]() -> std::optional<FamilyLikelihood> {
        FamilyLikelihood found;
        Squares squares;
        for (std::size_t c = 0; c < family.grouped.groups.cells.size(); ++c) {
            Cell cell{family.grouped, family.response, family.child, c};
            const std::size_t n = cell.n(), width = (family.continuous.size() + 1) * spec_.degree_of(n) + 1;
            found.parameters += parameters_of(family.child, width);
            const bool levels = !family.response.codes.empty();
            double own = family.response.alone[c];
            if (has_regression(cell, width) && family.basis.cells[c].columns.size() + powers.count[c] > 0) {
                if (!family.basis.cells[c].whole) return {};
                const auto regressed = levels ? levels_with(family, cell, powers) : squares_with(family, c, powers);
                if (!regressed) return {};
                own = *regressed;
            }
            if (levels) found.log_likelihood += own;
            else squares.emplace_back(n, own);
        }
        if (family.response.codes.empty()) found.log_likelihood = gaussian(family.child, squares, nullptr);
        return found;
    };
    const auto found = all();
    if (!known) cells_.leave(family.grouped, column);
    return found;
}

// The columns of the candidate as a Gram matrix given those of the family.
std::optional<double> PolynomialFamilies::squares_with(Larger& family, std::size_t c, const Powers& powers) {
    const auto& cells = family.grouped.groups.cells;
    if (family.rest.empty()) {
        family.rest = family.response.values;
        for (std::size_t own = 0; own < cells.size(); ++own) {
            const std::size_t n = cells[own].rows();
            double* y = family.rest.data() + cells[own].begin;
            for (const double* column : family.basis.cells[own].columns) subtract(y, dot(y, column, n) / static_cast<double>(n), column, n);
            family.left.push_back(dot(y, y, n));
        }
    }
    const Basis::Cell& basis = family.basis.cells[c];
    const std::size_t n = cells[c].rows(), k = powers.count[c], b = basis.columns.size();
    const double rows = static_cast<double>(n);
    shared_.resize((k + 1) * b);
    gram_.resize(k * k);
    double product = basis.product, share = basis.share, left = family.left[c];
    const double* y = family.rest.data() + cells[c].begin;
    table_.resize(k);                                    // of what is left of the child with the columns, made orthogonal
    for (std::size_t i = 0; i < k; ++i) {
        const double* column = powers.values.data() + powers.first[c] + i * n;
        share = std::min(share, powers.shares[powers.first_share[c] + i]);
        double pivot = 1, with_child = dot(y, column, n) / rows, *shared = shared_.data() + i * b;
        dots(column, basis.columns.data(), b, n, shared);
        for (std::size_t m = 0; m < b; ++m) {
            shared[m] /= rows;
            pivot -= shared[m] * shared[m];
        }
        for (std::size_t j = 0; j < i; ++j) {
            double entry = 0;
            for (std::size_t m = 0; m < b; ++m) entry -= shared_[i * b + m] * shared_[j * b + m];
            for (std::size_t m = 0; m < j; ++m) entry -= gram_[i * k + m] * gram_[j * k + m] * gram_[m * k + m];
            gram_[i * k + j] = entry / gram_[j * k + j];
            pivot -= entry * gram_[i * k + j];
            with_child -= gram_[i * k + j] * table_[j];
        }
        product *= pivot;
        if (!(pivot > least_pivot) || !(product * share * share > least_kept)) return {};
        gram_[i * k + i] = pivot;
        table_[i] = with_child;
        left -= rows * with_child * with_child / pivot;
    }
    return left >= least_left * family.response.alone[c] ? std::optional(left) : std::nullopt;
}

std::optional<double> PolynomialFamilies::levels_with(Larger& family, Cell& cell, const Powers& powers) {
    const std::size_t c = cell.number, n = cell.n(), levels = cell.levels().size();
    const Basis::Cell& basis = family.basis.cells[c];
    const std::size_t b = basis.columns.size(), k = powers.count[c];
    if (family.sums.empty()) family.sums.resize(family.grouped.groups.cells.size()), family.fitted.resize(family.sums.size());
    if (family.sums[c].empty()) {
        columns_ = basis.columns;
        observed_.assign(levels * (b + 1), 0.0);
        for (std::size_t h = 0; h < levels; ++h) observed_[h * (b + 1)] = cell.levels()[h].rows;
        sums_by_level(cell, 0);
        family.sums[c] = observed_;
        for (std::size_t h = 0; h < levels && !spec_.logistic; ++h) {
            const double* sums = observed_.data() + h * (b + 1);
            const std::size_t first = family.fitted[c].size();
            family.fitted[c].resize(first + n, sums[0] / static_cast<double>(n));
            std::vector<double> factors(sums + 1, sums + 1 + b);
            for (double& factor : factors) factor /= static_cast<double>(n);
            add(family.fitted[c].data() + first, factors.data(), basis.columns.data(), b, 0, n);
        }
    }
    columns_ = basis.columns;
    double product = basis.product, share = basis.share;
    if (b > 0) new_columns_.resize(k * n);
    for (std::size_t i = 0; i < k; ++i) {
        const double* column = powers.values.data() + powers.first[c] + i * n;
        const double own = powers.shares[powers.first_share[c] + i];
        share = std::min(share, own);
        if (b > 0) {
            double* next = new_columns_.data() + i * n;
            std::copy_n(column, n, next);
            const double left = orthogonalise(next, columns_.data(), columns_.size(), n, own);
            product *= left * left;
            column = next;
        }
        if (!(product * share * share > least_kept)) return {};
        columns_.push_back(column);
    }
    observed_.resize(levels * (b + k + 1));
    for (std::size_t h = 0; h < levels; ++h) std::copy_n(family.sums[c].data() + h * (b + 1), b + 1, observed_.data() + h * (b + k + 1));
    return regressed(cell, family.fitted[c].empty() ? nullptr : family.fitted[c].data(), b);
}

// --- a discrete candidate ------------------------------------------------------------------------------------------------

std::optional<FamilyLikelihood> PolynomialFamilies::with_levels(Larger& family, int column) {
    const PolyColumn &child = data_.columns[family.child], &own = data_.columns[column];
    const std::size_t rows = data_.rows, count = family.continuous.size();
    if (count > 0 && (child.levels || spec_.degree != 1)) return {};
    const std::size_t cells = family.grouped.groups.cells.size() * own.levels;
    if (cells * std::max(child.levels, 1) > 4 * rows + 1024) return {};
    family.cells.resize(rows);
    if (family.discrete.empty()) {
        std::copy_n(own.codes, rows, family.cells.begin());
    } else {
        const auto& cell_of = cells_.cell_of(family.grouped);
        const auto levels = static_cast<std::uint32_t>(own.levels);
        for (std::size_t i = 0; i < rows; ++i) family.cells[i] = cell_of[i] * levels + own.codes[i];
    }
    FamilyLikelihood found;
    if (child.levels) {
        const std::size_t levels = child.levels;
        counts_.assign(cells * levels, 0);
        for (std::size_t i = 0; i < rows; ++i) ++counts_[family.cells[i] * levels + child.codes[i]];
        for (std::size_t c = 0; c < cells; ++c) {
            std::size_t n = 0;
            double likelihood = 0;
            for (std::size_t h = 0; h < levels; ++h) {
                n += counts_[c * levels + h];
                likelihood += n_log_n(counts_[c * levels + h]);
            }
            if (n == 0) continue;
            found.parameters += parameters_of(family.child, 1);
            found.log_likelihood += likelihood - n_log_n(n);
        }
        return found;
    }
    if (family.products.empty()) {
        std::vector<int> columns = family.continuous;
        columns.push_back(family.child);
        const std::size_t k = columns.size();
        family.width = (1 + k + k * (k + 1) / 2 + 3) / 4 * 4;
        family.products.assign(rows * family.width, 0.0);
        for (std::size_t c = 0; c < k; ++c) {
            const double mean = spread(columns[c]).mean, *values = data_.columns[columns[c]].values;
            for (std::size_t i = 0; i < rows; ++i) family.products[i * family.width + 1 + c] = values[i] - mean;
        }
        for (std::size_t i = 0; i < rows; ++i) {
            double* row = &family.products[i * family.width];
            row[0] = 1;
            double* out = row + 1 + k;
            for (std::size_t a = 0; a < k; ++a)
                for (std::size_t b = 0; b <= a; ++b) *out++ = row[1 + a] * row[1 + b];
        }
    }
    table_.assign(cells * family.width, 0.0);
    add_rows(family.products.data(), family.width, family.cells.data(), rows, table_.data());
    Squares squares;
    const bool constant = !(spread(family.child).variance > 0);
    for (std::size_t c = 0; c < cells; ++c) {
        const double* sums = table_.data() + c * family.width;
        if (sums[0] == 0) continue;
        found.parameters += parameters_of(family.child, count + 1);
        const auto left = constant ? 0 : squares_from_sums(sums, count, gram_);
        if (!left) return {};
        squares.emplace_back(static_cast<std::size_t>(sums[0]), *left);
    }
    found.log_likelihood = gaussian(family.child, squares, nullptr);
    return found;
}

}  // namespace spinney
