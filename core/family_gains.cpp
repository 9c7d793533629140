// Idea. A family that is extended by all further parents in one pass costs little more than one score, and a search comes back to
// the same families: so the extension is remembered by the family, and only what gains is kept of it. Nothing is n x n.
#include "family_gains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "near_scores.hpp"

namespace spinney {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t most_gains = 1u << 24;             // remembered: 256 MB
constexpr std::size_t most_families = std::size_t{1} << 21;

}  // namespace

FamilyGains::FamilyGains(LocalScores& scores, const Allowed& allowed, Team& team, Control& control)
    : scores_(scores), allowed_(allowed), team_(team), control_(control), n_(allowed.variables()), near_(n_), families_(most_families),
      others_(team.size()) {
    for (int v = 0; v < n_; ++v) keys_.push_back(key_of(v));
}

LocalScores& FamilyGains::of_thread(int thread) {
    if (thread == 0) return scores_;
    if (!others_[thread]) others_[thread] = scores_.another();
    return *others_[thread];
}

SetKey FamilyGains::key(const Set& set) const {
    SetKey sum;
    for (int v : set) sum = sum + keys_[v];
    return sum;
}

// The set itself is only made where its score is not known.
template <class Make>
double FamilyGains::score(int child, const SetKey& parents, Make make) {
    const SetKey own = parents + SetKey{mixed_bits(static_cast<std::uint64_t>(child) + 1), mixed_bits(~static_cast<std::uint64_t>(child))};
    if (const double* known = families_.find(own)) return *known;
    const double score = scores_.score(child, make());
    families_.put(own, score);
    return score;
}

double FamilyGains::score(int child, const Set& parents) {
    return score(child, key(parents), [&]() -> const Set& { return parents; });
}

double FamilyGains::score_with(int child, const Set& parents, int more) {
    return score(child, key(parents) + keys_[more], [&] { return with(parents, more); });
}

double FamilyGains::score_without(int child, const Set& parents, int less) {
    return score(child, key(parents) - keys_[less], [&] {
        Set fewer;
        for (int p : parents)
            if (p != less) fewer.push_back(p);
        return fewer;
    });
}

double FamilyGains::gain_of(double after, double before) const {
    const double gain = after - before;
    return std::isnan(gain) ? -infinite : std::clamp(gain, -1e15, 1e15);
}

std::int64_t FamilyGains::rank_of(double gain) const {
    return gain == -infinite ? 0 : std::llround(std::clamp(gain / quantum_, -4e18, 4e18));
}

void FamilyGains::begin(const std::vector<Set>& families) {
    std::vector<double> own(n_, 0);
    control_.total = 2 * static_cast<std::uint64_t>(n_);
    team_.run(n_, [&](int thread, std::size_t v) {
        own[v] = of_thread(thread).score(static_cast<int>(v), families[v]);
        ++control_.done;
    });
    Listening::look();
    double scale = 1;
    for (int v = 0; v < n_; ++v)
        if (own[v] > scores_.unavailable(v) && std::isfinite(own[v])) scale += std::abs(own[v]);
    quantum_ = 1e-11 * scale;
    std::vector<SharedExtension> first(n_);
    team_.run(n_, [&](int thread, std::size_t v) {
        first[v] = extend(of_thread(thread), static_cast<int>(v), {});
        ++control_.done;
    });
    Listening::look();
    full_ = false;
    control_.total = 0;
    for (int v = 0; v < n_; ++v) {
        for (auto& [x, gain] : first[v]->gains) near_[v].push_back(x);
        remember(v, {}, std::move(first[v]));
    }
}

void FamilyGains::all_pairs() {
    full_ = true;
    std::erase_if(extensions_, [](const auto& one) { return one.first.set != SetKey{}; });
    remembered_ = 0;
    reductions_.clear();
    for (auto& [key, extension] : extensions_) remembered_ += extension->gains.size() + 8;
}

SharedExtension FamilyGains::extend(LocalScores& scores, int child, const Set& parents) const {
    auto found = std::make_shared<Extension>();
    if (static_cast<int>(parents.size()) >= allowed_.most[child]) return found;
    Set candidates;
    candidates.reserve(full_ ? n_ : near_[child].size());
    auto next = parents.begin();                         // both are sorted
    auto offer = [&](int x) {
        while (next != parents.end() && *next < x) ++next;
        if ((next == parents.end() || *next != x) && allowed_.may(child, x)) candidates.push_back(x);
    };
    if (full_)
        for (int x = 0; x < n_; ++x) offer(x);
    else
        for (int x : near_[child]) offer(x);
    if (candidates.empty()) return found;
    found->score = scores.score(child, parents);
    std::vector<double> out(candidates.size(), -infinite);
    if (auto* near = dynamic_cast<NearScores*>(&scores)) near->near(child, parents, candidates, found->score, out.data());
    else scores.extend(child, parents, candidates, out.data());
    for (std::size_t i = 0; i < out.size(); ++i)
        if (const double gain = gain_of(out[i], found->score); rank_of(gain) > 0) found->gains.emplace_back(candidates[i], gain);
    return found;
}

void FamilyGains::make_room(std::size_t gains) {
    remembered_ += gains + 8;
    if (remembered_ <= most_gains) return;
    extensions_.clear();
    reductions_.clear();
    remembered_ = gains + 8;
}

void FamilyGains::remember(int child, const SetKey& parents, SharedExtension extension) {
    make_room(extension->gains.size());
    extensions_[{child, parents}] = std::move(extension);
}

SharedExtension FamilyGains::extension(int child, const Set& parents) {
    const SetKey own = key(parents);
    if (auto known = extensions_.find({child, own}); known != extensions_.end()) return known->second;
    auto made = extend(scores_, child, parents);
    remember(child, own, made);
    return made;
}

SharedReduction FamilyGains::reduction(int child, const Set& parents) {
    const FamilyKey own{child, key(parents)};
    if (auto known = reductions_.find(own); known != reductions_.end()) return known->second;
    Reduction found(parents.size());
    const double now = score(child, parents);
    auto* near = dynamic_cast<NearScores*>(&scores_);
    if (near && near->near_without(child, parents, found.data()))
        for (double& one : found) one = gain_of(one, now);
    else
        for (std::size_t i = 0; i < parents.size(); ++i) found[i] = gain_of(score_without(child, parents, parents[i]), now);
    make_room(parents.size() / 2);
    return reductions_[own] = std::make_shared<const Reduction>(std::move(found));
}

void FamilyGains::prepare(const std::vector<std::pair<int, Set>>& families) {
    std::vector<SharedExtension> made(families.size());
    team_.run(families.size(), [&](int thread, std::size_t i) { made[i] = extend(of_thread(thread), families[i].first, families[i].second); });
    Listening::look();
    for (std::size_t i = 0; i < families.size(); ++i) remember(families[i].first, key(families[i].second), std::move(made[i]));
}

}  // namespace spinney
