#include "mars.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "orthonormal.hpp"
#include "threads.hpp"

namespace spinney {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double equal_reductions = 1 + 1e-9;
constexpr double least_line = 0.01;                      // squares of a line in the caller's units, as earth has it
constexpr double rounding = 1e-9;                        // of the centred squares of a line: less may be rounding
constexpr double least_length = 1e-12;                   // of the squares of a function: less is rounding

// --- where knots may be -------------------------------------------------------------------------------------------------

struct Spans {
    std::size_t between, first;                          // used rows from knot to knot, and above the first
    std::size_t below;                                   // rows, used or not, below the last
};

// Friedman's (43) and (45) with alpha 0.05. Knots stand evenly: what is left over is divided between both ends.
Spans spans(const MarsSpec& spec, std::size_t rows, std::size_t columns, std::size_t used, bool product) {
    const double p = static_cast<double>(columns), log2 = std::log(2.0);
    auto end = static_cast<std::size_t>(spec.endspan ? spec.endspan : 3 - std::log(0.05 / p) / log2);
    if (product) end += static_cast<std::size_t>(2 * static_cast<double>(end) + 0.5);
    end = std::max<std::size_t>(1, std::min(end, rows / 2 > 0 ? rows / 2 - 1 : 0));
    const double between = spec.minspan ? spec.minspan : (std::log(p * static_cast<double>(used)) - std::log(-std::log(0.95))) / (2.5 * log2);
    const auto step = static_cast<std::size_t>(std::max(1.0, between));
    if (rows <= 2 * end) return {step, rows, rows};
    const std::size_t over = (rows - 2 * end - 1) % step;
    return {step, end + (over + 1) / 2, end};
}

// --- candidates ---------------------------------------------------------------------------------------------------------

// One column that a basis function may be multiplied with: the line, and a hinge per knot.
struct Growth {
    int column = 0;
    std::vector<std::uint32_t> rows;                     // where B is not 0, by falling x, down to the last knot
    std::vector<double> above;                           // of each, x less the next knot
    struct Knot { double value; std::uint32_t row, end; };      // end: how many of the rows lie above it
    std::vector<Knot> knots;
    std::vector<double> squares, centred, along;         // per knot: of the hinge; its product with the line
    std::vector<double> toward;                          // per knot and response
    double line_squares = 0, least_line = 0, high_squares = 0;      // high: centred, of the hinge of a column of two values
    std::vector<double> line_toward;
    double bytes() const {
        return 12.0 * static_cast<double>(rows.size()) + static_cast<double>(knots.size()) * (40 + 8.0 * static_cast<double>(line_toward.size()));
    }
};

struct Term {
    std::vector<MarsFactor> factors;
    std::vector<double> values;                          // with groups times the root of the weight
    std::vector<std::uint32_t> rows;                     // where they are not 0
    double unit = 1;                                     // values times this are in the caller's units
    int place = 1;                                       // of max_terms
    std::size_t absorbed = 0;                            // orthonormal columns that the growths know of
    std::vector<Growth> growths;
    double gain = infinity;                              // the best reduction when last searched
    int searched = 0;                                    // how many places were taken then, or when it was added
};

struct Candidate {
    double reduction = 0;
    std::size_t term = 0, growth = 0;
    int knot = -1;                                       // -1: the line, or the hinge at the smaller of two values
    bool line = false;                                   // counts
};

// --- the forward pass ---------------------------------------------------------------------------------------------------

class Forward {
public:
    Forward(const MarsSpec& spec, std::span<const MarsColumn* const> columns, std::span<const double* const> responses, std::size_t rows,
            const MarsGroups* groups)
        : spec_(spec), columns_(columns), n_(rows), all_rows_(groups ? groups->rows : rows), responses_(responses.size()),
          within_(groups ? groups->within : 0.0), grouped_(groups) {
        Term constant;
        constant.values.assign(n_, 1.0);
        if (groups)
            for (std::size_t i = 0; i < n_; ++i) constant.values[i] = std::sqrt(groups->weights[i]);
        const std::vector<double>& root = constant.values;
        for (const double* y : responses) {
            double mean = 0;
            for (std::size_t i = 0; i < n_; ++i) mean += root[i] * root[i] * (y[i] - y[0]);
            mean = y[0] + mean / static_cast<double>(all_rows_);
            means_.push_back(mean);
            for (std::size_t i = 0; i < n_; ++i) rest_.push_back(root[i] * (y[i] - mean));
        }
        start_ = rest_;
        squares_ = total_ = within_ + dot(rest_.data(), rest_.data(), rest_.size());
        const double length = std::sqrt(static_cast<double>(all_rows_));
        basis_.push_back(root);
        for (double& value : basis_.back()) value /= length;
        triangle_.push_back({length});
        products_.emplace_back(responses_, 0.0);         // of the centred responses
        terms_.push_back(std::move(constant));
        place_codes();
    }

