// cg: one Gaussian per cell of the set's discrete columns (Andrews, Ramsey and Cooper 2018).
//
// A cell has its own Gaussian if it has more than k + 1 rows and its covariance is not singular; the rows of any other cell are
// charged the density of the Gaussian of all rows, so l(set) is the log-likelihood of one density. Columns that depend linearly on
// earlier ones of the set, over all rows, are left out and charged as a residual of a hundred-thousandth of their deviation.
#include <cmath>
#include <limits>
#include <numbers>

#include "gaussian.hpp"

namespace spinney {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20, most_code_bytes = std::size_t{32} << 20, at_once_bytes = std::size_t{8} << 20;
constexpr std::size_t most_wholes = 4096;
const double log_two_pi = std::log(2 * std::numbers::pi);

struct Facts {                                           // what all workers read
    const MixedData& data;
    bool paper;
    std::vector<int> place;                              // variable -> its place among the continuous ones, or -1
    std::vector<int> variable;                           // and back
    std::vector<const double*> columns;
    Covariance all;

    Facts(const MixedData& given, bool as_paper, Team& team) : data(given), paper(as_paper) {
        for (std::size_t v = 0; v < data.columns.size(); ++v) {
            const bool own = data.columns[v].levels == 0;
            place.push_back(own ? static_cast<int>(columns.size()) : -1);
            if (own) variable.push_back(static_cast<int>(v)), columns.push_back(data.columns[v].values);
        }
        all = covariance(static_cast<int>(columns.size()), data.rows,
                         [this](int c, std::size_t first, std::size_t rows, double* out) { std::copy_n(columns[c] + first, rows, out); }, team);
    }
};

struct Whole {                                           // some continuous columns over all rows
    std::vector<int> kept;                               // places; those that do not depend on earlier ones
    double log_determinant = 0;
    double outside = 0;                                  // units, and the columns that are left out
};

double log_product(std::span<const double> factors) {
    double product = 1, logs = 0;
    for (double f : factors) {
        product *= f;
        if (product < 1e-200 || product > 1e200) logs += std::log(product), product = 1;
    }
    return logs + std::log(product);
}

class CellGaussians final : public SetFunction {
public:
    explicit CellGaussians(std::shared_ptr<const Facts> facts) : facts_(std::move(facts)), all_(facts_->all), n_(static_cast<double>(facts_->data.rows)) {}
    std::unique_ptr<SetFunction> another() const override { return std::make_unique<CellGaussians>(facts_); }

    Terms terms(std::span<const int> set) override {
        split(set);
        const double k = static_cast<double>(continuous_.size());
        double cells = 1;
        for (int d : discrete_) cells *= facts_->data.columns[d].levels;
        Terms terms{0, cells * (k * (k + 1) / 2 + (facts_->paper ? 0 : k) + 1) - 1};
        const Whole whole = of_all(continuous_);
        terms.likelihood = whole.outside;
        if (discrete_.empty()) {
            const double kept = static_cast<double>(whole.kept.size());
            terms.likelihood -= n_ / 2 * (whole.log_determinant + kept * (log_two_pi + 1));
        } else {
            CellSums& sums = cells_of(discrete_);
            for (std::uint32_t n : sums.counts())
                if (n) terms.likelihood += n * std::log(n / n_);
            if (!whole.kept.empty()) terms.likelihood += within(sums, whole);
            remember();
        }
        return terms;
    }

    std::size_t foresee(std::span<const int> set, std::span<const int> candidates) override {
        split(set);
        if (discrete_.empty()) return candidates.size();
        CellSums& sums = cells_of(discrete_);
        pairs_.clear();
        const auto kept = of_all(continuous_).kept;
        add_pairs(kept);
        const std::size_t each = (kept.size() + 2) * sizeof(double) * sums.cells();
        std::size_t bytes = 0, provided = 0;
        for (; provided < candidates.size() && (provided == 0 || bytes + each <= at_once_bytes); ++provided) {
            const int c = facts_->place[candidates[provided]];
            if (c < 0 || all_(c, c) == 0) continue;
            bytes += each;
            pairs_.push_back({c, c});
            for (int other : kept) pairs_.push_back({other, c});
        }
        sums.need(pairs_, facts_->columns);
        remember();
        return provided;
    }

    double mixture(int child, std::span<const int> parents) override;
    const Covariance* gaussian() const override { return &all_; }
    int column(int v) const override { return facts_->place[v]; }

private:
    struct Group {
        std::unique_ptr<CellSums> sums;
        std::size_t bytes = 0, codes = 0;                // as counted
    };
    struct Component;

