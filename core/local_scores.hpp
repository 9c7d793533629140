// What a search asks: the local score of a family, or of all families with one parent more.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "table_score.hpp"
#include "threads.hpp"

namespace spinney {

// These parents and one more.  REQUIRES: sorted, without it.
inline std::vector<int> with(std::span<const int> parents, int candidate) {
    std::vector<int> larger(parents.begin(), parents.end());
    larger.insert(std::lower_bound(larger.begin(), larger.end(), candidate), candidate);
    return larger;
}

// What tests of independence read of a family: the likelihood without penalty or prior, and what a penalty would count.
struct FamilyLikelihood {
    double log_likelihood = 0, parameters = 0;
};

class LocalScores {
public:
    virtual ~LocalScores() = default;
    // REQUIRES: parents sorted.
    virtual double score(int child, std::span<const int> parents) = 0;
    // out[i] = score(child, parents + candidates[i])
    virtual void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) = 0;
    // Whether extend() scores one family after the other, so that threads may share them without losing anything.
    virtual bool one_by_one() const { return false; }
    // Of scores that are penalised likelihoods; the others have none. NaN where a family needs too much.  REQUIRES: parents sorted.
    virtual FamilyLikelihood likelihood(int, std::span<const int>) { throw std::logic_error("a score without likelihoods"); }
    // What score() says of a family that is not available; any that is, scores more.
    virtual double unavailable(int) const { return -std::numeric_limits<double>::infinity(); }
    virtual std::uint64_t left_out() const { return 0; }           // families that would have needed too much, so far
    virtual std::unique_ptr<LocalScores> another() const = 0;      // for another thread
};

struct Family {
    int child;
    std::vector<int> parents;                            // sorted
};

// The scores of these families, in their order; whatever a stop has left unscored is NaN.
std::vector<double> score_families(LocalScores& scores, std::span<const Family> families, Team& team, Control& control);

// Scores counted from the data when they are asked for.
class CountedScores final : public LocalScores {
public:
    CountedScores(const Data& data, const ScoreSpec& spec, Tables& tables)
        : data_(data), spec_(spec), tables_(tables), scorer_(data, spec, tables) {}
    double score(int child, std::span<const int> parents) override { return scorer_.score(child, parents); }
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) override {
        scorer_.extend(child, parents, candidates, out);
    }
    FamilyLikelihood likelihood(int child, std::span<const int> parents) override {
        if (!spec_.penalised()) return LocalScores::likelihood(child, parents);
        double parameters = data_.levels(child) - 1;
        for (int p : parents) parameters *= data_.levels(p);
        const double outside = spec_.prior(parents.size()) - spec_.penalty(static_cast<double>(data_.rows())) * parameters;
        return {scorer_.score(child, parents) - outside, parameters};
    }
    std::unique_ptr<LocalScores> another() const override {
        return std::make_unique<CountedScores>(data_, spec_, tables_);
    }

private:
    const Data& data_;
    const ScoreSpec& spec_;
    Tables& tables_;
    FamilyScorer scorer_;
};

// Scored parent sets from a list. A list may be pruned: a set's score is that of the best listed set within it.
struct ListedSet {
    double score;
    std::vector<int> parents;                            // sorted
};
using ListedSets = std::vector<std::vector<ListedSet>>;  // per child, best first

class ListedScores final : public LocalScores {
public:
    // A child without a listed set scores so low that no gains of the others make up for it; but finite, so that a climb may
    // start there and be pulled to a listed set.
    explicit ListedScores(const ListedSets& sets) : sets_(sets), unavailable_(sets.size(), 0) {
        double range = 1;                                // more than all that listed scores can differ by
        for (auto& own : sets)
            if (!own.empty()) range += own.front().score - own.back().score;
        for (std::size_t v = 0; v < sets.size(); ++v)
            unavailable_[v] = sets[v].empty() ? -range : sets[v].back().score - 2 * range;
    }
    static const ListedSet* best_within(const std::vector<ListedSet>& sets, std::span<const int> parents) {
        for (const ListedSet& set : sets)
            if (std::includes(parents.begin(), parents.end(), set.parents.begin(), set.parents.end())) return &set;
        return nullptr;
    }
    double score(int child, std::span<const int> parents) override {
        const ListedSet* set = best_within(sets_[child], parents);
        return set ? set->score : unavailable_[child];
    }
    double unavailable(int child) const override { return unavailable_[child]; }
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) override {
        for (std::size_t i = 0; i < candidates.size(); ++i) out[i] = score(child, with(parents, candidates[i]));
    }
    std::unique_ptr<LocalScores> another() const override { return std::make_unique<ListedScores>(sets_); }

private:
    const ListedSets& sets_;
    std::vector<double> unavailable_;                    // per child
};

}  // namespace spinney
