// What all bindings share: arrays in and out, checks, and the watch over a running job.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <list>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "prior_network.hpp"
#include "scores.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spinney {

void bind_searches(nb::module_& m);
void bind_posterior(nb::module_& m);
void bind_tests(nb::module_& m);
void bind_parts(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_polynomial(nb::module_& m);
void bind_mars(nb::module_& m);
void bind_forest(nb::module_& m);
void bind_gaussian(nb::module_& m);
void bind_known(nb::module_& m);
void bind_totals(nb::module_& m);

using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Ints = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;
using DoublesIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IntsIn = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using CodesIn = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BoolsIn = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ColumnIn = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Lists = std::vector<std::vector<int>>;
using SetsOut = std::vector<std::tuple<Doubles, Ints, Ints>>;
using SetsIn = std::vector<std::tuple<DoublesIn, IntsIn, IntsIn>>;

template <class Array, class T>
Array to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array(kept->data(), {kept->size()}, owner);
}

template <class Array, class T>
Array copied(std::vector<T> values) {
    return to_numpy<Array>(std::move(values));
}

// The only copy of the sentence for a broken promise between our Python and our core.
inline void must(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("spinney's core was called wrongly: ") + what);
}

inline void check_list(const std::vector<int>& list, int own, int variables) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        must(list[i] >= 0 && list[i] < variables && list[i] != own, "variables in range");
        must(i == 0 || list[i - 1] < list[i], "sorted lists");
    }
}
inline void check_lists(const Lists& lists, int variables) {
    must(static_cast<int>(lists.size()) == variables, "one list per variable");
    for (int v = 0; v < variables; ++v) check_list(lists[v], v, variables);
}

// What grows with the square of the columns is converted here and not by nanobind, whose converters end the process when
// memory runs out.
inline int to_int(nb::handle given) {
    const long value = PyLong_AsLong(given.ptr());
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    must(value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max(), "numbers in range");
    return static_cast<int>(value);
}
inline std::vector<int> to_ints(nb::handle given) {
    nb::object items = nb::steal(PySequence_Fast(given.ptr(), "spinney's core was called wrongly: a list of numbers"));
    if (!items.is_valid()) throw nb::python_error();
    std::vector<int> numbers;
    numbers.reserve(PySequence_Fast_GET_SIZE(items.ptr()));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i)
        numbers.push_back(to_int(PySequence_Fast_GET_ITEM(items.ptr(), i)));
    return numbers;
}
inline Lists to_lists(const nb::list& given) {
    Lists lists;
    lists.reserve(given.size());
    for (nb::handle own : given) lists.push_back(to_ints(own));
    return lists;
}

struct Ending {                                          // why a job ended before its time, if it did
    bool interrupted = false, late = false;
    const char* text() const { return interrupted ? "interrupted" : late ? "time limit" : ""; }
};

