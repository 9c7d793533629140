// Rows are gone through in blocks: logits, probabilities, then the weighted sums of the columns and of their products.
#include "logistic.hpp"

#include <algorithm>
#include <cmath>

#include "threads.hpp"
#include "vector_math.hpp"

namespace spinney {
namespace {

constexpr std::size_t lanes = 8, block_rows = 256;       // sums side by side: the same ones whatever the registers
constexpr int most_steps = 200, most_halvings = 40;

struct Block {
    std::size_t rows, padded;                            // padded: up to whole lanes; what is there has weight 0
    const double* const* columns;                        // without the constant one
    std::size_t count;
};

SPINNEY_INLINE double all_of(const double* lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// From theta to the probabilities of the free levels; the last level's logit is 0. Returns the sum over the rows of the logs of
// the denominators.
SPINNEY_CLONES double softmax(const Block& b, const double* theta, std::size_t free, double* __restrict p) {
    double total[block_rows], most[block_rows];
    for (std::size_t i = 0; i < b.padded; ++i) most[i] = 0;
    for (std::size_t h = 0; h < free; ++h, theta += b.count + 1) {
        double* __restrict own = p + h * block_rows;
        for (std::size_t i = 0; i < b.padded; ++i) own[i] = theta[0];
        for (std::size_t j = 0; j < b.count; ++j) {
            const double factor = theta[j + 1], *__restrict q = b.columns[j];
            for (std::size_t i = 0; i < b.rows; ++i) own[i] += factor * q[i];
        }
        for (std::size_t i = 0; i < b.padded; ++i) most[i] = own[i] > most[i] ? own[i] : most[i];
    }
    if (free == 1) {                                     // one of the two is e^0
        for (std::size_t i = 0; i < b.padded; ++i) {
            const double smaller = exp_negative(p[i] - 2 * most[i]);
            p[i] = most[i] > 0 ? 1 : smaller;
            total[i] = 1 + smaller;
        }
    } else {
        for (std::size_t i = 0; i < b.padded; ++i) total[i] = exp_negative(-most[i]);
        for (std::size_t h = 0; h < free; ++h) {
            double* __restrict own = p + h * block_rows;
            for (std::size_t i = 0; i < b.padded; ++i) {
                own[i] = exp_negative(own[i] - most[i]);
                total[i] += own[i];
            }
        }
    }
    for (std::size_t i = b.rows; i < b.padded; ++i) total[i] = 1, most[i] = 0;
    double product[lanes], sum[lanes] = {};
    for (std::size_t l = 0; l < lanes; ++l) product[l] = 1;
    for (std::size_t i = 0; i < b.padded; i += lanes)    // 32 factors from 1 to the number of levels each
        for (std::size_t l = 0; l < lanes; ++l) {
            product[l] *= total[i + l];
            sum[l] += most[i + l];
        }
    for (std::size_t l = 0; l < lanes; ++l) sum[l] += log_positive(product[l]);
    for (std::size_t i = 0; i < b.padded; ++i) total[i] = 1 / total[i];
    for (std::size_t h = 0; h < free; ++h) {
        double* __restrict own = p + h * block_rows;
        for (std::size_t i = 0; i < b.padded; ++i) own[i] *= total[i];
        for (std::size_t i = b.rows; i < b.padded; ++i) own[i] = 0;
    }
    return all_of(sum);
}

SPINNEY_INLINE double weighted(const double* __restrict w, const double* __restrict q, std::size_t n) {
    double lane[lanes] = {};
    const std::size_t whole = n / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) lane[l] += w[i + l] * q[i + l];
    for (std::size_t i = whole; i < n; ++i) lane[i - whole] += w[i] * q[i];
    return all_of(lane);
}

SPINNEY_INLINE double total_of(const double* __restrict w, std::size_t padded) {
    double lane[lanes] = {};
    for (std::size_t i = 0; i < padded; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) lane[l] += w[i + l];
    return all_of(lane);
}

// gradient -= the sums of p and of p q_j.
SPINNEY_CLONES void take_expected(const Block& b, const double* p, double* gradient) {
    gradient[0] -= total_of(p, b.padded);
    for (std::size_t j = 0; j < b.count; ++j) gradient[j + 1] -= weighted(p, b.columns[j], b.rows);
}

// square += the sums of w q_i q_j for i >= j, q_0 = 1; w = p (1 - p), or -p p' for two levels.
SPINNEY_CLONES void add_squares(const Block& b, const double* p, const double* other, double* square, std::size_t stride) {
    double w[block_rows], weighed[block_rows];
    if (p == other)
        for (std::size_t i = 0; i < b.padded; ++i) w[i] = p[i] * (1 - p[i]);
    else
        for (std::size_t i = 0; i < b.padded; ++i) w[i] = -p[i] * other[i];
    square[0] += total_of(w, b.padded);
    for (std::size_t j = 0; j < b.count; ++j) {
        const double* __restrict q = b.columns[j];
        for (std::size_t i = b.rows; i < b.padded; ++i) weighed[i] = 0;
        for (std::size_t i = 0; i < b.rows; ++i) weighed[i] = w[i] * q[i];
        double* row = square + (j + 1) * stride;
        row[0] += total_of(weighed, b.padded);
        for (std::size_t k = 0; k <= j; ++k) row[k + 1] += weighted(weighed, b.columns[k], b.rows);
    }
}

}  // namespace

// ridge/2 sum over the columns of |slopes of all levels less their mean|^2.
double LogisticCell::penalty() const {
    double all = 0;
    for (std::size_t j = 1; j < width_; ++j) {
        double sum = 0, squares = 0;
        for (std::size_t h = 0; h < free_; ++h) {
            const double slope = theta_[h * width_ + j];
            sum += slope;
            squares += slope * slope;
        }
        all += squares - sum * sum / static_cast<double>(free_ + 1);
    }
    return logistic_ridge / 2 * all;
}

double LogisticCell::pass(const double* const* columns, std::size_t n, bool curved) {
    const std::size_t w = width_, d = theta_.size();
    double objective = -penalty();
    for (std::size_t i = 0; i < d; ++i) {
        objective += theta_[i] * observed_[i];
        gradient_[i] = observed_[i];
    }
    if (curved) std::fill(hessian_.begin(), hessian_.end(), 0.0);
    for (std::size_t first = 0; first < n; first += block_rows) {
        Listening::look();
        const std::size_t rows = std::min(block_rows, n - first);
        const Block b{rows, (rows + lanes - 1) / lanes * lanes, own_.data(), w - 1};
        for (std::size_t j = 0; j + 1 < w; ++j) own_[j] = columns[j] + first;
        objective -= softmax(b, theta_.data(), free_, block_.data());
        for (std::size_t h = 0; h < free_; ++h) {
            const double* p = block_.data() + h * block_rows;
            take_expected(b, p, gradient_.data() + h * w);
            for (std::size_t l = 0; curved && l <= h; ++l)
                add_squares(b, p, block_.data() + l * block_rows, hessian_.data() + h * w * d + l * w, d);
        }
    }
    const double share = 1.0 / static_cast<double>(free_ + 1);
    for (std::size_t j = 1; j < w; ++j) {
        double sum = 0;
        for (std::size_t h = 0; h < free_; ++h) sum += theta_[h * w + j];
        for (std::size_t h = 0; h < free_; ++h) gradient_[h * w + j] -= logistic_ridge * (theta_[h * w + j] - sum * share);
    }
    for (std::size_t h = 0; curved && h < free_; ++h)
        for (std::size_t l = 0; l <= h; ++l) {
            double* square = hessian_.data() + h * w * d + l * w;
            for (std::size_t j = 1; j < w; ++j) square[j * d + j] += logistic_ridge * ((h == l) - share);
            for (std::size_t i = 0; i < w; ++i)
                for (std::size_t j = i + 1; j < w; ++j) square[i * d + j] = square[j * d + i];
        }
    return objective;
}

void LogisticCell::factorise() {
    const std::size_t d = theta_.size();
    double* a = hessian_.data();
    for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double rest = a[i * d + j];
            for (std::size_t k = 0; k < j; ++k) rest -= a[i * d + k] * a[j * d + k];
            // Where all rows are certain of their level, the intercept has next to no curvature left.
            if (i == j) a[i * d + i] = std::sqrt(std::max(rest, 1e-3 * logistic_ridge));
            else a[i * d + j] = rest / a[j * d + j];
        }
    }
}

