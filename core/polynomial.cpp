#include "polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "threads.hpp"
#include "vector_math.hpp"

namespace spinney {
namespace {

constexpr double least_variance = 1e-10;                 // of a cell, as a share of the child's variance
constexpr double most_logits = 1500;                     // free coefficients of one logistic regression: a second for each step
constexpr std::size_t lanes = 8, block_rows = 64, together = 4;

// The sum of the logs of the repaired probabilities of rows. fitted: one row of block_rows values per level that occurs; own: the
// values of the rows' own levels; `least`: what the smallest fitted value is at the most (0 where a declared level does not occur).
SPINNEY_CLONES double shrunk_logs(const double* fitted, std::size_t levels, const double* own, std::size_t rows, double least,
                                  double lowest, double middle) {
    const std::size_t padded = (rows + lanes - 1) / lanes * lanes;
    double smallest[block_rows], product[lanes];
    for (std::size_t i = 0; i < padded; ++i) smallest[i] = least;
    for (std::size_t h = 0; h < levels; ++h) {
        const double* f = fitted + h * block_rows;
        for (std::size_t i = 0; i < padded; ++i) smallest[i] = f[i] < smallest[i] ? f[i] : smallest[i];
    }
    for (std::size_t i = 0; i < padded; ++i) {
        const double a = (lowest - middle) / (smallest[i] - middle);
        smallest[i] = a * own[i] + (1 - a) * middle;
    }
    for (std::size_t i = rows; i < padded; ++i) smallest[i] = 1;
    for (std::size_t l = 0; l < lanes; ++l) product[l] = 1;
    for (std::size_t i = 0; i < padded; i += lanes)      // eight factors of at least 1/n each
        for (std::size_t l = 0; l < lanes; ++l) product[l] *= smallest[i + l];
    double all = 0;
    for (std::size_t l = 0; l < lanes; ++l) all += log_positive(product[l]);
    return all;
}

}  // namespace

// --- one cell ------------------------------------------------------------------------------------------------------------

// Least squares of a continuous child.
double PolynomialFamilies::squares_left(const Cell& cell) {
    const std::size_t n = cell.n();
    const double *y = cell.response.values.data() + cell.rows().begin, rows = static_cast<double>(n);
    rest_.assign(y, y + n);
    slopes_.clear();
    for (const double* column : columns_) {
        slopes_.push_back(dot(rest_.data(), column, n) / rows);
        subtract(rest_.data(), slopes_.back(), column, n);
    }
    return dot(rest_.data(), rest_.data(), n);
}

// Of the columns from the `from`-th on: observed_ has per level that occurs its rows and the sums of all columns over them.
void PolynomialFamilies::sums_by_level(const Cell& cell, std::size_t from) {
    const std::size_t n = cell.n(), width = columns_.size() + 1, levels = data_.columns[cell.child].levels;
    const std::uint16_t* codes = cell.response.codes.data() + cell.rows().begin;
    for (std::size_t first = from; first < columns_.size(); first += together) {
        const double* columns[together];                 // the last one once more where there are fewer
        for (std::size_t q = 0; q < together; ++q) columns[q] = columns_[std::min(first + q, columns_.size() - 1)];
        table_.assign(levels * together, 0.0);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t q = 0; q < together; ++q) table_[codes[i] * together + q] += columns[q][i];
        std::size_t h = 0;
        for (const Response::Level& level : cell.levels()) {
            double* out = observed_.data() + h++ * width + 1;
            for (std::size_t q = 0; q < together && first + q < columns_.size(); ++q) out[first + q] = table_[level.level * together + q];
        }
    }
}

