// The interface between Python and the core: the files bind*.cpp are the only ones that know nanobind. They check arrays,
// release the GIL, look for Ctrl-C while the work runs, and hand records out. The core owns nothing between calls: what is
// to last, such as a table with its bitmaps or a score of it, belongs to an object of Python's.
#include <algorithm>

#include "bind.hpp"

using namespace spinney;

namespace {

Data read_columns(const std::vector<ColumnIn>& arrays, const std::vector<int>& levels, const std::vector<double>& centres) {
    must(!arrays.empty() && arrays.size() == levels.size() && arrays.size() == centres.size(), "a number of levels and a centre per column");
    std::vector<Column> columns;
    const std::size_t rows = arrays[0].shape(0);
    must(rows < 0xffffffffu, "at most 2^32 - 2 rows");
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        must(arrays[i].shape(0) == rows, "columns of equal length");
        Column column;
        column.levels = levels[i];
        if (arrays[i].dtype() == nb::dtype<double>()) {
            must(levels[i] == 0, "no levels of a continuous column");
            column.values = static_cast<const double*>(arrays[i].data());
            column.centre = centres[i];
        } else if (arrays[i].dtype() == nb::dtype<std::uint8_t>()) {
            column.narrow = static_cast<const std::uint8_t*>(arrays[i].data());
        } else {
            must(arrays[i].dtype() == nb::dtype<std::uint16_t>(), "columns of uint8, uint16 or double");
            column.wide = static_cast<const std::uint16_t*>(arrays[i].data());
        }
        must(column.values || levels[i] >= 1, "at least one level");
        columns.push_back(column);
    }
    return Data(std::move(columns), rows);
}

// A score that Python computes. Its threads take turns at the GIL, so more than one of them gains nothing; an error in it
// comes back from the operation.
class CalledScores final : public Scores {
public:
    CalledScores(nb::object function, int variables, std::size_t rows, nb::object together)
        : function_(std::move(function)), together_(std::move(together)), variables_(variables), rows_(rows) {}
    ~CalledScores() override {
        nb::gil_scoped_acquire acquire;
        function_.reset();
        together_.reset();
    }
    int variables() const override { return variables_; }
    std::size_t rows() const override { return rows_; }
    std::unique_ptr<LocalScores> local(double = 0) const override { return std::make_unique<Local>(*this); }

private:
    class Local final : public LocalScores {
    public:
        explicit Local(const CalledScores& scores) : scores_(scores) {}
        double score(int child, std::span<const int> parents) override {
            nb::gil_scoped_acquire acquire;
            nb::list numbers;
            for (int p : parents) numbers.append(p);
            return nb::cast<double>(scores_.function_(child, nb::tuple(numbers)));
        }
        void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) override {
            if (!scores_.together_.is_none()) {
                Listening::look();
                nb::gil_scoped_acquire acquire;
                nb::list numbers, others;
                for (int p : parents) numbers.append(p);
                for (int c : candidates) others.append(c);
                const auto found = nb::cast<std::vector<double>>(scores_.together_(child, nb::tuple(numbers), others));
                must(found.size() == candidates.size(), "a score per candidate");
                std::ranges::copy(found, out);
                return;
            }
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                Listening::look();
                out[i] = score(child, with(parents, candidates[i]));
            }
        }
        std::unique_ptr<LocalScores> another() const override { return std::make_unique<Local>(scores_); }

    private:
        const CalledScores& scores_;
    };
    nb::object function_, together_;                     // of one family; of one with each of some parents more, or None
    int variables_;
    std::size_t rows_;
};