    const char* run() {
        const int most = spec_.most_terms(columns_.size());
        const double alone = mars_gcv(total_, all_rows_, 1, spec_.penalty);
        double before = 0, last = infinity;
        while (places_ + 2 <= most) {
            const Candidate best = search(std::min(1.01 * squares_, 10 * last));
            if (best.reduction <= 0) return "no term lowers the squares";
            const std::size_t terms = terms_.size();
            const std::vector<double> rest = rest_;
            const double squares = squares_;
            take(best);
            last = squares - squares_;
            const double now = 1 - squares_ / total_;
            const bool little = now - before < spec_.threshold, far = 1 - mars_gcv(squares_, all_rows_, terms_.size(), spec_.penalty) / alone < -10;
            if (spec_.threshold > 0 && (little || far)) {
                while (terms_.size() > terms) {
                    terms_.pop_back();
                    basis_.pop_back();
                    triangle_.pop_back();
                    products_.pop_back();
                }
                rest_ = rest;
                squares_ = squares;
                return little ? "R2 gains less than the threshold" : "GCV is far above that of the constant";
            }
            before = now;
            if (spec_.threshold > 0 && now > 1 - spec_.threshold) return "R2 is above 1 - threshold";
        }
        return "max_terms is reached";
    }

    const std::vector<Term>& terms() const { return terms_; }
    const std::vector<std::vector<double>>& triangle() const { return triangle_; }    // column j: entries 0 to j
    const std::vector<std::vector<double>>& products() const { return products_; }    // of the basis with the centred responses
    const std::vector<double>& means() const { return means_; }
    double total() const { return total_; }
    double squares() const { return squares_; }

private:
    bool holds(const Term& term, int column) const {
        return std::any_of(term.factors.begin(), term.factors.end(), [&](const MarsFactor& f) { return f.column == column; });
    }

