// The best line for a block's problem: see rules.hpp.
#pragma once
#include "lhtree/grow/compact/problem.hpp"

namespace lhtree::compact {

// A line with its value.
struct Candidate {
    Line line;
    double wrong = 0.0;  // weight on the wrong side
    double value = 0.0;  // lower is better
};

// Effort: all candidates; without the forward search; or those needed to split a leaf, which is solved again
// soon.
enum class Effort { all, tune, quick };

// Returns an empty line if none has enough weight on both sides.
Candidate solve(const Problem& problem, const Line& present, Effort effort, Watch& watch);

// Sweeps over the weights of a line, with its offset fixed.
Line polish(const Problem& problem, const Line& line, Watch& watch);

}  // namespace lhtree::compact
