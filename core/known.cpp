#include "known.hpp"

#include <algorithm>
#include <stdexcept>

namespace spinney {

std::uint64_t KnownScores::add(int child, int size, std::span<const std::uint64_t> ranks, std::span<const double> scores,
                               std::span<const std::uint8_t> closed, int count, std::span<const std::int32_t> moved) {
    if (size > allowed_.most[child]) return 0;
    const int own = allowed_.count(child);
    const bool same = moved.empty();
    const std::uint64_t sets = binomials_.at(own, size);
    Layer& layer = layers_[child][size];
    // The sets of a size over their candidates may be more than ours: their own triangle.
    const Binomials theirs = same ? Binomials(0, 0) : Binomials(count, size);
    if (layer.scores.empty()) layer.scores.assign(sets, std::numeric_limits<double>::quiet_NaN());
    if (!closed.empty() && layer.closed.empty()) layer.closed.assign(sets, 0);
    std::uint64_t fresh = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        std::uint64_t rank = ranks[i];
        if (!same) {
            std::uint64_t left = rank, found = 0;
            bool ours = left < theirs.at(count, size);
            int high = count - 1;                        // places fall along the parents of a set
            for (int k = size; k > 0 && ours; --k) {
                int low = k - 1;                         // the largest place with C(place, k) <= left
                for (int top = high; low < top;) {
                    const int middle = (low + top + 1) / 2;
                    if (theirs.at(middle, k) <= left) low = middle;
                    else top = middle - 1;
                }
                left -= theirs.at(low, k);
                high = low - 1;
                const std::int32_t place = moved[count - 1 - low];
                ours = place >= 0;
                if (ours) found += binomials_.at(own - 1 - place, k);
            }
            if (!ours) continue;
            rank = found;
        }
        if (rank >= sets) continue;
        fresh += std::isnan(layer.scores[rank]);
        layer.scores[rank] = scores[i];
        if (!closed.empty()) layer.closed[rank] = closed[i];
    }
    families_ += fresh;
    return fresh;
}

}  // namespace spinney