    std::vector<std::size_t> parents() {
        std::vector<std::size_t> queue(terms_.size()), found;
        std::iota(queue.begin(), queue.end(), std::size_t{0});
        if (const auto most = static_cast<std::size_t>(std::max(3, spec_.fast_k)); spec_.fast_k > 0 && queue.size() > most) {
            std::stable_sort(queue.begin(), queue.end(), [&](std::size_t a, std::size_t b) { return terms_[a].gain > terms_[b].gain; });
            std::vector<std::pair<double, std::size_t>> aged;
            for (std::size_t r = 0; r < queue.size(); ++r)
                aged.emplace_back(static_cast<double>(r) + spec_.fast_beta * (places_ - terms_[queue[r]].searched), queue[r]);
            std::stable_sort(aged.begin(), aged.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            queue.clear();
            for (std::size_t r = 0; r < most; ++r) queue.push_back(aged[r].second);
            std::sort(queue.begin(), queue.end());
        }
        for (std::size_t t : queue) {
            if (static_cast<int>(terms_[t].factors.size()) >= spec_.degree) continue;
            terms_[t].searched = places_;                // also if its place comes too late
            if (terms_[t].place <= static_cast<int>(terms_.size())) found.push_back(t);
        }
        return found;
    }

    Candidate search(double most) {
        Candidate best;
        for (std::size_t t : parents()) {
            Listening::look();
            Term& term = terms_[t];
            if (term.growths.empty()) make_growths(term);
            absorb(term);
            term.gain = 0;
            for (std::size_t g = 0; g < term.growths.size(); ++g) look_at(term, t, g, most, best);
            if (kept_ > spec_.most_bytes) forget(term);
        }
        return best;
    }

    void forget(Term& term) {
        for (const Growth& growth : term.growths) kept_ -= growth.bytes();
        term.growths.clear();
        term.absorbed = 0;
    }

    void look_at(Term& term, std::size_t t, std::size_t g, double most, Candidate& best) const {
        const Growth& own = term.growths[g];
        const bool line = own.line_squares > own.least_line && own.line_squares > 0;
        double by_line = 0, inverse = 0;
        std::vector<double>& slopes = slopes_;
        slopes.assign(responses_, 0.0);
        if (line) {
            inverse = 1 / own.line_squares;
            for (std::size_t r = 0; r < responses_; ++r) {
                by_line += own.line_toward[r] * own.line_toward[r] * inverse;
                slopes[r] = own.line_toward[r] * inverse;
            }
        }
        const auto offer = [&](double reduction, int knot) {
            if (knot >= 0 && reduction >= most) return;
            term.gain = std::max(term.gain, reduction);
            if (reduction > best.reduction * equal_reductions) best = {reduction, t, g, knot, line};
        };
        if (line) offer(by_line, -1);
        const double least = places_ < 15 ? 0.01 : 1e-5;
        // With two values the hinge differs from the line by B, which is explained: the numbers of the line are its numbers.
        if (!line && columns_[own.column]->two_values && !grouped_ && own.line_squares > least * own.high_squares && divided(term, *columns_[own.column])) {
            double sum = 0;
            for (double toward : own.line_toward) sum += toward * toward;
            offer(sum / own.line_squares, -1);
        }
        for (std::size_t k = 0; k < own.knots.size(); ++k) {
            const double along = own.along[k], squares = own.squares[k] - along * along * inverse;
            if (!(squares > least * own.centred[k])) continue;
            double sum = 0;
            for (std::size_t r = 0; r < responses_; ++r) {
                const double product = own.toward[k * responses_ + r] - along * slopes[r];
                sum += product * product;
            }
            const double reduction = by_line + sum / squares;
            if (reduction > term.gain || reduction > best.reduction) offer(reduction, static_cast<int>(k));
        }
    }

    // Where the sums of each variable's levels stand, for columns that are indicators.
    void place_codes() {
        std::size_t at = 0;
        for (const MarsColumn* column : columns_) {
            const auto known = std::find_if(codings_.begin(), codings_.end(), [&](const Coding& own) { return own.codes == column->codes; });
            if (column->codes && known == codings_.end()) {
                codings_.push_back({column->codes, at});
                at += column->levels;
            }
        }
        for (const MarsColumn* column : columns_) {
            slots_.push_back(-1);
            for (const Coding& own : codings_)
                if (column->codes == own.codes) slots_.back() = static_cast<std::ptrdiff_t>(own.first) + column->level;
        }
        by_level_.resize(2 * at);
    }

    // Sums of two numbers per row over the rows of every level, for the rows of a term.
    template <class Numbers>
    void sum_by_level(const Term& term, const Numbers& numbers) {
        std::fill(by_level_.begin(), by_level_.end(), 0.0);
        for (const Coding& own : codings_)
            for (std::uint32_t row : term.rows) {
                double* sums = &by_level_[2 * (own.first + own.codes[row])];
                const auto [one, other] = numbers(row);
                sums[0] += one;
                sums[1] += other;
            }
    }

    // The rows and knots of every column that is not in the term, and the numbers before anything is explained.
    void make_growths(Term& term) {
        const std::vector<double>& b = term.values;
        const std::size_t used = std::count_if(b.begin(), b.end(), [](double value) { return value > 0; });
        const double n = static_cast<double>(all_rows_);
        term.rows.clear();
        for (std::size_t i = 0; i < n_; ++i)
            if (b[i] != 0) term.rows.push_back(static_cast<std::uint32_t>(i));
        const double* root = terms_[0].values.data();    // 1 without groups
        if (used > 0) sum_by_level(term, [&](std::uint32_t row) { return std::pair(b[row] * root[row], b[row] * b[row]); });
        for (std::size_t c = 0; c < columns_.size() && used > 0; ++c) {
            if (holds(term, static_cast<int>(c))) continue;
            Growth own;
            own.column = static_cast<int>(c);
            const double* x = columns_[c]->values;
            double l1 = 0, l2 = 0;
            if (slots_[c] >= 0) {
                l1 = by_level_[2 * slots_[c]];
                l2 = by_level_[2 * slots_[c] + 1];
                if (l2 == 0) continue;
            } else {
                for (std::size_t i = 0; i < n_; ++i) {
                    const double line = b[i] * x[i];
                    l1 += root[i] * line;
                    l2 += line * line;
                }
            }
            own.line_squares = l2;
            const double unit = term.unit * columns_[c]->unit;
            own.least_line = std::max(least_line / (unit * unit), rounding * (l2 - l1 * l1 / n));
            if (columns_[c]->two_values) own.high_squares = slots_[c] >= 0 ? l2 - l1 * l1 / n : hinge_at_low(b, *columns_[c]);
            own.line_toward.resize(responses_);
            for (std::size_t r = 0; r < responses_ && slots_[c] < 0; ++r) {
                const double* y = start_.data() + r * n_;
                double sum = 0;
                for (std::size_t i = 0; i < n_; ++i) sum += b[i] * x[i] * y[i];
                own.line_toward[r] = sum;
            }
            if (!columns_[c]->two_values) make_knots(own, b, used, !term.factors.empty());
            kept_ += own.bytes();
            term.growths.push_back(std::move(own));
        }
        for (std::size_t r = 0; r < responses_ && !codings_.empty() && used > 0; r += 2) {
            const double *y = start_.data() + r * n_, *z = r + 1 < responses_ ? y + n_ : y;
            sum_by_level(term, [&](std::uint32_t row) { return std::pair(b[row] * y[row], b[row] * z[row]); });
            for (Growth& own : term.growths)
                for (std::size_t other = r; other < std::min(r + 2, responses_) && slots_[own.column] >= 0; ++other)
                    own.line_toward[other] = by_level_[2 * slots_[own.column] + (other - r)];
        }
        term.absorbed = 0;
    }

    // Centred squares of the hinge at the smaller of two values.
    double hinge_at_low(const std::vector<double>& b, const MarsColumn& column) const {
        const double *x = column.values, low = x[column.order.front()];
        double h1 = 0, h2 = 0;
        for (std::size_t i = n_; i-- > 0 && x[column.order[i]] != low;) {
            const double hinge = b[column.order[i]] * (x[column.order[i]] - low);
            h1 += hinge;
            h2 += hinge * hinge;
        }
        return h2 - h1 * h1 / static_cast<double>(n_);
    }

    // Whether a column of two values has a knot: between its values, where the rows suffice.
    bool divided(const Term& term, const MarsColumn& column) const {
        const double *x = column.values, low = x[column.order.front()];
        const auto positive = [&](double value) { return value > 0; };
        const std::size_t used = std::count_if(term.values.begin(), term.values.end(), positive);
        const Spans span = spans(spec_, n_, columns_.size(), used, !term.factors.empty());
        std::size_t count = 0;
        for (std::size_t i = n_; i-- > span.below + 1 && count < span.first;) {
            if (x[column.order[i - 1]] != low || term.values[column.order[i]] <= 0) continue;
            ++count;
        }
        return count == span.first;
    }

    void make_knots(Growth& own, const std::vector<double>& b, std::size_t used, bool product) {
        const MarsColumn& column = *columns_[own.column];
        const double* x = column.values;
        const Spans span = spans(spec_, n_, columns_.size(), used, product);
        std::size_t next = span.first, positive = 0;
        for (std::size_t i = n_; i-- > span.below + 1;) {
            const std::uint32_t row = column.order[i], at = column.order[i - 1];
            if (b[row] == 0) continue;
            own.rows.push_back(row);
            // The hinge at the next value is 0 everywhere: the row does not count.
            if (b[row] < 0 || x[at] == x[own.rows.front()] || ++positive < next) continue;
            own.knots.push_back({x[at], at, static_cast<std::uint32_t>(own.rows.size())});
            next += span.between;
        }
        const std::size_t count = own.knots.size();
        own.rows.resize(count ? own.knots.back().end : 0);
        own.above.resize(own.rows.size());
        own.squares.resize(count);
        own.along.resize(count);
        own.toward.resize(count * responses_);
        // The sums over the rows above a knot grow with every row, and by the step from knot to knot.
        double w0 = 0, w1 = 0, w2 = 0, v0 = 0, v1 = 0, knot = count ? x[own.rows[0]] : 0;
        std::vector<double> y0(responses_, 0.0), y1(responses_, 0.0);
        std::size_t i = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const double down = knot - own.knots[k].value;
            knot = own.knots[k].value;
            w2 += down * (2 * w1 + down * w0);
            w1 += down * w0;
            v1 += down * v0;
            for (std::size_t r = 0; r < responses_; ++r) y1[r] += down * y0[r];
            for (; i < own.knots[k].end; ++i) {
                const std::uint32_t row = own.rows[i];
                const double above = own.above[i] = x[row] - knot, own_b = b[row], bb = own_b * own_b;
                w0 += bb;
                w1 += bb * above;
                w2 += bb * above * above;
                v0 += bb * x[row];
                v1 += bb * x[row] * above;
                for (std::size_t r = 0; r < responses_; ++r) {
                    const double by = own_b * start_[r * n_ + row];
                    y0[r] += by;
                    y1[r] += by * above;
                }
            }
            own.squares[k] = w2;
            own.along[k] = v1;
            for (std::size_t r = 0; r < responses_; ++r) own.toward[k * responses_ + r] = y1[r];
        }
    }

