#include "tree_families.hpp"

namespace spinney {

void TreeData::find_seen() {
    seen = columns;
    seen_codes_.resize(columns.size());
    for (std::size_t v = 0; v < columns.size(); ++v) {
        const TreeColumn& column = columns[v];
        if (column.kind == VariableKind::continuous) continue;
        std::vector<std::uint16_t> number(column.levels, 0);
        for (std::size_t row = 0; row < rows; ++row) number[column.codes[row]] = 1;
        int levels = 0;
        for (std::uint16_t& level : number)
            if (level) level = static_cast<std::uint16_t>(levels++);
        if (levels == column.levels) continue;
        seen_codes_[v].resize(rows);
        for (std::size_t row = 0; row < rows; ++row) seen_codes_[v][row] = number[column.codes[row]];
        seen[v].levels = std::max(levels, 1);
        seen[v].codes = seen_codes_[v].data();
    }
}

namespace {

std::vector<TreeColumn> picked(const std::vector<TreeColumn>& columns, std::span<const int> parents) {
    std::vector<TreeColumn> own;
    for (int p : parents) own.push_back(columns[p]);
    return own;
}

}  // namespace

std::vector<int> TreeFamilies::shape_of(std::span<const int> parents) const {
    std::vector<int> shape;
    for (int p : parents) shape.push_back(data_.columns[p].levels * 3 + static_cast<int>(data_.columns[p].kind));
    std::sort(shape.begin(), shape.end());
    return shape;
}

const TreePrior& TreeFamilies::prior_of(std::span<const int> parents) {
    auto [at, fresh] = priors_.try_emplace(shape_of(parents));
    if (fresh && spec_.structure_prior) at->second = tree_prior(picked(data_.columns, parents));
    return at->second;
}

double TreeFamilies::score(std::span<const int> parents) {
    if (spec_.binned) {
        int cut = 0;
        for (int p : parents) cut += data_.columns[p].kind != VariableKind::categorical;
        return binned(parents).value + spec_.prior(parents.size()) + cut * spec_.log_cuttings;
    }
    const TreePrior& prior = prior_of(parents);
    return scorer_->best(picked(searched_, parents), prior.leaf) + prior.normaliser + spec_.prior(parents.size());
}

Tree TreeFamilies::tree(std::span<const int> parents) {
    return scorer_->fit(picked(data_.columns, parents), prior_of(parents).leaf);
}

BinnedBest TreeFamilies::binned(std::span<const int> parents) {
    std::vector<std::vector<Cutting>> cuttings;
    for (int p : parents) cuttings.push_back(data_.cuttings[p]);
    return best_binned(*scorer_, cuttings, data_.rows);
}

}  // namespace spinney
