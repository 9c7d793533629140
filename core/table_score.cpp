#include "table_score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "threads.hpp"

namespace spinney {
namespace {

constexpr double most_configurations = 1e290;            // more are no number any more; a search leaves such families alone

}  // namespace

TableScore table_score_named(const std::string& name) {
    static const std::pair<const char*, TableScore> names[] = {
        {"ll", TableScore::ll},     {"aic", TableScore::aic},   {"bic", TableScore::bic}, {"bd", TableScore::bd},
        {"bdeu", TableScore::bdeu}, {"bds", TableScore::bds},   {"bde", TableScore::bde}, {"fnml", TableScore::fnml},
        {"qnml", TableScore::qnml}, {"mit", TableScore::mit}};
    for (auto& [known, score] : names)
        if (name == known) return score;
    throw std::invalid_argument("the core has no table score '" + name + "'");
}

double ScoreSpec::penalty(double rows) const {
    double own = score == TableScore::aic ? 1 : score == TableScore::bic && rows > 0 ? std::log(rows) / 2 : 0;
    return own - per_parameter;
}

FamilyScorer::FamilyScorer(const Data& data, const ScoreSpec& spec, Tables& tables)
    : data_(data), spec_(spec), tables_(tables), cells_(data),
      marginal_(spec.score == TableScore::mit ? data.variables() : 0, 1.0) {}

double FamilyScorer::marginal(int v) {
    if (marginal_[v] > 0) {
        std::vector<std::uint32_t> counts(data_.levels(v), 0);
        data_.column(v).visit([&](auto* values) {
            for (std::size_t row = 0; row < data_.rows(); ++row) ++counts[values[row]];
        });
        const auto all = static_cast<std::uint32_t>(data_.rows());
        marginal_[v] = log_likelihood({counts, std::span(&all, 1)});
    }
    return marginal_[v];
}

double FamilyScorer::regret(double levels, std::uint32_t n) {
    if (n == 0) return 0;
    if (spec_.parameter > 0 && n >= spec_.parameter) return log_regret_approximated(levels, n);
    if (levels > data_.most_bitmap_levels) return tables_.regret(levels, n);
    auto& known = regret_[static_cast<int>(levels)];
    if (known.empty()) known.assign(data_.rows() + 1, -1);
    if (known[n] < 0) known[n] = log_regret(levels, n);
    return known[n];
}

double FamilyScorer::configurations(std::span<const int> parents) const {
    double q = 1;
    for (int p : parents) q *= data_.levels(p);
    return q;
}

// sum_jk N_jk log(N_jk / N_j)
double FamilyScorer::log_likelihood(const FamilyCounts& counts) const {
    FamilyCounts::Sum own, &joint = counts.shared ? *counts.shared : own;
    if (joint.a != 0) joint = {0, sum_n_log_n(counts.cells)};
    return joint.value - sum_n_log_n(counts.totals);
}

// Symmetric Dirichlet, a per cell: Cooper and Herskovits (1992), Heckerman, Geiger and Chickering (1995).
double FamilyScorer::dirichlet(const FamilyCounts& counts, int levels, double a) {
    FamilyCounts::Sum own, &joint = counts.shared ? *counts.shared : own;
    if (joint.a != a) joint = {a, rising(a).sum(counts.cells)};
    return joint.value - rising(a * levels).sum(counts.totals);
}

double FamilyScorer::from_counts(int child, std::span<const int> parents, const FamilyCounts& counts) {
    const int r = data_.levels(child);
    const double q = configurations(parents), n = static_cast<double>(data_.rows());
    if (q > most_configurations) return -std::numeric_limits<double>::infinity();
    const double outside = spec_.prior(parents.size()) - spec_.penalty(n) * (r - 1) * q;
    double local = 0;
    switch (spec_.score) {
        case TableScore::ll:
        case TableScore::aic:
        case TableScore::bic:
            local = log_likelihood(counts);
            break;
        case TableScore::bd:
        case TableScore::bdeu:
            local = dirichlet(counts, r, spec_.pseudo_count(r, q, 0));
            break;
        case TableScore::bds:
            if (auto seen = counts.totals.size() - std::ranges::count(counts.totals, 0u))
                local = dirichlet(counts, r, spec_.pseudo_count(r, q, static_cast<double>(seen)));
            break;
        case TableScore::fnml:                           // Silander, Roos, Kontkanen and Myllymaki (2008)
            local = log_likelihood(counts);
            for (std::uint32_t total : counts.totals) local -= regret(r, total);
            break;
        case TableScore::qnml: {                         // Silander, Leppa-aho, Jaasaari and Roos (2018)
            auto all = static_cast<std::uint32_t>(data_.rows());
            local = log_likelihood(counts) - regret(q * r, all) + regret(q, all);
            break;
        }
        case TableScore::mit: {                          // de Campos (2006)
            if (parents.empty()) break;
            local = 2 * (log_likelihood(counts) - marginal(child));
            std::vector<int> sizes;
            for (int p : parents) sizes.push_back(data_.levels(p));
            std::sort(sizes.rbegin(), sizes.rend());
            double before = r - 1;
            for (int size : sizes) {
                local -= tables_.chi2(spec_.parameter, before * (size - 1));
                before *= size;
            }
            break;
        }
        case TableScore::bde:
            throw std::logic_error("bde reads a prior network, not one family's counts");
    }
    return local + outside;
}

// Two facts. A likelihood is at most 1, and a penalty only grows with more parents (de Campos and Ji, 2011).
// And for symmetric Dirichlets: however a further parent splits the rows, the observations of cell (j,k) cost at
// least what they cost when they stand alone together, because seeing other levels in between only lowers each
// predictive probability; the lone cost falls with the pseudo-count, so the smallest one within reach bounds it.
// This contains the -log r per occupied cell of Correia, Cussens and de Campos (2020) as its limit.
double FamilyScorer::bound_above(int child, std::span<const int> parents, const FamilyCounts& counts, std::size_t most,
                                 std::span<const int> candidate_levels_falling) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    if (parents.size() >= most) return -infinite;
    if (!spec_.penalised() && !spec_.dirichlet()) return infinite;
    double prior = -infinite;
    for (std::size_t size = parents.size() + 1; size <= most; ++size) prior = std::max(prior, spec_.prior(size));
    const int r = data_.levels(child);
    const double q = configurations(parents);
    const double penalty = spec_.penalty(static_cast<double>(data_.rows()));
    if (penalty < 0) return infinite;
    const double fewest = candidate_levels_falling.empty() ? 1 : candidate_levels_falling.back();
    double likelihood = 0;
    if (spec_.dirichlet()) {
        double a = spec_.parameter;
        if (spec_.score != TableScore::bd) {
            double largest = q;
            for (std::size_t i = 0; i < most - parents.size() && i < candidate_levels_falling.size(); ++i)
                largest *= candidate_levels_falling[i];
            if (spec_.score == TableScore::bds) largest = std::min(largest, static_cast<double>(data_.rows()));
            a /= r * largest;
        }
        RisingLog &cell = rising(a), &all = rising(a * r);
        for (std::uint32_t n : counts.cells)
            if (n) likelihood += cell(n) - all(n);
    }
    return likelihood + prior - penalty * (r - 1) * q * fewest;
}

