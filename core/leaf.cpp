#include "leaf.hpp"

#include <deque>

#include "vector_math.hpp"

namespace spinney {

double CountTable::not_yet(std::size_t count) const {
    constexpr int some = 256;
    if (++asked_ < some) return number_(count);
    make();
    return (*numbers_)[count];
}

void CountTable::make() const {
    struct Kept { Key key; std::shared_ptr<const std::vector<double>> numbers; };
    constexpr std::size_t most = 8;
    thread_local std::deque<Kept> kept;
    for (const Kept& table : kept)
        if (table.key == key_ && table.numbers->size() == size_) {
            numbers_ = table.numbers;
            return;
        }
    auto numbers = std::make_shared<std::vector<double>>(size_);
    for (std::size_t n = 0; n < size_; ++n) (*numbers)[n] = number_(n);
    numbers_ = numbers;
    kept.push_back({key_, std::move(numbers)});
    if (kept.size() > most) kept.pop_front();
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

// reach[t] e^scale[t] is the sum over all ways to cut the first t levels into runs; a cut has odds kappa. The last run
// of the first t levels is s..t.
void OrdinalLeaf::scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out) {
    const std::size_t k = levels_;
    scratch_.resize((3 * k + 4) * lanes);
    double *reach = scratch_.data(), *scale = reach + (k + 1) * lanes, *term = scale + (k + 1) * lanes, *most = term + k * lanes,
           *sum = most + lanes;
    for (std::size_t from = 0; from < leaves; from += lanes) {
        const std::size_t n = std::min(lanes, leaves - from);
        Number total[lanes] = {}, in_run[lanes];
        std::fill_n(reach, lanes, 1 / kappa_);           // the first run is not cut off from anything
        std::fill_n(scale, lanes, 0.0);
        for (std::size_t t = 1; t <= k; ++t) {
            std::fill_n(most, lanes, -INFINITY);
            std::fill_n(sum, lanes, 0.0);
            std::fill_n(in_run, lanes, Number{0});
            for (std::size_t s = t; s >= 1; --s) {
                const Number* own = sums + (s - 1) * stride + from;
                const double *run = of_run_[t - s].data(), *before = scale + (s - 1) * lanes;
                double* here = term + (t - s) * lanes;
                for (std::size_t i = 0; i < n; ++i) {
                    in_run[i] += own[i];
                    here[i] = before[i] + run[in_run[i]];
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
