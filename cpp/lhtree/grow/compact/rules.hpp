// The rules of the compact tree, each number in one place; tests/reference/compact.py repeats them slowly.
//
// Data. z are the normalised values, float32, a missing value is 0. Fits use clip(z, ±8), feature sums z
// itself. A feature's codes are its values in at most 255 bins: with at most 255 distinct values a code each,
// otherwise value v has the code floor(255 · (weight of the values below v) / (weight of all)), renumbered
// without gaps.
//
// Costs. A leaf of weight n estimates the shares P = (counts + prior) / (n + 1); a row of class c costs
// 1 - 2 P_c + Σ P² there, times its weight. A number r (in units in which its mean is 0 and its standard
// deviation 1/2, so that two classes of equal size and 0/1 cost the same) has the estimate m = Σ r / (n + 1)
// and the cost 2 (r - m)². Costs are rounded to multiples of 2^-24 before they are multiplied by weights:
// their sums are exact for integer weights, so that these equal repetition.
//
// Objective: Σ costs + λ · (terms + leaves), λ = penalty · 0.15 · ln(weight of all rows).
//
// A line: features ascending, weights float32 with max |w| = 1, the sum of w · z in float64 from left to
// right; sum < offset goes left.
//
// A block's problem. Row i costs l_i left and r_i right (walked down the subtrees as they are). Its side is
// right if l_i > r_i, else left; its weight w_i is weight · |l_i - r_i|. A line is judged by
//   0.7 · Σ w of the rows on the wrong side + 0.3 · logistic loss in bits + λ · terms,
// and needs weight ≥ min_samples_leaf on both sides. One is better than another if it is lower by more than
// 1e-9 · Σ w. Σ w = 0 on a side: there is nothing to solve, and only the present line is a candidate.
//
// Logistic fit: the least Σ w ln(1 + e^(∓f)) + ½ρ Σβ², f = b + Σ β clip(z), ρ = 1e-3 Σ w, from b =
// ln(W_right/W_left), β = 0, or from the coefficients there are. At most 12 Newton steps (1e-9 Σ w is added
// to the second derivative by b), each halved up to 5 times until the loss falls; ends after a step that
// gains at most 3e-4 Σ w, or none. The line has w = float32(β / max|β|) and the threshold near = -b / max|β|;
// its loss in bits is that of f, without the ridge. Lines that come without coefficients have one fitted to
// the single column Σ w clip(z): near = -b / a if a > 0, else 0.
//
// Cut: of all places between different neighbours in the sorted sums with enough weight on both sides, the
// one with the least wrong weight; equals: the offset nearest to `near`, then the lower one. The offset is
// midway; where that rounds to the lower neighbour, the upper one.
//
// Candidates, in this order, each replacing the best so far if it is better:
//   1. the present line, with its offset;
//   2. the same, cut again;
//   3. its features fitted again, from its sums' fit;
//   4. the best single feature: least wrong weight between two codes (equals: the lower feature, weight
//      1 before -1, the lower code), then cut;
//   5. forward: from b alone add the feature with the largest g²/(h + ρ), fit, cut; until max_terms or
//      three steps in a row that do not improve on the best of these steps;
//   6. backward, from the best line of several terms: fit it without each of the three terms with the
//      smallest |w| · sd (sd of clip(z), weighted by w_i), take the best; as long as it is better;
//   7. polish the best: two sweeps over its terms. With all else fixed, the wrong weight as a function
//      of one weight is constant between the places (offset - rest) / z; take the middle of the interval
//      between two neighbouring places with the least, if it is less than at the present weight (equals:
//      the middle nearest to it). Then cut.
//
// A pass visits the branching blocks, children first. A block whose rows, sides and weights have not changed
// since its last visit is kept. Otherwise its problem is solved; then it is the cheapest of: the line, a
// leaf, its left subtree, its right subtree (in this order, on equals within 1e-9 of the block's weight) by
// Σ costs + λ · (terms + leaves). Its rows pass down the new subtree, whose leaves are re-estimated. After a
// pass, blocks with a side below min_samples_leaf are replaced by the other side, root first. From the third
// pass on, nothing is added forward (5). Passes end when one lowers the objective by at most 1e-3 of it, or
// after max_passes; the best tree seen is kept.
//
// Splitting a leaf. Starts: the single cut between two codes with the least Σ over sides of -Σ_k n_k²/n
// (numbers: -(Σr)²/n); and, of more than two classes, each of the four heaviest classes of the leaf against
// the rest. Up to five times: estimates of the two sides → costs → problem → the best line (candidates 3 to
// 5 only; the line of the last time is the present one) → sides; as long as the objective falls. The best of
// all starts is the leaf's split, its gain the decrease of the objective. Only gains above 0 count.
//
// Growth: split the leaf with the largest gain (equals: the leftmost) until there are 2, 4, 8, …
// max_leaf_nodes leaves, with passes after each. Then, up to three times (eight times if weight · features is
// at most 300,000): 4 leaves more (or 8, if the last time failed), passes, collapse the pair of leaves
// that costs least until max_leaf_nodes are left, passes; kept if better. Ends when it failed twice in a
// row, or once where there are three times only.
#pragma once
#include <cstddef>

namespace lhtree::compact {

constexpr double clip = 8.0;
constexpr std::size_t most_bins = 255;
constexpr double cost_grid = 0x1p24;
constexpr double penalty_unit = 0.15;

constexpr double share_wrong = 0.7, share_logistic = 0.3;
constexpr double tie = 1e-9;

constexpr double ridge = 1e-3, bias_ridge = 1e-9;
constexpr int most_newton_steps = 12, most_halvings = 5;
constexpr double newton_tolerance = 3e-4;

constexpr int most_failures = 3;
constexpr std::size_t n_droppable = 3;
constexpr int n_sweeps = 2;

constexpr std::size_t n_searching_passes = 2;
constexpr double pass_tolerance = 1e-3;
constexpr std::size_t n_class_starts = 4;
constexpr int most_alternations = 5;
constexpr std::size_t n_regrown = 4;
constexpr int few_regrowths = 3, many_regrowths = 8;
constexpr double small_data = 300000.0;  // weight · features

}  // namespace lhtree::compact
