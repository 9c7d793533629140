// The interface for tables whose rows lie elsewhere: counts of a part, and scores from sums of counts or of moments.
#include "bind.hpp"
#include "total_counts.hpp"

namespace spinney {
namespace {

using CodesOut = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>>;
using CountsOut = nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>>;
using Codes64In = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using CountsIn = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check_set(const std::vector<int>& set, int variables) {
    must(!set.empty(), "a variable in every set");
    for (std::size_t i = 0; i < set.size(); ++i)
        must(set[i] >= 0 && set[i] < variables && (i == 0 || set[i - 1] < set[i]), "sorted variables of the table");
}

}  // namespace

void bind_totals(nb::module_& m) {
    m.def(
        "set_counts",
        [](Table& table, const Lists& sets) {
            std::vector<int> named;
            for (const auto& set : sets) {
                check_set(set, table.data.variables());
                for (int v : set) must(!table.data.column(v).values, "discrete columns");
                named.insert(named.end(), set.begin(), set.end());
            }
            std::vector<SetCounts> found;
            {
                nb::gil_scoped_release release;
                Control control;
                Team team(1, control);
                table.data.prepare(named, team);
                found = set_counts(table.data, sets);
            }
            std::vector<std::pair<CodesOut, CountsOut>> out;
            for (SetCounts& own : found)
                out.emplace_back(to_numpy<CodesOut>(std::move(own.codes)), to_numpy<CountsOut>(std::move(own.counts)));
            return out;
        },
        "table"_a, "sets"_a);

    nb::class_<TotalScores>(m, "TotalScores")
        .def("__init__",
             [](TotalScores* self, const std::vector<int>& levels, std::size_t rows, const Spec& spec) {
                 must(!levels.empty() && std::ranges::all_of(levels, [](int own) { return own >= 1; }), "levels of every column");
                 must(rows < 0xffffffffu, "at most 2^32 - 2 rows");
                 must(spec.spec.score != TableScore::bde && spec.spec.score != TableScore::mit, "a score of the family's counts");
                 new (self) TotalScores(levels, rows, spec.spec);
             },
             "levels"_a, "rows"_a, "spec"_a, nb::keep_alive<1, 4>())
        .def("score",
             [](TotalScores& self, const std::vector<int>& children, const std::vector<int>& set, Codes64In codes, CountsIn counts) {
                 check_set(set, self.variables());
                 must(codes.size() == counts.size(), "a count per code");
                 std::vector<double> found;
                 for (int child : children) {
                     must(std::ranges::binary_search(set, child), "a child of the set");
                     found.push_back(self.score(child, set, {codes.data(), codes.size()}, {counts.data(), counts.size()}));
                 }
                 return found;
             },
             "children"_a, "set"_a, "codes"_a, "counts"_a);

    m.def(
        "extensions",                                    // of one family by each of these, as searches ask for them
        [](const Scores& scores, int child, const std::vector<int>& parents, const std::vector<int>& candidates) {
            std::vector<int> named(parents);
            named.insert(named.end(), candidates.begin(), candidates.end());
            named.push_back(child);
            for (int v : named) must(v >= 0 && v < scores.variables(), "variables in range");
            must(std::ranges::is_sorted(parents), "sorted parents");
            std::vector<double> found(candidates.size(), 0.0);
            Control control;
            Team team(1, control);
            scores.prepare(named, team);
            {
                nb::gil_scoped_release release;
                scores.local()->extend(child, parents, candidates, found.data());
            }
            return to_numpy<Doubles>(std::move(found));
        },
        "scores"_a, "child"_a, "parents"_a, "candidates"_a);
}

}  // namespace spinney
