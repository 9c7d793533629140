// Scores of mixed tables, for Python: families, hill climbing, and what tests and benchmarks ask.
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

void check(const MixedData& data, const GaussianSpec& spec) {
    for (const MixedColumn& column : data.columns) {
        must(spec.score != GaussianScore::bge || column.levels == 0, "continuous columns for bge");
        must(spec.score != GaussianScore::cgd || (column.codes && (column.levels > 0 || column.bins > 0)), "bins for cgd");
    }
}

}  // namespace

void bind_gaussian(nb::module_& m) {
    nb::class_<GaussianSpec>(m, "GaussianSpec")
        .def("__init__",
             [](GaussianSpec* self, const std::string& score, bool exact, bool paper, int degree, double alpha_mu, double above,
                std::vector<double> size_prior, double per_parameter) {
                 must(degree >= 1 && degree <= 64 && alpha_mu > 0 && above > 1, "options in range");
                 new (self) GaussianSpec{gaussian_score_named(score), exact, paper, degree, alpha_mu, above, std::move(size_prior), per_parameter};
             },
             "score"_a, "exact"_a = false, "paper"_a = false, "degree"_a = 3, "alpha_mu"_a = 1.0, "above"_a = 2.0,
             "size_prior"_a = std::vector<double>{}, "per_parameter"_a = 0.0);

    m.def(
        "gaussian_local_scores",
        [](const std::vector<MixedFacts>& columns, const GaussianSpec& spec, const nb::list& list, int threads, nb::object progress,
           double time_limit) {
            MixedData data = make_mixed_data(columns);
            check(data, spec);
            const auto families = to_families(list, data.columns.size());
            Control control;
            Team team(threads, control);
            Ending ending;
            auto found = run(control, progress, ending, time_limit, [&] {
                try {
                    GaussianScores scores(data, spec, team);
                    return score_families(scores, families, team, control);
                } catch (const Stopped&) {
                    return std::vector<double>(families.size(), std::numeric_limits<double>::quiet_NaN());
                }
            });
            if (ending.interrupted) {
                PyErr_SetNone(PyExc_KeyboardInterrupt);
                throw nb::python_error();
            }
            return to_numpy<Doubles>(std::move(found));
        },
        "columns"_a, "spec"_a, "families"_a, "threads"_a = 1, "progress"_a.none() = nb::none(), "time_limit"_a = 0.0);

    // Log-likelihood and free parameters of a family.
    m.def(
        "gaussian_terms",
        [](const std::vector<MixedFacts>& columns, const GaussianSpec& spec, int child, const std::vector<int>& parents) {
            MixedData data = make_mixed_data(columns);
            check(data, spec);
            check_family(child, parents, data.columns.size());
            Control control;
            Team team(1, control);
            const Terms terms = GaussianScores(data, spec, team).family(child, parents);
            return std::pair(terms.likelihood, terms.parameters);
        },
        "columns"_a, "spec"_a, "child"_a, "parents"_a);

    // All families of up to so many parents, as a search asks for them: the sum of their scores, for benchmarks.
    m.def(
        "gaussian_all",
        [](const std::vector<MixedFacts>& columns, const GaussianSpec& spec, int most) {
            MixedData data = make_mixed_data(columns);
            check(data, spec);
            Control control;
            Team team(1, control);
            const int n = static_cast<int>(data.columns.size());
            std::pair<std::size_t, double> found{0, 0.0};
            nb::gil_scoped_release release;
            GaussianScores scores(data, spec, team);
            std::vector<int> stem, candidates;
            std::vector<double> out(n);
            std::function<void(int)> go = [&](int child) {
                candidates.clear();
                for (int v = stem.empty() ? 0 : stem.back() + 1; v < n; ++v)
                    if (v != child) candidates.push_back(v);
                scores.extend(child, stem, candidates, out.data());
                for (std::size_t i = 0; i < candidates.size(); ++i) found.second += out[i];
                found.first += candidates.size();
                if (static_cast<int>(stem.size()) + 1 >= most) return;
                const auto own = candidates;
                for (int v : own) {
                    stem.push_back(v);
                    go(child);
                    stem.pop_back();
                }
            };
            for (int child = 0; child < n; ++child) {
                found.second += scores.score(child, {});
                ++found.first;
                if (most > 0) go(child);
            }
            return found;
        },
        "columns"_a, "spec"_a, "most"_a);

    m.def(
        "greedy_gaussian",
        [](const std::vector<MixedFacts>& columns, const GaussianSpec& spec, const GreedyArgs& args, nb::object progress) {
            MixedData data = make_mixed_data(columns);
            check(data, spec);
            GreedyRequest request = args.request();
            must(request.start.size() == data.columns.size(), "a start for every variable");
            Control control;
            Team team(args.threads, control);
            Ending ending;
            auto found = run(control, progress, ending, args.time_limit, [&] {
                GaussianScores scores(data, spec, team);
                return greedy(scores, request, team, control);
            });
            return to_dict(std::move(found), ending);
        },
        "columns"_a, "spec"_a, "args"_a, "progress"_a.none());
}

}  // namespace spinney
