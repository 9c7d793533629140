// Pascal's triangle: the colexicographic rank of a set is a sum of its entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spinney {

class Binomials {
public:
    Binomials(int n, int k) : width_(k + 1), entry_((n + 1) * (k + 1), 0) {
        for (int i = 0; i <= n; ++i)
            for (int j = 0; j <= std::min(i, k); ++j)
                entry_[i * width_ + j] = j == 0 || j == i ? 1 : at(i - 1, j - 1) + at(i - 1, j);
    }
    std::uint64_t at(int n, int k) const { return k > n ? 0 : entry_[n * width_ + k]; }

private:
    int width_;
    std::vector<std::uint64_t> entry_;
};

}  // namespace spinney
