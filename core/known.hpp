// Scores of families that are known beforehand, from a store or from other machines, and a log of those scored now.
//
// A family is named by its child, its number of parents and the rank of the parents among the sets of that size over the child's
// candidates (rank_of below). The log is read while it is written: every thread has a lane of chunks of its own, and publishes
// each record with one store; no locks, so that a log costs a few nanoseconds per family.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "allowed.hpp"
#include "binomials.hpp"

namespace spinney {

class KnownScores {
public:
    explicit KnownScores(const Allowed& allowed) : allowed_(allowed), binomials_(allowed.variables(), deepest(allowed) + 1), layers_(allowed.variables()) {
        for (int v = 0; v < allowed.variables(); ++v) layers_[v].resize(allowed.most[v] + 1);
    }
    const Allowed& allowed() const { return allowed_; }
    // NaN: not known.
    double score(int child, std::size_t size, std::uint64_t rank) const {
        const auto& scores = layers_[child][size].scores;
        return scores.empty() ? std::numeric_limits<double>::quiet_NaN() : scores[rank];
    }
    // Was a bound above this family no better than what was known within it?
    bool closed_above(int child, std::size_t size, std::uint64_t rank) const {
        const auto& closed = layers_[child][size].closed;
        return !closed.empty() && closed[rank];
    }
    // Sets of `size` parents by their ranks over `count` candidates. moved[i]: the place among our candidates of the i-th of theirs,
    // rising; -1: it is none of ours. Empty: they are ours. closed may be empty. Returns how many of them were new.
    std::uint64_t add(int child, int size, std::span<const std::uint64_t> ranks, std::span<const double> scores,
                      std::span<const std::uint8_t> closed, int count, std::span<const std::int32_t> moved);
    std::uint64_t families() const { return families_; }
    std::uint64_t sets(int child, int size) const { return binomials_.at(allowed_.count(child), size); }

private:
    static int deepest(const Allowed& allowed) { return allowed.most.empty() ? 0 : *std::max_element(allowed.most.begin(), allowed.most.end()); }
    struct Layer {
        std::vector<double> scores;                      // empty: none known
        std::vector<std::uint8_t> closed;
    };
    const Allowed& allowed_;
    Binomials binomials_;
    std::vector<std::vector<Layer>> layers_;             // [child][size]
    std::uint64_t families_ = 0;
};

struct LoggedFamily {
    std::uint64_t rank;
    double score;
    std::int32_t child;
    std::uint16_t size;
    std::uint16_t closed_above;
};

class FamilyLog {
public:
    explicit FamilyLog(int lanes) : lanes_(lanes) {
        for (Lane& lane : lanes_) lane.writing = (lane.reading = std::make_unique<Chunk>()).get();
    }
    FamilyLog(const FamilyLog&) = delete;
    int lanes() const { return static_cast<int>(lanes_.size()); }
    // REQUIRES: one thread per lane.
    void add(int lane, const LoggedFamily& family) {
        Lane& own = lanes_[lane];
        std::size_t at = own.writing->filled.load(std::memory_order_relaxed);
        if (at == per_chunk) {
            own.writing->next = std::make_unique<Chunk>();
            Chunk* next = own.writing->next.get();
            own.writing->has_next.store(true, std::memory_order_release);
            own.writing = next;
            at = 0;
        }
        own.writing->records[at] = family;
        own.writing->filled.store(at + 1, std::memory_order_release);
    }
    // visit(record) for all that are new since the last time.  REQUIRES: one thread at a time.
    template <class Visit>
    void drain(Visit&& visit) {
        for (Lane& lane : lanes_)
            for (;;) {
                const std::size_t filled = lane.reading->filled.load(std::memory_order_acquire);
                for (; lane.read < filled; ++lane.read) visit(lane.reading->records[lane.read]);
                if (filled < per_chunk || !lane.reading->has_next.load(std::memory_order_acquire)) break;
                lane.reading = std::move(lane.reading->next);
                lane.read = 0;
            }
    }

private:
    static constexpr std::size_t per_chunk = 2000;
    struct Chunk {
        LoggedFamily records[per_chunk];
        std::atomic<std::size_t> filled{0};
        std::atomic<bool> has_next{false};
        std::unique_ptr<Chunk> next;                     // written before has_next
    };
    struct Lane {
        std::unique_ptr<Chunk> reading;
        Chunk* writing = nullptr;
        std::size_t read = 0;
    };
    std::vector<Lane> lanes_;
};

}  // namespace spinney
