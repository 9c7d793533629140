// The interface for random forests that rank parents.
#include "bind.hpp"
#include "forest.hpp"

namespace spinney {

void bind_forest(nb::module_& m) {
    // Columns as codes, of continuous ones intervals; numbers: of continuous ones what they are as a child, else empty.
    // -> (per child the gains of its columns, or None; why it ended before its time)
    m.def(
        "forest_gains",
        [](const std::vector<ColumnIn>& codes, const std::vector<int>& levels, const std::vector<IntsIn>& numbers, const std::vector<bool>& ordered,
           const std::vector<std::pair<int, std::vector<int>>>& children, int trees, double seconds, std::uint64_t seed, int threads,
           nb::object progress, double time_limit) -> std::pair<nb::list, std::string> {
            const std::size_t n = codes.size();
            must(n >= 1 && levels.size() == n && numbers.size() == n && ordered.size() == n, "levels, numbers and an order for every column");
            const std::size_t rows = codes[0].shape(0);
            must(rows >= 1 && rows < 0xffffffffu && trees >= 1, "rows and trees");
            std::vector<ForestColumn> table(n);
            for (std::size_t v = 0; v < n; ++v) {
                must(codes[v].shape(0) == rows && levels[v] >= 1, "columns of equal length, with levels");
                const bool narrow = codes[v].dtype() == nb::dtype<std::uint8_t>();
                must(narrow || codes[v].dtype() == nb::dtype<std::uint16_t>(), "codes of one or two bytes");
                Column& own = table[v].codes;
                own.levels = levels[v];
                if (narrow) own.narrow = static_cast<const std::uint8_t*>(codes[v].data());
                else own.wide = static_cast<const std::uint16_t*>(codes[v].data());
                must(numbers[v].size() == 0 || numbers[v].size() == rows, "a number per row");
                table[v].numbers = numbers[v].size() ? numbers[v].data() : nullptr;
                table[v].ordered = ordered[v];
            }
            std::vector<ForestChild> wanted;
            for (const auto& [child, columns] : children) {
                must(child >= 0 && child < static_cast<int>(n) && !columns.empty(), "children in range, with columns");
                for (int v : columns) must(v >= 0 && v < static_cast<int>(n) && v != child, "columns in range");
                wanted.push_back({child, columns});
            }
            Control control;
            Team team(threads, control);
            Ending ending;
            ForestSpec spec;
            spec.trees = trees;
            spec.seconds = seconds;
            spec.seed = seed;
            auto found = run(control, progress, ending, time_limit, [&] { return forest_gains(table, rows, wanted, spec, team, control); });
            nb::list out;
            for (auto& gains : found) {
                if (gains) out.append(to_numpy<Doubles>(std::move(*gains)));
                else out.append(nb::none());
            }
            return {out, ending.text()};
        },
        "codes"_a, "levels"_a, "numbers"_a, "ordered"_a, "children"_a, "trees"_a, "seconds"_a, "seed"_a, "threads"_a, "progress"_a.none(),
        "time_limit"_a);
}

}  // namespace spinney
