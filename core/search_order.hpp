// Local search over orders of the variables, given listed parent sets.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "order_tables.hpp"
#include "threads.hpp"

namespace spinney {

// One order and its improvement. The score of an order: every variable has the best of its sets among those before it.
class OrderSearch {
public:
    using Stop = std::function<bool()>;

    OrderSearch(const OrderTables& tables, std::uint64_t seed);     // starts from a random order

    void start_from_order(const std::vector<int>& order);
    void start_from_parents(const std::vector<std::vector<int>>& parents);      // REQUIRES: acyclic
    // Weights per child and listed set, as from a linear relaxation: the variable that falls least short of its weighted
    // score comes next.
    void start_from_weights(const std::vector<std::vector<double>>& weights);
    void start_at_random();

    // Climbs by insertions, then shakes and climbs until `patience` shakes in a row brought nothing or `stop` says so.
    // `better` is called for every new best. The best order is kept over all starts until forget().
    void improve(std::uint64_t patience, const Stop& stop = {}, const std::function<void()>& better = {});
    // Takes from another order the parts that are better there.
    void learn_from(const std::vector<int>& order, const Stop& stop = {});      // REQUIRES: improve() came before
    void forget();

    double score() const { return best_score_; }
    bool feasible() const;                               // every variable has a listed set
    const std::vector<int>& order() const { return best_; }
    std::vector<std::vector<int>> parents() const;
    std::uint64_t shakes() const { return shakes_; }

private:
    using Child = OrderTables::Child;
    struct Slot {
        double gain = 0;
        int position = -1;
    };
    struct Step { int variable, from; };
    struct Change { int variable, set; };

    std::size_t chance(std::size_t below) { return random_() % below; }
    int next_within(const Child& child, const std::uint64_t* before, int from) const;
    int best_with(const Child& child, std::uint64_t* before, int candidate, int now) const;
    double gain(int child, int candidate);
    Slot best_slot(int v);
    Slot best_on_the_left(int v, double most);
    Slot best_on_the_right(int v, double most, Slot best);
    void settle();
    void move(int v, int to);
    void shift(int v, int to);
    void set_to(int v, int set);
    void wake(int v);
    void wake_candidates(int v, int was);
    void climb(const Stop& stop);
    void shake();
    void jump();
    bool grant_a_wish();
    bool accepts(double drop, double heat);
    void undo();
    void mend_the_best();
    template <class What> void for_parents(int v, int set, What&& what) const;
    bool accept();
    bool keep_if_best();

    const OrderTables& tables_;
    int n_;
    std::vector<int> order_, position_;
    std::vector<std::uint64_t> before_;                  // per variable the mask of its candidates before it
    std::vector<std::size_t> before_from_;
    std::vector<int> set_;                               // the best within
    std::vector<std::uint64_t> hash_;                    // of before_
    double score_ = 0;
    std::vector<std::pair<std::uint64_t, double>> gains_;            // (hash of what was before the child, gain)
    std::vector<int> queue_;                             // a ring of variables that may have a better place
    std::size_t head_ = 0, waiting_ = 0;
    std::vector<char> queued_;
    int held_ = -1;                                      // a variable that may not move yet
    std::vector<Step> steps_;                            // since the last accepted order
    std::vector<Change> changes_;
    double accepted_ = 0;
    double usual_drop_ = 0;                              // about the median of what shakes cost
    std::vector<std::uint64_t> marks_, scratch_;
    std::vector<int> relation_at_, block_;
    std::vector<char> chosen_;
    std::vector<int> best_, best_sets_;
    double best_score_;
    std::uint64_t shakes_ = 0;
    std::mt19937_64 random_;
};

struct OrderRequest {
    std::vector<std::vector<int>> start;                 // parents per child, acyclic; the first run begins there; empty: none
    int runs = 4;
    int patience = 200;                                  // shakes per variable without a better order before a run ends
    std::uint64_t seed = 0;
};

struct OrderResult {
    std::vector<std::vector<int>> parents;
    std::vector<int> order;
    double score = 0;
    std::vector<std::pair<double, double>> trace;        // (seconds, best score so far)
    bool feasible = true;
};

// Independent runs, each by its own seed, on the team's threads.
OrderResult order_search(const ListedSets& sets, const OrderRequest& request, Team& team, Control& control);

}  // namespace spinney
