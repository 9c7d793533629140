#include "polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "threads.hpp"
#include "vector_math.hpp"

namespace spinney {
namespace {

constexpr double least_variance = 1e-10;                 // of a cell, as a share of the child's variance
constexpr std::size_t kept_bytes = std::size_t{2} << 20;
constexpr double most_logits = 1500;                     // free coefficients of one logistic regression: a second for each step
constexpr std::size_t lanes = 8, block_rows = 64;

double n_log_n(double n) { return n > 0 ? n * std::log(n) : 0; }

// The sum of the logs of the repaired probabilities of rows of one level. fitted: one row of block_rows values per level that
// occurs; `least`: what the smallest fitted value is at the most (0 where a declared level does not occur).
SPINNEY_CLONES double shrunk_logs(const double* fitted, std::size_t levels, std::size_t own, std::size_t rows, double least,
                                  double lowest, double middle) {
    const std::size_t padded = (rows + lanes - 1) / lanes * lanes;
    double smallest[block_rows], product[lanes];
    for (std::size_t i = 0; i < padded; ++i) smallest[i] = least;
    for (std::size_t h = 0; h < levels; ++h) {
        const double* f = fitted + h * block_rows;
        for (std::size_t i = 0; i < padded; ++i) smallest[i] = f[i] < smallest[i] ? f[i] : smallest[i];
    }
    const double* f = fitted + own * block_rows;
    for (std::size_t i = 0; i < padded; ++i) {
        const double a = (lowest - middle) / (smallest[i] - middle);
        smallest[i] = a * f[i] + (1 - a) * middle;
    }
    for (std::size_t i = rows; i < padded; ++i) smallest[i] = 1;
    for (std::size_t l = 0; l < lanes; ++l) product[l] = 1;
    for (std::size_t i = 0; i < padded; i += lanes)      // eight factors of at least 1/n each
        for (std::size_t l = 0; l < lanes; ++l) product[l] *= smallest[i + l];
    double all = 0;
    for (std::size_t l = 0; l < lanes; ++l) all += log_positive(product[l]);
    return all;
}

// out = factors[0] + sum_j factors[j + 1] columns[j], for a block of rows.
SPINNEY_CLONES void combine(const double* factors, const double* const* columns, std::size_t count, std::size_t first, std::size_t rows,
                            double* __restrict out) {
    const std::size_t padded = (rows + lanes - 1) / lanes * lanes;
    for (std::size_t i = 0; i < padded; ++i) out[i] = factors[0];
    for (std::size_t j = 0; j < count; ++j) {
        const double factor = factors[j + 1], *__restrict column = columns[j] + first;
        for (std::size_t i = 0; i < rows; ++i) out[i] += factor * column[i];
    }
}

}  // namespace

int PolynomialSpec::degree_of(std::size_t rows) const {
    return degree > 0 ? degree : static_cast<int>(std::floor(std::log(static_cast<double>(rows))));
}

struct PolynomialFamilies::Cell {
    const Grouped& grouped;
    std::size_t number;
    CellFit::Rule rule = CellFit::gaussian;

