#include "mars_families.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "orthonormal.hpp"

namespace spinney {
namespace {

// Of a child's squares: a fit that leaves less is taken to leave this, so that no family scores infinity.
constexpr double least_share_left = 1e-10;

std::vector<double> indicator(const Column& column, int level, std::size_t rows) {
    std::vector<double> values(rows);
    column.visit([&](const auto* codes) {
        for (std::size_t i = 0; i < rows; ++i) values[i] = codes[i] == level;
    });
    return values;
}

// Numbers are taken in units of their standard deviation, around their mean.
void standardise(MarsColumn& column, std::size_t rows) {
    const double n = static_cast<double>(rows), mean = sum(column.values, rows) / n;
    double squares = 0;
    for (std::size_t i = 0; i < rows; ++i) squares += (column.values[i] - mean) * (column.values[i] - mean);
    column.origin = mean;
    if (squares > 0) column.unit = std::sqrt(n / squares);
}

}  // namespace

MarsData::MarsData(const Data& table, std::vector<char> ordinal, std::vector<double> scales)
    : table_(table), ordinal_(std::move(ordinal)), scales_(std::move(scales)), variables_(table.variables()) {}

void MarsData::prepare(std::span<const int> variables, Team& team) {
    std::lock_guard guard(lock_);
    std::vector<int> missing;
    for (int v : variables)
        if (!variables_[v].ready) missing.push_back(v);
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    team.run(missing.size(), [&](int, std::size_t task) { make(missing[task]); });
}

void MarsData::make(int v) {
    const Column& given = table_.column(v);
    const std::size_t rows = table_.rows();
    Variable own;
    if (given.values) {
        own.levels = {-1};
        own.columns.resize(1);
        own.columns[0].values = given.values;
    } else {
        std::vector<std::size_t> counts(given.levels, 0);
        given.visit([&](const auto* codes) {
            for (std::size_t i = 0; i < rows; ++i) ++counts[codes[i]];
        });
        for (int level = 0; level < given.levels; ++level)
            if (counts[level]) own.occurring.push_back(level);
        if (ordinal_[v]) {
            own.levels = {-1};
            own.own.emplace_back(rows);
            given.visit([&](const auto* codes) {
                for (std::size_t i = 0; i < rows; ++i) own.own[0][i] = codes[i];
            });
        } else if (own.occurring.size() > 1) {
            own.levels = own.occurring;
            // Of two levels the more frequent is the one without an indicator, or the one of the first row.
            if (own.levels.size() == 2) {
                const std::size_t a = counts[own.levels[0]], b = counts[own.levels[1]];
                const int first = given.visit([](const auto* codes) -> int { return codes[0]; });
                own.levels = {a > b || (a == b && first == own.levels[0]) ? own.levels[1] : own.levels[0]};
            }
            for (int level : own.levels) own.own.push_back(indicator(given, level, rows));
            given.visit([&](const auto* codes) { own.codes.assign(codes, codes + rows); });
        }
        own.columns.resize(own.own.size());
        for (std::size_t c = 0; c < own.own.size(); ++c) {
            own.columns[c].values = own.own[c].data();
            if (own.codes.empty()) continue;
            own.columns[c].codes = own.codes.data();     // of the heap: it stays where it is when `own` moves
            own.columns[c].level = own.levels[c];
            own.columns[c].levels = given.levels;
        }
    }
    for (MarsColumn& column : own.columns) {
        if (rows == 0) break;
        column.sort(rows);
        if (own.levels[0] < 0) standardise(column, rows);
    }
    own.ready = true;
    variables_[v] = std::move(own);
}

MarsFamilies::MarsFamilies(const MarsData& data, const MarsScoreSpec& spec, int child, double most_bytes)
    : data_(data), spec_(spec), child_(child), most_bytes_(most_bytes), associations_(data.table().variables()) {
    spec_.fit.least_left = least_share_left;
    if (most_bytes > 0) spec_.fit.most_bytes = std::min(spec_.fit.most_bytes, most_bytes / 2);
    const Column& given = data.table().column(child);
    if (given.values) {
        responses_.push_back(given.values);
        return;
    }
    std::vector<int> levels = data.variable(child).occurring;
    if (levels.size() <= 2 && !levels.empty()) levels.resize(1);
    for (int level : levels) indicators_.push_back(indicator(given, level, data.rows()));
    for (const auto& own : indicators_) responses_.push_back(own.data());
}

double MarsFamilies::association(int parent, std::size_t column) {
    const auto& columns = data_.variable(parent).columns;
    if (associations_[parent].empty()) {
        const std::size_t n = data_.rows();
        for (const MarsColumn& own : columns) {
            const double mean = sum(own.values, n) / static_cast<double>(n);
            double squares = 0, found = 0;
            for (std::size_t i = 0; i < n; ++i) squares += (own.values[i] - mean) * (own.values[i] - mean);
            for (const double* y : responses_) {
                const double middle = sum(y, n) / static_cast<double>(n);
                double product = 0;
                for (std::size_t i = 0; i < n; ++i) product += (own.values[i] - mean) * (y[i] - middle);
                found += product * product;
            }
            associations_[parent].push_back(squares > 0 ? found / squares : 0);
        }
    }
    return associations_[parent][column];
}

// By groups of rows, where all columns are indicators and the groups are fewer than the rows by far.
MarsFit MarsFamilies::fit(std::span<const int> parents, std::span<const MarsColumn* const> columns) {
    const std::size_t n = data_.rows();
    std::vector<std::uint32_t> group(n, 0), first(1, 0);
    const bool indicators = std::all_of(columns.begin(), columns.end(), [](const MarsColumn* column) { return column->codes; });
    for (int p : parents) {
        const std::vector<std::uint16_t>& codes = data_.variable(p).codes;
        const std::size_t levels = data_.table().levels(p);
        if (codes.empty() || !indicators) continue;      // a constant, or none of this
        if (first.size() * levels > 100 * n) return fit_mars(spec_.fit, columns, responses_, n);
        constexpr std::uint32_t unseen = 0xffffffffu;
        std::vector<std::uint32_t> known(first.size() * levels, unseen);
        first.clear();
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t& number = known[group[i] * levels + codes[i]];
            if (number == unseen) {
                number = static_cast<std::uint32_t>(first.size());
                first.push_back(static_cast<std::uint32_t>(i));
            }
            group[i] = number;
        }
    }
    const std::size_t count = first.size();
    if (!indicators || 4 * count > 3 * n) return fit_mars(spec_.fit, columns, responses_, n);
    MarsGroups groups{std::vector<double>(count, 0.0), n, 0.0};
    for (std::uint32_t own : group) ++groups.weights[own];
    std::vector<std::vector<double>> means(responses_.size(), std::vector<double>(count, 0.0));
    std::vector<const double*> responses;
    for (std::size_t r = 0; r < responses_.size(); ++r) {
        const double* y = responses_[r];
        for (std::size_t i = 0; i < n; ++i) means[r][group[i]] += y[i];
        for (std::size_t g = 0; g < count; ++g) means[r][g] /= groups.weights[g];
        for (std::size_t i = 0; i < n; ++i) groups.within += (y[i] - means[r][group[i]]) * (y[i] - means[r][group[i]]);
        responses.push_back(means[r].data());
    }
    std::vector<std::vector<double>> values;
    std::vector<std::vector<std::uint16_t>> codes;
    std::vector<MarsColumn> own;
    std::vector<const MarsColumn*> pointers;
    values.reserve(columns.size());
    own.reserve(columns.size());
    std::vector<std::pair<const std::uint16_t*, std::size_t>> seen;
    for (const MarsColumn* column : columns) {
        auto at = std::find_if(seen.begin(), seen.end(), [&](const auto& one) { return one.first == column->codes; });
        if (at == seen.end()) {
            at = seen.insert(seen.end(), {column->codes, codes.size()});
            std::vector<std::uint16_t>& made = codes.emplace_back();
            for (std::uint32_t row : first) made.push_back(column->codes[row]);
        }
        std::vector<double>& made = values.emplace_back();
        for (std::uint32_t row : first) made.push_back(column->values[row]);
        MarsColumn& added = own.emplace_back(*column);
        added.values = made.data();
        added.codes = codes[at->second].data();
        added.order.assign(1, static_cast<std::uint32_t>(std::min_element(made.begin(), made.end()) - made.begin()));
        pointers.push_back(&added);
    }
    MarsFit found = fit_mars(spec_.fit, pointers, responses, count, &groups);
    for (auto& term : found.terms)
        for (MarsFactor& factor : term) factor.row = first[factor.row];
    return found;
}

