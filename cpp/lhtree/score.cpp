#include "lhtree/score.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace lhtree {

namespace {

constexpr std::uint32_t padded4(std::uint32_t n) {
    return (n + 3) / 4 * 4;
}

// Values padded with zeros to a multiple of 4.
template <class T>
void append(std::vector<T>& to, const T* values, std::uint32_t n) {
    to.insert(to.end(), values, values + n);
    to.resize(to.size() + padded4(n) - n);
}

}  // namespace

// Rows that go through all trees together, so that a tree is fetched once for all of them.
struct Scorer::Tile {
    static constexpr std::size_t max_rows = 64;

    std::size_t begin = 0, n_rows = 0;
    std::vector<float> z;
    std::vector<double> wolf, membership, confidence;  // n_rows × n_classes

    void reset(std::size_t begin_, std::size_t n_rows_, std::size_t n_classes) {
        begin = begin_;
        n_rows = n_rows_;
        for (auto* sums : {&wolf, &membership, &confidence}) sums->assign(n_rows * n_classes, 0.0);
    }
};

Scorer::Scorer(const ForestView& forest, std::vector<double> centre, std::vector<double> scale,
               std::vector<double> prior, Confidence confidence)
    : target_(forest.target, forest.target + forest.n_trees),
      n_trees_of_(prior.size(), 0.0),
      centre_(std::move(centre)),
      scale_(std::move(scale)),
      prior_(std::move(prior)),
      confidence_(confidence) {
    const std::string fault = find_fault(forest, n_features(), n_classes());
    if (!fault.empty()) throw std::invalid_argument("not the arrays of a model: " + fault);
    if (scale_.size() != n_features())
        throw std::invalid_argument("not the arrays of a model: centre and scale differ in length");
    if (n_classes() < 2) throw std::invalid_argument("not the arrays of a model: fewer than two classes");

    blocks_.reserve(forest.n_blocks);
    for (std::size_t tree = 0; tree < forest.n_trees; ++tree) {
        const std::int64_t begin = forest.block_ptr[tree];
        root_.push_back(static_cast<std::int32_t>(begin));
        n_trees_of_[static_cast<std::size_t>(target_[tree])] += 1.0;
        for (std::int64_t block = begin; block < forest.block_ptr[tree + 1]; ++block) {
            const bool is_leaf = forest.left[block] < 0;
            const std::int64_t* ptr = is_leaf ? forest.membership_ptr : forest.hyperplane_ptr;
            const auto size = static_cast<std::uint32_t>(ptr[block + 1] - ptr[block]);
            const auto left = static_cast<std::int32_t>(is_leaf ? -1 : begin + forest.left[block]);
            blocks_.push_back({is_leaf ? forest.intercept[block] : forest.offset[block],
                               is_leaf ? slopes_.size() : weights_.size(), left, padded4(size) & 0x7fffffffu,
                               size == n_features()});
            if (is_leaf) {
                append(slopes_, forest.membership_slope + ptr[block], size);
                append(slope_features_, forest.membership_feature + ptr[block], size);
            } else {
                append(weights_, forest.hyperplane_weight + ptr[block], size);
                append(weight_features_, forest.hyperplane_feature + ptr[block], size);
            }
        }
    }
    if (n_classes() == 2) {  // one tree serves both classes
        if (n_trees_of_[0] > 0.0)
            throw std::invalid_argument("not the arrays of a model: two classes need target 1");
        n_trees_of_[0] = n_trees_of_[1];
    }
    for (const double n : n_trees_of_)
        if (n == 0.0) throw std::invalid_argument("not the arrays of a model: a class has no tree");
}

PackedForest Scorer::packed() const {
    return {blocks_.data(), weights_.data(), weight_features_.data(), slopes_.data(), slope_features_.data()};
}

void Scorer::sum_trees(Tile& tile) const {
    const PackedForest forest = packed();
    const Kernels& kernel = kernels();
    const std::size_t m = n_features(), n_cls = n_classes();
    for (std::size_t tree = 0; tree < n_trees(); ++tree) {
        const auto target = static_cast<std::size_t>(target_[tree]);
        for (std::size_t row = 0; row < tile.n_rows; ++row) {
            const float* z = tile.z.data() + row * m;
            const Walk way = kernel.walk(forest, root_[tree], z, confidence_);
            const double membership = kernel.membership(forest, way.leaf, z);
            const std::size_t at = row * n_cls + target;
            tile.wolf[at] += way.confidence * membership;
            tile.membership[at] += membership;
            tile.confidence[at] += way.confidence;
            if (n_cls == 2) {
                tile.wolf[at - 1] += way.confidence * (1.0 - membership);
                tile.membership[at - 1] += 1.0 - membership;
                tile.confidence[at - 1] += way.confidence;
            }
        }
    }
    for (std::size_t row = 0; row < tile.n_rows; ++row)
        for (std::size_t cls = 0; cls < n_cls; ++cls) {
            tile.wolf[row * n_cls + cls] /= n_trees_of_[cls];
            tile.membership[row * n_cls + cls] /= n_trees_of_[cls];
            tile.confidence[row * n_cls + cls] /= n_trees_of_[cls];
        }
}