    // Takes out of the numbers of a term's growths what new orthonormal columns explain, two of them at a time.
    void absorb(Term& term) {
        const std::vector<double>& b = term.values;
        both_.resize(2 * n_);
        while (term.absorbed < basis_.size()) {
            // The constant by itself: what it leaves are the centred squares.
            const std::size_t count = term.absorbed == 0 ? 1 : std::min<std::size_t>(2, basis_.size() - term.absorbed);
            const double *q1 = basis_[term.absorbed].data(), *q2 = basis_[term.absorbed + count - 1].data();
            const double second = count == 2 ? 1 : 0;
            for (std::size_t i = 0; i < n_; ++i) {
                both_[2 * i] = q1[i] * b[i];
                both_[2 * i + 1] = second * (q2[i] * b[i]);
            }
            const std::vector<double>&y1 = products_[term.absorbed], &y2 = products_[term.absorbed + count - 1];
            if (!codings_.empty()) sum_by_level(term, [&](std::uint32_t row) { return std::pair(both_[2 * row], both_[2 * row + 1]); });
            for (Growth& own : term.growths) {
                const double* x = columns_[own.column]->values;
                double l1 = 0, l2 = 0;
                if (const std::ptrdiff_t slot = slots_[own.column]; slot >= 0) {
                    l1 = by_level_[2 * slot];
                    l2 = by_level_[2 * slot + 1];
                } else {
                    for (std::size_t i = 0; i < n_; ++i) {
                        l1 += both_[2 * i] * x[i];
                        l2 += both_[2 * i + 1] * x[i];
                    }
                }
                own.line_squares -= l1 * l1 + l2 * l2;
                for (std::size_t r = 0; r < responses_; ++r) own.line_toward[r] -= l1 * y1[r] + l2 * y2[r];
                sweep(own, l1, l2, y1.data(), y2.data());
                if (term.absorbed == 0) own.centred = own.squares;
            }
            term.absorbed += count;
        }
    }

