#include "moments.hpp"

#include <algorithm>
#include <cmath>

namespace spinney {
namespace {

constexpr int tile = 32;                                 // columns
constexpr std::size_t stretch = 128;                     // rows: two tiles of a stretch fit in the nearest caches
constexpr std::size_t block = 4096;                      // rows whose sums are taken apart from the rest
constexpr std::size_t few_cells = 512;                   // else a block would have too few rows per cell to be worth it

// Four sums side by side, so that additions need not wait for one another.
double dot(const double* a, const double* b, std::size_t n) {
    double sum[4] = {0, 0, 0, 0};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int lane = 0; lane < 4; ++lane) sum[lane] += a[i + lane] * b[i + lane];
    for (; i < n; ++i) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void dots(const double* a, const double* b, std::size_t n, double* out) {      // of a with four columns of a tile
    double sum[4][2] = {};
    for (std::size_t i = 0; i + 2 <= n; i += 2)
        for (int c = 0; c < 4; ++c)
            for (int lane = 0; lane < 2; ++lane) sum[c][lane] += a[i + lane] * b[c * stretch + i + lane];
    for (int c = 0; c < 4; ++c) {
        double last = n % 2 ? a[n - 1] * b[c * stretch + n - 1] : 0;
        out[c] += sum[c][0] + sum[c][1] + last;
    }
}

// A sum and what its additions have lost (Neumaier 1974).
struct Exact {
    double sum = 0, lost = 0;
    void add(double x) {
        const double t = sum + x;
        lost += std::abs(sum) >= std::abs(x) ? (sum - t) + x : (x - t) + sum;
        sum = t;
    }
    double value() const { return sum + lost; }
};

}  // namespace

Covariance covariance(int columns, std::size_t rows, const FillColumn& fill, Team& team) {
    Covariance found{columns, std::vector<double>(columns, 0.0), std::vector<double>(static_cast<std::size_t>(columns) * columns, 0.0), {}};
    found.take_diagonal();
    if (rows == 0) return found;
    const double n = static_cast<double>(rows);
    team.run(columns, [&](int, std::size_t c) {
        std::vector<double> part(block);
        Exact sum;
        for (std::size_t first = 0; first < rows; first += block) {
            Listening::look();
            const std::size_t size = std::min(block, rows - first);
            fill(static_cast<int>(c), first, size, part.data());
            double own = 0;
            for (std::size_t i = 0; i < size; ++i) own += part[i];
            sum.add(own);
        }
        found.mean[c] = sum.value() / n;
    });
    Listening::look();                                   // a team that was stopped has left tasks undone
    const int tiles = (columns + tile - 1) / tile;
    team.run(static_cast<std::size_t>(tiles) * (tiles + 1) / 2, [&](int, std::size_t task) {
        int upper = 0;
        for (; task > static_cast<std::size_t>(upper); ++upper) task -= upper + 1;
        const int left = upper * tile, right = static_cast<int>(task) * tile;        // right <= left
        const int lefts = std::min(tile, columns - left), rights = std::min(tile, columns - right);
        std::vector<double> a(tile * stretch, 0.0), b(tile * stretch, 0.0), sums(tile * tile, 0.0), total(tile * tile, 0.0);
        for (std::size_t first = 0; first < rows; first += stretch) {
            const std::size_t size = std::min(stretch, rows - first);
            auto take = [&](int from, int count, std::vector<double>& to) {
                for (int c = 0; c < count; ++c) {
                    double* out = to.data() + c * stretch;
                    fill(from + c, first, size, out);
                    for (std::size_t i = 0; i < size; ++i) out[i] -= found.mean[from + c];
                }
            };
            take(left, lefts, a);
            if (right != left) take(right, rights, b);
            const double* others = right == left ? a.data() : b.data();
            for (int i = 0; i < lefts; ++i)
                for (int j = 0; j < rights && right + j <= left + i; j += 4)
                    dots(a.data() + i * stretch, others + j * stretch, size, sums.data() + i * tile + j);
            if ((first / stretch + 1) % 32 == 0 || first + size == rows) {             // blocks of blocks
                Listening::look();
                for (int at = 0; at < tile * tile; ++at) total[at] += sums[at], sums[at] = 0;
            }
        }
        for (int i = 0; i < lefts; ++i)
            for (int j = 0; j < rights && right + j <= left + i; ++j) {
                const std::size_t x = left + i, y = right + j;
                found.matrix[x * columns + y] = found.matrix[y * columns + x] = total[i * tile + j] / n;
            }
    });
    Listening::look();
    found.take_diagonal();
    return found;
}

void factor(int k, double* matrix, double* pivot, double least) {
    for (int j = 0; j < k; ++j) {
        if (j >= 64) Listening::look();                  // thousands of indicator columns take minutes
        double* row = matrix + static_cast<std::size_t>(j) * k;
        double left = row[j];
        for (int i = 0; i < j; ++i) {
            if (pivot[i] == 0) continue;
            double sum = row[i];
            const double* other = matrix + static_cast<std::size_t>(i) * k;
            for (int m = 0; m < i; ++m)
                if (pivot[m] != 0) sum -= row[m] * other[m] * pivot[m];
            row[i] = sum / pivot[i];                     // unit lower triangle; its columns belong to the kept ones
            left -= row[i] * row[i] * pivot[i];
        }
        pivot[j] = left > least ? left : 0;
    }
}

void invert(int k, const double* factored, const double* pivot, double* inverse) {
    for (int c = 0; c < k; ++c) {                        // L D L' x = e_c
        double* x = inverse + c * k;
        for (int j = 0; j < k; ++j) {
            x[j] = j == c;
            for (int m = c; m < j; ++m) x[j] -= factored[j * k + m] * x[m];
        }
        for (int j = 0; j < k; ++j) x[j] /= pivot[j];
        for (int j = k - 1; j >= 0; --j)
            for (int m = j + 1; m < k; ++m) x[j] -= factored[m * k + j] * x[m];
    }
}

void residuals(std::span<const double* const> columns, std::size_t n, std::span<const std::uint32_t> rows, double* pivot) {
    if (!rows.empty()) n = rows.size();
    std::vector<std::vector<double>> basis;
    std::vector<double> x(n);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        Listening::look();
        for (std::size_t i = 0; i < n; ++i) x[i] = columns[j][rows.empty() ? i : rows[i]];
        for (int again = 0; again < 2; ++again) {        // what the first mean was rounded by is taken off by a second
            Exact sum;
            for (double value : x) sum.add(value);
            const double mean = sum.value() / static_cast<double>(n);
            for (double& value : x) value -= mean;
        }
        for (int again = 0; again < 2; ++again)          // twice is enough: Kahan, in Parlett (1980)
            for (const auto& unit : basis) {
                const double along = dot(unit.data(), x.data(), n);
                for (std::size_t i = 0; i < n; ++i) x[i] -= along * unit[i];
            }
        const double square = dot(x.data(), x.data(), n);
        pivot[j] = square / static_cast<double>(n);
        if (!(pivot[j] > dependent)) {
            pivot[j] = 0;
            continue;
        }
        const double length = std::sqrt(square);
        basis.push_back(x);
        for (double& value : basis.back()) value /= length;
    }
}