struct SetsHandle {                                      // arrays are made when they are asked for
    ScoredSets sets;
    Ending ending;
};

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The C++ core of spinney; the public API is in Python.";
    nb::set_leak_warnings(false);                        // a table may live to the end: in a cache, or frozen by gc.freeze()
    m.attr("most_bitmap_levels") = static_cast<int>(Data::most_bitmap_levels);
    nb::class_<Control>(m, "Stop")
        .def(nb::init<>())
        .def("set", [](Control& self) { self.stop = true; })
        .def("check", [](const Control& self) {          // for work in Python, now and then
            if (!self.stop) return;
            PyErr_SetNone(PyExc_TimeoutError);
            throw nb::python_error();
        });

    nb::class_<Spec>(m, "Spec").def(
        nb::init<const std::string&, double, std::vector<double>, double, const std::vector<int>&, const NetworkIn&>(),
        "name"_a, "parameter"_a, "size_prior"_a, "per_parameter"_a, "network_levels"_a, "network_tables"_a)
        .def("pseudo_count", [](const Spec& self, double levels, double q, double seen) { return self.spec.pseudo_count(levels, q, seen); },
             "levels"_a, "configurations"_a, "seen"_a);

    m.def(
        "prior_joint",
        [](const Spec& spec, const std::vector<int>& variables) {
            must(spec.network != nullptr, "a prior network");
            for (std::size_t i = 0; i < variables.size(); ++i)
                must(variables[i] >= 0 && variables[i] < static_cast<int>(spec.levels.size()) && (i == 0 || variables[i - 1] < variables[i]),
                     "sorted variables of the prior network");
            return to_numpy<Doubles>(spec.network->joint(variables));
        },
        "spec"_a, "variables"_a);

    nb::class_<SetsHandle>(m, "ScoredSets")
        .def("of",
             [](nb::pointer_and_handle<SetsHandle> self, std::size_t child) {
                 const ScoredSets& all = self.p->sets;
                 must(child < all.sets_end.size(), "a child that there is");
                 const std::size_t set = child ? all.sets_end[child - 1] : 0, parent = child ? all.parents_end[child - 1] : 0;
                 const std::size_t sets = all.sets_end[child] - set, parents = all.parents_end[child] - parent;
                 return std::tuple(Doubles(all.scores.get() + set, {sets}, self.h), Ints(all.sizes.get() + set, {sets}, self.h),
                                   Ints(all.parents.get() + parent, {parents}, self.h));
             },
             "child"_a)
        .def_prop_ro("families", [](const SetsHandle& self) { return self.sets.families; })
        .def_prop_ro("looked", [](const SetsHandle& self) { return self.sets.looked; })
        .def_prop_ro("left_out", [](const SetsHandle& self) { return self.sets.left_out; })
        .def_prop_ro("scored", [](const SetsHandle& self) { return self.sets.scored; })
        .def_prop_ro("known", [](const SetsHandle& self) { return self.sets.known; })
        .def_prop_ro("stopped", [](const SetsHandle& self) { return self.ending.text(); });

    nb::class_<Table>(m, "Table")
        .def("__init__",
             [](Table* self, const std::vector<ColumnIn>& columns, const std::vector<int>& levels, const std::vector<double>& centres) {
                 new (self) Table{columns, read_columns(columns, levels, centres)};
             },
             "columns"_a, "levels"_a, "centres"_a)
        .def_prop_ro("rows", [](const Table& self) { return self.data.rows(); });

    nb::class_<Allowed>(m, "Allowed")
        .def("__init__",
             [](Allowed* self, const nb::list& own_candidates, const nb::list& own_required, const nb::list& own_most) {
                 Lists required = to_lists(own_required);
                 Allowed::Candidates candidates(own_candidates.size());
                 std::vector<int> most = to_ints(own_most);
                 const int n = static_cast<int>(most.size());
                 must(candidates.size() == most.size(), "candidates of every child");
                 check_lists(required, n);
                 for (int v = 0; v < n; ++v) {
                     if (!own_candidates[v].is_none()) candidates[v] = to_ints(own_candidates[v]);      // None: all others
                     if (candidates[v]) check_list(*candidates[v], v, n);
                     const int there = candidates[v] ? static_cast<int>(candidates[v]->size()) : n - 1;
                     must(most[v] >= 0 && most[v] <= there, "a limit within the candidates");
                     must(!candidates[v] || std::ranges::includes(*candidates[v], required[v]), "required parents among the candidates");
                 }
                 new (self) Allowed(std::move(candidates), std::move(required), std::move(most));
             },
             "candidates"_a, "required"_a, "most"_a)
        .def_prop_ro("candidates", [](const Allowed& self) {
            Lists lists;
            for (int v = 0; v < self.variables(); ++v) lists.push_back(self.candidates(v));
            return lists;
        })
        .def_ro("most", &Allowed::most);

    // What a score group makes, and what every operation takes.
    nb::class_<Scores>(m, "Scores").def_prop_ro("variables", &Scores::variables).def_prop_ro("walks", &Scores::walks);

    m.def(
        "table_scores",
        [](Table& table, const Spec& spec) -> std::unique_ptr<Scores> {
            return std::make_unique<TableScores>(table.data, spec.checked(table.data));
        },
        "table"_a, "spec"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());

    m.def(
        "list_scores", [](const SetsIn& arrays) -> std::unique_ptr<Scores> { return std::make_unique<ListScores>(read_sets(arrays)); },
        "sets"_a);

    m.def(
        "best_scores",
        [](const std::vector<std::pair<const Scores*, nb::list>>& choices) -> std::unique_ptr<Scores> {
            must(!choices.empty(), "a score to choose from");
            std::vector<BestScores::Choice> own;
            const auto n = static_cast<std::size_t>(choices.front().first->variables());
            for (auto& [scores, admits] : choices) {
                must(scores->variables() == static_cast<int>(n) && admits.size() == n, "scores of the same table");
                BestScores::Choice choice{scores, {}};
                for (nb::handle given : admits) {
                    const auto row = nb::cast<BoolsIn>(given);
                    must(row.size() == n, "a word per parent");
                    choice.admits.emplace_back(row.data(), row.data() + n);
                }
                own.push_back(std::move(choice));
            }
            return std::make_unique<BestScores>(std::move(own));
        },
        "choices"_a, nb::keep_alive<0, 1>());

    m.def(
        "called_scores",
        [](nb::object function, int variables, std::size_t rows, nb::object together) -> std::unique_ptr<Scores> {
            must(variables >= 1, "a variable");
            return std::make_unique<CalledScores>(std::move(function), variables, rows, std::move(together));
        },
        "function"_a, "variables"_a, "rows"_a, "together"_a.none() = nb::none());

    m.def(
        "families",
        [](const Scores& scores, const nb::list& list, int threads, nb::object progress, double time_limit) {
            const auto families = to_families(list, scores.variables());
            std::vector<int> named;
            for (const Family& family : families) {
                scores.check(family);
                named.push_back(family.child);
                named.insert(named.end(), family.parents.begin(), family.parents.end());
            }
            Control control;
            Team team(threads, control);
            scores.prepare(named, team);
            const auto local = scores.local();
            Ending ending;
            auto found = run(control, progress, ending, time_limit, [&] { return score_families(*local, families, team, control); },
                             time_limit == 0 && progress.is_none() && scores.brief(families));
            if (ending.interrupted) {                    // there is nothing to give back
                PyErr_SetNone(PyExc_KeyboardInterrupt);
                throw nb::python_error();
            }
            return to_numpy<Doubles>(std::move(found));
        },
        "scores"_a, "families"_a, "threads"_a = 1, "progress"_a.none() = nb::none(), "time_limit"_a = 0.0);

    m.def(
        "parent_sets",
        [](const Scores& scores, const Allowed& allowed, bool prune, bool bounds, int threads, nb::object progress, double time_limit,
           bool partial, double most_bytes, const KnownScores* known, FamilyLog* log,
           std::optional<std::tuple<int, int, std::uint64_t, std::uint64_t>> part, bool only_known) {
            must(allowed.variables() == scores.variables(), "a limit per child");
            must(known ? &known->allowed() == &allowed : !only_known, "scores known of the same sets");
            must(partial || !only_known, "a part of the sets, where nothing is scored");
            must(!log || log->lanes() >= threads, "a lane per thread");
            Block block;
            if (part) {
                std::tie(block.size, block.child, block.begin, block.end) = *part;
                must(known && log && block.size >= 0, "what is known below a block, and a log");
                must(scores.walks() || (block.child >= 0 && block.child < allowed.variables()), "a child that there is");
            }
            scores.check(allowed);
            Control control;
            Team team(threads, control);
            scores.prepare(everybody(scores.variables()), team);
            SetsRequest request{allowed, prune, bounds, partial, most_bytes, known, log, part ? &block : nullptr, only_known};
            Ending ending;
            ScoredSets found = run(control, progress, ending, time_limit, [&] { return scores.parent_sets(request, team, control); },
                                   time_limit == 0 && progress.is_none() && scores.brief(allowed));
            team.dismiss();
            return SetsHandle{std::move(found), ending};
        },
        "scores"_a, "allowed"_a, "prune"_a, "bounds"_a, "threads"_a, "progress"_a.none(), "time_limit"_a, "partial"_a, "most_bytes"_a,
        "known"_a.none() = nb::none(), "log"_a.none() = nb::none(), "block"_a.none() = nb::none(), "only_known"_a = false);

    bind_searches(m);
    bind_posterior(m);
    bind_tests(m);
    bind_parts(m);
    bind_trees(m);
    bind_graphs(m);
    bind_polynomial(m);
    bind_mars(m);
    bind_forest(m);
    bind_gaussian(m);
    bind_known(m);
    bind_totals(m);
}
