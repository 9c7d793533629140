// The interface for posterior probabilities over listed sets: exact sums, and chains.
#include "bind.hpp"
#include "order_posterior.hpp"
#include "posterior_chains.hpp"

namespace spinney {

void bind_posterior(nb::module_& m) {
    m.attr("most_posterior_variables") = most_posterior_variables;
    m.def("exact_posterior_bytes", &exact_posterior_bytes, "variables"_a, "orders"_a, "threads"_a);

    m.def(
        "exact_posterior",
        [](const SetsIn& arrays, bool orders, int threads, nb::object progress, double time_limit) {
            ListedSets sets = read_sets(arrays);
            must(!sets.empty() && sets.size() <= most_posterior_variables, "few variables");
            Control control;
            Team team(threads, control);
            Ending ending;
            ExactPosterior found = run(control, progress, ending, time_limit, [&] { return exact_posterior(sets, orders, team, control); });
            nb::dict out;
            nb::list probabilities;
            for (auto& own : found.sets) probabilities.append(to_numpy<Doubles>(std::move(own)));
            out["sets"] = probabilities;
            out["log_sum"] = found.log_sum;
            out["rounding"] = found.rounding;
            out["feasible"] = found.feasible;
            out["stopped"] = found.stopped ? ending.text() : "";
            return out;
        },
        "sets"_a, "orders"_a, "threads"_a, "progress"_a.none(), "time_limit"_a);

    m.attr("most_chain_variables") = most_chain_variables;
    m.def(
        "posterior_chains",
        [](const SetsIn& arrays, bool orders, int chains, std::uint64_t burn_in, std::uint64_t samples, std::uint64_t seed, int networks,
           int threads, nb::object progress, double time_limit) {
            ListedSets sets = read_sets(arrays);
            must(!sets.empty() && sets.size() <= most_chain_variables, "not too many variables");
            must(chains >= 1 && chains <= 1000 && samples >= 1 && samples <= 1u << 31 && burn_in <= 1u << 31 && networks >= 0, "a chain, a sample");
            Control control;
            Team team(threads, control);
            Ending ending;
            const ChainRequest request{orders, chains, burn_in, samples, seed, networks};
            ChainResult found = run(control, progress, ending, time_limit, [&] { return posterior_chains(sets, request, team, control); });
            nb::list walks;
            for (Chain& chain : found.chains) {
                nb::dict walk;
                nb::list batches, own_sets;
                for (auto& batch : chain.batches) batches.append(to_numpy<Doubles>(std::move(batch)));
                for (auto& own : chain.sets) own_sets.append(to_numpy<Doubles>(std::move(own)));
                walk["samples"] = chain.samples;
                walk["batch_length"] = chain.batch_length;
                walk["batches"] = batches;
                walk["sets"] = own_sets;
                walk["scores"] = to_numpy<Doubles>(std::move(chain.scores));
                walk["networks"] = nb::cast(chain.networks);
                walk["moves"] = nb::make_tuple(chain.moves, chain.moved, chain.reversals, chain.reversed);
                walks.append(walk);
            }
            nb::dict out;
            out["chains"] = walks;
            out["feasible"] = found.feasible;
            out["stopped"] = found.stopped ? ending.text() : "";
            return out;
        },
        "sets"_a, "orders"_a, "chains"_a, "burn_in"_a, "samples"_a, "seed"_a, "networks"_a, "threads"_a, "progress"_a.none(), "time_limit"_a);
}

}  // namespace spinney
