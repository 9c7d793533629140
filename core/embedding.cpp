// dg, bf and bge: every variable stands for some numeric columns, and one matrix over all of them, made once, holds all that a
// set's likelihood reads. A family costs the same however many rows there are.
// dg: Andrews, Ramsey and Cooper (2019). bge: Geiger and Heckerman (2002), corrected by Kuipers, Moffa and Heckerman (2014).
#include <atomic>
#include <cmath>
#include <mutex>
#include <numbers>
#include <string>
#include <unordered_map>

#include "gaussian.hpp"

namespace spinney {
namespace {

struct Embedded {                                        // one numeric column
    int variable;
    int number;                                          // the level that it indicates, or the degree of the polynomial
    double low = 0, high = 0, mean = 0, deviation = 0;   // of a polynomial's column; of the embedded column
    int given = -1;                                      // its place among the moments that are given
};

// The Legendre polynomial of some degree at every x, in place.
void legendre(int degree, double* x, std::size_t count) {
    constexpr std::size_t few = 256;
    double first[few], before[few];
    for (std::size_t n; count; x += n, count -= n) {
        n = std::min(few, count);
        std::copy_n(x, n, first);
        std::fill_n(before, n, 1.0);
        for (int j = 1; j < degree; ++j) {
            const double of_now = (2.0 * j + 1) / (j + 1), of_before = static_cast<double>(j) / (j + 1);
            for (std::size_t i = 0; i < n; ++i) {
                const double next = of_now * first[i] * x[i] - of_before * before[i];
                before[i] = x[i], x[i] = next;
            }
        }
    }
}

// The columns of all variables and their one matrix, read by all workers. The matrix is made when a set first asks for it, by as
// many threads as there were at the start, and hears a stop; after one, single variables are answered from their own columns, so
// that what is left to do without an edge does not wait for it. Both ways give the same bits.
class Matrix {
public:
    Matrix(const MixedData& data, const GaussianSpec& spec, Team& team);

    std::vector<int> first;                              // variable -> its first column; one more at the end
    std::vector<double> of_size;                         // bge: what a set of so many columns adds
    double rows = 0, above = 0;
    bool bayesian = false;

    // Correlations, of bge the posterior scatter R; and the first column there of what was asked for.
    std::pair<const Covariance*, int> whole() const;
    std::pair<const Covariance*, int> of(int variable) const;

private:
    Covariance made(int from, int columns, Team& team) const;
    Covariance given(int from, int columns) const;
    void fill(const Embedded& column, std::size_t begin, std::size_t rows, double* out) const;
    void standardise(int from, int columns, Team& team) const;
    void count(Covariance& found, int from) const;

    const MixedData& data_;
    const bool polynomials_;
    const double prior_rows_, prior_scale_;              // bge: alpha_mu, t
    const int threads_;
    mutable std::vector<Embedded> columns_;
    mutable std::mutex making_;
    mutable std::unique_ptr<const Covariance> whole_;
    mutable std::atomic<bool> ready_{false}, cut_short_{false};
    mutable std::unordered_map<int, Covariance> own_;
};

class Embedding final : public SetFunction {
public:
    explicit Embedding(std::shared_ptr<const Matrix> matrix) : shared_(std::move(matrix)) {}
    std::unique_ptr<SetFunction> another() const override { return std::make_unique<Embedding>(shared_); }
    const Covariance* gaussian() const override { return shared_->bayesian ? nullptr : shared_->whole().first; }
    int column(int v) const override { return shared_->first[v + 1] - shared_->first[v] == 1 ? shared_->first[v] : -1; }