MarsFamilyFit MarsFamilies::family(std::span<const int> parents) {
    MarsFamilyFit found;
    const double prior = spec_.size_prior.empty() ? 0 : spec_.size_prior[std::min(parents.size(), spec_.size_prior.size() - 1)];
    found.score = prior;
    if (data_.rows() == 0 || responses_.empty()) return found;
    struct Place { double association; int variable; std::size_t column; };
    std::vector<Place> places;
    for (int p : parents)
        for (std::size_t c = 0; c < data_.variable(p).columns.size(); ++c) places.push_back({association(p, c), p, c});
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.association > b.association; });
    std::vector<const MarsColumn*> columns;
    for (const Place& place : places) {
        columns.push_back(&data_.variable(place.variable).columns[place.column]);
        found.columns.emplace_back(place.variable, data_.variable(place.variable).levels[place.column]);
    }
    found.fit = fit(parents, columns);
    const std::size_t terms = found.fit.selected.size();
    found.parameters = static_cast<double>(terms * responses_.size());
    const double n = static_cast<double>(data_.rows()), total = found.fit.total;
    if (!(total > 0)) return found;                      // a child that is constant in the table
    const double gcv = found.fit.own_gcv();
    const bool discrete = data_.table().column(child_).values == nullptr;
    const double unit = discrete ? 1 : spec_.raw ? 1 / (data_.scale(child_) * data_.scale(child_)) : total / n;
    found.score += spec_.raw ? -gcv / unit : -n / 2 * std::log(gcv / unit);
    found.score += spec_.per_parameter * found.parameters;
    return found;
}

bool MarsFamilies::fits(std::span<const int> parents) {
    if (most_bytes_ == 0) return true;
    std::size_t columns = 0;
    for (int p : parents) columns += data_.variable(p).columns.size();
    const double rows = static_cast<double>(data_.rows()), terms = spec_.fit.most_terms(columns);
    return (2 * terms + 4 + 3 * static_cast<double>(responses_.size())) * rows * sizeof(double) <= most_bytes_ / 2;
}

FamilyScores mars_scores(const MarsData& data, const MarsScoreSpec& spec, double most_bytes) {
    return {data.rows(), [&data, &spec, most_bytes](int child) -> std::unique_ptr<FamilyWorker> {
                return std::make_unique<MarsFamilies>(data, spec, child, most_bytes);
            }};
}

}  // namespace spinney
