#include "gaussian.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace spinney {
namespace {

constexpr double imprecise = 1e-4;                       // of a variance: what is left of it has lost four digits
constexpr std::size_t most_sets = std::size_t{1} << 20;  // kept by a worker: 48 MB

bool embedded(GaussianScore score) {
    return score == GaussianScore::dg || score == GaussianScore::bf || score == GaussianScore::bge;
}

void with(std::span<const int> set, int v, std::vector<int>& larger) {
    larger.assign(set.begin(), set.end());
    larger.insert(std::lower_bound(larger.begin(), larger.end(), v), v);
}

// Discrete columns as tables count them; of cgd also the bins of the others. A continuous column is never counted: it is
// declared as one without bitmaps and is not looked at.
Data counted_columns(const MixedData& data, bool bins) {
    std::vector<Column> columns;
    for (const MixedColumn& column : data.columns) {
        const bool there = column.levels > 0 || bins;
        columns.push_back({nullptr, there ? column.codes : nullptr,
                           !there ? Data::most_bitmap_levels + 1 : column.levels > 0 ? column.levels : column.bins});
    }
    return Data(std::move(columns), data.rows);
}

}  // namespace

GaussianScore gaussian_score_named(const std::string& name) {
    static const std::pair<const char*, GaussianScore> names[] = {{"cg", GaussianScore::cg}, {"cgd", GaussianScore::cgd},
                                                                  {"dg", GaussianScore::dg}, {"bf", GaussianScore::bf},
                                                                  {"bge", GaussianScore::bge}};
    for (auto& [known, score] : names)
        if (name == known) return score;
    throw std::invalid_argument("the core has no Gaussian score '" + name + "'");
}

struct GaussianScores::Common {
    const MixedData& data;
    GaussianSpec spec;
    double penalty;                                      // per free parameter
    std::vector<SetKey> keys;                            // of the variables
    Data counts;
    ScoreSpec table, likelihood;                         // bic with the same priors; the likelihood alone
    mutable Tables tables;

    Common(const MixedData& all, GaussianSpec given, Team& team)
        : data(all), spec(std::move(given)), counts(counted_columns(all, spec.score == GaussianScore::cgd)) {
        const bool penalised = spec.score != GaussianScore::bge && data.rows > 0;
        penalty = (penalised ? std::log(static_cast<double>(data.rows)) / 2 : 0) - spec.per_parameter;
        table.score = TableScore::bic;
        table.size_prior = spec.size_prior;
        table.per_parameter = spec.per_parameter;
        likelihood.score = TableScore::ll;
        std::vector<int> countable;
        for (int v = 0; v < static_cast<int>(data.columns.size()); ++v) {
            keys.push_back(key_of(v));
            if (!embedded(spec.score) && counts.column(v).wide) countable.push_back(v);
        }
        counts.prepare(countable, team);
        Listening::look();                               // a team that was stopped has left tasks undone
    }
};

GaussianScores::GaussianScores(const MixedData& data, GaussianSpec spec, Team& team)
    : GaussianScores(std::make_shared<const Common>(data, spec, team),
                     embedded(spec.score) ? embedded_gaussians(data, spec, team) : cell_gaussians(data, spec, team)) {}

GaussianScores::GaussianScores(std::shared_ptr<const Common> common, std::unique_ptr<SetFunction> function)
    : common_(std::move(common)), function_(std::move(function)), known_(most_sets) {
    if (embedded(common_->spec.score)) return;
    tables_ = std::make_unique<FamilyScorer>(common_->counts, common_->table, common_->tables);
    likelihoods_ = std::make_unique<FamilyScorer>(common_->counts, common_->likelihood, common_->tables);
}

std::unique_ptr<LocalScores> GaussianScores::another() const {
    return std::unique_ptr<LocalScores>(new GaussianScores(common_, function_->another()));
}

bool GaussianScores::continuous(int v) const { return common_->data.columns[v].levels == 0; }

bool GaussianScores::all_discrete(std::span<const int> set) const {
    return std::none_of(set.begin(), set.end(), [this](int v) { return continuous(v); });
}

bool GaussianScores::counted(int child, std::span<const int> parents) const {
    if (!tables_ || continuous(child)) return false;
    return common_->spec.score == GaussianScore::cgd || all_discrete(parents);
}

bool GaussianScores::mixture(int child, std::span<const int> parents) const {
    return common_->spec.score == GaussianScore::cg && common_->spec.exact && !continuous(child) && !all_discrete(parents);
}

