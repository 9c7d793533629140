// Idea. Graphs are summed up by their layers (Kuipers and Moffa 2017): the nodes without parents, those whose parents are
// all among these, and so on. Every graph has one such partition, so every graph counts once. Given the layers, nodes choose
// their parents independently: from the layers before their own, one of them at least from the last of these; the sum over
// the sets of a node is one scan of its list, best first, which ends where nothing more can be seen.
//
// One move takes a node out and puts it back where it may stand: into a layer, or alone between two, by the probabilities of all
// these places given the others. A later node's sum can have four values only (the moved node comes later, or stands in
// the layer before, or is this layer, or comes earlier); they differ by the sets that hold the moved node, one scan of these.
// So all places together cost two short sums per node, and nothing is rejected.
// Such moves hardly turn an edge between two nodes that bind others; so a graph is drawn from the partition, edges of it are
// turned with new parents for both ends (Grzegorczyk and Husmeier 2008), nodes draw new parents among those that are not
// their descendants, and the graph's partition is the next state.
//
// What is recorded of a state is not a graph but the probability of every edge given the layers.
// Chains over orders are the same with every node alone, and without moves of graphs.
#include "posterior_chains.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace spinney {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();
constexpr std::size_t most_batches = 64;

template <int W>
struct Bits {
    std::array<std::uint64_t, W> word{};
    void insert(int v) { word[v >> 6] |= std::uint64_t{1} << (v & 63); }
    void erase(int v) { word[v >> 6] &= ~(std::uint64_t{1} << (v & 63)); }
    bool contains(int v) const { return word[v >> 6] >> (v & 63) & 1; }
    bool none() const {
        std::uint64_t any = 0;
        for (std::uint64_t own : word) any |= own;
        return any == 0;
    }
    bool within(const Bits& other) const {
        std::uint64_t outside = 0;
        for (int i = 0; i < W; ++i) outside |= word[i] & ~other.word[i];
        return outside == 0;
    }
    bool meets(const Bits& other) const {
        std::uint64_t both = 0;
        for (int i = 0; i < W; ++i) both |= word[i] & other.word[i];
        return both != 0;
    }
    Bits operator|(const Bits& other) const {
        Bits joined = *this;
        for (int i = 0; i < W; ++i) joined.word[i] |= other.word[i];
        return joined;
    }
    Bits operator&(const Bits& other) const {
        Bits both = *this;
        for (int i = 0; i < W; ++i) both.word[i] &= other.word[i];
        return both;
    }
    Bits less(const Bits& other) const {
        Bits left = *this;
        for (int i = 0; i < W; ++i) left.word[i] &= ~other.word[i];
        return left;
    }
    Bits with(int v) const {
        Bits more = *this;
        more.insert(v);
        return more;
    }
    template <class F>
    void each(F&& f) const {
        for (int i = 0; i < W; ++i)
            for (std::uint64_t left = word[i]; left; left &= left - 1) f(64 * i + std::countr_zero(left));
    }
    bool operator==(const Bits&) const = default;
    std::uint64_t hash() const {
        std::uint64_t h = 0x9e3779b97f4a7c15;
        for (std::uint64_t own : word) h = (h ^ own) * 0xff51afd7ed558ccd, h ^= h >> 32;
        return h;
    }
};

// Some listed sets of a child, best first.
template <int W>
struct Sets {
    std::vector<Bits<W>> masks;
    std::vector<double> scores, weights;                 // less the child's best; e^score
    std::vector<double> rest;                            // of the weights from here on
    std::vector<std::uint32_t> numbers;                  // in the child's list

    void add(const Bits<W>& mask, double score, std::size_t number) {
        masks.push_back(mask);
        scores.push_back(score);
        weights.push_back(std::exp(score));
        numbers.push_back(static_cast<std::uint32_t>(number));
    }
    void finish() {
        rest.resize(weights.size());
        double sum = 0;
        for (std::size_t i = weights.size(); i-- > 0;) rest[i] = sum += weights[i];
    }
};

