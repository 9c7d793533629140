// Idea. alpha_v(U) is the sum of e^score over the listed sets of v within U, for all U by one pass per variable.
//
// Orders (Koivisto and Sood 2004): the weight of an order is the product of alpha_v(those before v). F(U) sums over the orders
// of U, B(U) over those of the others after U; F(U) alpha_v(U) B(U + v) is the weight of the orders in which exactly U
// stands before v.
//
// Graphs (Robinson 1977; Tian and He 2009): H(S), the sum over the acyclic graphs on S, by inclusion and exclusion over sets T
// of sinks: H(S) = sum over T of (-1)^(|T|+1) H(S - T) prod of alpha_j(S - T) over j in T. C(U), the sum over all ways to
// complete a graph on U, has the same form from the other end, and C(no variable) = H(all). Both are polynomials in alpha:
// alpha_v(U) dC/d alpha_v(U) is what alpha_v(U) contributes to the sum over all graphs, O(3^n) for all v and U together.
// The terms of one sum exceed it by a factor 2^(number of sinks) at the most, and errors go on as the numbers themselves
// do, by sums over graphs; so the signs cost few digits, and how many is counted. A term's share of its sum only falls when T
// grows (alpha_j(U) is at most alpha_j(U + others)), so the walk over T turns back where nothing more can be seen:
// where the data say much, long before 3^n.
//
// Then alpha_v(U) hands down its contribution to the two terms it was added up from, each by its share. Everything is in logs;
// contributions and shares are numbers around 1.
#include "order_posterior.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "vector_math.hpp"

namespace spinney {
namespace {

using Mask = std::uint32_t;
constexpr double nothing = -1e300;                       // the log of 0: finite, so that differences of two are numbers
constexpr double unseen = -55;                           // log: 3^20 terms as small are 1e-14 together
constexpr std::size_t groups = 8;                        // of subsets that are summed up by themselves, for any number of threads

Mask without(Mask set, int v) {                          // the same set when v is left out of the numbering.  REQUIRES: v not in it
    const Mask low = (Mask{1} << v) - 1;
    return (set & low) | (set >> 1 & ~low);
}

class Sums {
public:
    Sums(const ListedSets& sets, bool orders, Team& team, Control& control)
        : sets_(sets), orders_(orders), n_(static_cast<int>(sets.size())), half_(std::size_t{1} << (n_ - 1)),
          all_(static_cast<Mask>((std::size_t{1} << n_) - 1)), team_(team), control_(control) {}

