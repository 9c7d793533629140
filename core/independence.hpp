// Tests of conditional independence, as searches ask for them: by likelihood ratios of any score that is a penalised
// likelihood, or by a function of the user's. Tests are to LocalTests what Scores are to LocalScores.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scores.hpp"
#include "set_key.hpp"

namespace spinney {

// What one thread asks.
class LocalTests {
public:
    virtual ~LocalTests() = default;
    // The p-value of x and y being independent given these; NaN where the test needs too much.
    // REQUIRES: x < y; given sorted, without the two.
    virtual double p_value(int x, int y, std::span<const int> given) = 0;
    virtual std::unique_ptr<LocalTests> another() const = 0;       // for another thread
    virtual std::uint64_t left_out() const { return 0; }           // families that would have needed too much, so far
};

// Immutable once built, and shared by all threads.
class Tests {
public:
    virtual ~Tests() = default;
    virtual int variables() const = 0;
    virtual void prepare(Team&) const {}
    virtual std::unique_ptr<LocalTests> local(double most_bytes) const = 0;
};

// 2 (l1 - l0), l1 of x given y and the others, l0 of x given the others, against chi-square with the parameters that l1
// has more; in both directions where the score is not equivalent, and then the smaller p-value (Andrews, Ramsey and Cooper
// 2018, section 5.3).
class LikelihoodTests final : public Tests {
public:
    // REQUIRES: the scores live as long as this and have likelihoods.
    LikelihoodTests(const Scores& scores, bool both) : scores_(scores), both_(both) {}
    int variables() const override { return scores_.variables(); }
    void prepare(Team& team) const override;
    std::unique_ptr<LocalTests> local(double most_bytes) const override;

private:
    const Scores& scores_;
    const bool both_;
};

}  // namespace spinney
