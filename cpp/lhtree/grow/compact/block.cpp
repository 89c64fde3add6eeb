#include "lhtree/grow/compact/block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

// Adds the cost of every row, sent down the blocks, times its weight.
static void add_costs(const Block& block, const Data& data, const RowNumbers& rows, double sign,
                      std::vector<double>& sums) {
    // Rows in the order of their places in `sums`, block by block.
    struct Part {
        const Block* block;
        RowNumbers rows;
        std::vector<std::uint32_t> places;
    };
    std::vector<std::uint32_t> all(rows.size());
    std::iota(all.begin(), all.end(), 0u);
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

static double cost_of(const Block& block, const Data& data) {
    return block.is_leaf() ? data.cost_of(block.estimate, block.rows)
                           : cost_of(*block.left, data) + cost_of(*block.right, data);
}

double objective(const Block& block, const Data& data) {
    return cost_of(block, data) + data.lambda() * size_of(block);
}

// Replaces blocks with a side below min_samples_leaf by the other side, root first.
static void tidy(Block& block, const Data& data) {
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

namespace {

using Pair = std::pair<Estimate, Estimate>;  // estimates of the left and the right side

class Splitter {
  public:
    Splitter(const Data& data, const RowNumbers& rows, const Estimate& estimate, Watch& watch)
        : data_(data), rows_(rows), own_(estimate), watch_(watch) {}

    Split find() {
        const std::size_t n_classes = data_.labels().n_classes;
        if (own_.weight < 2.0 * data_.options().min_samples_leaf) return best_;
        Pair sides;
        if (start_from_cut(sides)) alternate(sides);
        if (n_classes > 2) {
            std::vector<std::size_t> order(n_classes);
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return own_.counts[a] > own_.counts[b]; });
            order.resize(std::min(n_classes, n_class_starts));
            for (const std::size_t cls : order)
                if (own_.counts[cls] > 0.0 && own_.counts[cls] < own_.weight)
                    alternate(start_from_class(cls));
        }
        return best_;
    }

  private:
    const Data& data_;
    const RowNumbers& rows_;
    const Estimate& own_;
    Watch& watch_;
    Split best_;

    Pair start_from_class(std::size_t cls) const {
        std::vector<double> others = own_.counts, alone(own_.counts.size(), 0.0);
        std::swap(others[cls], alone[cls]);
        return {data_.estimate_from(others, own_.weight - own_.counts[cls]),
                data_.estimate_from(alone, own_.counts[cls])};
    }

    // Explained sum of squares: Σ n_k² / n of counts, (Σ r)² / n of numbers.
    static double explained(const double* counts, std::size_t n, double weight) {
        double squares = 0.0;
        for (std::size_t k = 0; k < n; ++k) squares += counts[k] * counts[k];
        return squares / weight;
    }

    // The purest cut of a single feature between two codes.
    bool start_from_cut(Pair& sides) const {
        const Labels& labels = data_.labels();
        const std::size_t n = own_.counts.size();
        const double least = data_.options().min_samples_leaf;
        double best = -std::numeric_limits<double>::infinity(), best_weight = 0.0;
        std::vector<double> sums(most_bins * n), weights(most_bins), below(n), above(n), best_below;
        for (std::size_t feature = 0; feature < data_.n_features(); ++feature) {
            const std::uint8_t* const codes = data_.codes(feature);
            const std::size_t n_codes = data_.n_codes(feature);
            std::fill_n(sums.begin(), n_codes * n, 0.0);
            std::fill_n(weights.begin(), n_codes, 0.0);
            for (const std::uint32_t row : rows_) {
                const double weight = data_.weight(row);
                weights[codes[row]] += weight;
                if (labels.classes)
                    sums[codes[row] * n + static_cast<std::size_t>(labels.classes[row])] += weight;
                else
                    sums[codes[row]] += weight * labels.response[row];
            }
            std::fill(below.begin(), below.end(), 0.0);
            double weight = 0.0;
            for (std::size_t code = 0; code + 1 < n_codes; ++code) {
                if (weights[code] == 0.0) continue;
                weight += weights[code];
                for (std::size_t k = 0; k < n; ++k) {
                    below[k] += sums[code * n + k];
                    above[k] = own_.counts[k] - below[k];
                }
                if (weight < least || own_.weight - weight < least) continue;
                const double value =
                    explained(below.data(), n, weight) + explained(above.data(), n, own_.weight - weight);
                if (value > best + tie * own_.weight) {
                    best = value;
                    best_below = below;
                    best_weight = weight;
                }
            }
        }
        if (best_below.empty()) return false;
        std::vector<double> rest(n);
        for (std::size_t k = 0; k < n; ++k) rest[k] = own_.counts[k] - best_below[k];
        sides = {data_.estimate_from(best_below, best_weight),
                 data_.estimate_from(rest, own_.weight - best_weight)};
        return true;
    }

    // Alternates between sides, costs and line as long as the objective falls.
    void alternate(Pair sides) {
        const double before = data_.cost_of(own_, rows_) + data_.lambda();
        double last = std::numeric_limits<double>::infinity();
        Line line;
        for (int time = 0; time < most_alternations; ++time) {
            Question question{rows_, {}};
            for (const std::uint32_t row : rows_)
                question.gain.push_back(data_.weight(row) *
                                        (data_.cost(sides.first, row) - data_.cost(sides.second, row)));
            const Candidate found = solve(Problem(data_, question), line, Effort::quick, watch_);
            if (!found.line.is_given()) return;
            const Sides parted = part(found.line, data_, rows_);
            sides = {data_.estimate(parted.left), data_.estimate(parted.right)};
            const double value = data_.cost_of(sides.first, parted.left) +
                                 data_.cost_of(sides.second, parted.right) +
                                 data_.lambda() * (found.line.n_terms() + 2.0);
            if (!(value < last - tie * own_.weight)) return;
            last = value;
            line = found.line;
            if (before - value > best_.gain + tie * own_.weight) best_ = {line, before - value};
        }
    }
};

}  // namespace

Split find_split(const Data& data, const RowNumbers& rows, const Estimate& estimate, Watch& watch) {
    return Splitter(data, rows, estimate, watch).find();
}

static void become(Block& block, Tree other) {
    RowNumbers rows = std::move(block.rows);
    block = std::move(*other);
    block.rows = std::move(rows);
}

static void visit(Block& block, const Data& data, Effort effort, Watch& watch) {
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
    const double least = all_left - wrong_if_left;  // with every row on its side
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

void pass(Block& root, const Data& data, Effort effort, std::size_t n_threads, Watch& watch) {
    const std::size_t n_levels = levels_of(root).size();
    for (std::size_t depth = n_levels; depth-- > 0;) {
        // Deeper blocks may have been removed; blocks of this depth are still in place.
        const std::vector<std::vector<Block*>> levels = levels_of(root);
        if (depth >= levels.size()) continue;
        run(levels[depth].size(), n_threads, watch, [&](std::size_t i) {
            if (!levels[depth][i]->is_leaf()) visit(*levels[depth][i], data, effort, watch);
        });
    }
    tidy(root, data);
}

}  // namespace lhtree::compact
