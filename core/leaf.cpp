#include "leaf.hpp"

#include <deque>

#include "portable.hpp"
#include "vector_math.hpp"

namespace spinney {

double CountTable::not_yet(std::size_t count) const {
    if (count < kept_ && make(1)) return (*numbers_)[count];
    return number_(count);
}

bool CountTable::make(std::size_t wanted) const {
    struct Kept { Key key; std::shared_ptr<const std::vector<double>> numbers; };
    constexpr std::size_t most_kept = 32, some = 256;
    thread_local std::deque<Kept> kept;
    if (asked_ == 0 || asked_ + wanted >= some)
        for (const Kept& table : kept)
            if (table.key == key_ && table.numbers->size() == kept_) {
                numbers_ = table.numbers;
                return true;
            }
    asked_ += wanted;
    if (asked_ < std::max(some, kept_ / 4)) return false;
    auto numbers = std::make_shared<std::vector<double>>(kept_);
    for (std::size_t n = 0; n < kept_; ++n) (*numbers)[n] = number_(n);
    numbers_ = numbers;
    kept.push_back({key_, std::move(numbers)});
    if (kept.size() > most_kept) kept.pop_front();
    return true;
}

SPINNEY_CLONES void look_up(const double* table, double sign, const std::uint32_t* counts, std::size_t n, double* out,
                            std::uint32_t* total) {
    for (std::size_t i = 0; i < n; ++i) out[i] += sign * table[counts[i]];
    if (total)
        for (std::size_t i = 0; i < n; ++i) total[i] += counts[i];
}

namespace {

constexpr std::size_t lanes = 16;                        // leaves that are scored side by side

SPINNEY_CLONES void add_scaled(const double* reach, const double* term, const double* most, double* sum) {
    for (std::size_t i = 0; i < lanes; ++i) sum[i] += reach[i] * exp_negative(term[i] - most[i]);
}

}  // namespace

SPINNEY_CLONES void log_scatter(const LeafOptions& o, const double* sums, std::size_t stride, std::size_t n, double* out) {
    const double a = o.a, mu0 = o.mu0, least = o.nu * o.lambda, *total = sums + stride, *squares = total + stride;
    for (std::size_t i = 0; i < n; ++i) {
        const double rows = sums[i], mean = total[i] / (rows > 1 ? rows : 1), away = mean - mu0;
        const double spread = squares[i] - rows * mean * mean, pulled = rows * a * away * away / (rows + a);
        out[i] = log_positive((spread > 0 ? spread : 0) + pulled + least);
    }
}

CountTable normal_constants(const LeafOptions& o, std::size_t rows) {
    return {{1, o.a, o.nu, o.lambda}, rows, [o](std::size_t n) {
                const double m = static_cast<double>(n);
                return n == 0 ? 0 : -m / 2 * std::log(std::numbers::pi) + o.nu / 2 * std::log(o.lambda * o.nu) + 0.5 * std::log(o.a / (m + o.a)) +
                                        log_gamma((m + o.nu) / 2) - log_gamma(o.nu / 2);
            }};
}

std::vector<double> scatter_limits(const LeafOptions& o, const CountTable& constant, double price) {
    const std::size_t most = std::min<std::size_t>(constant.size(), 32);
    std::vector<double> leaf(most), any(most), limits(most, -INFINITY);         // of n rows without scatter: one leaf, or any number
    double limit = INFINITY;
    for (std::size_t n = 1; n < most; ++n) {
        const double weight = (static_cast<double>(n) + o.nu) / 2;
        double parted = -INFINITY;
        for (std::size_t part = 1; part < n; ++part) parted = std::max(parted, leaf[part] + any[n - part]);
        leaf[n] = constant[n] + price - weight * std::log(o.nu * o.lambda);
        any[n] = std::max(leaf[n], parted);
        limits[n] = limit = std::min(limit, (constant[n] + price - parted) / weight - 1e-9);
    }
    return limits;
}

bool OrdinalLeaf::one_row(const Number* sums, double& score) {
    int level = -1;
    for (int k = 0; k < levels_; ++k)
        if (sums[k]) {
            if (level >= 0 || sums[k] > 1) return false;
            level = k;
        }
    if (level < 0) return false;
    if (lone_.empty()) {
        const std::size_t k = levels_;
        std::vector<Number> each(k * k, 0);
        for (std::size_t i = 0; i < k; ++i) each[i * k + i] = 1;
        lone_.resize(k);
        scores(each.data(), k, k, lone_.data());
    }
    score = lone_[level];
    return true;
}

// reach[t] e^scale[t] is the sum over all ways to cut the first t levels into runs; a cut has odds kappa. The last run
// of the first t levels is s..t.
void OrdinalLeaf::scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out) {
    const std::size_t k = levels_;
    scratch_.resize((3 * k + 4) * lanes);
    double *reach = scratch_.data(), *scale = reach + (k + 1) * lanes, *term = scale + (k + 1) * lanes, *most = term + k * lanes,
           *sum = most + lanes;
    bool tables = true;
    for (const CountTable& table : of_run_) tables &= table.made(leaves * k / 2);
    for (std::size_t from = 0; from < leaves; from += lanes) {
        const std::size_t n = std::min(lanes, leaves - from);
        Number total[lanes] = {}, in_run[lanes];
        bool in_table = tables;
        if (tables && total_.kept() < total_.size()) {
            Number most = 0;
            for (std::size_t i = 0; i < n; ++i) {
                Number all = 0;
                for (std::size_t level = 0; level < k; ++level) all += sums[level * stride + from + i];
                most = std::max(most, all);
            }
            in_table = most < total_.kept();
        }
        std::fill_n(reach, lanes, 1 / kappa_);           // the first run is not cut off from anything
        std::fill_n(scale, lanes, 0.0);
        for (std::size_t t = 1; t <= k; ++t) {
            std::fill_n(most, lanes, -INFINITY);
            std::fill_n(sum, lanes, 0.0);
            std::fill_n(in_run, lanes, Number{0});
            for (std::size_t s = t; s >= 1; --s) {
                const Number* own = sums + (s - 1) * stride + from;
                const CountTable& table = of_run_[t - s];
                const double *run = tables ? table.data() : nullptr, *before = scale + (s - 1) * lanes;
                double* here = term + (t - s) * lanes;
                for (std::size_t i = 0; i < n; ++i) {
                    in_run[i] += own[i];
                    here[i] = before[i] + (in_table ? run[in_run[i]] : table[in_run[i]]);
                    most[i] = std::max(most[i], here[i]);
                }
            }
            for (std::size_t s = t; s >= 1; --s) add_scaled(reach + (s - 1) * lanes, term + (t - s) * lanes, most, sum);
            for (std::size_t i = 0; i < n; ++i) {
                reach[t * lanes + i] = sum[i] * kappa_;
                scale[t * lanes + i] = most[i];
                total[i] += sums[(t - 1) * stride + from + i];
            }
        }
        for (std::size_t i = 0; i < n; ++i)
            out[from + i] = total[i] == 0 ? 0 : std::log(reach[k * lanes + i]) + scale[k * lanes + i] - log_all_ - total_[total[i]];
    }
}

}  // namespace spinney