void LogisticCell::solve() {
    const std::size_t d = theta_.size();
    const double* a = hessian_.data();
    step_ = gradient_;
    for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t k = 0; k < i; ++k) step_[i] -= a[i * d + k] * step_[k];
        step_[i] /= a[i * d + i];
    }
    for (std::size_t i = d; i-- > 0;) {
        for (std::size_t k = i + 1; k < d; ++k) step_[i] -= a[k * d + i] * step_[k];
        step_[i] /= a[i * d + i];
    }
    gain_ = length_ = 0;
    for (std::size_t i = 0; i < d; ++i) {
        gain_ += step_[i] * gradient_[i];
        length_ += step_[i] * step_[i];
    }
}

void LogisticCell::move() {
    for (std::size_t i = 0; i < theta_.size(); ++i) theta_[i] += step_[i];
}

double LogisticCell::fit(std::span<const double> observed, const double* const* columns, std::size_t count, std::size_t n) {
    width_ = count + 1;
    free_ = observed.size() / width_ - 1;
    observed_ = observed;
    const std::size_t d = free_ * width_;
    theta_.resize(d);
    gradient_.resize(d);
    hessian_.resize(d * d);
    block_.resize(free_ * block_rows);
    own_.resize(count);
    // Newton's first step from equal logits in all rows: the least squares regression of the levels' indicators, over the
    // probabilities of the levels.
    const double* last = observed.data() + d;
    double alone = 0;                                    // the log-likelihood without columns
    for (std::size_t h = 0; h <= free_; ++h) {
        const double* own = observed.data() + h * width_;
        alone += own[0] * std::log(own[0] / static_cast<double>(n));
        if (h == free_) break;
        theta_[h * width_] = std::log(own[0] / last[0]);
        for (std::size_t j = 1; j < width_; ++j) theta_[h * width_ + j] = own[j] / own[0] - last[j] / last[0];
    }
    const auto worse = [](double than, double now) { return !(now >= than - 1e-12 * (1 + std::abs(than))); };
    double now = pass(columns, n, true);
    for (int i = 0; worse(alone, now) && i < most_halvings; ++i) {
        for (std::size_t h = 0; h < free_; ++h)
            for (std::size_t j = 1; j < width_; ++j) theta_[h * width_ + j] /= 4;
        now = pass(columns, n, true);
    }
    for (int step = 0; step < most_steps; ++step) {
        factorise();
        solve();
        before_ = theta_;
        move();
        // So near to the maximum the objective is a parabola: half the gain is what the step brings, to many digits.
        if (gain_ < 1e-5 && length_ < 1e-5) return std::min(now + gain_ / 2 + penalty(), 0.0);
        const double moved = length_;
        const bool near = gain_ < 0.3 && moved < 0.01;   // one more step with the same curvature may well be the last one
        double next = pass(columns, n, !near);
        if (near) {
            solve();
            if (!worse(now, next) && gain_ * std::sqrt(moved) < 1e-8 && length_ < 1e-5) {
                move();
                return std::min(next + gain_ / 2 + penalty(), 0.0);
            }
            next = pass(columns, n, true);
        }
        for (int i = 0; worse(now, next) && i < most_halvings; ++i) {
            for (std::size_t k = 0; k < d; ++k) theta_[k] = (theta_[k] + before_[k]) / 2;
            next = pass(columns, n, true);
        }
        now = next;
    }
    return std::min(now + penalty(), 0.0);
}

}  // namespace spinney
