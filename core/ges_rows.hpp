// What greedy equivalence search knows of one variable: the operators into it, best first. What a row is made of is near the
// variable, but for one thing: a turn of the edge to a child also changes the child's parents, and what that is worth depends on
// the child's other parents. So turns are kept without it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace spinney::ges_rows {

enum Kind { deletes, turns, inserts };
constexpr int kinds = 3;

struct Operator {
    std::int64_t rank;                                   // the gain in units below which differences are rounding
    double gain;
    int x, set;                                          // the edge is x -> y; the number of the set in its row
};
struct Row {
    std::vector<std::vector<int>> sets;                  // neighbours of y that are its parents before the change
    std::vector<Operator> list;                          // best first
};
struct Turn {                                            // of the edge between y and x
    double gain;                                         // a child's: without what the child gains
    int x, set;
    bool child;
};
struct Turns {                                           // into a variable, whether they gain or not
    std::vector<std::vector<int>> sets;
    std::vector<Turn> list;
};
struct Rows {                                            // of one variable
    std::shared_ptr<const Row> row[kinds];
    std::shared_ptr<const Turns> turns;                  // what row[turns] is made of
    std::size_t at[kinds] = {0, 0, 0};                   // the first that has not been refused
    std::vector<std::uint64_t> waiting;                  // sorted; w and y: a way that forbids an operator of y goes on to w from here
    std::uint64_t made = 0;                              // when a row was made last, by a clock that counts them
};

struct Known {                                           // about a variable in some surroundings
    std::shared_ptr<const Row> inserts, deletes;
    std::shared_ptr<const Turns> turns;
    std::size_t bytes() const {
        auto of = [](const auto& part) {
            std::size_t sum = 64 + part->list.size() * sizeof(part->list[0]);
            for (const std::vector<int>& set : part->sets) sum += sizeof set + 16 + set.size() * sizeof(int);
            return sum;
        };
        return sizeof(Known) + 64 + of(inserts) + of(deletes) + of(turns);
    }
};

}  // namespace spinney::ges_rows