// The lists as masks; made once, read by all chains.
template <int W>
struct Lists {
    using Set = Bits<W>;
    struct Child {
        Sets<W> all;
        std::vector<Sets<W>> holding;                    // per variable: the sets that hold it
        Set candidates;
        double top = 0, empty = nothing;                 // the best score; the empty set's, less the best
        double seen = 0;                                 // a set that scores less by this than another adds nothing to its sum
        double recorded = 0;                             // all sets that score less by this are a millionth of it
    };
    std::vector<Child> children;
    const ListedSets& given;

    explicit Lists(const ListedSets& sets) : given(sets) {
        for (const auto& own : sets) {
            Child& child = children.emplace_back();
            child.holding.resize(sets.size());
            child.top = own.empty() ? 0 : own.front().score;
            child.recorded = 14 + std::log(static_cast<double>(own.size()) + 1);
            child.seen = 21 + child.recorded;
            for (std::size_t i = 0; i < own.size(); ++i) {
                Set mask;
                for (int p : own[i].parents) mask.insert(p);
                const double score = own[i].score - child.top;
                child.all.add(mask, score, i);
                for (int p : own[i].parents) child.holding[p].add(mask, score, i);
                child.candidates = child.candidates | mask;
                if (own[i].parents.empty()) child.empty = score;
            }
            child.all.finish();
            for (auto& sets_with : child.holding) sets_with.finish();
        }
    }
};

// log(e^a + e^b)
double log_sum(double a, double b) {
    const double more = std::max(a, b);
    return more == nothing ? nothing : more + std::log1p(std::exp(std::min(a, b) - more));
}

// Sums over the sets of a child; those that were asked last are remembered.
template <int W>
class SetSums {
public:
    using Set = Bits<W>;
    explicit SetSums(const Lists<W>& lists)
        : lists_(lists), places_(std::bit_floor((std::size_t{1} << 18) / lists.children.size() + 1)), known_(lists.children.size() * places_) {}

    // f(which set, log score less the best) for the sets within `among` that meet `one_of`, where this is not empty. They come
    // in runs, each best first; a run ends where f says no.
    template <class F>
    void scan(int v, const Set& among, const Set& one_of, F&& f) const {
        const auto& child = lists_.children[v];
        auto run = [&](const Sets<W>& sets, const Set& within, auto&& also) {
            const std::size_t count = sets.masks.size();
            for (std::size_t i = 0; i < count; ++i)
                if (sets.masks[i].within(within) && also(sets.masks[i]))
                    if (!f(sets.numbers[i], sets.scores[i])) return;
        };
        over_runs(child, among, one_of, run);
    }
    double any(int v, const Set& among) {
        const Set own = among & lists_.children[v].candidates;
        return own.none() ? lists_.children[v].empty : known(v, own, {});
    }
    // At least one of these, which are among the others.
    double some(int v, const Set& among, const Set& one_of) {
        const Set& candidates = lists_.children[v].candidates;
        const Set wanted = one_of & candidates;
        return wanted.none() ? nothing : known(v, among & candidates, wanted);
    }
    double sum(int v, const Set& among, const Set& one_of) { return one_of.none() ? any(v, among) : some(v, among, one_of); }
    // The sets with this parent, and those that meet `one_of` too; of the latter no more than what is seen beside `other`.
    std::pair<double, double> holding(int v, int parent, const Set& among, const Set& one_of, double other) const {
        const Sets<W>& sets = lists_.children[v].holding[parent];
        const double seen = lists_.children[v].seen;
        double first = nothing, total = 0, both = 0, most = other;
        if (const double beside = std::exp(other); beside > smallest || other == nothing) {
            const std::size_t count = sets.masks.size();
            for (std::size_t i = 0; i < count; ++i) {
                if (sets.rest[i] <= unseen * total && sets.rest[i] <= unseen * std::max(beside, both)) break;
                if (!sets.masks[i].within(among)) continue;
                total += sets.weights[i];
                if (sets.masks[i].meets(one_of)) both += sets.weights[i];
            }
            if (total > smallest && (both > smallest || beside > smallest)) return {std::log(total), std::log(both)};
            total = both = 0;
        }
        for (std::size_t i = 0; i < sets.masks.size(); ++i) {
            const double score = sets.scores[i];
            if (score < first - seen && score < most - seen) break;
            if (!sets.masks[i].within(among)) continue;
            if (first == nothing) first = score;
            const double part = std::exp(score - first);
            total += part;
            if (!sets.masks[i].meets(one_of)) continue;
            both += part;
            most = std::max(most, score);
        }
        return {total > 0 ? first + std::log(total) : nothing, both > 0 ? first + std::log(both) : nothing};
    }
    // A set by its share of the sum; `chance` is uniform in [0, 1).  REQUIRES: there is one.
    std::size_t drawn(int v, const Set& among, const Set& one_of, double chance) {
        const double sum = this->sum(v, among, one_of), seen = lists_.children[v].seen;
        std::size_t found = 0;
        scan(v, among, one_of, [&](std::size_t i, double score) {
            if (chance <= 0 || score < sum - seen) return false;
            found = i;
            chance -= std::exp(score - sum);
            return true;
        });
        return found;
    }

private:
    struct Known {
        Set among, one_of;
        double sum = std::numeric_limits<double>::quiet_NaN();
    };
    double known(int v, const Set& among, const Set& one_of) {
        const std::uint64_t hash = among.hash() + 3 * one_of.hash();
        Known& place = known_[v * places_ + (hash ^ hash >> 20) % places_];
        if (place.sum == place.sum && place.among == among && place.one_of == one_of) return place.sum;
        double most = nothing, total = weighed(v, among, one_of);
        if (total > smallest) {
            place = {among, one_of, std::log(total)};
            return place.sum;
        }
        total = 0;
        const double seen = lists_.children[v].seen;
        scan(v, among, one_of, [&](std::size_t, double score) {
            if (score > most) total = total * std::exp(most - score) + 1, most = score;
            else if (score < most - seen) return false;
            else total += std::exp(score - most);
            return true;
        });
        place = {among, one_of, total > 0 ? most + std::log(total) : nothing};
        return place.sum;
    }