CellSums::CellSums(const MixedData& data, std::vector<int> discrete, int continuous)
    : data_(data), discrete_(std::move(discrete)), own_(continuous) {
    bytes_ = 256 + own_.size() * sizeof(own_[0]);
    if (discrete_.size() == 1) {
        const MixedColumn& column = data_.columns[discrete_[0]];
        counts_.assign(column.levels, 0);
        for (std::size_t row = 0; row < data_.rows; ++row) ++counts_[column.codes[row]];
    } else {
        make_codes();
        counts_.assign(data_.rows ? *std::max_element(codes_.begin(), codes_.end()) + 1u : 0u, 0);
        for (std::uint32_t code : codes_) ++counts_[code];
    }
    bytes_ += counts_.size() * sizeof(counts_[0]);
}

// Joint codes in the order of the columns. Where many of them would be empty, those that occur are numbered anew, in order.
void CellSums::make_codes() {
    const std::size_t n = data_.rows;
    std::vector<std::uint64_t> joint;
    codes_.assign(n, 0);
    std::uint64_t size = 1;
    const std::uint64_t many = std::max<std::uint64_t>(1024, n / 4);
    bool wide = false;
    for (int d : discrete_) {
        Listening::look();
        const MixedColumn& column = data_.columns[d];
        const std::uint64_t levels = column.levels;
        size *= levels;
        if (size > many && !wide) {
            wide = true;
            joint.assign(codes_.begin(), codes_.end());
        }
        if (!wide) {
            for (std::size_t row = 0; row < n; ++row) codes_[row] = codes_[row] * static_cast<std::uint32_t>(levels) + column.codes[row];
            continue;
        }
        for (std::size_t row = 0; row < n; ++row) joint[row] = joint[row] * levels + column.codes[row];
        if (size > many) squeeze(joint, size);           // at most n from here on, so products with levels do not overflow
    }
    if (wide) std::copy(joint.begin(), joint.end(), codes_.begin());
}

