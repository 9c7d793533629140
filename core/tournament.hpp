// Who is best of many, when one of them changes at a time: a binary tree whose nodes hold the better of the two below, so a
// change costs the tree's depth and the best is at its root. Of equals it is the first, and whoever has rank 0 is out.
#pragma once

#include <cstdint>
#include <vector>

namespace spinney {

class Tournament {
public:
    explicit Tournament(int n) {
        while (size_ < n) size_ *= 2;
        rank_.assign(size_, 0);
        winner_.resize(2 * size_);
        for (int i = 0; i < size_; ++i) winner_[size_ + i] = i;
        for (int i = size_ - 1; i > 0; --i) winner_[i] = winner_[2 * i];
    }
    void set(int v, std::int64_t rank) {
        if (rank_[v] == rank) return;
        rank_[v] = rank;
        for (int i = (size_ + v) / 2; i > 0; i /= 2) {
            const int left = winner_[2 * i], right = winner_[2 * i + 1];
            winner_[i] = rank_[left] >= rank_[right] ? left : right;
        }
    }
    int best() const { return rank_[winner_[1]] > 0 ? winner_[1] : -1; }

private:
    int size_ = 1;
    std::vector<std::int64_t> rank_;
    std::vector<int> winner_;
};

}  // namespace spinney