std::span<const std::uint32_t> FamilyScorer::totals_without(int position, int other, const std::uint32_t* matrix) {
    const Cells::Without& without = cells_.without(position);
    const std::size_t width = data_.levels(other);
    totals_.assign(without.groups * width, 0);
    for (int c = 0; c < cells_.size(); ++c, matrix += width) {
        std::uint32_t* own = totals_.data() + without.group[c] * width;
        for (std::size_t level = 0; level < width; ++level) own[level] += matrix[level];
    }
    return totals_;
}

double FamilyScorer::score(int child, std::span<const int> parents) {
    if (spec_.score == TableScore::bde) return by_network(child, parents);
    cells_.set(parents);
    cells_.count(std::span(&child, 1), matrices_);
    std::size_t size = static_cast<std::size_t>(cells_.size()) * data_.levels(child);
    return from_counts(child, parents, {{matrices_[0], size}, cells_.counts()});
}

void FamilyScorer::extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) {
    if (spec_.score != TableScore::bde) {
        family_.assign(parents.begin(), parents.end());
        family_.push_back(child);
        cells_.set(family_);
        if (std::size_t n = cells_.at_once(candidates); n < candidates.size()) {
            extend(child, parents, candidates.subspan(n), out + n);
            candidates = candidates.first(n);
        }
        Listening::look();
        cells_.count(candidates, matrices_);
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        larger_.assign(parents.begin(), parents.end());
        larger_.insert(std::lower_bound(larger_.begin(), larger_.end(), candidates[i]), candidates[i]);
        if (spec_.score == TableScore::bde) {
            Listening::look();
            out[i] = by_network(child, larger_);
            continue;
        }
        std::size_t size = static_cast<std::size_t>(cells_.size()) * data_.levels(candidates[i]);
        auto totals = totals_without(static_cast<int>(parents.size()), candidates[i], matrices_[i]);
        out[i] = from_counts(child, larger_, {{matrices_[i], size}, totals});
    }
}

// BDe is a difference of set terms, J(family) - J(parents): Heckerman, Geiger and Chickering (1995), equation 28.
double FamilyScorer::by_network(int child, std::span<const int> parents) {
    const int r = data_.levels(child);
    std::vector<int> all(parents.begin(), parents.end());
    all.insert(std::lower_bound(all.begin(), all.end(), child), child);
    double local = set_term(all) - set_term(parents);
    return local + spec_.prior(parents.size()) + spec_.per_parameter * (r - 1) * configurations(parents);
}

double FamilyScorer::set_term(std::span<const int> variables) {
    cells_.set(variables);
    std::vector<double> share = spec_.network->joint(variables);
    std::vector<std::size_t> code(cells_.size(), 0);
    for (std::size_t i = 0; i < variables.size(); ++i) {
        const auto& value = cells_.without(static_cast<int>(i)).value;
        for (std::size_t c = 0; c < code.size(); ++c) code[c] = code[c] * data_.levels(variables[i]) + value[c];
    }
    double total = 0;
    for (std::size_t c = 0; c < code.size(); ++c)
        total += rising_log(spec_.parameter * share[code[c]], cells_.counts()[c]);
    return total;
}

}  // namespace spinney