    // The sum as a number: quick, and right unless it is so small that its terms have lost digits.
    double weighed(int v, const Set& among, const Set& one_of) const {
        const auto& child = lists_.children[v];
        double total = 0;
        auto run = [&](const Sets<W>& sets, const Set& within, auto&& also) {
            constexpr std::size_t piece = 16;
            const std::size_t count = sets.masks.size();
            for (std::size_t from = 0; from < count && sets.rest[from] > unseen * total; from += piece)
                for (std::size_t i = from; i < std::min(count, from + piece); ++i)
                    if (sets.masks[i].within(within) && also(sets.masks[i])) total += sets.weights[i];
        };
        over_runs(child, among, one_of, run);
        return total;
    }
    template <class Child, class Run>
    static void over_runs(const Child& child, const Set& among, const Set& one_of, Run&& run) {
        auto anyway = [](const Set&) { return true; };
        if (one_of.none()) return run(child.all, among, anyway);
        std::size_t shorter = 0;
        one_of.each([&](int u) { shorter += child.holding[u].masks.size(); });
        if (shorter > child.all.masks.size()) return run(child.all, among, [&](const Set& mask) { return mask.meets(one_of); });
        Set left = among;
        one_of.each([&](int u) {                         // the sets that hold u and none of those before
            run(child.holding[u], left, anyway);
            left.erase(u);
        });
    }

    static constexpr double smallest = 1e-250, unseen = 1e-13;
    const Lists<W>& lists_;
    const std::size_t places_;                           // per child
    std::vector<Known> known_;
};

template <int W>
class Walker {
    using Set = Bits<W>;

public:
    Walker(const Lists<W>& lists, const ChainRequest& request, int chain)
        : lists_(lists), n_(static_cast<int>(lists.children.size())), orders_(request.orders), sums_(lists), graph_(n_), chosen_(n_) {
        std::seed_seq seed{static_cast<std::uint32_t>(request.seed), static_cast<std::uint32_t>(request.seed >> 32), static_cast<std::uint32_t>(chain)};
        random_.seed(seed);
        for (int v = 0; v < n_; ++v) all_.insert(v);
    }

