// The best line for a block's problem: see rules.hpp.
#pragma once
#include "lhtree/grow/compact/problem.hpp"

namespace lhtree::compact {

// A line, and what it is judged by.
struct Candidate {
    Line line;
    double wrong = 0.0;  // weight on the wrong side
    double value = 0.0;  // what is to be low
};

// How much is tried: all; without the forward search; or what splitting a leaf needs, which is solved again
// soon.
enum class Effort { all, tune, quick };

// Not given if no line is left with enough weight on both sides.
Candidate solve(const Problem& problem, const Line& present, Effort effort, Watch& watch);

// Sweeps over the weights of a line (polish.cpp); its offset stays as it is.
Line polish(const Problem& problem, const Line& line, Watch& watch);

}  // namespace lhtree::compact
