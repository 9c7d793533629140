// The interface for Gaussian scores of mixed tables: cg, cgd, dg, bf, bge.
#include <mutex>

#include "bind.hpp"
#include "gaussian.hpp"

namespace spinney {
namespace {

using MixedFacts = std::tuple<int, std::optional<CodesIn>, std::optional<DoublesIn>, int, double>;  // as MixedColumn

MixedData make_mixed_data(const std::vector<MixedFacts>& columns) {
    MixedData data;
    must(!columns.empty(), "at least one column");
    for (auto& [levels, codes, values, bins, log_scale] : columns) {
        must(levels > 0 ? codes.has_value() : levels == 0 && values.has_value(), "codes of a discrete column, values of a continuous one");
        for (std::size_t size : {codes ? codes->size() : values->size(), values ? values->size() : codes->size()}) {
            if (data.columns.empty()) data.rows = size;
            must(size == data.rows && size < 0xffffffffu, "columns of equal length, of at most 2^32 - 2 rows");
        }
        const int known = levels > 0 ? levels : bins;
        if (codes)
            for (std::size_t row = 0; row < data.rows; ++row) must(codes->data()[row] < known, "codes below the number of levels");
        data.columns.push_back({levels, codes ? codes->data() : nullptr, values ? values->data() : nullptr, bins, log_scale});
    }
    return data;
}

void check_columns(const MixedData& data, const GaussianSpec& spec) {
    for (const MixedColumn& column : data.columns) {
        must(spec.score != GaussianScore::bge || column.levels == 0, "continuous columns for bge");
        must(spec.score != GaussianScore::cgd || (column.codes && (column.levels > 0 || column.bins > 0)), "bins for cgd");
    }
}

// What families share (one matrix, sums per cell) is made when the score is first used: with threads, and once.
class GaussianTable final : public Scores {
public:
    GaussianTable(std::vector<MixedFacts> columns, GaussianSpec spec)
        : columns_(std::move(columns)), data_(make_mixed_data(columns_)), spec_(std::move(spec)) {
        check_columns(data_, spec_);
    }
    GaussianTable(const std::vector<int>& levels, std::size_t rows, Covariance given, GaussianSpec spec)
        : given_(std::move(given)), data_(elsewhere(levels, rows, given_)), spec_(std::move(spec)) {
        must(spec_.score == GaussianScore::dg || spec_.score == GaussianScore::bge, "a score that reads moments only");
        for (int own : levels) must(spec_.score != GaussianScore::bge || own == 0, "continuous columns for bge");
    }
    int variables() const override { return static_cast<int>(data_.columns.size()); }
    std::size_t rows() const override { return data_.rows; }
    std::unique_ptr<LocalScores> local(double = 0) const override { return first().another(); }
    void prepare(std::span<const int>, Team& team) const override {
        nb::gil_scoped_release release;
        made(team);
    }
    FamilyLikelihood likelihood(int child, std::span<const int> parents) const {
        Control control;
        Team team(1, control);
        std::lock_guard guard(asking_);
        return made(team).likelihood(child, parents);
    }

private:
    GaussianScores& made(Team& team) const {
        std::lock_guard guard(making_);
        if (!first_) first_ = std::make_unique<GaussianScores>(data_, spec_, team);
        return *first_;
    }
    const GaussianScores& first() const {
        Control control;
        Team team(1, control);
        return made(team);
    }
    static MixedData elsewhere(const std::vector<int>& levels, std::size_t rows, const Covariance& given) {
        MixedData data{rows, {}, &given};
        int there = 0;
        for (int own : levels) {
            must(own >= 0, "levels, or none");
            data.columns.push_back({own});
            there += std::max(own, 1);
        }
        must(there > 0 && there == given.columns && rows < 0xffffffffu, "moments of every column");
        return data;
    }
    const std::vector<MixedFacts> columns_;              // kept alive
    const Covariance given_;
    const MixedData data_;
    const GaussianSpec spec_;
    mutable std::mutex making_, asking_;
    mutable std::unique_ptr<GaussianScores> first_;      // others are made from it
};

}  // namespace

void bind_gaussian(nb::module_& m) {
    m.attr("most_embedded_columns") = most_embedded_columns;
    nb::class_<GaussianSpec>(m, "GaussianSpec")
        .def("__init__",
             [](GaussianSpec* self, const std::string& score, bool exact, bool paper, int degree, double alpha_mu, double above,
                std::vector<double> size_prior, double per_parameter) {
                 must(degree >= 1 && degree <= 64 && alpha_mu > 0 && above > 1, "options in range");
                 new (self) GaussianSpec{gaussian_score_named(score), exact, paper, degree, alpha_mu, above, std::move(size_prior), per_parameter};
             },
             "score"_a, "exact"_a = false, "paper"_a = false, "degree"_a = 3, "alpha_mu"_a = 1.0, "above"_a = 2.0,
             "size_prior"_a = std::vector<double>{}, "per_parameter"_a = 0.0);

    nb::class_<GaussianTable, Scores>(m, "GaussianScores")
        .def(nb::init<std::vector<MixedFacts>, GaussianSpec>(), "columns"_a, "spec"_a)
        .def_static(
            "of_moments",                                // the rows lie elsewhere: their means and covariances, row by row
            [](const std::vector<int>& levels, std::size_t rows, DoublesIn mean, DoublesIn matrix, GaussianSpec spec) {
                must(matrix.size() == mean.size() * mean.size(), "a square of covariances");
                Covariance given{static_cast<int>(mean.size()), {mean.data(), mean.data() + mean.size()},
                                 {matrix.data(), matrix.data() + matrix.size()}, {}};
                return std::make_unique<GaussianTable>(levels, rows, std::move(given), std::move(spec));
            },
            "levels"_a, "rows"_a, "mean"_a, "matrix"_a, "spec"_a)
        .def(
            "terms",                                     // log-likelihood and free parameters of a family
            [](const GaussianTable& self, int child, const std::vector<int>& parents) {
                checked_family(child, parents, self.variables());
                nb::gil_scoped_release release;
                const FamilyLikelihood found = self.likelihood(child, parents);
                return std::pair(found.log_likelihood, found.parameters);
            },
            "child"_a, "parents"_a);
}

}  // namespace spinney