Terms GaussianScores::set(std::span<const int> set, const SetKey& key) {
    if (const Terms* known = known_.find(key)) return *known;
    const Terms terms = function_->terms(set);
    known_.put(key, terms);
    return terms;
}

double GaussianScores::from(const Terms& terms, std::size_t parents) const {
    const double score = terms.likelihood - common_->penalty * terms.parameters + common_->spec.prior(parents);
    // More parameters than there are numbers: no search wants such a family.
    return std::isfinite(score) ? score : -std::numeric_limits<double>::infinity();
}

Terms GaussianScores::mixed_family(int child, std::span<const int> parents) {
    SetKey key;
    for (int p : parents) key = key + common_->keys[p];
    with(parents, child, with_child_);
    const SetKey all = key + common_->keys[child];
    if (mixture(child, parents)) {
        // Of all families of this set only those with this child have this key.
        const SetKey own = all + SetKey{mixed_bits(static_cast<std::uint64_t>(child) + 1), 1};
        if (const Terms* known = known_.find(own)) return *known;
        const Terms joint = set(with_child_, all), above = set(parents, key);
        const Terms terms{function_->mixture(child, parents), joint.parameters - above.parameters};
        known_.put(own, terms);
        return terms;
    }
    // The larger set first: what it takes to sum it up serves the smaller one too.
    const Terms joint = set(with_child_, all), above = set(parents, key);
    return {joint.likelihood - above.likelihood, joint.parameters - above.parameters};
}

FamilyLikelihood GaussianScores::likelihood(int child, std::span<const int> parents) {
    if (!counted(child, parents)) {
        const Terms terms = mixed_family(child, parents);
        return {terms.likelihood, terms.parameters};
    }
    double configurations = 1;
    for (int p : parents) configurations *= common_->counts.levels(p);
    return {likelihoods_->score(child, parents), configurations * (common_->counts.levels(child) - 1)};
}

double GaussianScores::score(int child, std::span<const int> parents) {
    if (counted(child, parents)) return tables_->score(child, parents);
    return from(mixed_family(child, parents), parents.size());
}

void GaussianScores::extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) {
    if (!counted(child, parents)) return extend_sets(child, parents, candidates, out);
    std::vector<int> own[2];                             // those whose larger family is a table, and the others
    std::vector<std::size_t> places[2];
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const int which = counted(child, candidates.subspan(i, 1)) ? 0 : 1;
        own[which].push_back(candidates[i]);
        places[which].push_back(i);
    }
    for (int which = 0; which < 2; ++which) {
        if (own[which].empty()) continue;
        std::vector<double> found(own[which].size());
        for (std::size_t i = 0; i < found.size(); ++i) found[i] = out[places[which][i]];     // what stands there after a stop
        auto keep = [&] { for (std::size_t i = 0; i < found.size(); ++i) out[places[which][i]] = found[i]; };
        try {
            if (which == 0) tables_->extend(child, parents, own[which], found.data());
            else extend_sets(child, parents, own[which], found.data());
        } catch (const Stopped&) {
            keep();
            throw;
        }
        keep();
    }
}

// What is left of the variances, and of the covariances with the child, given the parents: for all candidates at once, one parent after
// another. False where a column is none of the matrix, or where too little is left of it to be precise.
bool GaussianScores::residuals_of(int child, std::span<const int> parents, std::span<const int> candidates) {
    const Covariance* all = function_->gaussian();
    if (!all) return false;
    columns_.clear();
    for (int p : parents) columns_.push_back(function_->column(p));
    columns_.push_back(function_->column(child));
    if (std::find(columns_.begin(), columns_.end(), -1) != columns_.end()) return false;
    for (int c : candidates) columns_.push_back(function_->column(c));
    const std::size_t k = parents.size(), m = columns_.size();
    rest_.resize(k * m), variance_.resize(m), shared_.resize(m);
    const double* with_child = all->row(columns_[k]);
    for (std::size_t c = 0; c < m; ++c) {
        const int column = std::max(columns_[c], 0);
        variance_[c] = all->variance[column];
        shared_[c] = with_child[column];
    }
    for (std::size_t i = 0; i < k; ++i) {
        double* row = &rest_[i * m];
        const double* from = all->row(columns_[i]);
        for (std::size_t c = 0; c < m; ++c) row[c] = from[std::max(columns_[c], 0)];
        for (std::size_t j = 0; j < i; ++j) {
            const double* earlier = &rest_[j * m];
            const double share = earlier[i] / earlier[j];
            for (std::size_t c = 0; c < m; ++c) row[c] -= share * earlier[c];
        }
        if (!(row[i] > imprecise * from[columns_[i]])) return false;
        const double inverse = 1 / row[i], with_child = row[k] * inverse;
        for (std::size_t c = 0; c < m; ++c) {
            variance_[c] -= row[c] * row[c] * inverse;
            shared_[c] -= with_child * row[c];
        }
    }
    return variance_[k] > imprecise * all->variance[columns_[k]];
}

