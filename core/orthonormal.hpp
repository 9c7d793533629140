// Orthonormal columns: powers of one column, and several columns together. Inner products are means over the rows of a cell, so
// a column of length 1 has mean square 1, and the constant column is one of them.
//
// Powers of raw values are too close to each other to be solved for (formulas.md asks for orthogonal polynomials): the next
// polynomial is the one before times the value, made orthogonal to all before it ("Vandermonde with Arnoldi", Brubeck, Nakatsukasa and
// Trefethen 2021). The numbers of that recurrence evaluate the same polynomials at other values.
#pragma once

#include <cstddef>
#include <vector>

namespace spinney {

double dot(const double* a, const double* b, std::size_t n);
double sum(const double* a, std::size_t n);
void subtract(double* from, double factor, const double* column, std::size_t n);     // from -= factor * column

// What is left of a column when others are taken out of it, as a share of its length: below it, the column is taken to be made of
// them and is dropped. Far above the rounding of standardised values, also of those with a large offset.
constexpr double least_share = 1e-5;
// A column whose values in a cell differ by less than this share of the largest is constant there.
constexpr double least_spread = 1e-12;

// q_0 = 1, q_{k+1} = (t q_k - sum_j steps[k][j] q_j) / steps[k][k+1], t = (value - centre) / scale.
struct Recurrence {
    double centre = 0, scale = 1;
    std::vector<std::vector<double>> steps;
};

// Polynomials of degree 1 to `degree` of the values, one after another in `out`. Returns the highest degree that there is: values
// of m different sizes have m - 1.
int orthonormal_powers(const double* values, std::size_t n, int degree, double* out, Recurrence* recurrence = nullptr);

// `column`, of mean square 1 and mean 0, made orthogonal to `count` others; false: nothing but them was in it. `taken`: how much of each was taken out,
// and last what the rest was divided by.
bool orthogonalise(double* column, const double* const* others, std::size_t count, std::size_t n, double* taken = nullptr);

}  // namespace spinney