    void split(std::span<const int> set) {
        discrete_.clear();
        continuous_.clear();
        for (int v : set) {
            if (facts_->place[v] < 0) discrete_.push_back(v);
            else continuous_.push_back(facts_->place[v]);
        }
    }

    CellSums& cells_of(const std::vector<int>& discrete) {
        const SetKey key = key_of(discrete);
        auto at = groups_.find(key);
        if (at == groups_.end()) {
            if (bytes_ > most_bytes) groups_.clear(), bytes_ = code_bytes_ = 0;
            at = groups_.try_emplace(key).first;
            try {
                at->second.sums = std::make_unique<CellSums>(facts_->data, discrete, static_cast<int>(all_.columns));
            } catch (...) {                              // a stop
                groups_.erase(at);
                throw;
            }
        }
        current_ = &at->second;
        return *current_->sums;
    }
    // Memory is bounded: codes, which can be made again, go first, but for those of the group in use.
    void remember() {
        count(*current_);
        if (code_bytes_ <= most_code_bytes) return;
        for (auto& [key, group] : groups_) {
            if (&group == current_) continue;
            group.sums->forget_codes();
            count(group);
        }
    }
    void count(Group& group) {
        bytes_ += group.sums->bytes() - group.bytes;
        code_bytes_ += group.sums->code_bytes() - group.codes;
        group.bytes = group.sums->bytes();
        group.codes = group.sums->code_bytes();
    }

    void add_pairs(const std::vector<int>& columns) {
        for (std::size_t i = 0; i < columns.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j) pairs_.push_back({columns[j], columns[i]});
    }

    // Which columns depend on earlier ones is read from the one matrix, unless it is too near for its digits.
    Whole of_all(const std::vector<int>& columns) {
        const int k = static_cast<int>(columns.size());
        matrix_.resize(k * k);
        pivot_.resize(k);
        for (int i = 0; i < k; ++i)
            for (int j = 0; j <= i; ++j) matrix_[i * k + j] = all_(columns[i], columns[j]);
        factor(k, matrix_.data(), pivot_.data(), dependent / 2);
        if (std::none_of(pivot_.begin(), pivot_.end(), [](double p) { return p > 0 && p < doubtful; })) return made(columns);
        const SetKey key = key_of(columns);
        if (auto at = doubtful_wholes_.find(key); at != doubtful_wholes_.end()) return at->second;
        std::vector<const double*> values;
        for (int c : columns) values.push_back(facts_->columns[c]);
        residuals(values, facts_->data.rows, {}, pivot_.data());
        if (doubtful_wholes_.size() >= most_wholes) doubtful_wholes_.clear();
        return doubtful_wholes_[key] = made(columns);
    }
    Whole made(const std::vector<int>& columns) const {  // from the pivots
        Whole whole;
        double product[2] = {1, 0};
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const double variance = all_(columns[i], columns[i]), units = n_ * facts_->data.columns[facts_->variable[columns[i]]].log_scale;
            if (variance == 0) continue;                 // constant: nothing to explain
            whole.outside -= units;
            if (pivot_[i] > 0) {
                whole.kept.push_back(columns[i]);
                product[0] *= pivot_[i];
                if (product[0] < 1e-200) product[1] += std::log(product[0]), product[0] = 1;
            } else {
                whole.outside -= n_ / 2 * (std::log(dependent * variance) + log_two_pi + 1);
            }
        }
        whole.log_determinant = product[1] + std::log(product[0]);
        return whole;
    }

    // The densities of all rows, each in its cell.
    double within(CellSums& sums, const Whole& whole) {
        const auto& kept = whole.kept;
        pairs_.clear();
        add_pairs(kept);
        sums.need(pairs_, facts_->columns);
        const int k = static_cast<int>(kept.size());
        own_.resize(k);
        product_.resize(k * k);
        for (int i = 0; i < k; ++i) {
            own_[i] = sums.own(kept[i]);
            for (int j = 0; j < i; ++j) product_[i * k + j] = sums.product(kept[j], kept[i]);
        }
        matrix_.resize(k * k);
        pivot_.resize(k);
        elsewhere_.assign(k * k, 0.0);                   // of rows in cells without a Gaussian of their own: squares about the mean of all
        const std::uint32_t least = facts_->paper ? k : k + 1;
        const auto& counts = sums.counts();
        double likelihood = 0, strangers = 0;
        for (std::size_t cell = 0; cell < counts.size(); ++cell) {
            const std::uint32_t rows = counts[cell];
            if (rows == 0) continue;
            const double n = rows;
            if (rows > least && has_own(sums, kept, cell, n)) {
                likelihood -= n / 2 * (log_product(pivot_) + k * (log_two_pi + 1));
            } else {
                strangers += n;
                for (int i = 0; i < k; ++i)
                    for (int j = 0; j <= i; ++j) elsewhere_[i * k + j] += about_all(kept, cell, n, i, j);
            }
        }
        if (strangers == 0) return likelihood;
        return likelihood - strangers / 2 * (whole.log_determinant + k * log_two_pi) - distance(kept) / 2;
    }

