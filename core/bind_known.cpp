// What is known of families beforehand, and what Step 1 tells as it goes.
#include "bind.hpp"

namespace spinney {

namespace {

using RanksIn = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BytesIn = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ranks = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>>;
using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

}  // namespace

void bind_known(nb::module_& m) {
    nb::class_<KnownScores>(m, "KnownScores")
        .def(nb::init<const Allowed&>(), "allowed"_a, nb::keep_alive<1, 2>())
        .def("add",
             [](KnownScores& self, int child, int size, RanksIn ranks, DoublesIn scores, std::optional<BytesIn> closed, int count,
                std::optional<IntsIn> moved) {
                 must(child >= 0 && child < self.allowed().variables() && size >= 0, "a child that there is");
                 must(ranks.size() == scores.size() && (!closed || closed->size() == ranks.size()), "a score per rank");
                 if (moved) {
                     must(static_cast<int>(moved->size()) == count && count >= size, "a place per candidate");
                     for (std::size_t i = 0, last = 0; i < moved->size(); ++i) {
                         const int place = moved->data()[i];
                         if (place < 0) continue;
                         must(place < self.allowed().count(child) && place + 1 > static_cast<int>(last), "rising places");
                         last = place + 1;
                     }
                 }
                 std::span<const std::uint8_t> flags;
                 std::span<const std::int32_t> places;
                 if (closed) flags = {closed->data(), closed->size()};
                 if (moved) places = {moved->data(), moved->size()};
                 nb::gil_scoped_release release;
                 return self.add(child, size, {ranks.data(), ranks.size()}, {scores.data(), scores.size()}, flags, count, places);
             },
             "child"_a, "size"_a, "ranks"_a, "scores"_a, "closed"_a.none(), "count"_a, "moved"_a.none())
        .def("layer",                                    // what is known of the sets of one size: ranks, scores, closed
             [](const KnownScores& self, int child, int size) {
                 must(child >= 0 && child < self.allowed().variables() && size >= 0 && size <= self.allowed().most[child], "a layer that there is");
                 std::vector<std::uint64_t> ranks;
                 std::vector<double> scores;
                 std::vector<std::uint8_t> closed;
                 for (std::uint64_t rank = 0; rank < self.sets(child, size); ++rank) {
                     const double score = self.score(child, size, rank);
                     if (std::isnan(score)) continue;
                     ranks.push_back(rank), scores.push_back(score), closed.push_back(self.closed_above(child, size, rank));
                 }
                 return std::tuple(to_numpy<Ranks>(std::move(ranks)), to_numpy<Doubles>(std::move(scores)), to_numpy<Bytes>(std::move(closed)));
             },
             "child"_a, "size"_a)
        .def_prop_ro("families", &KnownScores::families);

    nb::class_<FamilyLog>(m, "FamilyLog")
        .def(nb::init<int>(), "lanes"_a)
        .def("drain", [](FamilyLog& self) {              // what is new: children, sizes, ranks, scores, closed
            std::vector<std::int32_t> children;
            std::vector<std::uint8_t> sizes, closed;
            std::vector<std::uint64_t> ranks;
            std::vector<double> scores;
            self.drain([&](const LoggedFamily& family) {
                children.push_back(family.child);
                sizes.push_back(static_cast<std::uint8_t>(family.size));
                ranks.push_back(family.rank);
                scores.push_back(family.score);
                closed.push_back(static_cast<std::uint8_t>(family.closed_above));
            });
            return std::tuple(to_numpy<Ints>(std::move(children)), to_numpy<Bytes>(std::move(sizes)), to_numpy<Ranks>(std::move(ranks)),
                              to_numpy<Doubles>(std::move(scores)), to_numpy<Bytes>(std::move(closed)));
        });

    m.def(
        "walk_tasks",                                    // per task of a block: the first variable and the second, or -1
        [](const Allowed& allowed, int size) {
            std::vector<std::int32_t> flat;
            for (auto [u, v] : walk_tasks(allowed, size, by_pairs(allowed))) flat.push_back(u), flat.push_back(v);
            return to_numpy<Ints>(std::move(flat));
        },
        "allowed"_a, "size"_a);

    m.def(
        "places_of_ranks",                               // the sets as places among `count` candidates, one set after another
        [](RanksIn ranks, int size, int count) {
            must(size >= 0 && count >= size, "sets of candidates");
            const Binomials binomials(count, size);
            std::vector<std::int32_t> places;
            places.reserve(ranks.size() * size);
            for (std::size_t i = 0; i < ranks.size(); ++i) {
                std::uint64_t left = ranks.data()[i];
                must(left < binomials.at(count, size), "ranks of sets");
                for (int k = size, place = count; k > 0; --k) {
                    do --place;
                    while (binomials.at(place, k) > left);
                    left -= binomials.at(place, k);
                    places.push_back(count - 1 - place);
                }
            }
            return to_numpy<Ints>(std::move(places));
        },
        "ranks"_a, "size"_a, "count"_a);
}

}  // namespace spinney
