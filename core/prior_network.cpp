// Variable elimination: only ancestors of the asked variables matter; the variable whose elimination makes the
// smallest factor goes first. Prior networks are small or sparse; a factor that outgrows memory is refused.
#include "prior_network.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace spinney {
namespace {

using Factor = PriorNetwork::Factor;

constexpr double most_cells = 5e7;

std::size_t cells_of(const std::vector<int>& variables, const std::vector<int>& levels) {
    double cells = 1;
    for (int v : variables) cells *= levels[v];
    if (cells > most_cells)
        throw std::length_error("a joint table of the prior network would have more than 50 million cells");
    return static_cast<std::size_t>(cells);
}

// Walks all joint levels of `over` in order and keeps the matching position in each factor.
Factor multiply(const std::vector<Factor>& factors, std::vector<int> over, const std::vector<int>& levels) {
    Factor result{std::move(over), {}};
    const std::size_t cells = cells_of(result.variables, levels), depth = result.variables.size();
    result.values.resize(cells);
    std::vector<std::vector<std::size_t>> stride(factors.size(), std::vector<std::size_t>(depth, 0));
    for (std::size_t f = 0; f < factors.size(); ++f) {
        std::size_t step = 1;
        for (std::size_t i = factors[f].variables.size(); i-- > 0;) {
            auto place = std::lower_bound(result.variables.begin(), result.variables.end(), factors[f].variables[i]);
            stride[f][place - result.variables.begin()] = step;
            step *= levels[factors[f].variables[i]];
        }
    }
    std::vector<int> digit(depth, 0);
    std::vector<std::size_t> at(factors.size(), 0);
    for (std::size_t cell = 0; cell < cells; ++cell) {
        double product = 1;
        for (std::size_t f = 0; f < factors.size(); ++f) product *= factors[f].values[at[f]];
        result.values[cell] = product;
        for (std::size_t i = depth; i-- > 0;) {
            bool carry = ++digit[i] == levels[result.variables[i]];
            for (std::size_t f = 0; f < factors.size(); ++f)
                at[f] += carry ? stride[f][i] * (1 - levels[result.variables[i]]) : stride[f][i];
            if (!carry) break;
            digit[i] = 0;
        }
    }
    return result;
}

Factor sum_out(const Factor& factor, int variable, const std::vector<int>& levels) {
    std::size_t inner = 1, position = 0;
    while (factor.variables[position] != variable) ++position;
    for (std::size_t i = position + 1; i < factor.variables.size(); ++i) inner *= levels[factor.variables[i]];
    const std::size_t r = levels[variable];
    Factor result{factor.variables, std::vector<double>(factor.values.size() / r, 0.0)};
    result.variables.erase(result.variables.begin() + position);
    for (std::size_t cell = 0; cell < factor.values.size(); ++cell)
        result.values[cell / (inner * r) * inner + cell % inner] += factor.values[cell];
    return result;
}

}  // namespace

PriorNetwork::PriorNetwork(std::vector<int> levels, std::vector<PriorTable> tables) : levels_(std::move(levels)) {
    for (std::size_t v = 0; v < tables.size(); ++v) {
        // The table's own order (parents, child) is turned into sorted order through a walk over the sorted one.
        std::vector<int> order = tables[v].parents;
        order.push_back(static_cast<int>(v));
        std::vector<int> sorted = order;
        std::sort(sorted.begin(), sorted.end());
        Factor factor{sorted, std::vector<double>(cells_of(sorted, levels_))};
        std::vector<std::size_t> step(sorted.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            std::size_t size = 1;
            for (std::size_t k = std::find(sorted.begin(), sorted.end(), order[i]) - sorted.begin() + 1;
                 k < sorted.size(); ++k)
                size *= levels_[sorted[k]];
            step[i] = size;
        }
        for (std::size_t cell = 0; cell < factor.values.size(); ++cell) {
            std::size_t rest = cell, place = 0;
            for (std::size_t i = order.size(); i-- > 0;) {
                place += rest % levels_[order[i]] * step[i];
                rest /= levels_[order[i]];
            }
            factor.values[place] = tables[v].probabilities[cell];
        }
        factors_.push_back(std::move(factor));
    }
}

std::vector<double> PriorNetwork::joint(std::span<const int> variables, std::span<const Limit> limits) const {
    std::set<int> relevant;
    std::vector<int> todo(variables.begin(), variables.end());
    std::vector<Factor> factors;
    for (const Limit& limit : limits) {                  // a factor of its own: 1 where it holds
        todo.push_back(limit.parent);
        Factor own{{limit.parent}, {}};
        for (int k = 0; k < levels_[limit.parent]; ++k) own.values.push_back(static_cast<double>(limit.levels >> k & 1));
        factors.push_back(std::move(own));
    }
    while (!todo.empty()) {
        int v = todo.back();
        todo.pop_back();
        if (!relevant.insert(v).second) continue;
        for (int parent : factors_[v].variables)
            if (parent != v) todo.push_back(parent);
        factors.push_back(factors_[v]);
    }
    std::set<int> hidden = relevant;
    for (int v : variables) hidden.erase(v);
    auto scope_with = [&](int v) {
        std::set<int> scope;
        for (const Factor& f : factors)
            if (std::binary_search(f.variables.begin(), f.variables.end(), v))
                scope.insert(f.variables.begin(), f.variables.end());
        return scope;
    };
    while (!hidden.empty()) {
        int best = -1;
        double smallest = 0;
        for (int v : hidden) {
            double cells = 1;
            for (int u : scope_with(v)) cells *= levels_[u];
            if (best < 0 || cells < smallest) best = v, smallest = cells;
        }
        auto scope = scope_with(best);
        std::vector<Factor> touched, rest;
        for (Factor& f : factors)
            (std::binary_search(f.variables.begin(), f.variables.end(), best) ? touched : rest).push_back(std::move(f));
        Factor product = multiply(touched, std::vector<int>(scope.begin(), scope.end()), levels_);
        rest.push_back(sum_out(product, best, levels_));
        factors = std::move(rest);
        hidden.erase(best);
    }
    return multiply(factors, std::vector<int>(variables.begin(), variables.end()), levels_).values;
}

}  // namespace spinney
