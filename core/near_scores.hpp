// Scores that are had much quicker where their last digits do not matter: what a search ranks its next steps by.
#pragma once

#include <span>

namespace spinney {

class NearScores {
public:
    virtual ~NearScores() = default;
    // As LocalScores::extend, to about 1e-12 of the rows; out[i] depends on the child, the parents and candidates[i] alone. What is
    // surely below `least` may come as minus infinity.
    virtual void near(int child, std::span<const int> parents, std::span<const int> candidates, double least, double* out) = 0;
    // With one parent less, for each of them. False: not for this family.
    virtual bool near_without(int, std::span<const int>, double*) { return false; }
};

}  // namespace spinney
