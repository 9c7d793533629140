// Scores that look at one family at a time, such as trees and decision graphs: Step 1, and what searches ask.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "local_scores.hpp"
#include "parent_sets.hpp"

namespace spinney {

// One worker for one child. Not shared between threads; its scratch is kept from parent set to parent set.
class FamilyWorker {
public:
    virtual ~FamilyWorker() = default;
    virtual double score(std::span<const int> parents) = 0;     // with all priors.  REQUIRES: parents sorted
    virtual FamilyLikelihood likelihood(std::span<const int>) { throw std::logic_error("a score without likelihoods"); }
    virtual bool fits(std::span<const int>) { return true; }    // Can it be scored in the memory and with the limits that there are?
    // Are these parents provably no better than `known`, the best score of their allowed subsets? `likelihood` is the
    // bound's own note, handed from subset to superset.  REQUIRES: `required` of the parents are in all allowed subsets.
    virtual bool closed(std::span<const int>, std::size_t /*required*/, double /*known*/, double& /*likelihood*/) { return false; }
};

struct FamilyScores {
    std::size_t rows = 0;
    std::function<std::unique_ptr<FamilyWorker>(int child)> worker;
    std::shared_ptr<std::atomic<std::uint64_t>> left_out = std::make_shared<std::atomic<std::uint64_t>>(0);     // do not fit
};

ScoredSets score_family_sets(const FamilyScores& scores, const SetsRequest& request, Team& team, Control& control);

// What searches ask; a worker per child is made when it is first asked for. Over many rows only the last one is kept: their
// scratch is many times the table, and a family takes far longer than making one.
class WorkerScores final : public LocalScores {
public:
    WorkerScores(FamilyScores scores, std::size_t variables) : scores_(std::move(scores)), workers_(variables) {}
    // A family that does not fit scores minus infinity.
    double score(int child, std::span<const int> parents) override {
        FamilyWorker* worker = able(child, parents);
        return worker ? worker->score(parents) : -std::numeric_limits<double>::infinity();
    }
    FamilyLikelihood likelihood(int child, std::span<const int> parents) override {
        FamilyWorker* worker = able(child, parents);
        return worker ? worker->likelihood(parents) : FamilyLikelihood{std::numeric_limits<double>::quiet_NaN(), 0};
    }
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) override {
        for (std::size_t i = 0; i < candidates.size(); ++i) out[i] = score(child, with(parents, candidates[i]));
    }
    bool one_by_one() const override { return true; }
    std::uint64_t left_out() const override { return scores_.left_out ? scores_.left_out->load() : 0; }
    std::unique_ptr<LocalScores> another() const override { return std::make_unique<WorkerScores>(scores_, workers_.size()); }

private:
    // The child's worker; null if the family does not fit.
    FamilyWorker* able(int child, std::span<const int> parents) {
        constexpr std::size_t many_rows = 50'000;
        if (!workers_[child]) {
            if (last_ >= 0 && scores_.rows > many_rows) workers_[last_].reset();
            workers_[child] = scores_.worker(child);
            last_ = child;
        }
        if (workers_[child]->fits(parents)) return workers_[child].get();
        if (scores_.left_out) ++*scores_.left_out;
        return nullptr;
    }
    FamilyScores scores_;
    std::vector<std::unique_ptr<FamilyWorker>> workers_;
    int last_ = -1;                                      // whose worker was made last
};

}  // namespace spinney
