// dg, bf and bge: every variable stands for some numeric columns, and one matrix over all of them, made once, holds all that a
// set's likelihood reads. A family costs the same however many rows there are.
// dg: Andrews, Ramsey and Cooper (2019). bge: Geiger and Heckerman (2002), corrected by Kuipers, Moffa and Heckerman (2014).
#include <cmath>
#include <numbers>
#include <string>

#include "gaussian.hpp"

namespace spinney {
namespace {


struct Embedded {                                        // one numeric column
    int variable;
    int number;                                          // the level that it indicates, or the degree of the polynomial
    double low = 0, high = 0, mean = 0, deviation = 0;   // of a polynomial's column; of the embedded column
};

double legendre(int degree, double x) {
    double before = 1, now = x;
    for (int j = 1; j < degree; ++j) {
        const double next = ((2 * j + 1) * x * now - j * before) / (j + 1);
        before = now, now = next;
    }
    return now;
}

struct Matrix {                                          // what all workers read
    std::vector<int> first;                              // variable -> its first column; one more at the end
    Covariance all;                                      // correlations; bge: the posterior scatter R
    std::vector<double> of_size;                         // bge: what a set of so many columns adds
    double rows = 0;
    bool bayesian = false;
    double above = 0;
};

class Embedding final : public SetFunction {
public:
    explicit Embedding(std::shared_ptr<const Matrix> matrix) : shared_(std::move(matrix)) {}
    std::unique_ptr<SetFunction> another() const override { return std::make_unique<Embedding>(shared_); }
    const Covariance* gaussian() const override { return shared_->bayesian ? nullptr : &shared_->all; }
    int column(int v) const override { return shared_->first[v + 1] - shared_->first[v] == 1 ? shared_->first[v] : -1; }

    Terms terms(std::span<const int> set) override {
        const Matrix& m = *shared_;
        columns_.clear();
        for (int v : set)
            for (int c = m.first[v]; c < m.first[v + 1]; ++c) columns_.push_back(c);
        const int k = static_cast<int>(columns_.size());
        matrix_.resize(static_cast<std::size_t>(k) * k);
        pivot_.resize(k);
        for (int i = 0; i < k; ++i)
            for (int j = 0; j <= i; ++j) matrix_[static_cast<std::size_t>(i) * k + j] = m.all(columns_[i], columns_[j]);
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
    for (int v = 0; v < static_cast<int>(data.columns.size()); ++v) {
        const MixedColumn& own = data.columns[v];
        first.push_back(static_cast<int>(columns.size()));
        if (own.levels == 0) {
            Embedded column{v, 1};
            if (data.rows) {
                auto [low, high] = std::minmax_element(own.values, own.values + data.rows);
                column.low = *low, column.high = *high;
            }
            const int degree = spec.score == GaussianScore::bf ? spec.degree : 1;
            for (; column.number <= degree; ++column.number) columns.push_back(column);
        } else {
            std::vector<std::uint32_t> counts(own.levels, 0);
            for (std::size_t row = 0; row < data.rows; ++row) ++counts[own.codes[row]];
            const int usual = static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
            for (int level = 0; level < own.levels; ++level)
                if (level != usual) columns.push_back({v, level});
        }
        if (columns.size() > most_embedded_columns)
            throw std::length_error("more than " + std::to_string(most_embedded_columns) + " embedded columns: their matrix would not fit");
    }
    first.push_back(static_cast<int>(columns.size()));
    return columns;
}

}  // namespace

std::unique_ptr<SetFunction> embedded_gaussians(const MixedData& data, const GaussianSpec& spec, Team& team) {
    auto made = std::make_shared<Matrix>();
    made->rows = static_cast<double>(data.rows);
    made->bayesian = spec.score == GaussianScore::bge;
    std::vector<Embedded> columns = embedded_columns(data, spec, made->first);
    const bool polynomials = spec.score == GaussianScore::bf;
    auto raw = [&](const Embedded& column, std::size_t begin, std::size_t rows, double* out) {
        const MixedColumn& own = data.columns[column.variable];
        if (own.levels > 0) {
            for (std::size_t i = 0; i < rows; ++i) out[i] = own.codes[begin + i] == column.number;
        } else if (!polynomials || column.low == column.high) {
            std::copy_n(own.values + begin, rows, out);
        } else {
            for (std::size_t i = 0; i < rows; ++i)
                out[i] = legendre(column.number, 2 * (own.values[begin + i] - column.low) / (column.high - column.low) - 1);
        }
    };
    if (!made->bayesian) {                               // first standardised, so that no covariance is a small difference
        team.run(columns.size(), [&](int, std::size_t c) {
            constexpr std::size_t block = 4096;
            std::vector<double> part(block);
            for (int moment = 1; moment <= 2; ++moment) {
                double total = 0;
                for (std::size_t begin = 0; begin < data.rows; begin += block) {
                    Listening::look();
                    const std::size_t rows = std::min(block, data.rows - begin);
                    raw(columns[c], begin, rows, part.data());
                    double sum = 0;
                    for (std::size_t i = 0; i < rows; ++i) {
                        const double x = part[i] - columns[c].mean;
                        sum += moment == 1 ? x : x * x;
                    }
                    total += sum;
                }
                if (moment == 1) columns[c].mean = total / made->rows;
                else columns[c].deviation = std::sqrt(total / made->rows);
            }
            const bool constant = data.columns[columns[c].variable].levels == 0 && columns[c].low == columns[c].high;
            if (constant) columns[c].deviation = 0;
        });
        Listening::look();                               // a team that was stopped has left tasks undone
    }
    made->all = covariance(static_cast<int>(columns.size()), data.rows, [&](int c, std::size_t begin, std::size_t rows, double* out) {
        const Embedded& column = columns[c];
        raw(column, begin, rows, out);
        if (made->bayesian) return;
        for (std::size_t i = 0; i < rows; ++i) out[i] = column.deviation > 0 ? (out[i] - column.mean) / column.deviation : 0;
    }, team);
    if (!made->bayesian) return std::make_unique<Embedding>(std::move(made));

    const int n = made->all.columns;
    const double rows = made->rows, mu = spec.alpha_mu, t = mu * (spec.above - 1) / (mu + 1), log_pi = std::log(std::numbers::pi);
    made->above = spec.above;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double& entry = made->all.matrix[static_cast<std::size_t>(i) * n + j];
            entry = rows * entry + rows * mu / (rows + mu) * made->all.mean[i] * made->all.mean[j] + (i == j ? t : 0);
        }
    double gammas = 0;                                   // log Gamma_l((N + above + l)/2) - log Gamma_l((above + l)/2)
    for (int l = 0; l <= n; ++l) {
        if (l > 0) gammas += log_gamma((rows + spec.above + l) / 2) - log_gamma((spec.above + l) / 2);
        made->of_size.push_back(-l * rows / 2 * log_pi + l / 2.0 * std::log(mu / (rows + mu)) + gammas + (spec.above + l) / 2 * l * std::log(t));
    }
    return std::make_unique<Embedding>(std::move(made));
}

}  // namespace spinney
