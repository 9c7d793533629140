// All joint choices, parent by parent: the rows' configuration so far is numbered densely over what occurs, so the next
// parent's bins only extend it, and no choice partitions the rows again.
#include "local_bins.hpp"

#include <limits>

#include "threads.hpp"

namespace spinney {
namespace {

class Choices {
public:
    Choices(TreeScorer& scorer, const std::vector<std::vector<Cutting>>& parents, std::size_t rows)
        : scorer_(scorer), parents_(parents), number_(parents.size() + 1, std::vector<std::uint32_t>(rows, 0)), choice_(parents.size()) {
        best_.value = -std::numeric_limits<double>::infinity();
    }
    BinnedBest run() {
        descend(0, 1, 1);
        return best_;
    }

private:
    void descend(std::size_t level, std::size_t seen, double cells) {
        Listening::look();
        if (level == parents_.size()) {
            double value = scorer_.partitioned(number_[level], seen, cells);
            if (value > best_.value) best_ = {value, choice_};
            return;
        }
        const auto &from = number_[level];
        auto& to = number_[level + 1];
        for (std::size_t c = 0; c < parents_[level].size(); ++c) {
            const Cutting& cutting = parents_[level][c];
            relabel_.assign(seen * cutting.bins, -1);
            std::int64_t next = 0;
            for (std::size_t row = 0; row < from.size(); ++row) {
                auto& label = relabel_[from[row] * std::size_t(cutting.bins) + cutting.codes[row]];
                if (label < 0) label = next++;
                to[row] = static_cast<std::uint32_t>(label);
            }
            choice_[level] = static_cast<int>(c);
            descend(level + 1, static_cast<std::size_t>(next), cells * cutting.bins);
        }
    }

    TreeScorer& scorer_;
    const std::vector<std::vector<Cutting>>& parents_;
    std::vector<std::vector<std::uint32_t>> number_;     // per level: the configuration of every row
    std::vector<int> choice_;
    std::vector<std::int64_t> relabel_;
    BinnedBest best_;
};

}  // namespace

BinnedBest best_binned(TreeScorer& scorer, const std::vector<std::vector<Cutting>>& parents, std::size_t rows) {
    return Choices(scorer, parents, rows).run();
}

}  // namespace spinney
