// Leaves of decision graphs: what a set of rows scores, whichever way it came together.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "leaf.hpp"
#include "prior_network.hpp"
#include "region.hpp"

namespace spinney {

// One column as decision graphs see it. As a parent: codes of levels, or of bins. As a child: codes, or values.
struct GraphColumn {
    int levels = 0;
    bool ordered = false;                                // binary splits part low levels from high ones
    const std::uint16_t* codes = nullptr;
    const double* values = nullptr;                      // continuous: less `centre`, so that squares do not swallow the spread
    double centre = 0;
};

struct GraphData {
    std::vector<GraphColumn> columns;
    std::vector<int> levels;                             // the columns' own, for regions
    std::size_t rows = 0;
};

enum class Exponents { uniform, shared, network };       // all 1; by the leaf's part of the configurations; by a prior network

struct GraphSpec {
    bool complete = true, binary = true, merge = true;   // the operators
    bool splits_first = false;                           // splits as long as one gains, then merges, in turns
    bool filled = false;                                 // a split sends rows into two leaves at least
    bool optimal = false;                                // the best of all partitions instead
    Exponents exponents = Exponents::uniform;
    double ess = 1;
    const PriorNetwork* network = nullptr;
    double per_parameter = 0;                            // log kappa
    bool structure_prior = false;                        // each step of the growth at the price of choosing it
    LeafOptions normal;                                  // leaves of a continuous child
    std::vector<double> size_prior;

    double prior(std::size_t parents) const {
        return size_prior.empty() ? 0 : size_prior[std::min(parents, size_prior.size() - 1)];
    }
};

// The score of a leaf, from the sums of its rows and the exponents of its region. One worker for one child.
class LeafScore {
public:
    LeafScore(const GraphData& data, const GraphSpec& spec, int child);
    std::size_t width() const { return width_; }         // sums: counts per level; or rows, values, squares
    std::size_t exponents() const { return exponents_; } // numbers that hold a region's; those of a union are their sum
    void read(const Region& region, double* out);
    void read(const Region& region, int parent, double* out);      // one after another, for every level of this parent
    double operator()(const double* sums, const double* exponents);
    std::vector<double> spread(const double* exponents) const;     // one exponent per level of the child; none if it has none

private:
    double shared(const double* sums, double mass);

    const GraphData& data_;
    const GraphSpec& spec_;
    int child_;
    std::size_t width_, exponents_;
    double price_;                                       // of a leaf
    CountTable of_level_, of_total_;                     // uniform: log rising factorials of 1 and of the number of levels
    std::optional<ContinuousLeaf> normal_;
    struct Risings { RisingLog level, total; };
    std::unordered_map<double, Risings> risings_;        // by a leaf's pseudo-count
};

}  // namespace spinney
