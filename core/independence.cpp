#include "independence.hpp"

#include <cmath>
#include <numeric>

#include "lgamma.hpp"

namespace spinney {
namespace {

constexpr std::size_t most_families = std::size_t{1} << 18;        // kept by a worker: 12 MB

class LikelihoodRatios final : public LocalTests {
public:
    LikelihoodRatios(std::unique_ptr<LocalScores> scores, bool both) : scores_(std::move(scores)), both_(both), known_(most_families) {}
    double p_value(int x, int y, std::span<const int> given) override {
        const double one = direction(x, y, given);
        return both_ ? std::min(one, direction(y, x, given)) : one;
    }
    std::unique_ptr<LocalTests> another() const override { return std::make_unique<LikelihoodRatios>(scores_->another(), both_); }
    std::uint64_t left_out() const override { return scores_->left_out(); }

private:
    double direction(int child, int parent, std::span<const int> given) {
        larger_.assign(given.begin(), given.end());
        larger_.insert(std::lower_bound(larger_.begin(), larger_.end(), parent), parent);
        // The larger family first: what it takes to sum it up serves the smaller one too.
        const FamilyLikelihood with = family(child, larger_), without = family(child, given);
        const double statistic = 2 * (with.log_likelihood - without.log_likelihood);
        // Below 0 by rounding, or where the models are not nested; no more parameters: nothing that the parent could explain.
        return std::isnan(statistic) ? statistic : chi2_tail(statistic, with.parameters - without.parameters);
    }
    // Searches ask the same families again and again.
    FamilyLikelihood family(int child, std::span<const int> parents) {
        const SetKey key = key_of(parents) + SetKey{mixed_bits(static_cast<std::uint64_t>(child) + 1), 1};
        if (const FamilyLikelihood* known = known_.find(key)) return *known;
        const FamilyLikelihood found = scores_->likelihood(child, parents);
        known_.put(key, found);
        return found;
    }

    std::unique_ptr<LocalScores> scores_;
    const bool both_;
    SetCache<FamilyLikelihood> known_;
    std::vector<int> larger_;
};

}  // namespace

void LikelihoodTests::prepare(Team& team) const {
    std::vector<int> all(variables());
    std::iota(all.begin(), all.end(), 0);
    scores_.prepare(all, team);
}

std::unique_ptr<LocalTests> LikelihoodTests::local(double most_bytes) const {
    return std::make_unique<LikelihoodRatios>(scores_.local(most_bytes), both_);
}

}  // namespace spinney