    // Somewhere: nodes in random order, with parents drawn from those before. False if there is no graph at all.
    bool start() {
        Set placed;
        std::vector<int> waiting(n_);
        for (int v = 0; v < n_; ++v) waiting[v] = v;
        while (!waiting.empty()) {
            std::vector<std::size_t> able;
            for (std::size_t i = 0; i < waiting.size(); ++i)
                if (sums_.any(waiting[i], placed) > nothing) able.push_back(i);
            if (able.empty()) return false;
            const std::size_t at = able[below(able.size())];
            const int v = waiting[at];
            choose(v, placed, {});
            if (orders_) layers_.push_back({}), layers_.back().nodes.push_back(v), layers_.back().set.insert(v);
            placed.insert(v);
            waiting.erase(waiting.begin() + at);
        }
        if (!orders_) layer();
        return true;
    }

    void sweep(Chain& chain) {
        for (int i = 0; i < n_; ++i) {
            ++chain.moves;
            const int v = static_cast<int>(below(n_));
            chain.moved += orders_ ? place_in_order(v) : place(v);
        }
        draw();
        if (orders_) return;
        for (int i = 0; i < n_; ++i) {
            const int edges = count_edges();
            if (edges > 0) ++chain.reversals, chain.reversed += reverse(edges);
        }
        for (int i = 0; i < n_ / 4 + 1; ++i) {
            const int v = static_cast<int>(below(n_));
            choose(v, all_.less(below_of(v)), {});
        }
        layer();
    }

    void record(std::vector<double>& edges, Chain& chain) {
        Set before, last;
        double score = 0;
        for (const Layer& own : layers_) {
            for (int v : own.nodes) {
                const auto& child = lists_.children[v];
                const double sum = sums_.sum(v, before, last);
                sums_.scan(v, before, last, [&](std::size_t i, double log) {
                    if (log < sum - child.recorded) return false;
                    const double share = std::exp(log - sum);
                    chain.sets[v][i] += share;
                    for (int p : lists_.given[v][i].parents) edges[p * n_ + v] += share;
                    return true;
                });
                score += lists_.given[v][chosen_[v]].score;
            }
            before = before | own.set;
            if (!orders_) last = own.set;
        }
        chain.scores.push_back(score);
        ++chain.samples;
    }

    std::vector<std::vector<int>> parents() const {
        std::vector<std::vector<int>> own;
        for (int v = 0; v < n_; ++v) own.push_back(lists_.given[v][chosen_[v]].parents);
        return own;
    }

private:
    struct Layer {
        Set set;
        std::vector<int> nodes;
    };

    std::size_t below(std::size_t end) { return static_cast<std::size_t>(chance() * static_cast<double>(end)); }
    double chance() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

    void choose(int v, const Set& among, const Set& one_of) {
        chosen_[v] = sums_.drawn(v, among, one_of, chance());
        graph_[v] = lists_.children[v].all.masks[chosen_[v]];
    }
    // Parents for all nodes, given the layers.
    void draw() {
        Set before, last;
        for (const Layer& own : layers_) {
            for (int v : own.nodes) choose(v, before, last);
            before = before | own.set;
            if (!orders_) last = own.set;
        }
    }
    // The layers of the graph.
    void layer() {
        layers_.clear();
        Set placed;
        for (int left = n_; left > 0;) {
            Layer next;
            for (int v = 0; v < n_; ++v)
                if (!placed.contains(v) && graph_[v].within(placed)) next.nodes.push_back(v), next.set.insert(v);
            placed = placed | next.set;
            left -= static_cast<int>(next.nodes.size());
            layers_.push_back(std::move(next));
        }
    }

