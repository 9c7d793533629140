// The table scores: from the counts of one family to one number.
//
// A score reads counts N_jk, rows j the parent configurations that occur, and the declared sizes; formulas and their
// sources stand in table_score.cpp. Adding the structure prior happens here too, so that every caller agrees.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cells.hpp"
#include "lgamma.hpp"
#include "prior_network.hpp"

namespace spinney {

enum class TableScore { ll, aic, bic, bd, bdeu, bds, bde, fnml, qnml, mit };

TableScore table_score_named(const std::string& name);   // throws std::invalid_argument

struct ScoreSpec {
    TableScore score = TableScore::bdeu;
    double parameter = 1;    // ess, alpha, MIT's confidence; fnml, qnml: rows from which the regret is approximated, 0: never
    std::vector<double> size_prior;                      // log prior by number of parents; the last one serves above
    double per_parameter = 0;                            // log prior per free parameter (<= 0)
    const PriorNetwork* network = nullptr;               // bde only

    double prior(std::size_t parents) const {
        return size_prior.empty() ? 0 : size_prior[std::min(parents, size_prior.size() - 1)];
    }
    // Of a Dirichlet score: the pseudo-count of a cell, of `levels` in each of q parent configurations, of which `seen`
    // occur; 0 for the others.
    double pseudo_count(double levels, double q, double seen) const {
        switch (score) {
            case TableScore::bd: return parameter;
            case TableScore::bdeu: return parameter / (levels * q);
            case TableScore::bds: return parameter / (levels * std::max(1.0, seen));     // Scutari (2016): to what occurs
            default: return 0;
        }
    }
    double penalty(double rows) const;                   // per free parameter: of a penalised likelihood, and the prior's
    bool slow() const { return score == TableScore::bde || score == TableScore::fnml || score == TableScore::qnml; }
    bool penalised() const { return score == TableScore::ll || score == TableScore::aic || score == TableScore::bic; }
    bool dirichlet() const {                             // symmetric, so that the purity bound holds
        return score == TableScore::bd || score == TableScore::bdeu || score == TableScore::bds;
    }
};

// The counts of one family: N_jk of every cell and N_j of every parent configuration, each in any order; zeros add
// nothing. Every table score is a sum over the first less a sum over the second, so no table has to be laid out, and
// the first sum serves all children of one set of variables (`shared`).
struct FamilyCounts {
    std::span<const std::uint32_t> cells, totals;
    struct Sum {
        double a = -1, value = 0;                        // the pseudo-count it was taken with; 0 for likelihoods
    }* shared = nullptr;
};

// One worker: scores families of one table. Not shared between threads; `tables` is.
class FamilyScorer {
public:
    FamilyScorer(const Data& data, const ScoreSpec& spec, Tables& tables);

    // REQUIRES: parents sorted, child not among them.
    double score(int child, std::span<const int> parents);
    // out[i] = score(child, parents + candidates[i]); one pass for all.  REQUIRES: none of them in the family already.
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out);
    double from_counts(int child, std::span<const int> parents, const FamilyCounts& counts);
    // No proper superset of these parents, of at most `most` parents from candidates with these levels, scores above.
    double bound_above(int child, std::span<const int> parents, const FamilyCounts& counts, std::size_t most,
                       std::span<const int> candidate_levels_falling);

    Cells& cells() { return cells_; }

    // N_j of the family {stack of cells, other} for the child at a position of the stack, from the matrix that
    // Cells::count made for `other`. Valid until the next call.
    std::span<const std::uint32_t> totals_without(int position, int other, const std::uint32_t* matrix);

private:
    RisingLog& rising(double a) {
        if (rising_.size() > 4096) rising_.clear();      // bds: one per number of configurations seen
        return rising_.try_emplace(a, a).first->second;
    }
    double marginal(int v);                             // log-likelihood of a column alone
    double regret(double levels, std::uint32_t n);
    double configurations(std::span<const int> parents) const;
    double log_likelihood(const FamilyCounts& counts) const;
    double dirichlet(const FamilyCounts& counts, int levels, double a);
    double by_network(int child, std::span<const int> parents);
    double set_term(std::span<const int> variables);

    const Data& data_;
    const ScoreSpec& spec_;
    Tables& tables_;
    Cells cells_;
    std::vector<double> marginal_;                       // MIT: where known; 1 elsewhere
    struct BitHash {                                     // pseudo-counts are few and far apart: their bits will do
        std::size_t operator()(double a) const { return std::bit_cast<std::uint64_t>(a) * 0x9E3779B97F4A7C15ull >> 32; }
    };
    std::unordered_map<double, RisingLog, BitHash> rising_;
    std::unordered_map<int, std::vector<double>> regret_;
    std::vector<std::uint32_t> totals_;
    std::vector<const std::uint32_t*> matrices_;
    std::vector<int> family_, larger_;
};

}  // namespace spinney
