// The interface for mvp and lr.
#include "bind.hpp"
#include "polynomial.hpp"

namespace spinney {
namespace {

class PolynomialScores final : public Scores {
public:
    // log_scales: of what the values of every continuous column of the table were divided by.
    PolynomialScores(const Table& table, PolynomialSpec spec, const std::vector<double>& log_scales) : spec_(std::move(spec)) {
        data_.rows = table.data.rows();
        must(static_cast<int>(log_scales.size()) == table.data.variables(), "a scale for every column");
        for (int v = 0; v < table.data.variables(); ++v) {
            const Column& given = table.data.column(v);
            if (given.values) data_.columns.push_back({0, nullptr, given.values, log_scales[v]});
            else data_.columns.push_back({given.levels, codes_.of(given, data_.rows), nullptr, 0});
        }
    }
    int variables() const override { return static_cast<int>(data_.columns.size()); }
    std::size_t rows() const override { return data_.rows; }
    std::unique_ptr<LocalScores> local(double most_bytes = 0) const override {
        return std::make_unique<PolynomialFamilies>(data_, spec_, most_bytes);
    }
    bool brief(std::span<const Family> families) const override {
        return static_cast<double>(families.size()) * static_cast<double>(data_.rows) < (spec_.degree == 1 ? 1e5 : 1e4);
    }
    PolynomialFamilies families() const { return {data_, spec_}; }

private:
    const PolynomialSpec spec_;
    WideCodes codes_;
    MixedPolyData data_;
};

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
             [](PolynomialSpec* self, bool logistic, int degree, bool count_variance, std::vector<double> size_prior, double per_parameter) {
                 must(degree >= 0 && degree <= 64, "a degree");
                 new (self) PolynomialSpec{logistic, degree, count_variance, std::move(size_prior), per_parameter};
             },
             "logistic"_a, "degree"_a, "count_variance"_a, "size_prior"_a, "per_parameter"_a);

    nb::class_<PolynomialScores, Scores>(m, "PolynomialScores")
        .def(nb::init<const Table&, PolynomialSpec, const std::vector<double>&>(), "table"_a, "spec"_a, "log_scales"_a, nb::keep_alive<1, 2>())
        .def(
            "likelihood",                                // log-likelihood in the user's units, free parameters
            [](const PolynomialScores& self, int child, const std::vector<int>& parents, Control* stop) {
                const Family family = checked_family(child, parents, self.variables());
                const FamilyLikelihood found =
                    stoppable(stop, [&] { return self.families().likelihood(child, parents); }, self.brief({&family, 1}));
                return std::pair(found.log_likelihood, found.parameters);
            },
            "child"_a, "parents"_a, "stop"_a.none() = nb::none())
        .def(
            // Per cell that occurs: levels of the discrete parents, rows, how the child is computed, per continuous parent
            // (low, high, degree), the coefficients of every response, the variance. See CellFit.
            "fit",
            [](const PolynomialScores& self, int child, const std::vector<int>& parents, Control* stop) {
                const Family family = checked_family(child, parents, self.variables());
                const auto fits = stoppable(stop, [&] { return self.families().fit(child, parents); }, self.brief({&family, 1}));
                nb::list out;
                for (const CellFit& fit : fits) {
                    nb::list ranges;
                    for (const CellFit::Range& own : fit.ranges) ranges.append(nb::make_tuple(own.low, own.high, own.degree));
                    out.append(nb::make_tuple(nb::cast(fit.levels), fit.rows, name_of(fit.rule), ranges, nb::cast(fit.coefficients), fit.variance));
                }
                return out;
            },
            "child"_a, "parents"_a, "stop"_a.none() = nb::none());
}

}  // namespace spinney