    std::size_t pick() {
        const double most = *std::max_element(weights_.begin(), weights_.end());
        double total = 0;
        for (double& weight : weights_) total += weight = std::exp(weight - most);
        double left = chance() * total;
        std::size_t found = 0;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            if (weights_[i] > 0) found = i;
            left -= weights_[i];
            if (left < 0) break;
        }
        return found;
    }

    // Takes a node out and draws its place: 2 i is alone after layer i, 2 i - 1 within layer i, counted from 1.
    bool place(int v) {
        std::size_t was = 0;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            if (!layers_[i].set.contains(v)) continue;
            std::erase(layers_[i].nodes, v);
            layers_[i].set.erase(v);
            was = 2 * i + 1;
            if (layers_[i].nodes.empty()) layers_.erase(layers_.begin() + i), was = 2 * i;
            break;
        }
        const std::size_t k = layers_.size();
        later_.assign(k + 3, 0), beside_.assign(k + 3, 0), alone_.assign(k + 3, 0), earlier_.assign(k + 3, 0), own_.assign(k + 1, 0);
        Set before, last, single;
        single.insert(v);
        own_[0] = sums_.any(v, before);
        for (std::size_t j = 1; j <= k; ++j) {
            const Layer& layer = layers_[j - 1];
            const Set more = before.with(v);
            for (int w : layer.nodes) {
                const double late = sums_.sum(w, before, last);
                later_[j] += late;
                if (!lists_.children[w].candidates.contains(v)) {
                    beside_[j] += late, earlier_[j] += late, alone_[j] = nothing;
                    continue;
                }
                if (j == 1) {
                    alone_[j] += sums_.some(w, single, single);
                    continue;
                }
                const auto [with, both] = sums_.holding(w, v, more, last, late);
                alone_[j] += with;
                beside_[j] += log_sum(late, with);
                earlier_[j] += log_sum(late, both);
            }
            before = before | layer.set;
            last = layer.set;
            own_[j] = sums_.some(v, before, last);
        }
        for (std::size_t j = k; j > 0; --j) earlier_[j] += earlier_[j + 1];      // of this layer and those after it
        weights_.assign(2 * k + 1, nothing);
        double so_far = 0;
        for (std::size_t i = 0; i <= k; ++i) {
            if (i > 0) {
                so_far += later_[i];
                weights_[2 * i - 1] = so_far + beside_[i + 1] + earlier_[i + 2] + own_[i - 1];
            }
            weights_[2 * i] = so_far + alone_[i + 1] + earlier_[i + 2] + own_[i];
        }
        const std::size_t now = pick();
        if (now % 2 == 1) {
            layers_[now / 2].nodes.push_back(v);
            layers_[now / 2].set.insert(v);
        } else {
            layers_.insert(layers_.begin() + now / 2, Layer{single, {v}});
        }
        return now != was;
    }

    bool place_in_order(int v) {
        const std::size_t was = std::find_if(layers_.begin(), layers_.end(), [&](const Layer& own) { return own.nodes[0] == v; }) - layers_.begin();
        Layer mine = layers_[was];
        layers_.erase(layers_.begin() + was);
        const std::size_t k = layers_.size();
        later_.assign(k + 1, 0), earlier_.assign(k + 1, 0), own_.assign(k + 1, 0);
        Set before;
        for (std::size_t j = 0; j <= k; ++j) {
            own_[j] = sums_.any(v, before);
            if (j == k) break;
            const int w = layers_[j].nodes[0];
            later_[j] = sums_.any(w, before);
            earlier_[j] = lists_.children[w].candidates.contains(v) ? sums_.any(w, before.with(v)) : later_[j];
            before.insert(w);
        }
        for (std::size_t j = k; j-- > 0;) earlier_[j] += earlier_[j + 1];
        weights_.assign(k + 1, nothing);
        double so_far = 0;
        for (std::size_t i = 0; i <= k; ++i) {
            weights_[i] = so_far + earlier_[i] + own_[i];
            if (i < k) so_far += later_[i];
        }
        const std::size_t now = pick();
        layers_.insert(layers_.begin() + now, std::move(mine));
        return now != was;
    }

    int count_edges() const {
        std::size_t edges = 0;
        for (int v = 0; v < n_; ++v) edges += lists_.given[v][chosen_[v]].parents.size();
        return static_cast<int>(edges);
    }
    // The node and its descendants.
    Set below_of(int v) const {
        Set reached;
        reached.insert(v);
        for (bool more = true; more;) {
            more = false;
            for (int w = 0; w < n_; ++w)
                if (graph_[w].meets(reached) && !reached.contains(w)) reached.insert(w), more = true;
        }
        return reached;
    }
    // Turns one edge, from -> to, of so many: both lose their parents; `from` draws a set that holds `to`, and then `to` one of
    // those that close no cycle.
    bool reverse(int edges) {
        std::size_t at = below(edges);
        int to = 0;
        for (; at >= lists_.given[to][chosen_[to]].parents.size(); ++to) at -= lists_.given[to][chosen_[to]].parents.size();
        const int from = lists_.given[to][chosen_[to]].parents[at];
        const Set old_from = graph_[from], old_to = graph_[to];
        const std::size_t was_from = chosen_[from], was_to = chosen_[to];
        graph_[from] = graph_[to] = {};
        const Set for_from = all_.less(below_of(from)), for_to = all_.less(below_of(to));
        Set one_from, one_to;
        one_from.insert(from), one_to.insert(to);
        const double there = sums_.some(from, for_from, one_to), back = sums_.some(to, for_to, one_from);
        bool taken = false;
        if (there > nothing) {
            graph_[to] = old_to;
            const double back_second = sums_.any(from, all_.less(below_of(from)));
            graph_[to] = {};
            choose(from, for_from, one_to);
            const Set then = all_.less(below_of(to));
            const double second = sums_.any(to, then);
            if (second > nothing) {
                choose(to, then, {});
                const double ratio = there - back + second - back_second;
                taken = chance() < std::exp(ratio) * edges / count_edges();
            }
        }
        if (!taken) graph_[from] = old_from, graph_[to] = old_to, chosen_[from] = was_from, chosen_[to] = was_to;
        return taken;
    }

    const Lists<W>& lists_;
    const int n_;
    const bool orders_;
    SetSums<W> sums_;
    Set all_;
    std::vector<Set> graph_;                             // parents
    std::vector<std::size_t> chosen_;                    // which of its listed sets that is
    std::vector<Layer> layers_;
    std::vector<double> later_, beside_, alone_, earlier_, own_, weights_;
    std::mt19937_64 random_;
};