void CellSums::squeeze(std::vector<std::uint64_t>& joint, std::uint64_t& size) const {
    if (size <= 16 * joint.size() + 65536) {
        std::vector<std::uint32_t> number(size, 0);
        for (std::uint64_t code : joint) number[code] = 1;
        std::uint32_t seen = 0;
        for (std::uint32_t& own : number) own = own ? seen++ : 0;
        for (std::uint64_t& code : joint) code = number[code];
        size = seen;
        return;
    }
    std::vector<std::uint64_t> known(joint);
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    for (std::uint64_t& code : joint) code = std::lower_bound(known.begin(), known.end(), code) - known.begin();
    size = known.size();
}

void CellSums::forget_codes() {
    std::vector<std::uint32_t>().swap(codes_);
    std::vector<std::uint32_t>().swap(rows_);
    std::vector<std::uint32_t>().swap(starts_);
}

void CellSums::need(std::span<const Pair> pairs, std::span<const double* const> columns) {
    std::vector<Pair> missing;
    for (const Pair& pair : pairs) {
        auto& place = pair.a == pair.b ? own_[pair.a] : products_[name(pair.a, pair.b)];
        if (place) continue;
        const std::size_t size = counts_.size() * (pair.a == pair.b ? 2 : 1);
        place = std::make_unique<double[]>(size);
        bytes_ += size * sizeof(double) + (pair.a == pair.b ? 0 : 64);
        missing.push_back(pair);
    }
    if (missing.empty()) return;
    try {
        if (discrete_.size() == 1) return pass(data_.columns[discrete_[0]].codes, missing, columns);
        if (codes_.empty()) make_codes();
        pass(static_cast<const std::uint32_t*>(codes_.data()), missing, columns);
    } catch (...) {                                      // a stop: what was begun is not to be taken for whole
        for (const Pair& pair : missing) {
            if (pair.a == pair.b) own_[pair.a].reset();
            else products_.erase(name(pair.a, pair.b));
        }
        throw;
    }
}

// Two copies of every sum, for odd and even rows: an addition would wait for the one before it to the same cell.
template <class Code>
void CellSums::pass(const Code* codes, std::span<const Pair> pairs, std::span<const double* const> columns) {
    const std::size_t cells = counts_.size(), n = data_.rows;
    const bool apart = cells <= few_cells;
    std::vector<double> even(2 * cells), odd(2 * cells);
    for (std::size_t first = 0; first < n; first += block) {
        Listening::look();
        const std::size_t end = std::min(n, first + block);
        for (const Pair& pair : pairs) {
            const bool alone = pair.a == pair.b;
            double* out = alone ? own_[pair.a].get() : products_.at(name(pair.a, pair.b)).get();
            const double *x = columns[pair.a], *y = columns[pair.b];
            const std::size_t width = alone ? 2 * cells : cells;
            double *one = out, *other = out;
            if (apart) {
                one = even.data(), other = odd.data();
                std::fill_n(one, width, 0.0);
                std::fill_n(other, width, 0.0);
            }
            std::size_t row = first;
            auto add = [&](double* to, std::size_t r) {
                if (alone) {
                    double* at = to + 2 * static_cast<std::size_t>(codes[r]);
                    at[0] += x[r];
                    at[1] += x[r] * x[r];
                } else {
                    to[codes[r]] += x[r] * y[r];
                }
            };
            if (alone) {
                for (; row + 2 <= end; row += 2) {
                    double* a = one + 2 * static_cast<std::size_t>(codes[row]);
                    double* b = other + 2 * static_cast<std::size_t>(codes[row + 1]);
                    const double p = x[row], q = x[row + 1];
                    a[0] += p;
                    a[1] += p * p;
                    b[0] += q;
                    b[1] += q * q;
                }
            } else {
                for (; row + 2 <= end; row += 2) {
                    one[codes[row]] += x[row] * y[row];
                    other[codes[row + 1]] += x[row + 1] * y[row + 1];
                }
            }
            for (; row < end; ++row) add(one, row);
            if (apart)
                for (std::size_t i = 0; i < width; ++i) out[i] += one[i] + other[i];
        }
    }
}

const std::vector<std::uint32_t>& CellSums::rows_by_cell(std::vector<std::uint32_t>& starts) {
    if (rows_.empty()) {
        if (discrete_.size() > 1 && codes_.empty()) make_codes();
        starts_.assign(counts_.size() + 1, 0);
        for (std::size_t c = 0; c < counts_.size(); ++c) starts_[c + 1] = starts_[c] + counts_[c];
        std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
        rows_.resize(data_.rows);
        const std::uint16_t* own = discrete_.size() == 1 ? data_.columns[discrete_[0]].codes : nullptr;
        for (std::size_t row = 0; row < data_.rows; ++row) rows_[next[own ? own[row] : codes_[row]]++] = static_cast<std::uint32_t>(row);
    }
    starts = starts_;
    return rows_;
}

}  // namespace spinney