// Least squares of the indicators of a discrete child, repaired. The fitted values without the columns from the `from`-th on
// are known already, or `base` is null.
double PolynomialFamilies::shrunk(const Cell& cell, const double* base, std::size_t from) {
    const std::size_t n = cell.n(), count = columns_.size(), levels = cell.levels().size();
    const int declared = data_.columns[cell.child].levels;
    const double rows = static_cast<double>(n), lowest = 1 / rows, middle = 1.0 / declared;
    for (double& value : observed_) value /= rows;       // the coefficients: the columns are orthonormal
    block_.resize((levels + 1) * block_rows);
    double* own = block_.data() + levels * block_rows;
    place_.resize(declared);
    for (std::size_t h = 0; h < levels; ++h) place_[cell.levels()[h].level] = h * block_rows;
    const std::uint16_t* codes = cell.response.codes.data() + cell.rows().begin;
    const double least = static_cast<int>(levels) < declared ? 0 : lowest;
    double likelihood = 0;
    for (std::size_t first = 0; first < n; first += block_rows) {
        const std::size_t some = std::min(block_rows, n - first);
        for (std::size_t h = 0; h < levels; ++h) {
            double* out = block_.data() + h * block_rows;
            const double* factors = observed_.data() + h * (count + 1);
            if (base) std::copy_n(base + h * n + first, some, out);
            else std::fill_n(out, some, factors[0]);
            add(out, factors + 1 + from, columns_.data() + from, count - from, first, some);
            std::fill(out + some, out + block_rows, middle);
        }
        for (std::size_t i = 0; i < some; ++i) own[i] = block_[place_[codes[first + i]] + i];
        std::fill(own + some, own + block_rows, middle);
        likelihood += shrunk_logs(block_.data(), levels, own, some, least, lowest, middle);
    }
    return std::min(likelihood, 0.0);
}

// A discrete child given the columns; observed_ has the sums of those before the `from`-th.
double PolynomialFamilies::regressed(const Cell& cell, const double* base, std::size_t from) {
    sums_by_level(cell, from);
    return spec_.logistic ? logistic_.fit(observed_, columns_.data(), columns_.size(), cell.n()) : shrunk(cell, base, from);
}

bool PolynomialFamilies::has_regression(const Cell& cell, std::size_t width) {
    const PolyColumn& child = data_.columns[cell.child];
    if (cell.n() <= width) return false;
    if (child.levels == 0) return spread(cell.child).variance > 0;
    return spec_.logistic ? cell.levels().size() > 1 : cell.n() > static_cast<std::size_t>(child.levels);
}

double PolynomialFamilies::parameters_of(int child, std::size_t width) const {
    const int levels = data_.columns[child].levels;
    return levels ? (levels - 1.0) * static_cast<double>(width) : static_cast<double>(width) + spec_.count_variance;
}

// --- a family ------------------------------------------------------------------------------------------------------------

const PolynomialFamilies::Spread& PolynomialFamilies::spread(int column) {
    Spread& own = spreads_[column];
    if (own.variance >= 0 || data_.columns[column].levels) return own;
    const double rows = static_cast<double>(data_.rows), first = data_.columns[column].values[0];
    rest_.assign(data_.columns[column].values, data_.columns[column].values + data_.rows);
    shift(rest_.data(), -first, data_.rows);             // of equal values nothing is left, exactly
    const double mean = sum(rest_.data(), data_.rows) / rows;
    shift(rest_.data(), -mean, data_.rows);
    own = {first + mean, dot(rest_.data(), rest_.data(), data_.rows) / rows};
    return own;
}

// From (rows, sum of squares left) of every cell to the log-likelihood in the units of the child's column, and the cells' variances.
double PolynomialFamilies::gaussian(int child, const Squares& squares, std::vector<double>* variances) {
    constexpr double two_pi = 2 * std::numbers::pi;
    const double rows = static_cast<double>(data_.rows), of_child = spread(child).variance, least = least_variance * of_child;
    const double single = of_child * rows / std::max(rows - 1, 1.0) / two_pi;       // its density is 1 per standard deviation
    if (!(of_child > 0)) return 0;
    double all = 0, likelihood = 0;
    for (auto& [n, left] : squares) all += left;
    const double of_family = all / rows > least ? all / rows : std::numbers::e * least;
    for (auto& [n, left] : squares) {
        const double own = left / static_cast<double>(n);
        const double variance = n == 1 ? single : own > least ? own : of_family;
        likelihood -= (static_cast<double>(n) * std::log(two_pi * variance) + left / variance) / 2;
        if (variances) variances->push_back(variance);
    }
    return likelihood - rows * data_.columns[child].log_scale;
}

