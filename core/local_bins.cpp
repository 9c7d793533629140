// The rows are summed up by the joint finest bins of the parents; what is numbered from here on are these points. All joint
// choices, parent by parent: the points' configuration so far is numbered, densely over what occurs where there are many, so
// the next parent's bins only extend it, and no choice partitions the points again.
#include "local_bins.hpp"

#include <limits>
#include <stdexcept>

#include "threads.hpp"

namespace spinney {

Cuttings::Cuttings(std::span<const Cutting> cuttings, std::size_t rows) : codes(rows, 0) {
    std::vector<std::int32_t> label;
    for (const Cutting& cutting : cuttings) {
        label.assign(static_cast<std::size_t>(finest) * cutting.bins, -1);
        std::int32_t next = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            auto& own = label[codes[row] * std::size_t(cutting.bins) + cutting.codes[row]];
            if (own < 0) own = next++;
            if (next > std::numeric_limits<std::uint16_t>::max() + 1) throw std::length_error("more bins than codes can tell apart");
            codes[row] = static_cast<std::uint16_t>(own);
        }
        finest = std::max(next, 1);
    }
    for (const Cutting& cutting : cuttings) {
        ways.push_back({cutting.bins, std::vector<std::uint16_t>(finest, 0)});
        for (std::size_t row = 0; row < rows; ++row) ways.back().of_finest[codes[row]] = cutting.codes[row];
    }
}

namespace {

class Choices {
public:
    Choices(TreeScorer& scorer, const std::vector<const Cuttings*>& parents)
        : scorer_(scorer), parents_(parents), choice_(parents.size()) {
        std::vector<TreeColumn> columns;
        for (const Cuttings* parent : parents) columns.push_back(parent->column());
        number_.assign(parents.size() + 1, std::vector<std::uint32_t>(scorer.gather(columns), 0));
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
        const std::uint16_t* codes = scorer_.codes(level);
        for (std::size_t c = 0; c < parents_[level]->ways.size(); ++c) {
            const Cuttings::Way& way = parents_[level]->ways[c];
            std::size_t next = seen * way.bins;
            if (next <= from.size()) {                   // few enough to leave some without points
                const auto bins = static_cast<std::uint32_t>(way.bins);
                for (std::size_t point = 0; point < from.size(); ++point) to[point] = from[point] * bins + way.of_finest[codes[point]];
            } else {
                relabel_.assign(next, -1);
                next = 0;
                for (std::size_t point = 0; point < from.size(); ++point) {
                    auto& label = relabel_[from[point] * std::size_t(way.bins) + way.of_finest[codes[point]]];
                    if (label < 0) label = static_cast<std::int64_t>(next++);
                    to[point] = static_cast<std::uint32_t>(label);
                }
            }
            choice_[level] = static_cast<int>(c);
            descend(level + 1, next, cells * way.bins);
        }
    }

    TreeScorer& scorer_;
    const std::vector<const Cuttings*>& parents_;
    std::vector<std::vector<std::uint32_t>> number_;     // per level: the configuration of every point
    std::vector<int> choice_;
    std::vector<std::int64_t> relabel_;
    BinnedBest best_;
};

}  // namespace

BinnedBest best_binned(TreeScorer& scorer, const std::vector<const Cuttings*>& parents) { return Choices(scorer, parents).run(); }

}  // namespace spinney