// Batches are as long as it takes to have between half of most_batches and all of them.
void put(Chain& chain, const std::vector<double>& edges) {
    if ((chain.samples - 1) % chain.batch_length == 0) {
        if (chain.batches.size() == most_batches) {
            for (std::size_t i = 0; i < most_batches / 2; ++i) {
                auto &into = chain.batches[i], sum = chain.batches[2 * i];
                for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += chain.batches[2 * i + 1][e];
                into = std::move(sum);
            }
            chain.batches.resize(most_batches / 2);
            chain.batch_length *= 2;
        }
        chain.batches.emplace_back(edges.size(), 0.0);
    }
    for (std::size_t e = 0; e < edges.size(); ++e) chain.batches.back()[e] += edges[e];
}

template <int W>
ChainResult walk(const ListedSets& sets, const ChainRequest& request, Team& team, Control& control) {
    const Lists<W> lists(sets);
    ChainResult result;
    result.chains.resize(request.chains);
    std::vector<char> feasible(request.chains, 1);
    control.total = request.chains * (request.burn_in + request.samples);
    team.run(request.chains, [&](int, std::size_t number) {
        Chain& chain = result.chains[number];
        for (const auto& own : sets) chain.sets.emplace_back(own.size(), 0.0);
        Walker<W> walker(lists, request, static_cast<int>(number));
        if (!walker.start()) {
            feasible[number] = 0;
            return;
        }
        for (std::uint64_t i = 0; i < request.burn_in && !control.asked(); ++i, ++control.done) walker.sweep(chain);
        chain.moves = chain.moved = chain.reversals = chain.reversed = 0;
        std::vector<double> edges(sets.size() * sets.size());
        for (std::uint64_t i = 0; i < request.samples && !control.asked(); ++i, ++control.done) {
            walker.sweep(chain);
            std::fill(edges.begin(), edges.end(), 0.0);
            walker.record(edges, chain);
            put(chain, edges);
            if ((i + 1) * request.networks / request.samples > i * request.networks / request.samples) chain.networks.push_back(walker.parents());
        }
    });
    result.feasible = std::all_of(feasible.begin(), feasible.end(), [](char own) { return own; });
    result.stopped = control.stop;
    return result;
}

}  // namespace

ChainResult posterior_chains(const ListedSets& sets, const ChainRequest& request, Team& team, Control& control) {
    if (sets.size() <= 64) return walk<1>(sets, request, team, control);
    if (sets.size() <= 128) return walk<2>(sets, request, team, control);
    if (sets.size() <= 256) return walk<4>(sets, request, team, control);
    return walk<8>(sets, request, team, control);
}

}  // namespace spinney
