// What the families of mvp and lr with the same discrete parents share: the rows of every cell, the powers of continuous columns in
// it, several columns together, and the children's own values. Kept from family to family, whatever the child; what was not asked
// for lately goes.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "orthonormal.hpp"
#include "row_groups.hpp"

namespace spinney {

struct MixedPolyData {
    std::vector<PolyColumn> columns;
    std::size_t rows = 0;
};

struct PolynomialSpec {
    bool logistic = false;                               // lr; else mvp
    int degree = 1;                                      // 0: floor(log n), none in cells of one or two rows
    bool count_variance = false;                         // as a parameter of every cell of a continuous child
    std::vector<double> size_prior;                      // log prior by number of parents; the last one serves above
    double per_parameter = 0;                            // log prior per free parameter

    double prior(std::size_t parents) const {
        return size_prior.empty() ? 0 : size_prior[std::min(parents, size_prior.size() - 1)];
    }
    int degree_of(std::size_t rows) const;
};

struct Powers {                                          // of one continuous column in all cells
    std::vector<double> values, shares;                  // of a cell: one column after another; see orthonormal_powers
    std::vector<std::size_t> first, first_share;         // cell -> place in values, in shares
    std::vector<int> count;                              // cell -> columns that there are
    std::size_t bytes = 0;
};

// All powers of some continuous columns, orthonormal in every cell with enough rows; those of the first column are so already.
struct Basis {
    struct Origin { std::size_t parent; int column; std::vector<double> taken; };    // see orthogonalise
    struct Cell {
        std::vector<const double*> columns;
        std::vector<Origin> origins;                     // of the columns, where they were asked for
        double product = 1;                              // of the squared lengths that were left when they were made orthogonal
        double share = 1;                                // the smallest of their powers' own
        bool whole = true;                               // no column was dropped
    };
    std::vector<Cell> cells;
    std::vector<std::unique_ptr<double[]>> values;       // of the columns that are not powers as they are
    std::size_t bytes = 0;
};

// The child in the order of the groups.
struct Response {
    std::vector<double> values;                          // continuous: less the mean of its cell
    std::vector<std::uint16_t> codes;                    // discrete
    struct Level { int level; double rows; };            // that occurs in a cell
    std::vector<Level> levels;
    std::vector<std::uint32_t> first_level;              // cell -> place in levels; one more at the end
    std::vector<double> alone;                           // cell -> its sum of squares, or its log-likelihood, without columns
    std::size_t bytes = 0;

    std::span<const Level> levels_of(std::size_t cell) const {
        return {levels.data() + first_level[cell], levels.data() + first_level[cell + 1]};
    }
};

struct Grouped {
    RowGroups groups;
    std::map<int, Powers> powers;
    std::map<int, Response> responses;                   // by child
    std::map<std::vector<int>, Basis> bases;             // by continuous columns
    std::vector<std::uint32_t> cell_of;                  // by row, once it was asked for
    std::size_t bytes = 0;
    std::uint64_t asked = 0;                             // when
};

class PolynomialCells {
public:
    PolynomialCells(const MixedPolyData& data, const PolynomialSpec& spec) : data_(data), spec_(spec) {}

    // For a family. What this and the others return stays where it is until the next grouping is asked for.
    Grouped& grouped(std::span<const int> discrete, std::span<const int> continuous, int child);
    const Powers& powers(Grouped& grouped, int column);
    void leave(Grouped& grouped, int column);            // its powers, if there is no more room
    const Basis& basis(Grouped& grouped, std::span<const int> continuous);
    const Response& response(Grouped& grouped, int child);
    const std::vector<std::uint32_t>& cell_of(Grouped& grouped);
    // The columns of a cell with where they came from.  REQUIRES: the powers of these columns, in their order.
    Basis::Cell orthonormal(const Grouped& grouped, std::size_t cell, std::span<const Powers* const> powers, bool origins,
                            std::unique_ptr<double[]>& values, std::size_t& bytes);

private:
    void make_room(Grouped* needed, std::span<const int> continuous, int child);
    void count(Grouped& grouped, std::size_t bytes) { grouped.bytes += bytes, bytes_ += bytes; }

    const MixedPolyData& data_;
    const PolynomialSpec& spec_;
    std::map<std::vector<int>, Grouped> kept_;           // by discrete columns
    std::size_t bytes_ = 0;                              // of all that is kept
    std::uint64_t asked_ = 0;
    std::vector<double> scratch_;
};

}  // namespace spinney