    void sweep(Growth& own, double l1, double l2, const double* y1, const double* y2) const {
        const double* both = both_.data();
        double g1 = 0, g2 = 0, p1 = 0, p2 = 0, knot = 0;
        std::size_t i = 0;
        for (std::size_t k = 0; k < own.knots.size(); ++k) {
            const double down = knot - own.knots[k].value;
            knot = own.knots[k].value;
            double s1 = 0, s2 = 0, m1 = 0, m2 = 0;
            for (const std::size_t end = own.knots[k].end; i < end; ++i) {
                const double *z = both + 2 * static_cast<std::size_t>(own.rows[i]), above = own.above[i];
                s1 += z[0];
                s2 += z[1];
                m1 += z[0] * above;
                m2 += z[1] * above;
            }
            g1 += (k ? down * p1 : 0) + m1;
            g2 += (k ? down * p2 : 0) + m2;
            p1 += s1;
            p2 += s2;
            own.squares[k] -= g1 * g1 + g2 * g2;
            own.along[k] -= g1 * l1 + g2 * l2;
            for (std::size_t r = 0; r < responses_; ++r) own.toward[k * responses_ + r] -= g1 * y1[r] + g2 * y2[r];
        }
    }

    void take(const Candidate& best) {
        const Growth& growth = terms_[best.term].growths[best.growth];
        const int column = growth.column;
        const MarsColumn& own = *columns_[column];
        if (best.knot < 0) {
            add(best.term, {column, spec_.lines && best.line ? 0 : 1, own.order.front()}, places_ + 1);
        } else {
            const std::uint32_t row = growth.knots[best.knot].row;
            add(best.term, {column, 1, row}, places_ + 1);
            if (best.line) add(best.term, {column, -1, row}, places_ + 2);
        }
        places_ += 2;
    }

