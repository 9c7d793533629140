// Sets of variables as 128 random bits: a set's key is the sum of its members' keys, so that a larger set's is one addition
// away. Among 2^40 sets two share a key with a probability of 2^-48.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

struct SetKey {
    std::uint64_t high = 0, low = 0;
    bool operator==(const SetKey&) const = default;
    SetKey operator+(const SetKey& other) const { return {high + other.high, low + other.low}; }
    SetKey operator-(const SetKey& other) const { return {high - other.high, low - other.low}; }
};
struct SetKeyHash {
    std::size_t operator()(const SetKey& key) const { return static_cast<std::size_t>(key.low); }
};

// Steele, Lea and Flood (2014): splitmix64.
inline std::uint64_t mixed_bits(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
inline SetKey key_of(int variable) {
    const std::uint64_t at = 2 * static_cast<std::uint64_t>(variable) + 1;
    return {mixed_bits(at * 0x9e3779b97f4a7c15ull), mixed_bits((at + 1) * 0x9e3779b97f4a7c15ull)};
}
inline SetKey key_of(std::span<const int> set) {
    SetKey key;
    for (int v : set) key = key + key_of(v);
    return key;
}

// What was computed for sets, in at most `most` places of which each set has four to choose from: memory is bounded, and
// what has not been asked for lately gives way.
template <class Value>
class SetCache {
public:
    explicit SetCache(std::size_t most) : most_(std::bit_floor(most)), places_(std::min<std::size_t>(most_, 1024)) {}

    const Value* find(const SetKey& key) const {
        const Place* place = places_.data() + first(key);
        for (int i = 0; i < window; ++i)
            if (place[i].used && place[i].key == key) return &place[i].value;
        return nullptr;
    }
    void put(const SetKey& key, const Value& value) {
        if (2 * used_ > places_.size() && places_.size() < most_) grow();
        place_for(key) = {key, value, true};
    }

private:
    static constexpr int window = 4;
    struct Place {
        SetKey key;
        Value value{};
        bool used = false;
    };
    std::size_t first(const SetKey& key) const { return key.low & (places_.size() - window); }
    Place& place_for(const SetKey& key) {
        Place* place = places_.data() + first(key);
        for (int i = 0; i < window; ++i) {
            if (place[i].used && place[i].key != key) continue;
            used_ += !place[i].used;
            return place[i];
        }
        return place[key.high & (window - 1)];
    }
    void grow() {
        std::vector<Place> old(2 * places_.size());
        old.swap(places_);
        used_ = 0;
        for (const Place& place : old)
            if (place.used) place_for(place.key) = place;
    }
    std::size_t most_, used_ = 0;
    std::vector<Place> places_;
};

}  // namespace spinney
