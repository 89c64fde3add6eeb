#include <cmath>

#include "lhtree/grow/compact/block.hpp"

namespace lhtree::compact {

namespace {

void become(Block& block, Tree other) {
    RowNumbers rows = std::move(block.rows);
    block = std::move(*other);
    block.rows = std::move(rows);
}

void visit(Block& block, const Data& data, Effort effort, Watch& watch) {
    Question question{block.rows, std::vector<double>(block.rows.size(), 0.0)};
    std::vector<double> left(block.rows.size(), 0.0);
    add_costs(*block.left, data, block.rows, 1.0, left);
    question.gain = left;
    add_costs(*block.right, data, block.rows, -1.0, question.gain);
    if (block.asked && *block.asked == question) return;

    const Candidate best = solve(Problem(data, question), block.line, effort, watch);
    const double lambda = data.lambda(), margin = tie * data.weigh(block.rows);
    double all_left = 0.0, wrong_if_left = 0.0, wrong_if_right = 0.0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        all_left += left[i];
        (question.gain[i] > 0.0 ? wrong_if_left : wrong_if_right) += std::abs(question.gain[i]);
    }
    const double least = all_left - wrong_if_left;  // every row on its side
    const double size_left = size_of(*block.left), size_right = size_of(*block.right);
    enum { keeps_line, makes_leaf, goes_left, goes_right } choice = makes_leaf;
    const Estimate own = data.estimate(block.rows);
    double value = data.cost_of(own, block.rows) + lambda;
    if (best.line.is_given()) {
        const double with_line = least + best.wrong + lambda * (best.line.n_terms() + size_left + size_right);
        if (with_line <= value + margin) {
            value = with_line;
            choice = keeps_line;
        }
    }
    if (all_left + lambda * size_left < value - margin) {
        value = all_left + lambda * size_left;
        choice = goes_left;
    }
    if (least + wrong_if_right + lambda * size_right < value - margin) choice = goes_right;

    if (choice == keeps_line) {
        block.line = best.line;
        block.asked = std::make_shared<const Question>(std::move(question));
    } else if (choice == makes_leaf) {
        become(block, std::make_unique<Block>());
        block.estimate = own;
    } else {
        become(block, std::move(choice == goes_left ? block.left : block.right));
    }
    route(block, RowNumbers(block.rows), data);
}

}  // namespace

void pass(Block& root, const Data& data, Effort effort, std::size_t n_threads, Watch& watch) {
    const std::size_t n_levels = levels_of(root).size();
    for (std::size_t depth = n_levels; depth-- > 0;) {
        // What was deeper may have gone; what is as deep as this is still where it was.
        const std::vector<std::vector<Block*>> levels = levels_of(root);
        if (depth >= levels.size()) continue;
        run(levels[depth].size(), n_threads, watch, [&](std::size_t i) {
            if (!levels[depth][i]->is_leaf()) visit(*levels[depth][i], data, effort, watch);
        });
    }
    tidy(root, data);
}

}  // namespace lhtree::compact