void Scorer::settle(Tile& tile) const {
    const std::size_t n_cls = n_classes();
    const auto is_zero = [](double value) { return value == 0.0; };
    for (std::size_t row = 0; row < tile.n_rows; ++row) {
        double* wolf = tile.wolf.data() + row * n_cls;
        const double* membership = tile.membership.data() + row * n_cls;
        if (std::all_of(wolf, wolf + n_cls, is_zero)) std::copy(membership, membership + n_cls, wolf);
        if (std::all_of(wolf, wolf + n_cls, is_zero)) std::copy(prior_.begin(), prior_.end(), wolf);
    }
}

// Cuts the rows into tiles, normalises each and hands it to `use`. Threads are worth starting from some ten
// microseconds of work each; the number of blocks a row meets is guessed from the number of trees.
template <class Value, class Use>
bool Scorer::each_tile(const Strided<Value>& x, std::size_t n_threads, Watch& watch, const Use& use) const {
    constexpr std::size_t walks_per_task = 16384;
    const std::size_t rows_per_task =
        (std::max<std::size_t>(1, walks_per_task / n_trees()) + Tile::max_rows - 1) / Tile::max_rows *
        Tile::max_rows;
    std::atomic<bool> is_finite{true};
    const auto work = [&](std::size_t task) {
        thread_local Tile
            tile;  // keeps its memory for the next call: a row is scored in less time than malloc takes
        tile.z.resize(Tile::max_rows * n_features() + slack);
        const std::size_t end = std::min(x.n_rows, (task + 1) * rows_per_task);
        for (std::size_t begin = task * rows_per_task; begin < end && is_finite; begin += Tile::max_rows) {
            const std::size_t n = std::min(end - begin, Tile::max_rows);
            const Strided<Value> part{x.data + static_cast<std::ptrdiff_t>(begin) * x.row_stride, n,
                                      x.n_features, x.row_stride, x.feature_stride};
            if (!normalise(part, centre_.data(), scale_.data(), 1, watch, tile.z.data())) {
                is_finite = false;
                return;
            }
            tile.reset(begin, n, n_classes());
            use(tile);
        }
    };
    run((x.n_rows + rows_per_task - 1) / rows_per_task, n_threads, watch, work);
    return is_finite;
}

template <class Value>
bool Scorer::score(const Strided<Value>& x, Score what, std::size_t n_threads, Watch& watch,
                   double* out) const {
    const std::size_t n_cls = n_classes();
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        sum_trees(tile);
        if (what == Score::proba) {
            settle(tile);
            for (double* row = tile.wolf.data(); row < tile.wolf.data() + tile.n_rows * n_cls; row += n_cls) {
                double sum = 0.0;
                for (std::size_t cls = 0; cls < n_cls; ++cls) sum += row[cls];
                for (std::size_t cls = 0; cls < n_cls; ++cls) row[cls] /= sum;
            }
        }
        const auto& from = what == Score::membership   ? tile.membership
                           : what == Score::confidence ? tile.confidence
                                                       : tile.wolf;
        std::copy(from.begin(), from.end(), out + tile.begin * n_cls);
    });
}

template <class Value>
bool Scorer::predict(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const {
    const std::size_t n_cls = n_classes();
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        sum_trees(tile);
        settle(tile);
        for (std::size_t row = 0; row < tile.n_rows; ++row) {
            const double* wolf = tile.wolf.data() + row * n_cls;
            out[tile.begin + row] = std::max_element(wolf, wolf + n_cls) - wolf;
        }
    });
}

template <class Value>
bool Scorer::apply(const Strided<Value>& x, std::size_t n_threads, Watch& watch, std::int64_t* out) const {
    const PackedForest forest = packed();
    return each_tile(x, n_threads, watch, [&](Tile& tile) {
        for (std::size_t tree = 0; tree < n_trees(); ++tree)
            for (std::size_t row = 0; row < tile.n_rows; ++row) {
                const float* z = tile.z.data() + row * n_features();
                const Walk way = kernels().walk(forest, root_[tree], z, Confidence::none);
                out[(tile.begin + row) * n_trees() + tree] = way.leaf - root_[tree];
            }
    });
}

template bool Scorer::score(const Strided<double>&, Score, std::size_t, Watch&, double*) const;
template bool Scorer::score(const Strided<float>&, Score, std::size_t, Watch&, double*) const;
template bool Scorer::predict(const Strided<double>&, std::size_t, Watch&, std::int64_t*) const;
template bool Scorer::predict(const Strided<float>&, std::size_t, Watch&, std::int64_t*) const;
template bool Scorer::apply(const Strided<double>&, std::size_t, Watch&, std::int64_t*) const;
template bool Scorer::apply(const Strided<float>&, std::size_t, Watch&, std::int64_t*) const;

}  // namespace lhtree
