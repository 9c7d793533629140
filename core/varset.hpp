// A set of variables as bits, for networks of any size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spinney {

class VarSet {
public:
    explicit VarSet(int variables = 0) : words_((variables + 63) / 64, 0) {}
    void insert(int v) { words_[v >> 6] |= std::uint64_t{1} << (v & 63); }
    void erase(int v) { words_[v >> 6] &= ~(std::uint64_t{1} << (v & 63)); }
    void clear() { std::fill(words_.begin(), words_.end(), 0); }
    bool contains(int v) const { return words_[v >> 6] >> (v & 63) & 1; }
    VarSet& operator&=(const VarSet& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
        return *this;
    }
    VarSet& operator|=(const VarSet& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
        return *this;
    }
    bool meets(const VarSet& other) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            if (words_[i] & other.words_[i]) return true;
        return false;
    }

private:
    std::vector<std::uint64_t> words_;
};

inline VarSet to_set(const std::vector<int>& list, int variables) {
    VarSet set(variables);
    for (int v : list) set.insert(v);
    return set;
}

}  // namespace spinney