    // Leaves the variances of the cell, each given the columns before it, in pivot_.
    bool has_own(CellSums& sums, const std::vector<int>& kept, std::size_t cell, double n) {
        const int k = static_cast<int>(kept.size());
        bool precise = true;
        for (int j = 0; j < k && precise; ++j) {         // as factor() does it, with a look at every pivot
            const double sum = own_[j][2 * cell], square = own_[j][2 * cell + 1] / n;
            double left = square - sum / n * (sum / n);
            for (int i = 0; i < j; ++i) {
                double entry = product_[j * k + i][cell] / n - sum / n * (own_[i][2 * cell] / n);
                for (int m = 0; m < i; ++m) entry -= matrix_[j * k + m] * matrix_[i * k + m] * pivot_[m];
                matrix_[j * k + i] = entry / pivot_[i];
                left -= entry * matrix_[j * k + i];
            }
            pivot_[j] = left;
            if (left >= doubtful * square) {
                if (left <= dependent) return false;
            } else if (left + 1e-13 * square <= dependent) {
                return false;
            } else {
                precise = false;
            }
        }
        if (precise) return true;
        values_.clear();
        for (int c : kept) values_.push_back(facts_->columns[c]);
        const auto& rows = sums.rows_by_cell(starts_);
        residuals(values_, 0, std::span(rows).subspan(starts_[cell], starts_[cell + 1] - starts_[cell]), pivot_.data());
        return std::none_of(pivot_.begin(), pivot_.end(), [](double p) { return p == 0; });
    }

    double about_all(const std::vector<int>& kept, std::size_t cell, double n, int i, int j) const {
        const double product = i == j ? own_[i][2 * cell + 1] : product_[i * static_cast<int>(kept.size()) + j][cell];
        const double a = all_.mean[kept[i]], b = all_.mean[kept[j]];
        return product - own_[i][2 * cell] * b - own_[j][2 * cell] * a + n * a * b;
    }

    void invert_whole(const std::vector<int>& kept, std::vector<double>& inverse) {
        const int k = static_cast<int>(kept.size());
        std::vector<double> matrix(k * k), pivot(k);
        for (int i = 0; i < k; ++i)
            for (int j = 0; j <= i; ++j) matrix[i * k + j] = all_(kept[i], kept[j]);
        factor(k, matrix.data(), pivot.data(), 0);
        for (double& p : pivot)
            if (p == 0) p = dependent;                   // below its rounding
        inverse.resize(k * k);
        invert(k, matrix.data(), pivot.data(), inverse.data());
    }
    // The sum over rows of (x - m)' S^-1 (x - m), from their summed squares.
    double distance(const std::vector<int>& kept) {
        const int k = static_cast<int>(kept.size());
        invert_whole(kept, inverse_);
        double sum = 0;
        for (int i = 0; i < k; ++i)
            for (int j = 0; j <= i; ++j) sum += (i == j ? 1 : 2) * inverse_[i * k + j] * elsewhere_[i * k + j];
        return sum;
    }

    std::shared_ptr<const Facts> facts_;
    const Covariance& all_;
    double n_;
    std::unordered_map<SetKey, Group, SetKeyHash> groups_;
    Group* current_ = nullptr;
    std::size_t bytes_ = 0, code_bytes_ = 0;
    std::unordered_map<SetKey, Whole, SetKeyHash> doubtful_wholes_;
    std::vector<int> discrete_, continuous_;
    std::vector<CellSums::Pair> pairs_;
    std::vector<const double*> own_, product_, values_;
    std::vector<double> matrix_, pivot_, elsewhere_, inverse_;
    std::vector<std::uint32_t> starts_;
};

// One level of the child in a cell of its parents: its weight, and its Gaussian as L D L' with unit L.
struct CellGaussians::Component {
    int level;
    double log_weight;
    std::vector<double> mean, factored, pivot;
    double log_height = 0;

    void finish() {
        log_height = -log_product(pivot) / 2 - static_cast<double>(mean.size()) * log_two_pi / 2;
    }
    double log_joint(const double* x, double* z) const {
        const int k = static_cast<int>(mean.size());
        double sum = 0;
        for (int j = 0; j < k; ++j) {
            z[j] = x[j] - mean[j];
            for (int i = 0; i < j; ++i) z[j] -= factored[j * k + i] * z[i];
            sum += z[j] * z[j] / pivot[j];
        }
        return log_weight + log_height - sum / 2;
    }
};

