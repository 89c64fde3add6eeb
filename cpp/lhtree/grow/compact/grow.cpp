#include <algorithm>

#include "lhtree/grow/compact/block.hpp"

namespace lhtree::compact {
namespace {

class Grower {
  public:
    Grower(const Data& data, std::size_t n_threads, Watch& watch)
        : data_(data), n_threads_(n_threads), watch_(watch), tree_(std::make_unique<Block>()) {
        RowNumbers rows(data.n_rows());
        for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = static_cast<std::uint32_t>(row);
        route(*tree_, std::move(rows), data);
        objective_.push_back(objective(*tree_, data));
    }

    Grown grow() {
        const std::size_t n_most = data_.options().max_leaf_nodes;
        for (std::size_t n_leaves = 1; n_leaves < n_most;) {
            n_leaves = std::min(2 * n_leaves, n_most);
            grow_to(n_leaves);
            improve();
            keep();
            watch_.finish_one();
        }
        const bool is_small =
            data_.weigh(tree_->rows) * static_cast<double>(data_.n_features()) <= small_data;
        const int most = is_small ? many_regrowths : few_regrowths, most_vain = is_small ? 2 : 1;
        for (int time = 0, n_vain = 0; time < most && n_vain < most_vain; ++time) {
            if (count_leaves(*tree_) < static_cast<double>(n_most)) break;
            n_vain = regrow(n_most, n_vain == 0 ? n_regrown : 2 * n_regrown) ? 0 : n_vain + 1;
            watch_.finish_one();
        }
        return flatten();
    }

  private:
    const Data& data_;
    std::size_t n_threads_;
    Watch& watch_;
    Tree tree_;
    std::vector<double> objective_;

    double margin() const { return tie * static_cast<double>(data_.n_rows()); }

    void grow_to(std::size_t n_leaves) {
        while (count_leaves(*tree_) < static_cast<double>(n_leaves)) {
            std::vector<Block*> leaves, unknown;
            each_block(*tree_, [&](Block& block) {
                if (!block.is_leaf()) return;
                leaves.push_back(&block);
                if (!block.split) unknown.push_back(&block);
            });
            run(unknown.size(), n_threads_, watch_, [&](std::size_t i) {
                Block& leaf = *unknown[i];
                leaf.split =
                    std::make_shared<const Split>(find_split(data_, leaf.rows, leaf.estimate, watch_));
            });
            Block* const best = *std::max_element(leaves.begin(), leaves.end(), [](Block* a, Block* b) {
                return a->split->gain < b->split->gain;
            });
            if (!(best->split->gain > 0.0)) return;
            branch(*best);
        }
    }

    void branch(Block& leaf) {
        leaf.line = leaf.split->line;
        leaf.split = nullptr;
        leaf.left = std::make_unique<Block>();
        leaf.right = std::make_unique<Block>();
        route(leaf, RowNumbers(leaf.rows), data_);
    }

    // Runs passes and keeps the best tree.
    void improve() {
        Tree best = copy_of(*tree_);
        double least = objective(*tree_, data_), last = least;
        for (std::size_t number = 0; number < data_.options().max_passes; ++number) {
            const Effort effort = number < n_searching_passes ? Effort::all : Effort::tune;
            pass(*tree_, data_, effort, n_threads_, watch_);
            const double value = objective(*tree_, data_);
            if (value < least - margin()) {
                best = copy_of(*tree_);
                least = value;
            }
            if (value > last - pass_tolerance * last) break;
            last = value;
        }
        tree_ = std::move(best);
    }

    void shrink_to(std::size_t n_leaves) {
        while (count_leaves(*tree_) > static_cast<double>(n_leaves)) {
            Block* cheapest = nullptr;
            double least = 0.0;
            each_block(*tree_, [&](Block& block) {
                if (block.is_leaf() || !block.left->is_leaf() || !block.right->is_leaf()) return;
                const double rise =
                    data_.cost_of(data_.estimate(block.rows), block.rows) - objective(block, data_);
                if (!cheapest || rise < least) {
                    cheapest = &block;
                    least = rise;
                }
            });
            RowNumbers rows = std::move(cheapest->rows);
            *cheapest = Block();
            route(*cheapest, std::move(rows), data_);
        }
    }

    // Grows a larger tree and shrinks it; returns whether it is better.
    bool regrow(std::size_t n_most, std::size_t n_more) {
        Tree before = copy_of(*tree_);
        grow_to(n_most + n_more);
        improve();
        shrink_to(n_most);
        improve();
        if (objective(*tree_, data_) < objective_.back() - margin()) {
            keep();
            return true;
        }
        tree_ = std::move(before);
        return false;
    }

    void keep() { objective_.push_back(objective(*tree_, data_)); }

    Grown flatten() const {
        Grown grown;
        grown.leaf.resize(data_.n_rows());
        std::int32_t next = 1;
        for (const std::vector<Block*>& level : levels_of(*tree_))
            for (const Block* block : level) {
                const auto number = static_cast<std::int32_t>(grown.left.size());
                grown.left.push_back(block->is_leaf() ? -1 : next);
                grown.offset.push_back(block->line.offset);
                grown.feature.insert(grown.feature.end(), block->line.features.begin(),
                                     block->line.features.end());
                grown.weight.insert(grown.weight.end(), block->line.weights.begin(),
                                    block->line.weights.end());
                grown.ptr.push_back(static_cast<std::int64_t>(grown.feature.size()));
                if (block->is_leaf())
                    for (const std::uint32_t row : block->rows) grown.leaf[row] = number;
                else
                    next += 2;
            }
        grown.objective = objective_;
        return grown;
    }
};

}  // namespace

Grown grow(const Data& data, std::size_t n_threads, Watch& watch) {
    return Grower(data, n_threads, watch).grow();
}

}  // namespace lhtree::compact