    const RowCell& rows() const { return grouped.groups.cells[number]; }
    std::size_t n() const { return rows().rows(); }
    std::span<const LevelRun> runs() const {
        return {grouped.groups.runs.data() + rows().first_run, grouped.groups.runs.data() + rows().last_run};
    }
};

PolynomialFamilies::PolynomialFamilies(const MixedPolyData& data, const PolynomialSpec& spec, int child, double most_bytes)
    : data_(data), spec_(spec), child_(data.columns[child]), most_bytes_(most_bytes) {
    if (child_.levels || data.rows == 0) return;
    rest_.assign(child_.values, child_.values + data.rows);
    for (double& value : rest_) value -= child_.values[0];      // of equal values nothing is left, exactly
    const double rows = static_cast<double>(data.rows), mean = sum(rest_.data(), data.rows) / rows;
    for (double& value : rest_) value -= mean;
    variance_ = dot(rest_.data(), rest_.data(), data.rows) / rows;
}

// --- rows and powers, kept from family to family -----------------------------------------------------------------------

PolynomialFamilies::Grouped& PolynomialFamilies::grouped(std::span<const int> discrete, std::span<const int> continuous) {
    const std::vector<int> key(discrete.begin(), discrete.end());
    auto at = kept_.find(key);
    if (at == kept_.end()) at = kept_.emplace(key, group(discrete)).first;
    at->second.asked = ++asked_;
    if (bytes_ > kept_bytes) make_room(at->second, continuous);
    return at->second;
}

// What was not asked for lately goes: half of the room, and more columns of this grouping than the family has only if need be.
void PolynomialFamilies::make_room(Grouped& needed, std::span<const int> continuous) {
    const auto leave = [&](Powers& powers) { spare_.push_back(std::move(powers.values)); };
    std::vector<std::uint64_t> times;
    for (auto& [key, own] : kept_) times.push_back(own.asked);
    std::sort(times.begin(), times.end());
    for (std::uint64_t time : times) {
        if (bytes_ <= kept_bytes / 2 || time == needed.asked) break;
        const auto at = std::ranges::find_if(kept_, [&](auto& entry) { return entry.second.asked == time; });
        bytes_ -= at->second.bytes;
        for (auto& [column, powers] : at->second.powers) leave(powers);
        kept_.erase(at);
    }
    for (auto own = needed.powers.begin(); bytes_ > kept_bytes && own != needed.powers.end();) {
        const std::size_t bytes = own->second.values.size() * sizeof(double);
        const bool used = std::ranges::find(continuous, own->first) != continuous.end();
        if (!used) {
            bytes_ -= bytes;
            needed.bytes -= bytes;
            leave(own->second);
        }
        own = used ? std::next(own) : needed.powers.erase(own);
    }
    constexpr std::size_t most_spare = 64;
    if (spare_.size() > most_spare || data_.rows * sizeof(double) > kept_bytes / 4) spare_.clear();
}

PolynomialFamilies::Grouped PolynomialFamilies::group(std::span<const int> discrete) {
    Grouped own;
    std::vector<const PolyColumn*> keys;
    for (int p : discrete) keys.push_back(&data_.columns[p]);
    own.groups = group_rows(keys, child_.levels ? &child_ : nullptr, data_.rows);
    const auto& order = own.groups.order;
    if (child_.levels == 0) {
        own.response.resize(data_.rows);
        for (std::size_t i = 0; i < data_.rows; ++i) own.response[i] = child_.values[order[i]];
    }
    for (const RowCell& cell : own.groups.cells) {
        const std::size_t n = cell.rows();
        double alone = 0;
        if (child_.levels == 0) {
            double* y = own.response.data() + cell.begin;
            const double first = y[0];                   // of equal values the mean is that value, exactly
            for (std::size_t i = 0; i < n; ++i) y[i] -= first;
            const double mean = sum(y, n) / static_cast<double>(n);
            for (std::size_t i = 0; i < n; ++i) y[i] -= mean;
            alone = dot(y, y, n);
        } else {
            for (std::uint32_t r = cell.first_run; r < cell.last_run; ++r) alone += n_log_n(static_cast<double>(own.groups.runs[r].rows()));
            alone -= n_log_n(static_cast<double>(n));
        }
        own.alone.push_back(alone);
    }
    own.bytes = data_.rows * (sizeof(std::uint32_t) + (child_.levels ? 0 : sizeof(double))) +
                own.groups.cells.size() * (sizeof(RowCell) + sizeof(double)) + own.groups.runs.size() * sizeof(LevelRun);
    bytes_ += own.bytes;
    return own;
}

const PolynomialFamilies::Powers& PolynomialFamilies::powers(Grouped& grouped, int column) {
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
    if (!spare_.empty()) {
        own.values = std::move(spare_.back());
        spare_.pop_back();
    }
    own.values.resize(size);
    std::vector<double>& values = rest_;
    try {
        for (std::size_t c = 0; c < cells.size(); ++c) {
            const std::size_t n = cells[c].rows();
            const int degree = spec_.degree_of(n);
            values.resize(n);
            for (std::size_t i = 0; i < n; ++i) values[i] = data_.columns[column].values[grouped.groups.order[cells[c].begin + i]];
            const bool fitted = n > static_cast<std::size_t>(degree) + 1;
            own.count.push_back(!fitted ? 0 : orthonormal_powers(values.data(), n, degree, own.values.data() + own.first[c], own.shares.data() + own.first_share[c]));
        }
    } catch (...) {                                      // a stop: half of it must not be taken for the whole
        grouped.powers.erase(at);
        throw;
    }
    bytes_ += size * sizeof(double);
    grouped.bytes += size * sizeof(double);
    return own;
}

// --- one cell ------------------------------------------------------------------------------------------------------------

// All powers of all continuous parents as orthonormal columns. Those of the first parent are so already.
void PolynomialFamilies::regress(Cell& cell, std::span<const Powers* const> powers, bool keep) {
    const std::size_t n = cell.n();
    std::size_t most = 0;
    for (const Powers* own : powers) most += own->count[cell.number];
    columns_values_.resize(most * n);                    // stays where it is below: columns_ points into it
    double* next = columns_values_.data();
    for (std::size_t p = 0; p < powers.size(); ++p) {
        const bool first = columns_.empty();
        for (int k = 0; k < powers[p]->count[cell.number]; ++k) {
            const double* column = powers[p]->values.data() + powers[p]->first[cell.number] + k * n;
            std::vector<double> taken;
            if (!first) {
                std::copy(column, column + n, next);
                if (keep) taken.resize(columns_.size() + 1);
                const double share = powers[p]->shares[powers[p]->first_share[cell.number] + k];
                if (!orthogonalise(next, columns_.data(), columns_.size(), n, share, keep ? taken.data() : nullptr)) continue;
                column = next;
                next += n;
            }
            columns_.push_back(column);
            if (keep) origins_.push_back({p, k, std::move(taken)});
        }
    }
}

// Least squares of a continuous child.
double PolynomialFamilies::squares_left(const Cell& cell) {
    const std::size_t n = cell.n();
    const double *y = cell.grouped.response.data() + cell.rows().begin, rows = static_cast<double>(n);
    rest_.assign(y, y + n);
    slopes_.clear();
    for (const double* column : columns_) {
        slopes_.push_back(dot(rest_.data(), column, n) / rows);
        subtract(rest_.data(), slopes_.back(), column, n);
    }
    return dot(rest_.data(), rest_.data(), n);
}

// Per level that occurs: rows, and the sums of the columns over them.
void PolynomialFamilies::sums_by_level(const Cell& cell) {
    observed_.clear();
    for (const LevelRun& run : cell.runs()) {
        observed_.push_back(static_cast<double>(run.rows()));
        for (const double* column : columns_) observed_.push_back(sum(column + (run.begin - cell.rows().begin), run.rows()));
    }
}

// Least squares of the indicators of a discrete child, repaired.
double PolynomialFamilies::shrunk(const Cell& cell) {
    const std::size_t n = cell.n(), count = columns_.size(), levels = cell.runs().size();
    const double rows = static_cast<double>(n), lowest = 1 / rows, middle = 1.0 / child_.levels;
    sums_by_level(cell);
    for (double& value : observed_) value /= rows;       // the coefficients: the columns are orthonormal
    block_.resize(levels * block_rows);
    const double least = static_cast<int>(levels) < child_.levels ? 0 : lowest;
    double likelihood = 0;
    std::size_t own = 0;
    for (const LevelRun& run : cell.runs()) {
        const std::size_t begin = run.begin - cell.rows().begin, end = run.end - cell.rows().begin;
        for (std::size_t first = begin; first < end; first += block_rows) {
            const std::size_t some = std::min(block_rows, end - first);
            for (std::size_t h = 0; h < levels; ++h)
                combine(observed_.data() + h * (count + 1), columns_.data(), count, first, some, block_.data() + h * block_rows);
            likelihood += shrunk_logs(block_.data(), levels, own, some, least, lowest, middle);
        }
        ++own;
    }
    return std::min(likelihood, 0.0);
}

double PolynomialFamilies::softmax(const Cell& cell) {
    sums_by_level(cell);
    return logistic_.fit(observed_, columns_.data(), columns_.size(), cell.n());
}

// --- a family ------------------------------------------------------------------------------------------------------------

// From (rows, sum of squares left) of every cell to the log-likelihood in the units of the child's column, and the cells' variances.
double PolynomialFamilies::gaussian(std::span<const std::pair<std::size_t, double>> squares, std::vector<double>& variances) const {
    constexpr double two_pi = 2 * std::numbers::pi;
    const double rows = static_cast<double>(data_.rows), least = least_variance * variance_;
    const double single = variance_ * rows / std::max(rows - 1, 1.0) / two_pi;      // its density is 1 per standard deviation
    double all = 0, likelihood = 0;
    for (auto& [n, left] : squares) all += left;
    const double of_family = all / rows > least ? all / rows : std::numbers::e * least;
    for (auto& [n, left] : squares) {
        const double own = left / static_cast<double>(n);
        const double variance = n == 1 ? single : own > least ? own : of_family;
        likelihood -= (static_cast<double>(n) * std::log(two_pi * variance) + left / variance) / 2;
        variances.push_back(variance);
    }
    return likelihood;
}

FamilyLikelihood PolynomialFamilies::go_through(std::span<const int> parents, std::vector<CellFit>* fits) {
    std::vector<int> discrete, continuous;
    for (int p : parents) (data_.columns[p].levels ? discrete : continuous).push_back(p);
    FamilyLikelihood found;
    if (data_.rows == 0) return found;
    Grouped& grouped = this->grouped(discrete, continuous);
    std::vector<const Powers*> powers;
    for (int p : continuous) powers.push_back(&this->powers(grouped, p));
    std::vector<std::pair<std::size_t, double>> squares;
    for (std::size_t c = 0; c < grouped.groups.cells.size(); ++c) {
        Cell cell{grouped, c};
        const std::size_t n = cell.n(), width = continuous.empty() ? 1 : continuous.size() * spec_.degree_of(n) + 1;
        found.parameters += child_.levels ? (child_.levels - 1.0) * static_cast<double>(width) : static_cast<double>(width) + spec_.count_variance;
        const bool few = child_.levels && (spec_.logistic ? cell.runs().size() == 1 : n <= static_cast<std::size_t>(child_.levels));
        columns_.clear();
        origins_.clear();
        if (n > width && !few && (child_.levels || variance_ > 0)) regress(cell, powers, fits != nullptr);
        if (child_.levels == 0) {
            squares.emplace_back(n, columns_.empty() ? grouped.alone[c] : squares_left(cell));
        } else if (columns_.empty()) {
            cell.rule = CellFit::frequencies;
            found.log_likelihood += grouped.alone[c];
        } else {
            cell.rule = spec_.logistic ? CellFit::softmax : CellFit::shrunk;
            found.log_likelihood += spec_.logistic ? softmax(cell) : shrunk(cell);
        }
        if (fits) fits->push_back(kept_fit(cell, discrete, continuous));
        Listening::look();
    }
    if (child_.levels == 0 && variance_ > 0) {
        std::vector<double> variances;
        found.log_likelihood = gaussian(squares, variances) - static_cast<double>(data_.rows) * child_.log_scale;
        for (std::size_t c = 0; fits && c < variances.size(); ++c) (*fits)[c].variance = variances[c];
    }
    return found;
}

// From coefficients of the orthonormal columns back to those of the parents' columns, and from these to those of the Legendre
// polynomials; each time from the last to the first.
CellFit PolynomialFamilies::kept_fit(const Cell& cell, std::span<const int> discrete, std::span<const int> continuous) const {
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
            const Origin& origin = origins_[j];
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
    if (child_.levels == 0) {
        double first = child_.values[order[begin]], away = 0;
        for (std::size_t i = 0; i < n; ++i) away += child_.values[order[begin + i]] - first;
        fit.coefficients.push_back(in_powers(first + away / static_cast<double>(n), slopes_.data()));
        return fit;
    }
    fit.coefficients.resize(child_.levels);
    std::size_t h = 0;
    for (const LevelRun& run : cell.runs()) {
        const double* own = observed_.data() + h * (count + 1);
        if (cell.rule == CellFit::frequencies) {
            fit.coefficients[run.level] = {static_cast<double>(run.rows()) / static_cast<double>(n)};
        } else if (cell.rule == CellFit::shrunk) {
            fit.coefficients[run.level] = in_powers(own[0], own + 1);
        } else {                                         // the last level that occurs has logit 0
            const std::vector<double> zero(count + 1, 0.0);
            const double* theta = h + 1 < cell.runs().size() ? logistic_.coefficients().data() + h * (count + 1) : zero.data();
            fit.coefficients[run.level] = in_powers(theta[0], theta + 1);
        }
        ++h;
    }
    return fit;
}

FamilyLikelihood PolynomialFamilies::likelihood(std::span<const int> parents) { return go_through(parents, nullptr); }

std::vector<CellFit> PolynomialFamilies::fit(std::span<const int> parents) {
    std::vector<CellFit> fits;
    go_through(parents, &fits);
    return fits;
}

double PolynomialFamilies::score(std::span<const int> parents) {
    const FamilyLikelihood found = likelihood(parents);
    const double rows = static_cast<double>(data_.rows), penalty = (data_.rows ? std::log(rows) / 2 : 0) - spec_.per_parameter;
    return found.log_likelihood - penalty * found.parameters + spec_.prior(parents.size());
}

bool PolynomialFamilies::fits(std::span<const int> parents) {
    double continuous = 0;
    for (int p : parents) continuous += data_.columns[p].levels == 0;
    const double columns = continuous * spec_.degree_of(std::max<std::size_t>(data_.rows, 1)), rows = static_cast<double>(data_.rows);
    if (spec_.logistic && child_.levels && columns > 0 && (std::min<double>(child_.levels, rows) - 1) * (columns + 1) > most_logits) return false;
    return most_bytes_ == 0 || 2 * columns * rows * sizeof(double) <= most_bytes_;
}

FamilyScores polynomial_scores(const MixedPolyData& data, const PolynomialSpec& spec, double most_bytes) {
    return {data.rows, [&data, &spec, most_bytes](int child) -> std::unique_ptr<FamilyWorker> {
                return std::make_unique<PolynomialFamilies>(data, spec, child, most_bytes);
            }};
}

}  // namespace spinney