// Looks for Ctrl-C and the clock and reports progress, for whoever waits for a job. REQUIRES: no GIL.
class Watch {
public:
    Watch(Control& control, nb::object& progress, Ending& ending, double time_limit)
        : control_(control), progress_(progress), ending_(ending), time_limit_(time_limit) {}
    void operator()() {
        nb::gil_scoped_acquire acquire;
        if (control_.stop) return;
        if (PyErr_CheckSignals() != 0) {
            fail(nb::python_error());
        } else if (time_limit_ > 0 && std::chrono::steady_clock::now() - start_ > std::chrono::duration<double>(time_limit_)) {
            ending_.late = true;
            control_.stop = true;
        } else if (!progress_.is_none()) {
            try {
                progress_(control_.done.load(), control_.total.load());
            } catch (nb::python_error& error) {          // Ctrl-C came while it ran, or it failed
                fail(std::move(error));
            }
        }
    }
    // An error of another signal handler, or of the progress function: it goes out when the job has ended.
    void rethrow() {
        if (error_) throw *error_;
    }
    // Milliseconds to the next look: what is left, where that is less than usual.
    std::chrono::milliseconds pause() const {
        if (time_limit_ <= 0) return std::chrono::milliseconds(50);
        const std::chrono::duration<double> left = start_ + std::chrono::duration<double>(time_limit_) - std::chrono::steady_clock::now();
        return std::chrono::milliseconds(std::clamp(static_cast<int>(left.count() * 1000) + 1, 1, 50));
    }

private:
    void fail(nb::python_error error) {
        control_.stop = true;
        if (error.matches(PyExc_KeyboardInterrupt)) ending_.interrupted = true;
        else error_.emplace(std::move(error));
    }
    Control& control_;
    nb::object& progress_;
    Ending& ending_;
    double time_limit_;
    std::optional<nb::python_error> error_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Runs the job on a thread of its own while this one watches; where no thread is to be had, the job calls the watch itself. A
// brief job, over before anybody could press a key, is run right here: starting and ending a thread takes its time too.
template <class Job>
auto run(Control& control, nb::object progress, Ending& ending, double time_limit, Job&& job, bool brief = false) {
    Watch watch(control, progress, ending, time_limit);
    auto found = [&] {
        nb::gil_scoped_release release;
        if (brief) return job();
        std::future<decltype(job())> future;
        try {
            future = std::async(std::launch::async, [&] {
                Listening listening(&control);
                return job();
            });
        } catch (const std::system_error&) {
            control.watcher = std::this_thread::get_id();
            control.watch = [&] { watch(); };
            Listening listening(&control);
            return job();
        }
        while (future.wait_for(watch.pause()) != std::future_status::ready) watch();
        return future.get();
    }();
    watch.rethrow();
    return found;
}

// A job that ends with TimeoutError when another thread of Python says stop. Without a stop to be said, Ctrl-C ends it.
template <class Job>
auto stoppable(Control* stop, Job&& job, bool brief) {
    Control control;
    Ending ending;
    std::optional<decltype(job())> found;
    try {
        if (stop) {
            nb::gil_scoped_release release;
            Listening listening(stop);
            found = job();
        } else {
            found = run(control, nb::none(), ending, 0.0, std::forward<Job>(job), brief);
        }
    } catch (const Stopped&) {
        PyErr_SetNone(stop ? PyExc_TimeoutError : PyExc_KeyboardInterrupt);
        throw nb::python_error();
    }
    return std::move(*found);
}

inline ListedSets read_sets(const SetsIn& arrays) {
    ListedSets sets(arrays.size());
    const int n = static_cast<int>(arrays.size());
    for (int v = 0; v < n; ++v) {
        auto& [scores, sizes, parents] = arrays[v];
        must(scores.size() == sizes.size(), "a size per score");
        std::size_t at = 0;
        for (std::size_t i = 0; i < scores.size(); ++i) {
            must(sizes.data()[i] >= 0 && at + sizes.data()[i] <= parents.size(), "sizes that add up");
            ListedSet set{scores.data()[i], {}};
            for (int k = 0; k < sizes.data()[i]; ++k) {
                int p = parents.data()[at++];
                must(p >= 0 && p < n && p != v && (k == 0 || set.parents.back() < p), "sorted parents in range");
                set.parents.push_back(p);
            }
            must(i == 0 || set.score <= sets[v].back().score, "sets best first");
            sets[v].push_back(std::move(set));
        }
    }
    return sets;
}

inline std::vector<int> everybody(int variables) {
    std::vector<int> all(variables);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

// Pairs (child, parents).
inline std::vector<Family> to_families(const nb::list& list, int n) {
    std::vector<Family> families;
    families.reserve(list.size());
    for (nb::handle given : list) {
        must(PyTuple_Check(given.ptr()) && PyTuple_GET_SIZE(given.ptr()) == 2, "families as pairs");
        Family family{to_int(PyTuple_GET_ITEM(given.ptr(), 0)), to_ints(PyTuple_GET_ITEM(given.ptr(), 1))};
        const auto& parents = family.parents;
        must(family.child >= 0 && family.child < n, "children in range");
        for (std::size_t i = 0; i < parents.size(); ++i)
            must(parents[i] >= 0 && parents[i] < n && parents[i] != family.child && (i == 0 || parents[i - 1] < parents[i]),
                 "sorted parents in range");
        families.push_back(std::move(family));
    }
    return families;
}
// A table that stays in Python's hands from call to call: its columns, and what was made of them for counting.
struct Table {
    std::vector<ColumnIn> arrays;                        // kept alive
    Data data;
};

// The codes of discrete columns as two bytes a cell, for scores that read no other; made once per score.
class WideCodes {
public:
    const std::uint16_t* of(const Column& column, std::size_t rows) {
        must(!column.values, "a column with levels");
        const std::uint16_t* codes = column.wide;
        if (!codes) codes = own_.emplace_back(column.narrow, column.narrow + rows).data();
        for (std::size_t row = 0; row < rows; ++row) must(codes[row] < column.levels, "codes below the number of levels");
        return codes;
    }

private:
    std::list<std::vector<std::uint16_t>> own_;
};

inline Family checked_family(int child, const std::vector<int>& parents, int columns) {
    nb::list one;
    one.append(nb::make_tuple(child, nb::cast(parents)));
    return to_families(one, columns)[0];
}

using NetworkIn = std::vector<std::pair<std::vector<int>, DoublesIn>>;    // per variable its parents and its table

inline std::unique_ptr<PriorNetwork> prior_network(const std::vector<int>& levels, const NetworkIn& tables) {
    if (tables.empty()) return nullptr;
    const int n = static_cast<int>(levels.size());
    must(tables.size() == levels.size(), "a table per variable of the prior network");
    for (int r : levels) must(r >= 1, "at least one level");
    std::vector<PriorTable> own;
    for (int v = 0; v < n; ++v) {
        auto& [parents, values] = tables[v];
        double cells = levels[v];
        std::vector<int> sorted(parents);
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            must(sorted[i] >= 0 && sorted[i] < n && sorted[i] != v && (i == 0 || sorted[i - 1] < sorted[i]),
                 "parents in range, each once, in the prior network");
            cells *= levels[sorted[i]];
        }
        must(static_cast<double>(values.size()) == cells, "a probability per cell of a prior table");
        own.push_back({parents, std::vector<double>(values.data(), values.data() + values.size())});
    }
    return std::make_unique<PriorNetwork>(levels, std::move(own));
}

struct Spec {                                            // a ScoreSpec that owns its prior network
    ScoreSpec spec;
    std::unique_ptr<PriorNetwork> network;
    std::vector<int> levels;                             // of the prior network

    Spec(const std::string& name, double parameter, std::vector<double> size_prior, double per_parameter,
         const std::vector<int>& network_levels, const NetworkIn& tables)
        : levels(network_levels) {
        spec.score = table_score_named(name);
        spec.parameter = parameter;
        spec.size_prior = std::move(size_prior);
        spec.per_parameter = per_parameter;
        must((spec.score == TableScore::bde) == !tables.empty(), "a prior network with bde and only there");
        network = prior_network(levels, tables);
        spec.network = network.get();
    }
    const ScoreSpec& checked(const Data& data) const {
        if (network) {
            must(static_cast<int>(levels.size()) == data.variables(), "a prior network of the table's variables");
            for (int v = 0; v < data.variables(); ++v) must(levels[v] == data.levels(v), "as many levels in the prior network");
        }
        return spec;
    }
};

}  // namespace spinney
