// A list of families is scored child by child. Families of one child that differ in one parent are counted together: their common
// parents are the stem, and the parent that fewest of the child's families have is what they add to it.
#include "local_scores.hpp"

#include <limits>
#include <map>

namespace spinney {
namespace {

constexpr double unscored = std::numeric_limits<double>::quiet_NaN();

struct Bunch {                                           // families of one child with one stem
    std::vector<int> added;
    std::vector<std::size_t> places;                     // in the list
};

std::map<std::vector<int>, Bunch> bunches(std::span<const Family> families, const std::vector<std::size_t>& own) {
    std::map<int, int> times;
    for (std::size_t place : own)
        for (int p : families[place].parents) ++times[p];
    std::map<std::vector<int>, Bunch> found;
    for (std::size_t place : own) {
        std::vector<int> stem = families[place].parents;
        if (stem.empty()) continue;
        auto rarest = std::max_element(stem.begin(), stem.end(), [&](int a, int b) {
            return std::pair(-times[a], a) < std::pair(-times[b], b);
        });
        const int added = *rarest;
        stem.erase(rarest);
        Bunch& bunch = found[stem];
        bunch.added.push_back(added);
        bunch.places.push_back(place);
    }
    return found;
}

}  // namespace

std::vector<double> score_families(LocalScores& scores, std::span<const Family> families, Team& team, Control& control) {
    std::map<int, std::vector<std::size_t>> by_child;
    for (std::size_t i = 0; i < families.size(); ++i) by_child[families[i].child].push_back(i);
    std::vector<const std::vector<std::size_t>*> tasks;
    for (auto& [child, own] : by_child) tasks.push_back(&own);
    std::vector<std::unique_ptr<LocalScores>> others(team.size());
    std::vector<double> out(families.size(), unscored);
    control.total = families.size();
    team.run(tasks.size(), [&](int thread, std::size_t task) {
        if (thread > 0 && !others[thread]) others[thread] = scores.another();
        LocalScores& mine = thread > 0 ? *others[thread] : scores;
        const auto& own = *tasks[task];
        const int child = families[own.front()].child;
        for (std::size_t place : own)
            if (families[place].parents.empty()) out[place] = mine.score(child, {}), ++control.done;
        std::vector<double> together;
        for (auto& [stem, bunch] : bunches(families, own)) {
            if (control.stop) return;
            if (bunch.places.size() == 1) {
                out[bunch.places[0]] = mine.score(child, families[bunch.places[0]].parents);
            } else {
                together.assign(bunch.places.size(), unscored);
                auto keep = [&, &places = bunch.places] {
                    for (std::size_t i = 0; i < together.size(); ++i) out[places[i]] = together[i];
                };
                try {
                    mine.extend(child, stem, bunch.added, together.data());
                } catch (const Stopped&) {
                    keep();
                    throw;
                }
                keep();
            }
            control.done += bunch.places.size();
        }
    });
    return out;
}

}  // namespace spinney
