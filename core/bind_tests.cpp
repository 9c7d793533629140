// The interface for tests of independence, and for the searches that read them.
#include "bind.hpp"
#include "search_pc.hpp"

namespace spinney {
namespace {

// Tests that Python computes: function(x, y, given) -> p-value. Their threads take turns at the GIL.
class CalledTests final : public Tests {
public:
    CalledTests(nb::object function, int variables) : function_(std::move(function)), variables_(variables) {}
    ~CalledTests() override {
        nb::gil_scoped_acquire acquire;
        function_.reset();
    }
    int variables() const override { return variables_; }
    std::unique_ptr<LocalTests> local(double) const override { return std::make_unique<Local>(*this); }

private:
    class Local final : public LocalTests {
    public:
        explicit Local(const CalledTests& tests) : tests_(tests) {}
        double p_value(int x, int y, std::span<const int> given) override {
            nb::gil_scoped_acquire acquire;
            nb::list numbers;
            for (int v : given) numbers.append(v);
            return nb::cast<double>(tests_.function_(x, y, nb::tuple(numbers)));
        }
        std::unique_ptr<LocalTests> another() const override { return std::make_unique<Local>(tests_); }

    private:
        const CalledTests& tests_;
    };
    nb::object function_;
    int variables_;
};

}  // namespace

void bind_tests(nb::module_& m) {
    nb::class_<Tests>(m, "Tests").def_prop_ro("variables", &Tests::variables);

    m.def(
        "likelihood_tests",
        [](const Scores& scores, bool both) -> std::unique_ptr<Tests> { return std::make_unique<LikelihoodTests>(scores, both); },
        "scores"_a, "both"_a, nb::keep_alive<0, 1>());

    m.def(
        "called_tests",
        [](nb::object function, int variables) -> std::unique_ptr<Tests> {
            must(variables >= 1, "a variable");
            return std::make_unique<CalledTests>(std::move(function), variables);
        },
        "function"_a, "variables"_a);

    m.def(
        "pc",
        [](const Tests& tests, const Allowed& allowed, double alpha, int most_given, bool conservative, int threads, nb::object progress,
           double time_limit, double most_bytes) {
            must(allowed.variables() == tests.variables(), "a limit per child");
            must(alpha > 0 && alpha < 1 && most_given >= 0, "alpha and the size of sets in range");
            Control control;
            Team team(threads, control);
            tests.prepare(team);
            Ending ending;
            const PcRequest request{allowed, alpha, most_given, conservative};
            PcResult found = run(control, progress, ending, time_limit, [&] { return pc(tests, request, most_bytes, team, control); });
            nb::list separations;
            for (const Separation& own : found.separations) separations.append(nb::make_tuple(own.x, own.y, nb::cast(own.given), own.p));
            nb::dict out;
            out["parents"] = nb::cast(found.parents);
            out["separations"] = separations;
            out["tests"] = found.tests;
            out["untested"] = found.untested;
            out["ambiguous"] = found.ambiguous;
            out["overruled"] = found.overruled;
            out["further"] = found.further;
            out["dropped"] = found.dropped;
            out["left_out"] = found.left_out;
            out["stopped"] = ending.text();
            return out;
        },
        "tests"_a, "allowed"_a, "alpha"_a, "most_given"_a, "conservative"_a, "threads"_a, "progress"_a.none(), "time_limit"_a, "most_bytes"_a = 0.0);
}

}  // namespace spinney
