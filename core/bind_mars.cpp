// The interface for MARS: one regression, and the score.
#include "bind.hpp"
#include "mars_families.hpp"

namespace spinney {
namespace {

using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

class MarsScores final : public FamilyByFamily {
public:
    MarsScores(const Table& table, const MarsSpec& spec, bool raw, std::vector<double> size_prior, double per_parameter,
               const std::vector<bool>& ordinal, std::vector<double> scales)
        : spec_{spec, raw, std::move(size_prior), per_parameter},
          data_(table.data, std::vector<char>(ordinal.begin(), ordinal.end()), std::move(scales)) {
        must(static_cast<int>(ordinal.size()) == table.data.variables(), "an answer for every column");
    }
    int variables() const override { return data_.table().variables(); }
    std::size_t rows() const override { return data_.rows(); }
    FamilyScores workers(double most_bytes) const override { return mars_scores(data_, spec_, most_bytes); }
    void prepare(std::span<const int> variables, Team& team) const override { data_.prepare(variables, team); }
    MarsFamilyFit fit(int child, std::vector<int> parents) const {
        Control control;
        Team team(1, control);
        std::vector<int> named(parents);
        named.push_back(child);
        data_.prepare(named, team);
        return MarsFamilies(data_, spec_, child).family(parents);
    }
    const std::vector<int>& occurring(int v) const { return data_.variable(v).occurring; }

private:
    const MarsScoreSpec spec_;
    mutable MarsData data_;                              // grows, never changes
};

// (terms of the forward pass as lists of (column, direction, row), selected, coefficients per response, the best subsets by size, their rss and gcv,
// total squares, why the forward pass ended)
using Factors = std::vector<std::tuple<int, int, std::uint32_t>>;
using Plain = std::tuple<std::vector<Factors>, std::vector<int>, std::vector<std::vector<double>>, Lists, std::vector<double>,
                         std::vector<double>, double, std::string>;

Plain plain(const MarsFit& fit) {
    std::vector<Factors> terms;
    for (const auto& factors : fit.terms) {
        Factors& own = terms.emplace_back();
        for (const MarsFactor& factor : factors) own.emplace_back(factor.column, factor.direction, factor.row);
    }
    return {std::move(terms), fit.selected, fit.coefficients, fit.subsets, fit.rss, fit.gcv, fit.total, fit.ended};
}

}  // namespace

void bind_mars(nb::module_& m) {
    nb::class_<MarsSpec>(m, "MarsSpec")
        .def("__init__",
             [](MarsSpec* self, int degree, int max_terms, double penalty, double threshold, int minspan, int endspan, int fast_k,
                double fast_beta, bool lines, bool prune) {
                 must(degree >= 1 && max_terms >= 0 && minspan >= 0 && endspan >= 0 && fast_k >= 0, "options of MARS");
                 new (self) MarsSpec{degree, max_terms, penalty, threshold, minspan, endspan, fast_k, fast_beta, lines, prune};
             },
             "degree"_a, "max_terms"_a, "penalty"_a, "threshold"_a, "minspan"_a, "endspan"_a, "fast_k"_a, "fast_beta"_a, "lines"_a, "prune"_a);

    // One regression: columns and responses one per row of the matrices, (value - origin) * unit of each column as the user knows it.
    // See plain().
    m.def(
        "fit_mars",
        [](const MarsSpec& spec, MatrixIn columns, MatrixIn responses, const std::vector<double>& origins, const std::vector<double>& units,
           Control* stop) {
            const std::size_t rows = responses.shape(1);
            must(rows >= 1 && responses.shape(0) >= 1 && columns.shape(1) == rows, "rows, and as many for all");
            must(origins.size() == columns.shape(0) && units.size() == columns.shape(0), "an origin and a unit per column");
            const auto job = [&] {
                std::vector<MarsColumn> own(columns.shape(0));
                std::vector<const MarsColumn*> predictors;
                std::vector<const double*> given;
                for (std::size_t c = 0; c < own.size(); ++c) {
                    own[c].values = columns.data() + c * rows;
                    own[c].origin = origins[c];
                    own[c].unit = units[c];
                    own[c].sort(rows);
                    predictors.push_back(&own[c]);
                }
                for (std::size_t r = 0; r < responses.shape(0); ++r) given.push_back(responses.data() + r * rows);
                return fit_mars(spec, predictors, given, rows);
            };
            return plain(stoppable(stop, job, static_cast<double>(rows) * static_cast<double>(columns.shape(0)) < 1e4));
        },
        "spec"_a, "columns"_a, "responses"_a, "origins"_a, "units"_a, "stop"_a.none() = nb::none());

    nb::class_<MarsScores, Scores>(m, "MarsScores")
        .def(nb::init<const Table&, const MarsSpec&, bool, std::vector<double>, double, const std::vector<bool>&, std::vector<double>>(),
             "table"_a, "spec"_a, "raw"_a, "size_prior"_a, "per_parameter"_a, "ordinal"_a, "scales"_a, nb::keep_alive<1, 2>())
        .def(
            // The columns of the factors as (variable, level or -1), the levels of the child that occur, free parameters, and plain().
            "fit",
            [](const MarsScores& self, int child, const std::vector<int>& parents, Control* stop) {
                checked_family(child, parents, self.variables());
                const MarsFamilyFit found = stoppable(stop, [&] { return self.fit(child, parents); }, false);
                return std::tuple(found.columns, self.occurring(child), found.parameters, plain(found.fit));
            },
            "child"_a, "parents"_a, "stop"_a.none() = nb::none());
}

}  // namespace spinney
