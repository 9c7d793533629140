// One score of one table, as every operation of the core takes it: families, Step 1, greedy search. A score group makes
// one of these; no operation knows which group it came from. Immutable once built, and shared by all threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "family_sets.hpp"

namespace spinney {

class Scores {
public:
    virtual ~Scores() = default;
    virtual int variables() const = 0;
    virtual std::size_t rows() const = 0;
    // What one thread asks. A family that needs more than most_bytes (0: no limit) scores minus infinity.
    virtual std::unique_ptr<LocalScores> local(double most_bytes = 0) const = 0;
    // Step 1; unless a group knows better, one family after another.
    virtual ScoredSets parent_sets(const SetsRequest& request, Team& team, Control& control) const;
    // Does Step 1 walk sets of variables, the families of all children at once? Blocks of it are made accordingly.
    virtual bool walks() const { return false; }
    // What must be made of these columns before they are read.  REQUIRES: one call at a time.
    virtual void prepare(std::span<const int>, Team&) const {}
    // Throw std::invalid_argument for a family, or for constraints, that cannot be scored.
    virtual void check(const Family&) const {}
    virtual void check(const Allowed&) const {}
    // Is this done before anybody could press a key?
    virtual bool brief(std::span<const Family>) const { return false; }
    virtual bool brief(const Allowed&) const { return false; }
    // The parents whose score these have: listed scores answer for sets that are not listed.
    virtual std::vector<int> meant(int, std::span<const int> parents) const { return {parents.begin(), parents.end()}; }
};

// Scores of which every family is computed by itself: trees, decision graphs.
class FamilyByFamily : public Scores {
public:
    virtual FamilyScores workers(double most_bytes) const = 0;
    std::unique_ptr<LocalScores> local(double most_bytes = 0) const override {
        return std::make_unique<WorkerScores>(workers(most_bytes), variables());
    }
    ScoredSets parent_sets(const SetsRequest& request, Team& team, Control& control) const override {
        return score_family_sets(workers(request.most_bytes), request, team, control);
    }
};

// Table scores: counted, with the counts shared between families.
class TableScores final : public Scores {
public:
    // REQUIRES: both live as long as this.
    TableScores(Data& data, const ScoreSpec& spec) : data_(data), spec_(spec) {}
    int variables() const override { return data_.variables(); }
    std::size_t rows() const override { return data_.rows(); }
    std::unique_ptr<LocalScores> local(double = 0) const override { return std::make_unique<CountedScores>(data_, spec_, tables_); }
    ScoredSets parent_sets(const SetsRequest& request, Team& team, Control& control) const override {
        return score_parent_sets(data_, spec_, request, team, control);
    }
    bool walks() const override { return true; }
    void prepare(std::span<const int> variables, Team& team) const override { data_.prepare(variables, team); }
    void check(const Family& family) const override;
    void check(const Allowed& allowed) const override;
    bool brief(std::span<const Family> families) const override { return brief(static_cast<double>(families.size())); }
    bool brief(const Allowed& allowed) const override { return brief(allowed.families()); }

private:
    bool brief(double families) const { return !spec_.slow() && families * (static_cast<double>(rows()) + 2000) < 2e8; }
    Data& data_;
    const ScoreSpec& spec_;
    mutable Tables tables_;                              // of logarithms; grows, never changes
};

// Scored parent sets as scores.
class ListScores final : public Scores {
public:
    explicit ListScores(ListedSets sets) : sets_(std::move(sets)) {}
    int variables() const override { return static_cast<int>(sets_.size()); }
    std::size_t rows() const override { return 0; }
    std::unique_ptr<LocalScores> local(double = 0) const override { return std::make_unique<ListedScores>(sets_); }
    std::vector<int> meant(int child, std::span<const int> parents) const override {
        const ListedSet* set = ListedScores::best_within(sets_[child], parents);
        return set ? set->parents : Scores::meant(child, parents);
    }

private:
    const ListedSets sets_;
};

// The best of several local models, family by family, under a uniform prior over the models.
class BestScores final : public Scores {
public:
    struct Choice {
        const Scores* scores;                            // REQUIRES: lives as long as this
        std::vector<std::vector<char>> admits;           // [child][parent], [child][child]: the child without parents
    };
    explicit BestScores(std::vector<Choice> choices);
    int variables() const override { return choices_.front().scores->variables(); }
    std::size_t rows() const override { return choices_.front().scores->rows(); }
    std::unique_ptr<LocalScores> local(double most_bytes = 0) const override;
    void prepare(std::span<const int> variables, Team& team) const override;
    void check(const Family& family) const override;
    const std::vector<Choice>& choices() const { return choices_; }
    double prior() const { return prior_; }              // of each model

private:
    std::vector<Choice> choices_;
    double prior_;
};

}  // namespace spinney