    ExactPosterior find() {
        ExactPosterior found;
        control_.total = 2 * static_cast<std::size_t>(n_) + (orders_ ? 2 : 2 * static_cast<std::size_t>(n_));
        for (const auto& own : sets_) top_.push_back(own.empty() ? 0 : own.front().score);
        alpha_.resize(n_);
        team_.run(n_, [&](int, std::size_t v) { start(static_cast<int>(v), alpha_[v]), add_up(alpha_[v], nullptr), ++control_.done; });
        if (!control_.stop) orders_ ? over_orders(found) : over_graphs(found);
        found.sets.resize(n_);
        if (!control_.stop && found.feasible)
            team_.run(n_, [&](int, std::size_t v) { hand_down(static_cast<int>(v), found.sets[v]), ++control_.done; });
        for (double top : top_) found.log_sum += top;
        found.stopped = control_.stop;
        return found;
    }

private:
    Mask mask_of(const ListedSet& set, int v) const {
        Mask mask = 0;
        for (int p : set.parents) mask |= Mask{1} << p;
        return without(mask, v);
    }
    void start(int v, std::vector<double>& sums) const {
        sums.assign(half_, nothing);
        for (const ListedSet& set : sets_[v]) sums[mask_of(set, v)] = set.score - top_[v];
    }
    // From the sets themselves to the sums over all subsets. `kept`: of every sum the logs of the shares of its two terms.
    void add_up(std::vector<double>& sums, std::vector<double>* kept) const {
        std::size_t at = 0;
        for (std::size_t bit = 1; bit < half_; bit *= 2)
            for (std::size_t base = 0; base < half_; base += 2 * bit) {
                if ((base & 0xffff) == 0) Listening::look();
                double *low = sums.data() + base, *high = low + bit;
                if (kept) {
                    double *mine = kept->data() + at, *its = mine + bit;
                    for (std::size_t i = 0; i < bit; ++i) mine[i] = high[i], its[i] = low[i];
                    at += 2 * bit;
                }
                for (std::size_t i = 0; i < bit; ++i) {
                    const double more = std::max(low[i], high[i]), less = std::min(low[i], high[i]);
                    high[i] = more + log_positive(1 + exp_negative(less - more));
                }
                if (kept) {
                    double *mine = kept->data() + at - 2 * bit, *its = mine + bit;
                    for (std::size_t i = 0; i < bit; ++i) {
                        mine[i] = exp_negative(std::min(0.0, mine[i] - high[i]));
                        its[i] = exp_negative(std::min(0.0, its[i] - high[i]));
                    }
                }
            }
    }
    // alpha_[v] holds contributions now; they go down to the listed sets.
    void hand_down(int v, std::vector<double>& out) const {
        std::vector<double> sums, shares(half_ * (n_ - 1)), given = alpha_[v];
        start(v, sums);
        add_up(sums, &shares);
        std::size_t at = shares.size();
        for (std::size_t bit = half_ / 2; bit; bit /= 2)
            for (std::size_t base = half_; base > 0;) {
                base -= 2 * bit;
                at -= 2 * bit;
                if ((base & 0xffff) == 0) Listening::look();
                double *low = given.data() + base, *high = low + bit;
                const double *mine = shares.data() + at, *its = mine + bit;
                for (std::size_t i = 0; i < bit; ++i) {
                    low[i] += high[i] * its[i];
                    high[i] *= mine[i];
                }
            }
        out.resize(sets_[v].size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::clamp(given[mask_of(sets_[v][i], v)], 0.0, 1.0);
    }

    double alpha(int v, Mask before) const { return alpha_[v][without(before, v)]; }

    void over_orders(ExactPosterior& found) {
        const std::size_t size = std::size_t{all_} + 1;
        std::vector<double> first(size), after(size);    // F and B
        double terms[32];
        auto sum = [&](int count) {
            if (count == 0) return nothing;
            const double most = *std::max_element(terms, terms + count);
            double total = 0;
            for (int i = 0; i < count; ++i) total += exp_negative(terms[i] - most);
            return most + std::log(total);
        };
        Listening listening(&control_);
        try {
            first[0] = 0;
            for (Mask set = 1; set; set = set == all_ ? 0 : set + 1) {
                if ((set & 0xffff) == 0) Listening::look();
                int count = 0;
                for (Mask left = set; left; left &= left - 1) {
                    const int v = std::countr_zero(left);
                    const Mask before = set ^ (Mask{1} << v);
                    terms[count++] = alpha(v, before) + first[before];
                }
                first[set] = sum(count);
            }
            ++control_.done;
            after[all_] = 0;
            found.log_sum = first[all_];
            found.feasible = found.log_sum > nothing / 2;
            for (Mask set = all_; found.feasible && set-- > 0;) {
                if ((set & 0xffff) == 0) Listening::look();
                int count = 0;
                for (Mask left = all_ & ~set; left; left &= left - 1) {
                    const int v = std::countr_zero(left);
                    terms[count++] = alpha(v, set) + after[set | Mask{1} << v];
                }
                after[set] = sum(count);
                for (Mask left = all_ & ~set; left; left &= left - 1) {
                    const int v = std::countr_zero(left);
                    double& own = alpha_[v][without(set, v)];
                    const double log = first[set] + own + after[set | Mask{1} << v] - found.log_sum;
                    own = log < -700 ? 0 : std::exp(log);
                }
            }
            ++control_.done;
        } catch (const Stopped&) {
        }
        found.rounding = 1e-16 * n_ * (n_ + std::abs(found.log_sum));
    }

    // The best single order: the scale of H and C at every set.
    void scales() {
        const std::size_t size = std::size_t{all_} + 1;
        phi_.assign(size, nothing), psi_.assign(size, nothing);
        phi_[0] = psi_[all_] = 0;
        for (Mask set = 1; set; set = set == all_ ? 0 : set + 1)
            for (Mask left = set; left; left &= left - 1) {
                const int v = std::countr_zero(left);
                const Mask before = set ^ (Mask{1} << v);
                phi_[set] = std::max(phi_[set], alpha(v, before) + phi_[before]);
            }
        for (Mask set = all_; set-- > 0;)
            for (Mask left = all_ & ~set; left; left &= left - 1) {
                const int v = std::countr_zero(left);
                psi_[set] = std::max(psi_[set], alpha(v, set) + psi_[set | Mask{1} << v]);
            }
    }

    // The walk over the sets T of variables outside U.
    struct Walk {
        const Sums& sums;
        Mask base = 0;                                   // U
        double own[32] = {};                                // log alpha_j(U)
        double scale = 0, head = 0;                      // psi(U), log H(U)
        std::vector<double>* heads = nullptr;            // where terms of H go, if anywhere
        double sum = 0, size = 0;                        // of the terms of C(U), and of their sizes
        double with[32] = {};                            // the terms whose T holds j

        // T is what has been added to U so far; back comes the sum of the terms of all larger T.
        double beyond(Mask now, Mask rest, double log, double sign) {
            double total = 0;
            while (rest) {
                const int j = std::countr_zero(rest);
                rest &= rest - 1;
                if (own[j] <= nothing) continue;
                const Mask set = now | Mask{1} << j;
                const double product = log + own[j], back = product + sums.after_[set] - scale;
                const double ahead = heads ? head + product - sums.phi_[set] : nothing;
                if (back < unseen && ahead < unseen) continue;
                const double term = sign * std::exp(back);
                if (heads) (*heads)[set] += sign * std::exp(ahead);
                size += std::abs(term);
                const double below = term + beyond(set, rest, product, -sign);
                with[j] += below;
                total += below;
            }
            return total;
        }
        void from(Mask set) {
            base = set;
            std::fill_n(with, 32, 0.0);
            size = 0;
            for (Mask left = sums.all_ & ~set; left; left &= left - 1) {
                const int j = std::countr_zero(left);
                own[j] = sums.alpha(j, set);
            }
            scale = sums.psi_[set];
            sum = beyond(set, sums.all_ & ~set, 0, 1);
        }
    };

    void over_graphs(ExactPosterior& found) {
        const std::size_t size = std::size_t{all_} + 1;
        scales();
        found.feasible = phi_[all_] > nothing / 2;
        found.log_sum = nothing;
        if (!found.feasible) return;
        std::vector<std::vector<Mask>> level(n_ + 1);
        for (std::size_t set = 0; set < size; ++set) level[std::popcount(set)].push_back(static_cast<Mask>(set));
        after_.assign(size, nothing);
        after_[all_] = 0;
        constexpr std::size_t piece = 64;
        for (int k = n_ - 1; k >= 0 && !control_.stop; --k) {
            const auto& own = level[k];
            team_.run((own.size() + piece - 1) / piece, [&](int, std::size_t task) {
                Walk walk{*this};
                for (std::size_t i = task * piece; i < std::min(own.size(), (task + 1) * piece); ++i) {
                    if (psi_[own[i]] <= nothing / 2) continue;
                    Listening::look();
                    walk.from(own[i]);
                    after_[own[i]] = psi_[own[i]] + std::log(walk.sum);
                }
            });
            ++control_.done;
        }
        if (control_.stop) return;
        found.log_sum = after_[0];
        std::vector<std::vector<double>> heads(groups, std::vector<double>(size, 0));
        std::vector<double> sizes(groups, 0);
        for (int k = 0; k < n_ && !control_.stop; ++k) {
            const auto& own = level[k];
            team_.run(groups, [&](int, std::size_t group) {
                Walk walk{*this};
                walk.heads = &heads[group];
                for (std::size_t i = group; i < own.size(); i += groups) {
                    const Mask set = own[i];
                    double scaled = k == 0;              // H(no variable) is 1
                    for (const auto& part : heads) scaled += part[set];
                    const bool reached = scaled > 0 && phi_[set] > nothing / 2 && psi_[set] > nothing / 2;
                    if (reached) {
                        Listening::look();
                        walk.head = phi_[set] + std::log(scaled);
                        walk.from(set);
                    }
                    // H(U) over the sum over all graphs, times e^scale: a probability, but for the signs.
                    const double weight = reached ? std::exp(walk.head + walk.scale - found.log_sum) : 0;
                    for (Mask left = all_ & ~set; left; left &= left - 1) {
                        const int v = std::countr_zero(left);
                        alpha_[v][without(set, v)] = weight == 0 ? 0 : weight * walk.with[v];
                    }
                    if (weight > 0) sizes[group] += weight * walk.size;
                }
            });
            ++control_.done;
        }
        double terms = 0, deepest = 0;
        for (double part : sizes) terms += part;
        for (double scale : phi_)
            if (scale > nothing / 2) deepest = std::max(deepest, std::abs(scale));
        found.rounding = 1.1e-16 * terms * (n_ + deepest);
    }

    const ListedSets& sets_;
    const bool orders_;
    const int n_;
    const std::size_t half_;
    const Mask all_;
    Team& team_;
    Control& control_;
    std::vector<double> top_;                            // per child its best score: scores count from there
    std::vector<std::vector<double>> alpha_;             // logs; in the end contributions
    std::vector<double> phi_, psi_, after_;              // of the best order within, and after; log C
};

}  // namespace

double exact_posterior_bytes(int variables, bool orders, int threads) {
    const double half = std::ldexp(8.0, variables - 1);
    return half * variables + half * (variables + 1) * std::min(threads, variables) + 2 * half * (orders ? 2 : 3 + groups);
}

ExactPosterior exact_posterior(const ListedSets& sets, bool orders, Team& team, Control& control) {
    return Sums(sets, orders, team, control).find();
}

}  // namespace spinney
