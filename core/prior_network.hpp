// A discrete network whose joint probabilities serve as the prior of BDe.
#pragma once

#include <span>
#include <vector>

#include "region.hpp"

namespace spinney {

struct PriorTable {
    std::vector<int> parents;                            // in the order of the table
    std::vector<double> probabilities;                   // rows: parent configurations, last parent fastest; then levels
};

class PriorNetwork {
public:
    PriorNetwork(std::vector<int> levels, std::vector<PriorTable> tables);
    // P(variables, and every limit holds) as a dense table, last variable fastest.  REQUIRES: variables sorted.
    std::vector<double> joint(std::span<const int> variables, std::span<const Limit> limits = {}) const;

    struct Factor {
        std::vector<int> variables;                      // sorted, last fastest
        std::vector<double> values;
    };

private:
    std::vector<int> levels_;
    std::vector<Factor> factors_;                        // P(variable | parents), per variable
};

}  // namespace spinney