    void add(std::size_t parent, MarsFactor factor, int place) {
        const double *x = columns_[factor.column]->values, knot = factor.direction == 0 ? columns_[factor.column]->origin : x[factor.row];
        Term term;
        term.factors = terms_[parent].factors;
        term.factors.push_back(factor);
        term.place = place;
        term.searched = places_;
        term.unit = terms_[parent].unit * columns_[factor.column]->unit;
        term.values = terms_[parent].values;
        for (std::size_t i = 0; i < n_; ++i) {
            const double away = factor.direction < 0 ? knot - x[i] : x[i] - knot;
            term.values[i] *= factor.direction == 0 || away > 0 ? away : 0;
        }
        std::vector<double> column = term.values, shares(basis_.size() + 1, 0.0);
        const double before = dot(column.data(), column.data(), n_);
        for (int again = 0; again < 2; ++again)          // twice is enough for orthogonality to rounding
            for (std::size_t j = 0; j < basis_.size(); ++j) {
                const double share = dot(column.data(), basis_[j].data(), n_);
                subtract(column.data(), share, basis_[j].data(), n_);
                shares[j] += share;
            }
        const double left = dot(column.data(), column.data(), n_);
        if (!(left > least_length * before)) return;
        const double length = std::sqrt(left);
        for (double& value : column) value /= length;
        shares.back() = length;
        std::vector<double> products(responses_);
        for (std::size_t r = 0; r < responses_; ++r) {
            products[r] = dot(column.data(), rest_.data() + r * n_, n_);
            subtract(rest_.data() + r * n_, products[r], column.data(), n_);
        }
        squares_ = within_ + dot(rest_.data(), rest_.data(), rest_.size());
        basis_.push_back(std::move(column));
        triangle_.push_back(std::move(shares));
        products_.push_back(std::move(products));
        terms_.push_back(std::move(term));
    }

