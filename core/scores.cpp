#include "scores.hpp"

#include <cmath>
#include <mutex>
#include <stdexcept>

namespace spinney {
namespace {

// What threads ask is made once per thread and kept from child to child: it may hold what families share.
class Pool {
public:
    Pool(const Scores& scores, double most_bytes) : scores_(scores), most_bytes_(most_bytes) {}
    std::unique_ptr<LocalScores> take() {
        std::lock_guard guard(lock_);
        if (free_.empty()) return scores_.local(most_bytes_);
        auto last = std::move(free_.back());
        free_.pop_back();
        return last;
    }
    void put(std::unique_ptr<LocalScores> scores) {
        std::lock_guard guard(lock_);
        free_.push_back(std::move(scores));
    }

private:
    const Scores& scores_;
    const double most_bytes_;
    std::mutex lock_;
    std::vector<std::unique_ptr<LocalScores>> free_;
};

class AskingWorker final : public FamilyWorker {
public:
    AskingWorker(Pool& pool, int child) : pool_(pool), scores_(pool.take()), child_(child) {}
    ~AskingWorker() override { pool_.put(std::move(scores_)); }
    double score(std::span<const int> parents) override { return scores_->score(child_, parents); }

private:
    Pool& pool_;
    std::unique_ptr<LocalScores> scores_;
    int child_;
};

bool admitted(const BestScores::Choice& choice, int child, std::span<const int> parents) {
    const auto& row = choice.admits[child];
    return row[child] && std::ranges::all_of(parents, [&](int p) { return row[p]; });
}

class BestLocal final : public LocalScores {
public:
    BestLocal(const BestScores& best, double most_bytes) : best_(best) {
        for (const auto& choice : best.choices()) own_.push_back(choice.scores->local(most_bytes));
    }
    double score(int child, std::span<const int> parents) override {
        double found = worst;
        for (std::size_t i = 0; i < own_.size(); ++i)
            if (admitted(best_.choices()[i], child, parents)) found = std::max(found, own_[i]->score(child, parents));
        return found + best_.prior();
    }
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) override {
        std::fill_n(out, candidates.size(), worst);
        std::vector<int> some;
        std::vector<std::size_t> places;
        std::vector<double> scores;
        for (std::size_t i = 0; i < own_.size(); ++i) {
            const auto& choice = best_.choices()[i];
            if (!admitted(choice, child, parents)) continue;
            some.clear(), places.clear();
            for (std::size_t k = 0; k < candidates.size(); ++k)
                if (choice.admits[child][candidates[k]]) some.push_back(candidates[k]), places.push_back(k);
            scores.assign(some.size(), worst);
            own_[i]->extend(child, parents, some, scores.data());
            for (std::size_t k = 0; k < some.size(); ++k) out[places[k]] = std::max(out[places[k]], scores[k]);
        }
        for (std::size_t k = 0; k < candidates.size(); ++k) out[k] += best_.prior();
    }
    bool one_by_one() const override {
        return std::ranges::any_of(own_, [](const auto& scores) { return scores->one_by_one(); });
    }
    std::uint64_t left_out() const override {
        std::uint64_t all = 0;
        for (const auto& scores : own_) all += scores->left_out();
        return all;
    }
    std::unique_ptr<LocalScores> another() const override {
        auto copy = std::make_unique<BestLocal>(best_);
        for (const auto& scores : own_) copy->own_.push_back(scores->another());
        return copy;
    }
    explicit BestLocal(const BestScores& best) : best_(best) {}

private:
    static constexpr double worst = -std::numeric_limits<double>::infinity();
    const BestScores& best_;
    std::vector<std::unique_ptr<LocalScores>> own_;      // one per model
};

void check_discrete(const Data& data, int variable) {
    if (!data.levels(variable)) throw std::invalid_argument("spinney's core was called wrongly: columns with levels");
}

}  // namespace

ScoredSets Scores::parent_sets(const SetsRequest& request, Team& team, Control& control) const {
    Pool pool(*this, request.most_bytes);
    FamilyScores families;
    families.rows = rows();
    families.worker = [&pool](int child) { return std::make_unique<AskingWorker>(pool, child); };
    return score_family_sets(families, request, team, control);
}

void TableScores::check(const Family& family) const {
    check_discrete(data_, family.child);
    for (int parent : family.parents) check_discrete(data_, parent);
}

void TableScores::check(const Allowed&) const {
    for (int v = 0; v < variables(); ++v) check_discrete(data_, v);
}

BestScores::BestScores(std::vector<Choice> choices) : choices_(std::move(choices)) {
    prior_ = -std::log(static_cast<double>(choices_.size()));
}

std::unique_ptr<LocalScores> BestScores::local(double most_bytes) const {
    return std::make_unique<BestLocal>(*this, most_bytes);
}

void BestScores::prepare(std::span<const int> variables, Team& team) const {
    for (const Choice& choice : choices_) choice.scores->prepare(variables, team);
}

void BestScores::check(const Family& family) const {
    bool any = false;
    for (const Choice& choice : choices_)
        if (admitted(choice, family.child, family.parents)) any = true, choice.scores->check(family);
    if (!any) throw std::invalid_argument("spinney's core was called wrongly: families that some model admits");
}

}  // namespace spinney