void GaussianScores::near(int child, std::span<const int> parents, std::span<const int> candidates, double least, double* out) {
    const double now = score(child, parents);
    if (counted(child, candidates) || !std::isfinite(now) || !residuals_of(child, parents, candidates))
        return extend(child, parents, candidates, out);
    const Covariance& all = *function_->gaussian();
    const std::size_t k = parents.size();
    const double with_prior = now + common_->spec.prior(k + 1) - common_->spec.prior(k) - common_->penalty;
    const double half = static_cast<double>(common_->data.rows) / 2, lowest = imprecise * all.variance[columns_[k]];
    const double most = variance_[k] * std::exp(std::min(1.0, (with_prior - least) / half)) * (1 + 1e-9);      // what may be left to gain
    std::vector<int> others;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const std::size_t c = k + 1 + i;
        const double left = variance_[k] - shared_[c] * shared_[c] / variance_[c];
        if (columns_[c] < 0 || !(variance_[c] > imprecise * all.variance[columns_[c]]) || !(left > lowest)) {
            others.push_back(candidates[i]);
            places.push_back(i);
        } else {
            out[i] = left > most ? -std::numeric_limits<double>::infinity() : with_prior - half * std::log(left / variance_[k]);
        }
    }
    if (others.empty()) return;
    std::vector<double> found(others.size(), -std::numeric_limits<double>::infinity());
    extend(child, parents, others, found.data());
    for (std::size_t i = 0; i < others.size(); ++i) out[places[i]] = found[i];
}

// The inverse of a covariance matrix has the partial correlations of each parent with the child, given all others.
bool GaussianScores::near_without(int child, std::span<const int> parents, double* out) {
    const Covariance* all = function_->gaussian();
    if (!all || parents.empty()) return false;
    columns_.clear();
    for (int p : parents) columns_.push_back(function_->column(p));
    columns_.push_back(function_->column(child));
    if (std::find(columns_.begin(), columns_.end(), -1) != columns_.end()) return false;
    const double now = score(child, parents);
    if (!std::isfinite(now)) return false;
    const int k = static_cast<int>(parents.size()), m = k + 1;
    matrix_.resize(m * m), pivot_.resize(m), inverse_.resize(m * m);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j <= i; ++j) matrix_[i * m + j] = (*all)(columns_[i], columns_[j]);
    factor(m, matrix_.data(), pivot_.data(), 0);
    for (int i = 0; i < m; ++i)
        if (!(pivot_[i] > imprecise * all->variance[columns_[i]])) return false;
    invert(m, matrix_.data(), pivot_.data(), inverse_.data());
    const double half = static_cast<double>(common_->data.rows) / 2;
    const double with_prior = now + common_->spec.prior(k - 1) - common_->spec.prior(k) + common_->penalty;
    const double* last = &inverse_[k * m];
    for (int i = 0; i < k; ++i) {
        const double left = 1 - last[i] * last[i] / (last[k] * inverse_[i * m + i]);
        if (!(left > imprecise)) return false;
        out[i] = with_prior + half * std::log(left);
    }
    return true;
}

// Foreseen a part at a time, as much as is remembered at once.
void GaussianScores::extend_sets(int child, std::span<const int> parents, std::span<const int> candidates, double* out) {
    with(parents, child, family_);
    SetKey key;
    for (int v : family_) key = key + common_->keys[v];
    std::vector<int> unknown;
    for (int c : candidates)
        if (!known_.find(key + common_->keys[c])) unknown.push_back(c);
    std::span<const int> ahead(unknown);
    std::size_t provided = 0;                            // of `ahead`
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (!ahead.empty() && candidates[i] == ahead.front()) {
            if (provided == 0) provided = function_->foresee(family_, ahead);
            --provided;
            ahead = ahead.subspan(1);
        }
        with(parents, candidates[i], larger_);
        out[i] = from(mixed_family(child, larger_), larger_.size());
    }
}

}  // namespace spinney
