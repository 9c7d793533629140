// Orthonormal columns: powers of one column, and several columns together. Inner products are means over the rows of a cell, so
// a column of length 1 has mean square 1; all are orthogonal to the constant column.
//
// Powers of raw values are too close to each other to be solved for. Every power is
// taken as the Legendre polynomial of the values mapped from their range in the cell to [-1, 1], and made orthogonal to those
// before it. Each starts from fresh values: were one made of the one before it, rounding would grow from power to power.
#pragma once

#include <cstddef>
#include <vector>

namespace spinney {

double dot(const double* a, const double* b, std::size_t n);
double sum(const double* a, std::size_t n);
void shift(double* column, double by, std::size_t n);
void subtract(double* from, double factor, const double* column, std::size_t n);     // from -= factor * column
void dots(const double* a, const double* const* columns, std::size_t count, std::size_t n, double* out);   // with every column
// to[i] += sum_j factors[j] columns[j][first + i]
void add(double* to, const double* factors, const double* const* columns, std::size_t count, std::size_t first, std::size_t n);

// A column is taken to be made of others, and dropped, where this share of its length or less is left without them. Far above the
// rounding of standardised values, also of those with a large offset.
constexpr double least_share = 1e-5;

// How the columns of one cell came from Legendre polynomials.
struct LegendrePowers {
    double low = 0, high = 0;
    std::vector<int> power;                              // of every column
    // Polynomial = taken[0] + sum_j taken[j + 1] column_j, the last of them the column itself.
    std::vector<std::vector<double>> taken;
};

// Orthonormal columns of the powers 1 to `degree` of the values, one after another in `out`, and what share of the length of its
// polynomial each is. Returns how many there are: values of m different sizes have m - 1 at the most.
int orthonormal_powers(const double* values, std::size_t n, int degree, double* out, double* shares, LegendrePowers* kept = nullptr);

// `column`, of length 1, made orthogonal to `count` others and of length 1 again. Returns the length that was left, 0 where it is
// at most least_share of its polynomial. `taken`: how much of each was taken out, and last what the rest was divided by.
double orthogonalise(double* column, const double* const* others, std::size_t count, std::size_t n, double share, double* taken = nullptr);

}  // namespace spinney