    const MarsSpec& spec_;
    const std::span<const MarsColumn* const> columns_;
    const std::size_t n_, all_rows_, responses_;         // n_: rows, or groups of them
    const double within_;
    const bool grouped_;
    struct Coding { const std::uint16_t* codes; std::size_t first; };
    std::vector<Coding> codings_;
    std::vector<std::ptrdiff_t> slots_;                  // per column the place of its level in by_level_; -1: no indicator
    std::vector<double> by_level_;
    std::vector<Term> terms_;
    std::vector<std::vector<double>> basis_, triangle_, products_;
    std::vector<double> means_, start_, rest_;           // responses, centred; what is left of them
    double total_ = 0, squares_ = 0, kept_ = 0;
    int places_ = 1;
    std::vector<double> both_;
    mutable std::vector<double> slopes_;
};

// --- the backward pass --------------------------------------------------------------------------------------------------

// Least squares of the responses on some of the basis functions, in the coordinates of the orthonormal basis.
class Subset {
public:
    Subset(const Forward& forward, std::size_t responses) : responses_(responses) {
        const std::size_t m = forward.terms().size();
        for (std::size_t j = 0; j < m; ++j) {
            columns_.push_back(forward.triangle()[j]);
            columns_.back().resize(m, 0.0);
            members_.push_back(static_cast<int>(j));
        }
        right_.assign(responses, std::vector<double>(m));
        for (std::size_t r = 0; r < responses; ++r)
            for (std::size_t j = 0; j < m; ++j) right_[r][j] = forward.products()[j][r];
    }
    std::size_t size() const { return members_.size(); }
    double share(std::size_t member) const {             // of the squares that the member explains beyond those before it
        double squares = 0;
        for (const auto& own : right_) squares += own[member] * own[member];
        return squares;
    }
    const std::vector<int>& members() const { return members_; }

    std::vector<std::vector<double>> coefficients() const {
        std::vector<std::vector<double>> all(responses_, std::vector<double>(size()));
        for (std::size_t r = 0; r < responses_; ++r)
            for (std::size_t j = size(); j-- > 0;) {
                double left = right_[r][j];
                for (std::size_t k = j + 1; k < size(); ++k) left -= columns_[k][j] * all[r][k];
                all[r][j] = left / columns_[j][j];
            }
        return all;
    }

    // The member, never the constant, without which the squares grow least, and by how much: b_j^2 / (G^-1)_jj, where the diagonal
    // of the inverse Gram matrix has the squares of the rows of the inverse triangle.
    std::pair<std::size_t, double> least() const {
        const std::size_t m = size();
        std::vector<double> diagonal(m, 0.0), column(m);
        for (std::size_t k = 0; k < m; ++k) {            // the k-th column of the inverse
            for (std::size_t j = k + 1; j-- > 0;) {
                double left = j == k;
                for (std::size_t i = j + 1; i <= k; ++i) left -= columns_[i][j] * column[i];
                column[j] = left / columns_[j][j];
                diagonal[j] += column[j] * column[j];
            }
        }
        const auto own = coefficients();
        std::pair<std::size_t, double> found{0, infinity};
        for (std::size_t j = 1; j < m; ++j) {
            double squares = 0;
            for (std::size_t r = 0; r < responses_; ++r) squares += own[r][j] * own[r][j];
            const double growth = squares / diagonal[j];
            if (growth <= found.second * equal_reductions) found = {j, growth};     // of equal ones the last
        }
        return found;
    }