void PolynomialFamilies::split(std::span<const int> parents, std::vector<int>& discrete, std::vector<int>& continuous) const {
    for (int p : parents) (data_.columns[p].levels ? discrete : continuous).push_back(p);
}

FamilyLikelihood PolynomialFamilies::go_through(int child, std::span<const int> parents, std::vector<CellFit>* fits) {
    FamilyLikelihood found;
    if (data_.rows == 0) return found;
    std::vector<int> discrete, continuous;
    split(parents, discrete, continuous);
    Grouped& grouped = cells_.grouped(discrete, continuous, child);
    const Response& response = cells_.response(grouped, child);
    const Basis& basis = cells_.basis(grouped, continuous);
    std::vector<const Powers*> powers;
    if (fits)
        for (int p : continuous) powers.push_back(&cells_.powers(grouped, p));
    Squares squares;
    for (std::size_t c = 0; c < grouped.groups.cells.size(); ++c) {
        Cell cell{grouped, response, child, c};
        const std::size_t n = cell.n(), width = continuous.empty() ? 1 : continuous.size() * spec_.degree_of(n) + 1;
        found.parameters += parameters_of(child, width);
        columns_.clear();
        if (has_regression(cell, width)) columns_ = basis.cells[c].columns;
        observed_.clear();
        for (const Response::Level& level : cell.levels()) {
            observed_.push_back(level.rows);
            observed_.resize(observed_.size() + columns_.size());
        }
        if (response.codes.empty()) {
            squares.emplace_back(n, columns_.empty() ? response.alone[c] : squares_left(cell));
        } else if (columns_.empty()) {
            cell.rule = CellFit::frequencies;
            found.log_likelihood += response.alone[c];
        } else {
            cell.rule = spec_.logistic ? CellFit::softmax : CellFit::shrunk;
            found.log_likelihood += regressed(cell, nullptr, 0);
        }
        if (fits) {
            Basis::Cell origins;
            std::unique_ptr<double[]> values;
            std::size_t bytes = 0;
            if (!columns_.empty()) origins = cells_.orthonormal(grouped, c, powers, true, values, bytes);
            fits->push_back(kept_fit(cell, origins.origins, discrete, continuous));
        }
        Listening::look();
    }
    if (response.codes.empty()) {
        std::vector<double> variances;
        found.log_likelihood = gaussian(child, squares, &variances);
        for (std::size_t c = 0; fits && c < variances.size(); ++c) (*fits)[c].variance = variances[c];
    }
    return found;
}

