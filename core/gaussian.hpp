// Scores of mixed and continuous tables that are differences of functions of sets: cg, cgd, dg, bf, bge.
//
// l(set) and df(set) read the set only, so they are kept per set and serve every family, subset and extension that meets
// them again: the score of (v, P) is l(v, P) - l(P) less the penalty of df(v, P) - df(P). A set's value never depends on
// the way that led to it: the same bits from score, extend and every thread.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "local_scores.hpp"
#include "moments.hpp"
#include "near_scores.hpp"

namespace spinney {

constexpr std::size_t most_embedded_columns = 20000;     // of dg, bf, bge: 3.2 GB of matrix

enum class GaussianScore { cg, cgd, dg, bf, bge };

GaussianScore gaussian_score_named(const std::string& name);      // throws std::invalid_argument

struct GaussianSpec {
    GaussianScore score = GaussianScore::cg;
    bool exact = false;                                  // cg: a discrete child's denominator is the mixture that it is
    bool paper = false;                                  // cg, cgd: df without the means; own Gaussians from k + 1 rows on
    int degree = 3;                                      // bf: Legendre polynomials 1..degree
    double alpha_mu = 1;                                 // bge: rows that the prior mean counts
    double above = 2;                                    // bge: alpha_w less the number of variables, > 1
    std::vector<double> size_prior;                      // log prior by number of parents; the last one serves above
    double per_parameter = 0;                            // log prior per free parameter

    double prior(std::size_t parents) const {
        return size_prior.empty() ? 0 : size_prior[std::min(parents, size_prior.size() - 1)];
    }
};

struct Terms {                                           // of a set, or of a family
    double likelihood = 0, parameters = 0;
};

// One worker's view of l and df of sets.
class SetFunction {
public:
    virtual ~SetFunction() = default;
    virtual Terms terms(std::span<const int> set) = 0;   // REQUIRES: sorted
    // The sets with one of these more will be asked for: how many of them, from the first on, have been provided for.
    virtual std::size_t foresee(std::span<const int>, std::span<const int> candidates) { return candidates.size(); }
    // Where sets are mixtures: sum over rows of log P(child | parents).  REQUIRES: a discrete child.
    virtual double mixture(int, std::span<const int>) { throw std::logic_error("a score without mixtures"); }
    // Where the likelihood of a set is that of one Gaussian: its covariances, and the column of them that a variable is; else
    // none, and -1.
    virtual const Covariance* gaussian() const { return nullptr; }
    virtual int column(int) const { return -1; }
    virtual std::unique_ptr<SetFunction> another() const = 0;
};

// cg: gaussian_cells.cpp. dg, bf, bge: embedding.cpp, which throws std::length_error when there are too many columns.
std::unique_ptr<SetFunction> cell_gaussians(const MixedData& data, const GaussianSpec& spec, Team& team);
std::unique_ptr<SetFunction> embedded_gaussians(const MixedData& data, const GaussianSpec& spec, Team& team);

class GaussianScores final : public LocalScores, public NearScores {
public:
    // The data must outlive it; the spec is copied.
    GaussianScores(const MixedData& data, GaussianSpec spec, Team& team);
    double score(int child, std::span<const int> parents) override;
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) override;
    void near(int child, std::span<const int> parents, std::span<const int> candidates, double least, double* out) override;
    bool near_without(int child, std::span<const int> parents, double* out) override;
    std::unique_ptr<LocalScores> another() const override;
    FamilyLikelihood likelihood(int child, std::span<const int> parents) override;

private:
    struct Common;                                       // what all workers read
    GaussianScores(std::shared_ptr<const Common> common, std::unique_ptr<SetFunction> function);
    bool continuous(int v) const;
    bool all_discrete(std::span<const int> set) const;
    bool counted(int child, std::span<const int> parents) const;       // a table serves this family
    bool mixture(int child, std::span<const int> parents) const;
    Terms set(std::span<const int> set, const SetKey& key);
    Terms mixed_family(int child, std::span<const int> parents);
    void extend_sets(int child, std::span<const int> parents, std::span<const int> candidates, double* out);
    double from(const Terms& terms, std::size_t parents) const;
    bool residuals_of(int child, std::span<const int> parents, std::span<const int> candidates);

    std::shared_ptr<const Common> common_;
    std::unique_ptr<SetFunction> function_;
    std::unique_ptr<FamilyScorer> tables_, likelihoods_;
    SetCache<Terms> known_;
    std::vector<int> larger_, family_, with_child_;
    std::vector<int> columns_;                           // of near(): parents, child, candidates; -1: none of the matrix
    std::vector<double> rest_, variance_, shared_;       // given the parents: covariances with each, variances, covariances with the child
    std::vector<double> matrix_, pivot_, inverse_;       // of near_without(): of the parents and the child
};

}  // namespace spinney