    // Rotations make the rest a triangle again.
    void drop(std::size_t member) {
        columns_.erase(columns_.begin() + member);
        members_.erase(members_.begin() + member);
        for (std::size_t j = member; j < size(); ++j) {
            const double a = columns_[j][j], b = columns_[j][j + 1], length = std::hypot(a, b);
            if (length == 0) continue;
            const double c = a / length, s = b / length;
            const auto rotate = [&](std::vector<double>& own) {
                const double top = own[j], below = own[j + 1];
                own[j] = c * top + s * below;
                own[j + 1] = c * below - s * top;
            };
            for (std::size_t k = j; k < size(); ++k) rotate(columns_[k]);
            for (auto& own : right_) rotate(own);
        }
    }

private:
    std::size_t responses_;
    std::vector<std::vector<double>> columns_, right_;
    std::vector<int> members_;
};

}  // namespace

int MarsSpec::most_terms(std::size_t columns) const {
    return max_terms ? max_terms : static_cast<int>(std::min<std::size_t>(200, std::max<std::size_t>(20, 2 * columns)) + 1);
}

void MarsColumn::sort(std::size_t rows) {
    const auto [low, high] = std::minmax_element(values, values + rows);
    two_values = std::all_of(values, values + rows, [a = *low, b = *high](double value) { return value == a || value == b; });
    order.resize(rows);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
}

double mars_gcv(double rss, std::size_t rows, std::size_t terms, double penalty) {
    const double n = static_cast<double>(rows), m = static_cast<double>(terms);
    if (penalty == -1) return rss / n;
    const double share = (m + penalty * (m - 1) / 2) / n;
    return share >= 1 ? infinity : rss / n / ((1 - share) * (1 - share));
}

MarsFit fit_mars(const MarsSpec& spec, std::span<const MarsColumn* const> columns, std::span<const double* const> responses, std::size_t rows,
                 const MarsGroups* groups) {
    Forward forward(spec, columns, responses, rows, groups);
    if (groups) rows = groups->rows;
    MarsFit fit;
    fit.total = forward.total();
    fit.ended = forward.total() > 0 ? forward.run() : "the response is constant";
    for (const Term& term : forward.terms()) fit.terms.push_back(term.factors);
    const std::size_t m = fit.terms.size();
    fit.rss.resize(m);
    fit.gcv.resize(m);
    fit.subsets.resize(m);
    Subset subset(forward, responses.size());
    double squares = forward.squares();
    std::fill(fit.rss.begin(), fit.rss.end(), infinity);
    for (;;) {
        // The functions that were added first, among those that are left, are subsets too; with one response earth looks at them.
        double left = std::max(squares, spec.least_left * fit.total);
        for (std::size_t size = subset.size(); size >= 1; left += subset.share(--size)) {
            if (left * equal_reductions < fit.rss[size - 1]) {
                fit.rss[size - 1] = left;
                fit.subsets[size - 1].assign(subset.members().begin(), subset.members().begin() + size);
            }
            if (responses.size() > 1) break;
        }
        if (subset.size() == 1) break;
        const auto [member, growth] = subset.least();
        subset.drop(member);
        squares += growth;
    }
    fit.rss[0] = forward.total();
    std::size_t best = m;
    for (std::size_t size = m; size >= 1; --size) {
        fit.gcv[size - 1] = mars_gcv(fit.rss[size - 1], rows, size, spec.penalty);
        if (spec.prune && fit.gcv[size - 1] <= fit.gcv[best - 1]) best = size;
    }
    fit.selected = fit.subsets[best - 1];
    Subset chosen(forward, responses.size());
    for (std::size_t j = m; j-- > 0;)
        if (!std::binary_search(fit.selected.begin(), fit.selected.end(), static_cast<int>(j))) chosen.drop(j);
    fit.coefficients = chosen.coefficients();
    for (std::size_t r = 0; r < responses.size(); ++r) fit.coefficients[r][0] += forward.means()[r];
    return fit;
}

}  // namespace spinney