double CellGaussians::mixture(int child, std::span<const int> parents) {
    split(parents);
    const std::vector<int> kept = of_all(continuous_).kept;
    const std::size_t k = kept.size(), all_rows = facts_->data.rows;
    const MixedColumn& own = facts_->data.columns[child];
    std::vector<std::uint32_t> rows, starts{0, static_cast<std::uint32_t>(all_rows)};
    if (discrete_.empty()) {
        rows.resize(all_rows);
        for (std::size_t r = 0; r < all_rows; ++r) rows[r] = static_cast<std::uint32_t>(r);
    } else {
        CellSums& sums = cells_of(discrete_);
        rows = sums.rows_by_cell(starts);
        remember();
    }
    Component stranger{0, 0, {}, std::vector<double>(k * k), std::vector<double>(k), 0};     // the Gaussian of all rows
    for (std::size_t i = 0; i < k; ++i) {
        stranger.mean.push_back(all_.mean[kept[i]]);
        for (std::size_t j = 0; j <= i; ++j) stranger.factored[i * k + j] = all_(kept[i], kept[j]);
    }
    factor(static_cast<int>(k), stranger.factored.data(), stranger.pivot.data(), 0);
    for (double& p : stranger.pivot)
        if (p == 0) p = dependent;
    stranger.finish();

    double likelihood = 0;
    std::vector<std::uint32_t> count(own.levels), first(own.levels + 1), sorted;
    std::vector<double> x(k), z(k), logs;
    std::vector<Component> parts;
    for (std::size_t cell = 0; cell + 1 < starts.size(); ++cell) {
        const std::span<const std::uint32_t> inside(rows.data() + starts[cell], starts[cell + 1] - starts[cell]);
        if (inside.empty()) continue;
        Listening::look();
        sorted.assign(inside.begin(), inside.end());
        std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) { return own.codes[a] < own.codes[b]; });
        parts.clear();
        for (std::size_t from = 0, to; from < sorted.size(); from = to) {
            for (to = from; to < sorted.size() && own.codes[sorted[to]] == own.codes[sorted[from]];) ++to;
            const std::span<const std::uint32_t> mine(sorted.data() + from, to - from);
            const double n = static_cast<double>(mine.size());
            Component part = stranger;
            part.level = own.codes[mine[0]];
            part.log_weight = std::log(n);
            if (mine.size() > (facts_->paper ? k : k + 1)) {
                Component better{part.level, part.log_weight, std::vector<double>(k, 0.0), std::vector<double>(k * k, 0.0), std::vector<double>(k), 0};
                for (std::size_t i = 0; i < k; ++i) {
                    for (std::uint32_t r : mine) better.mean[i] += facts_->columns[kept[i]][r];
                    better.mean[i] /= n;
                    for (std::size_t j = 0; j <= i; ++j) {
                        double sum = 0;
                        for (std::uint32_t r : mine)
                            sum += (facts_->columns[kept[i]][r] - better.mean[i]) * (facts_->columns[kept[j]][r] - better.mean[j]);
                        better.factored[i * k + j] = sum / n;
                    }
                }
                factor(static_cast<int>(k), better.factored.data(), better.pivot.data(), dependent);
                if (std::none_of(better.pivot.begin(), better.pivot.end(), [](double p) { return p == 0; })) {
                    better.finish();
                    part = std::move(better);
                }
            }
            parts.push_back(std::move(part));
        }
        logs.resize(parts.size());
        double here = 0;
        for (std::size_t at = 0; at < sorted.size(); ++at) {
            if (at % 4096 == 0) Listening::look();
            const std::uint32_t r = sorted[at];
            for (std::size_t i = 0; i < k; ++i) x[i] = facts_->columns[kept[i]][r];
            double most = -std::numeric_limits<double>::infinity(), mine = 0, sum = 0;
            for (std::size_t p = 0; p < parts.size(); ++p) {
                logs[p] = parts[p].log_joint(x.data(), z.data());
                most = std::max(most, logs[p]);
                if (parts[p].level == own.codes[r]) mine = logs[p];
            }
            for (double log_joint : logs) sum += std::exp(log_joint - most);
            here += std::min(0.0, mine - most - std::log(sum));
        }
        likelihood += here;
    }
    return likelihood;
}

}  // namespace

std::unique_ptr<SetFunction> cell_gaussians(const MixedData& data, const GaussianSpec& spec, Team& team) {
    return std::make_unique<CellGaussians>(std::make_shared<const Facts>(data, spec.paper, team));
}

}  // namespace spinney
