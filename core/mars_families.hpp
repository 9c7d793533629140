// The score mars: families by MARS (mars.hpp). A continuous child is one response; a discrete one has an indicator per level that
// occurs, or one for two levels, with common basis functions. Parents: continuous columns, ordinal ones as numbers, and an indicator
// per level of categorical ones, or one for two levels.
//
// Where all parents are categorical, rows of equal parents are one: a fit reads as many rows as there are configurations.
//
// The columns of a family stand in the order of their linear association with the child, so that among equal reductions neither names
// nor the order of levels decide.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "data.hpp"
#include "family_sets.hpp"
#include "mars.hpp"

namespace spinney {

struct MarsScoreSpec {
    MarsSpec fit;
    bool raw = false;                                    // minus GCV in the child's units; else -N/2 log GCV
    std::vector<double> size_prior;                      // log prior by number of parents; the last one serves above
    double per_parameter = 0;                            // log prior per free parameter
};

// The columns of a table as MARS reads them; shared by all children and threads.
class MarsData {
public:
    struct Variable {
        std::vector<int> levels;                         // of the indicators; -1: the values themselves
        std::vector<std::vector<double>> own;            // values that are not those of the table
        std::vector<std::uint16_t> codes;                // of one that has indicators
        std::vector<MarsColumn> columns;
        std::vector<int> occurring;                      // levels, of a discrete one
        bool ready = false;
    };
    // ordinal: per variable, of discrete ones. scales: what continuous ones were divided by.  REQUIRES: the table outlives this.
    MarsData(const Data& table, std::vector<char> ordinal, std::vector<double> scales);
    void prepare(std::span<const int> variables, Team& team);
    const Data& table() const { return table_; }
    std::size_t rows() const { return table_.rows(); }
    const Variable& variable(int v) const { return variables_[v]; }
    double scale(int v) const { return scales_[v]; }

private:
    void make(int v);
    const Data& table_;
    const std::vector<char> ordinal_;
    const std::vector<double> scales_;
    std::vector<Variable> variables_;
    std::mutex lock_;
};

struct MarsFamilyFit {
    MarsFit fit;
    std::vector<std::pair<int, int>> columns;            // of the factors: variable and level, -1: its values
    double score = 0;
    double parameters = 0;
};

class MarsFamilies final : public FamilyWorker {
public:
    // REQUIRES: the child and the parents have been prepared.
    MarsFamilies(const MarsData& data, const MarsScoreSpec& spec, int child, double most_bytes = 0);
    double score(std::span<const int> parents) override { return family(parents).score; }
    bool fits(std::span<const int> parents) override;
    MarsFamilyFit family(std::span<const int> parents);

private:
    double association(int parent, std::size_t column);
    MarsFit fit(std::span<const int> parents, std::span<const MarsColumn* const> columns);
    const MarsData& data_;
    MarsScoreSpec spec_;
    const int child_;
    const double most_bytes_;
    std::vector<std::vector<double>> indicators_;
    std::vector<const double*> responses_;
    std::vector<std::vector<double>> associations_;      // per variable and column; empty: not asked for yet
};

FamilyScores mars_scores(const MarsData& data, const MarsScoreSpec& spec, double most_bytes);

}  // namespace spinney
