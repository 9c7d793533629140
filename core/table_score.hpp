// The table scores: from the counts of one family to one number.
//
// A score reads counts N_jk, rows j the parent configurations that occur, and the declared sizes; formulas and their
// sources stand in table_score.cpp. Adding the structure prior happens here too, so that every caller agrees.
#pragma once

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
    double parameter = 1;                                // ess, alpha, or MIT's confidence
    std::vector<double> size_prior;                      // log prior by number of parents; the last one serves above
    double per_parameter = 0;                            // log prior per free parameter (<= 0)
    const PriorNetwork* network = nullptr;               // bde only

    double prior(std::size_t parents) const {
        return size_prior.empty() ? 0 : size_prior[std::min(parents, size_prior.size() - 1)];
    }
    double penalty(double rows) const;                   // per free parameter: of a penalised likelihood, and the prior's
    bool penalised() const { return score == TableScore::ll || score == TableScore::aic || score == TableScore::bic; }
    bool dirichlet() const {                             // symmetric, so that the purity bound holds
        return score == TableScore::bd || score == TableScore::bdeu || score == TableScore::bds;
    }
};

// One worker: scores families of one table. Not shared between threads; `tables` is.
class FamilyScorer {
public:
    FamilyScorer(const Data& data, const ScoreSpec& spec, Tables& tables);

    // REQUIRES: parents sorted, child not among them.
    double score(int child, std::span<const int> parents);
    // out[i] = score(child, parents + candidates[i]); one pass for all.  REQUIRES: none of them in the family already.
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out);
    // counts: `rows` rows of levels(child) numbers; rows of zeros are parent configurations that do not occur.
    double from_counts(int child, std::span<const int> parents, const std::uint32_t* counts, std::size_t rows);
    // No proper superset of these parents, of at most `most` parents from candidates with these levels, scores above.
    double bound_above(int child, std::span<const int> parents, const std::uint32_t* counts, std::size_t rows,
                       std::size_t most, std::span<const int> candidate_levels_falling);

    Cells& cells() { return cells_; }
    const ScoreSpec& spec() const { return spec_; }
    double configurations(std::span<const int> parents) const;

    // The family {stack of cells, other} seen from the child at a position of the stack, given the matrix that
    // Cells::count made for `other`: a table of groups x levels(other) rows.
    std::span<const std::uint32_t> seen_from(int position, int other, const std::uint32_t* matrix);

private:
    const RisingLog& rising(double a);
    double regret(double levels, std::uint32_t n);
    double log_likelihood(const std::uint32_t* counts, std::size_t rows, int levels) const;
    double dirichlet(const std::uint32_t* counts, std::size_t rows, int levels, double a);
    double by_network(int child, std::span<const int> parents);
    double set_term(std::span<const int> variables);

    const Data& data_;
    const ScoreSpec& spec_;
    Tables& tables_;
    Cells cells_;
    std::vector<double> marginal_;                       // log-likelihood of each column alone (MIT)
    std::unordered_map<double, const RisingLog*> rising_;
    std::unordered_map<int, std::vector<double>> regret_;
    std::vector<std::uint32_t> table_;
    std::vector<const std::uint32_t*> matrices_;
    std::vector<int> family_;
};

}  // namespace spinney
