#include "lhtree/grow/compact/block.hpp"

namespace lhtree::compact {

Tree copy_of(const Block& block) {
    auto copy = std::make_unique<Block>();
    copy->rows = block.rows;
    copy->line = block.line;
    copy->estimate = block.estimate;
    copy->asked = block.asked;
    copy->split = block.split;
    if (!block.is_leaf()) {
        copy->left = copy_of(*block.left);
        copy->right = copy_of(*block.right);
    }
    return copy;
}

void route(Block& block, RowNumbers rows, const Data& data) {
    const bool is_new = rows != block.rows;
    block.rows = std::move(rows);
    if (!block.is_leaf()) {
        Sides sides = part(block.line, data, block.rows);
        route(*block.left, std::move(sides.left), data);
        route(*block.right, std::move(sides.right), data);
    } else if (is_new || block.estimate.counts.empty()) {
        block.estimate = data.estimate(block.rows);
        block.split = nullptr;
    }
}

void add_costs(const Block& block, const Data& data, const RowNumbers& rows, double sign,
               std::vector<double>& sums) {
    // Rows in the order of their places in `sums`, block by block.
    struct Part {
        const Block* block;
        RowNumbers rows;
        std::vector<std::uint32_t> places;
    };
    std::vector<std::uint32_t> all(rows.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
    std::vector<Part> parts;
    parts.push_back({&block, rows, std::move(all)});
    while (!parts.empty()) {
        const Part own = std::move(parts.back());
        parts.pop_back();
        if (own.block->is_leaf()) {
            for (std::size_t i = 0; i < own.rows.size(); ++i)
                sums[own.places[i]] +=
                    sign * data.weight(own.rows[i]) * data.cost(own.block->estimate, own.rows[i]);
            continue;
        }
        const std::vector<std::uint8_t> sides = sides_of(own.block->line, data, own.rows);
        Part left{own.block->left.get(), {}, {}}, right{own.block->right.get(), {}, {}};
        for (std::size_t i = 0; i < sides.size(); ++i) {
            Part& side = sides[i] ? right : left;
            side.rows.push_back(own.rows[i]);
            side.places.push_back(own.places[i]);
        }
        parts.push_back(std::move(left));
        parts.push_back(std::move(right));
    }
}

double count_leaves(const Block& block) {
    return block.is_leaf() ? 1.0 : count_leaves(*block.left) + count_leaves(*block.right);
}

double size_of(const Block& block) {
    return block.is_leaf() ? 1.0 : block.line.n_terms() + size_of(*block.left) + size_of(*block.right);
}

namespace {

double cost_of(const Block& block, const Data& data) {
    return block.is_leaf() ? data.cost_of(block.estimate, block.rows)
                           : cost_of(*block.left, data) + cost_of(*block.right, data);
}

}  // namespace

double objective(const Block& block, const Data& data) {
    return cost_of(block, data) + data.lambda() * size_of(block);
}

void tidy(Block& block, const Data& data) {
    const double least = data.options().min_samples_leaf;
    while (!block.is_leaf()) {
        const bool is_left_light = data.weigh(block.left->rows) < least;
        if (!is_left_light && data.weigh(block.right->rows) >= least) break;
        RowNumbers rows = std::move(block.rows);
        const Tree other = std::move(is_left_light ? block.right : block.left);
        block = std::move(*other);
        route(block, std::move(rows), data);
    }
    if (block.is_leaf()) return;
    tidy(*block.left, data);
    tidy(*block.right, data);
}

void each_block(Block& block, const std::function<void(Block&)>& visit) {
    visit(block);
    if (block.is_leaf()) return;
    each_block(*block.left, visit);
    each_block(*block.right, visit);
}

std::vector<std::vector<Block*>> levels_of(Block& root) {
    std::vector<std::vector<Block*>> levels{{&root}};
    while (true) {
        std::vector<Block*> next;
        for (Block* block : levels.back())
            if (!block->is_leaf()) {
                next.push_back(block->left.get());
                next.push_back(block->right.get());
            }
        if (next.empty()) return levels;
        levels.push_back(std::move(next));
    }
}

}  // namespace lhtree::compact
