// The door for mvp and lr: for tests, until all scores are bound as one type.
#include "bind.hpp"
#include "polynomial.hpp"

namespace spinney {
namespace {

// (levels, codes) or (0, standardised values, log of their scale)
using PolyFacts = std::tuple<int, std::optional<CodesIn>, std::optional<DoublesIn>, double>;

MixedPolyData make_poly_data(const std::vector<PolyFacts>& facts) {
    must(!facts.empty(), "at least one column");
    MixedPolyData data;
    for (auto& [levels, codes, values, log_scale] : facts) {
        must(levels >= 0 && levels <= 65536 && (levels > 0) == codes.has_value() && (levels == 0) == values.has_value(), "codes or values");
        const std::size_t rows = codes ? codes->shape(0) : values->shape(0);
        if (data.columns.empty()) data.rows = rows;
        must(rows == data.rows && rows < 0xffffffffu, "columns of equal length");
        if (codes)
            for (std::size_t row = 0; row < rows; ++row) must(codes->data()[row] < levels, "codes below the number of levels");
        data.columns.push_back({levels, codes ? codes->data() : nullptr, values ? values->data() : nullptr, log_scale});
    }
    return data;
}

const char* name_of(CellFit::Rule rule) {
    switch (rule) {
        case CellFit::gaussian: return "gaussian";
        case CellFit::frequencies: return "frequencies";
        case CellFit::shrunk: return "shrunk";
        default: return "softmax";
    }
}

}  // namespace

void bind_polynomial(nb::module_& m) {
    nb::class_<PolynomialSpec>(m, "PolynomialSpec")
        .def("__init__",
             [](PolynomialSpec* self, bool logistic, int degree, int least_degree, bool count_variance, std::vector<double> size_prior,
                double per_parameter, double most_bytes) {
                 must(degree >= 0 && degree <= 64 && least_degree >= 0 && least_degree <= 1, "a degree");
                 new (self) PolynomialSpec{logistic, degree, least_degree, count_variance, std::move(size_prior), per_parameter, most_bytes};
             },
             "logistic"_a, "degree"_a, "least_degree"_a = 1, "count_variance"_a = false, "size_prior"_a = std::vector<double>{},
             "per_parameter"_a = 0.0, "most_bytes"_a = 0.0);

    m.def(
        "polynomial_scores",
        [](const std::vector<PolyFacts>& columns, const PolynomialSpec& spec, const nb::list& list, int threads, nb::object progress,
           double time_limit) {
            MixedPolyData data = make_poly_data(columns);
            const auto families = to_families(list, data.columns.size());
            Control control;
            Team team(threads, control);
            WorkerScores scores(polynomial_scores(data, spec), data.columns.size());
            return scored(scores, families, team, control, progress, time_limit, static_cast<double>(families.size()) * static_cast<double>(data.rows) < 1e5);
        },
        "columns"_a, "spec"_a, "families"_a, "threads"_a = 1, "progress"_a.none() = nb::none(), "time_limit"_a = 0.0);

    m.def(
        "polynomial_likelihoods",                        // per family: log-likelihood, free parameters
        [](const std::vector<PolyFacts>& columns, const PolynomialSpec& spec, const nb::list& list) {
            MixedPolyData data = make_poly_data(columns);
            const auto families = to_families(list, data.columns.size());
            auto found = stoppable(nullptr, [&] {
                std::vector<std::pair<double, double>> all;
                std::unique_ptr<PolynomialFamilies> worker;
                for (std::size_t i = 0; i < families.size(); ++i) {
                    if (i == 0 || families[i - 1].child != families[i].child) worker = std::make_unique<PolynomialFamilies>(data, spec, families[i].child);
                    const FamilyLikelihood own = worker->likelihood(families[i].parents);
                    all.emplace_back(own.log_likelihood, own.parameters);
                }
                return all;
            }, static_cast<double>(families.size()) * static_cast<double>(data.rows) < 1e5);
            return found;
        },
        "columns"_a, "spec"_a, "families"_a);

    m.def(
        "fit_polynomial",                                // one record per cell that occurs; see CellFit
        [](const std::vector<PolyFacts>& columns, const PolynomialSpec& spec, int child, const std::vector<int>& parents, Control* stop) {
            MixedPolyData data = make_poly_data(columns);
            check_family(child, parents, data.columns.size());
            const auto fits = stoppable(stop, [&] { return PolynomialFamilies(data, spec, child).fit(parents); }, data.rows < 10'000);
            nb::list out;
            for (const CellFit& fit : fits) {
                nb::list powers;
                for (const Recurrence& own : fit.powers) powers.append(nb::make_tuple(own.centre, own.scale, nb::cast(own.steps)));
                out.append(nb::make_tuple(nb::cast(fit.levels), fit.rows, name_of(fit.rule), powers, nb::cast(fit.coefficients), fit.variance));
            }
            return out;
        },
        "columns"_a, "spec"_a, "child"_a, "parents"_a, "stop"_a.none() = nb::none());
}

}  // namespace spinney