    Terms terms(std::span<const int> set) override {
        const Matrix& m = *shared_;
        const auto [all, start] = set.size() == 1 ? m.of(set[0]) : m.whole();
        columns_.clear();
        for (int v : set)
            for (int c = m.first[v]; c < m.first[v + 1]; ++c) columns_.push_back(c - start);
        const int k = static_cast<int>(columns_.size());
        matrix_.resize(static_cast<std::size_t>(k) * k);
        pivot_.resize(k);
        for (int i = 0; i < k; ++i)
            for (int j = 0; j <= i; ++j) matrix_[static_cast<std::size_t>(i) * k + j] = (*all)(columns_[i], columns_[j]);
        factor(k, matrix_.data(), pivot_.data(), m.bayesian ? 0 : dependent);
        double product = 1, log_determinant = 0, kept = 0;
        for (double p : pivot_) {
            if (p == 0) continue;
            ++kept;
            product *= p;
            if (product < 1e-200 || product > 1e200) log_determinant += std::log(product), product = 1;
        }
        log_determinant += std::log(product);
        const double parameters = kept * (kept + 1) / 2 + kept;
        if (m.bayesian) return {m.of_size[k] - (m.rows + m.above + k) / 2 * log_determinant, parameters};
        return {-m.rows / 2 * (log_determinant + kept * (std::log(2 * std::numbers::pi) + 1)), parameters};
    }

private:
    std::shared_ptr<const Matrix> shared_;
    std::vector<int> columns_;
    std::vector<double> matrix_, pivot_;
};

std::vector<Embedded> embedded_columns(const MixedData& data, const GaussianSpec& spec, std::vector<int>& first) {
    std::vector<Embedded> columns;
    int place = 0;                                       // among the given moments
    for (int v = 0; v < static_cast<int>(data.columns.size()); ++v) {
        const MixedColumn& own = data.columns[v];
        first.push_back(static_cast<int>(columns.size()));
        if (own.levels == 0) {
            Embedded column{v, 1};
            if (data.given) {
                column.given = place++;
                column.high = (*data.given)(column.given, column.given);
            } else if (data.rows) {
                auto [low, high] = std::minmax_element(own.values, own.values + data.rows);
                column.low = *low, column.high = *high;
            }
            const int degree = spec.score == GaussianScore::bf ? spec.degree : 1;
            for (; column.number <= degree; ++column.number) columns.push_back(column);
        } else {
            std::vector<std::uint32_t> counts(own.levels, 0);
            if (data.given)
                for (int level = 0; level < own.levels; ++level)
                    counts[level] = static_cast<std::uint32_t>(std::lround(data.given->mean[place + level] * static_cast<double>(data.rows)));
            else
                for (std::size_t row = 0; row < data.rows; ++row) ++counts[own.codes[row]];
            const int usual = static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
            for (int level = 0; level < own.levels; ++level) {
                if (level == usual) continue;
                const double mean = data.rows ? counts[level] / static_cast<double>(data.rows) : 0;
                columns.push_back({v, level, 0, 0, mean, std::sqrt(mean * (1 - mean)), data.given ? place + level : -1});
            }
            place += own.levels;
        }
        if (columns.size() > most_embedded_columns)
            throw std::length_error("more than " + std::to_string(most_embedded_columns) + " embedded columns: their matrix would not fit");
    }
    first.push_back(static_cast<int>(columns.size()));
    return columns;
}

Matrix::Matrix(const MixedData& data, const GaussianSpec& spec, Team& team)
    : rows(static_cast<double>(data.rows)), above(spec.above), bayesian(spec.score == GaussianScore::bge), data_(data),
      polynomials_(spec.score == GaussianScore::bf), prior_rows_(spec.alpha_mu),
      prior_scale_(spec.alpha_mu * (spec.above - 1) / (spec.alpha_mu + 1)), threads_(team.size()),
      columns_(embedded_columns(data, spec, first)) {
    if (!bayesian) return;
    const double log_pi = std::log(std::numbers::pi);
    double gammas = 0;                                   // log Gamma_l((N + above + l)/2) - log Gamma_l((above + l)/2)
    for (int l = 0; l <= first.back(); ++l) {
        if (l > 0) gammas += log_gamma((rows + above + l) / 2) - log_gamma((above + l) / 2);
        of_size.push_back(-l * rows / 2 * log_pi + l / 2.0 * std::log(prior_rows_ / (rows + prior_rows_)) + gammas +
                          (above + l) / 2 * l * std::log(prior_scale_));
    }
}

void Matrix::fill(const Embedded& column, std::size_t begin, std::size_t count, double* out) const {
    const MixedColumn& own = data_.columns[column.variable];
    if (own.levels > 0) {
        for (std::size_t i = 0; i < count; ++i) out[i] = own.codes[begin + i] == column.number;
    } else if (!polynomials_ || column.low == column.high) {
        std::copy_n(own.values + begin, count, out);
    } else {
        const double width = 2 / (column.high - column.low);
        for (std::size_t i = 0; i < count; ++i) out[i] = (own.values[begin + i] - column.low) * width - 1;
        legendre(column.number, out, count);
    }
}

// So that no covariance is a small difference.
void Matrix::standardise(int from, int columns, Team& team) const {
    team.run(columns, [&](int, std::size_t c) {
        constexpr std::size_t block = 4096;
        std::vector<double> part(block);
        Embedded& column = columns_[from + c];
        if (data_.columns[column.variable].levels > 0) return;      // known from the counts
        column.mean = 0;
        for (int moment = 1; moment <= 2; ++moment) {
            double total = 0;
            for (std::size_t begin = 0; begin < data_.rows; begin += block) {
                Listening::look();
                const std::size_t count = std::min(block, data_.rows - begin);
                fill(column, begin, count, part.data());
                double sum = 0;
                for (std::size_t i = 0; i < count; ++i) {
                    const double x = part[i] - column.mean;
                    sum += moment == 1 ? x : x * x;
                }
                total += sum;
            }
            if (moment == 1) column.mean = total / rows;
            else column.deviation = std::sqrt(total / rows);
        }
        if (column.low == column.high) column.deviation = 0;
    });
    Listening::look();                                   // a team that was stopped has left tasks undone
}

// Among the indicators of one variable the means say it all.
void Matrix::count(Covariance& found, int from) const {
    for (int i = from; i < from + found.columns; ++i) {
        const Embedded& a = columns_[i];
        if (data_.columns[a.variable].levels == 0) continue;
        for (int j = first[a.variable]; j < first[a.variable + 1]; ++j) {
            const Embedded& b = columns_[j];
            const double scale = a.deviation * b.deviation;
            found.matrix[static_cast<std::size_t>(i - from) * found.columns + j - from] = scale == 0 ? 0 : i == j ? 1 : -a.mean * b.mean / scale;
        }
    }
}

Covariance Matrix::given(int from, int columns) const {
    const Covariance& all = *data_.given;
    Covariance found{columns, std::vector<double>(columns), std::vector<double>(static_cast<std::size_t>(columns) * columns), {}};
    for (int i = 0; i < columns; ++i) {
        Embedded& a = columns_[from + i];
        if (!bayesian && data_.columns[a.variable].levels == 0) a.mean = all.mean[a.given], a.deviation = std::sqrt(all(a.given, a.given));
        found.mean[i] = bayesian ? all.mean[a.given] : 0;
    }
    for (int i = 0; i < columns; ++i)
        for (int j = 0; j < columns; ++j) {
            const Embedded &a = columns_[from + i], &b = columns_[from + j];
            const double scale = bayesian ? 1 : a.deviation * b.deviation;
            found.matrix[static_cast<std::size_t>(i) * columns + j] = scale == 0 ? 0 : i == j && !bayesian ? 1 : all(a.given, b.given) / scale;
        }
    return found;
}

Covariance Matrix::made(int from, int columns, Team& team) const {
    if (!bayesian && !data_.given) standardise(from, columns, team);
    Covariance found = data_.given ? given(from, columns) : covariance(columns, data_.rows, [&](int c, std::size_t begin, std::size_t count, double* out) {
        const Embedded& column = columns_[from + c];
        fill(column, begin, count, out);
        if (bayesian) return;
        for (std::size_t i = 0; i < count; ++i) out[i] = column.deviation > 0 ? (out[i] - column.mean) / column.deviation : 0;
    }, team);
    if (!bayesian) count(found, from);
    else
        for (int i = 0; i < columns; ++i)
            for (int j = 0; j < columns; ++j) {
                double& entry = found.matrix[static_cast<std::size_t>(i) * columns + j];
                entry = rows * entry + rows * prior_rows_ / (rows + prior_rows_) * found.mean[i] * found.mean[j] + (i == j ? prior_scale_ : 0);
            }
    found.take_diagonal();
    return found;
}

std::pair<const Covariance*, int> Matrix::whole() const {
    if (!ready_.load(std::memory_order_acquire)) {
        std::lock_guard guard(making_);
        if (!whole_) {
            cut_short_ = true;
            Listening::look();
            Control unheard;
            Team team(threads_, Listening::current() ? *Listening::current() : unheard);
            whole_ = std::make_unique<const Covariance>(made(0, static_cast<int>(columns_.size()), team));
            cut_short_ = false;
            ready_.store(true, std::memory_order_release);
        }
    }
    return {whole_.get(), 0};
}

std::pair<const Covariance*, int> Matrix::of(int variable) const {
    if (!cut_short_) return whole();
    std::lock_guard guard(making_);
    if (whole_) return {whole_.get(), 0};
    auto [place, missing] = own_.try_emplace(variable);
    if (missing) {
        Control unheard;                                 // it is asked for after a stop
        Team team(threads_, unheard);
        const int from = first[variable], columns = first[variable + 1] - from;
        if (data_.columns[variable].levels == 0) {
            place->second = made(from, columns, team);
        } else {
            place->second = {columns, {}, std::vector<double>(static_cast<std::size_t>(columns) * columns, 0.0), {}};
            count(place->second, from);
        }
    }
    return {&place->second, first[variable]};
}

}  // namespace

std::unique_ptr<SetFunction> embedded_gaussians(const MixedData& data, const GaussianSpec& spec, Team& team) {
    return std::make_unique<Embedding>(std::make_shared<const Matrix>(data, spec, team));
}

}  // namespace spinney