// From coefficients of the orthonormal columns back to those of the parents' columns, and from these to those of the Legendre
// polynomials; each time from the last to the first.
CellFit PolynomialFamilies::kept_fit(const Cell& cell, const std::vector<Basis::Origin>& origins, std::span<const int> discrete,
                                     std::span<const int> continuous) const {
    const PolyColumn& child = data_.columns[cell.child];
    const auto& order = cell.grouped.groups.order;
    const std::size_t begin = cell.rows().begin, n = cell.n(), count = columns_.size();
    const int degree = spec_.degree_of(n);
    CellFit fit;
    fit.rows = n;
    fit.rule = cell.rule;
    for (int p : discrete) fit.levels.push_back(data_.columns[p].codes[order[begin]]);
    std::vector<LegendrePowers> powers(continuous.size());
    std::vector<std::size_t> place;                      // per parent, of its first power among the coefficients
    std::size_t width = 1;
    fit.ranges.resize(continuous.size());
    for (std::size_t p = 0; p < continuous.size(); ++p) {
        place.push_back(width);
        if (count == 0) continue;
        std::vector<double> values(n), out(n * degree), shares(degree);
        for (std::size_t i = 0; i < n; ++i) values[i] = data_.columns[continuous[p]].values[order[begin + i]];
        if (orthonormal_powers(values.data(), n, degree, out.data(), shares.data(), &powers[p]) == 0) continue;
        fit.ranges[p] = {powers[p].low, powers[p].high, degree};
        width += degree;
    }
    const auto in_powers = [&](double constant, const double* slopes) {
        std::vector<double> own(slopes, slopes + count), all(width, 0.0);
        std::vector<std::vector<double>> of_parent(powers.size());
        for (std::size_t p = 0; p < powers.size(); ++p) of_parent[p].resize(powers[p].power.size());
        for (std::size_t j = count; j-- > 0;) {
            const Basis::Origin& origin = origins[j];
            if (!origin.taken.empty()) {
                own[j] /= origin.taken[j];
                for (std::size_t i = 0; i < j; ++i) own[i] -= own[j] * origin.taken[i];
            }
            of_parent[origin.parent][origin.column] = own[j];
        }
        for (std::size_t p = 0; p < powers.size(); ++p)
            for (std::size_t k = powers[p].power.size(); k-- > 0;) {
                const std::vector<double>& taken = powers[p].taken[k];
                const double factor = of_parent[p][k] / taken.back();
                constant -= factor * taken[0];
                for (std::size_t i = 0; i < k; ++i) of_parent[p][i] -= factor * taken[i + 1];
                all[place[p] + powers[p].power[k] - 1] = factor;
            }
        all[0] = constant;
        return all;
    };
    if (child.levels == 0) {
        double first = child.values[order[begin]], away = 0;
        for (std::size_t i = 0; i < n; ++i) away += child.values[order[begin + i]] - first;
        fit.coefficients.push_back(in_powers(first + away / static_cast<double>(n), slopes_.data()));
        return fit;
    }
    fit.coefficients.resize(child.levels);
    std::size_t h = 0;
    for (const Response::Level& level : cell.levels()) {
        const double* own = observed_.data() + h * (count + 1);
        if (cell.rule == CellFit::frequencies) {
            fit.coefficients[level.level] = {level.rows / static_cast<double>(n)};
        } else if (cell.rule == CellFit::shrunk) {
            fit.coefficients[level.level] = in_powers(own[0], own + 1);
        } else {                                         // the last level that occurs has logit 0
            const std::vector<double> zero(count + 1, 0.0);
            const double* theta = h + 1 < cell.levels().size() ? logistic_.coefficients().data() + h * (count + 1) : zero.data();
            fit.coefficients[level.level] = in_powers(theta[0], theta + 1);
        }
        ++h;
    }
    return fit;
}

FamilyLikelihood PolynomialFamilies::likelihood(int child, std::span<const int> parents) {
    if (fits(child, parents)) return go_through(child, parents, nullptr);
    ++*left_out_;
    return {std::numeric_limits<double>::quiet_NaN(), 0};
}

std::vector<CellFit> PolynomialFamilies::fit(int child, std::span<const int> parents) {
    std::vector<CellFit> fits;
    go_through(child, parents, &fits);
    return fits;
}

double PolynomialFamilies::from(const FamilyLikelihood& found, std::size_t parents) const {
    const double rows = static_cast<double>(data_.rows), penalty = (data_.rows ? std::log(rows) / 2 : 0) - spec_.per_parameter;
    return found.log_likelihood - penalty * found.parameters + spec_.prior(parents);
}

double PolynomialFamilies::score(int child, std::span<const int> parents) {
    if (fits(child, parents)) return from(go_through(child, parents, nullptr), parents.size());
    ++*left_out_;
    return -std::numeric_limits<double>::infinity();
}

bool PolynomialFamilies::fits(int child, std::span<const int> parents) const {
    double continuous = 0;
    for (int p : parents) continuous += data_.columns[p].levels == 0;
    const double columns = continuous * spec_.degree_of(std::max<std::size_t>(data_.rows, 1)), rows = static_cast<double>(data_.rows);
    const int levels = data_.columns[child].levels;
    if (spec_.logistic && levels && columns > 0 && (std::min<double>(levels, rows) - 1) * (columns + 1) > most_logits) return false;
    return most_bytes_ == 0 || 2 * columns * rows * sizeof(double) <= most_bytes_;
}

}  // namespace spinney
