// The kernels themselves, included once for every instruction set by a file that sets LHTREE_KERNELS.
//
// Written with the compiler's vector types, which GCC and Clang lower to whatever the instruction set has:
// what is one AVX2 register there is two SSE2 or NEON registers elsewhere, element for element the same
// arithmetic.
#include <cstring>
#include <limits>
#include <vector>

#include "lhtree/kernels.hpp"
#ifdef __AVX__
#include <immintrin.h>
#endif

namespace lhtree {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Float4 = float __attribute__((vector_size(16)));
using Float8 = float __attribute__((vector_size(32)));
using Long4 = long long __attribute__((vector_size(32)));
using Double4 = double __attribute__((vector_size(32)));

inline Double4 widen(Float4 x) {
#ifdef __AVX__
    return (Double4)_mm256_cvtps_pd((__m128)x);  // GCC makes four instructions of the line below
#else
    return __builtin_convertvector(x, Double4);
#endif
}

template <class Vector, class Value>
inline Vector load(const Value* p) {
    Vector v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class Vector, class Value>
inline void store(Value* p, Vector v) {
    std::memcpy(p, &v, sizeof v);
}
inline Double4 load4(const float* p) {
    return widen(load<Float4>(p));
}
inline Double4 load4(const double* p) {
    return load<Double4>(p);
}

template <class Feature>
inline Double4 gather4(const float* z, const Feature* features) {
    return widen(Float4{z[features[0]], z[features[1]], z[features[2]], z[features[3]]});
}

template <class Value>
inline double lane_sum(const Value* values, const std::int32_t* features, std::size_t n, const float* z) {
    Double4 low{}, high{};  // lanes 0-3 and 4-7
    std::size_t p = 0;
    if (features) {
        for (; p + 8 <= n; p += 8) {
            low += load4(values + p) * gather4(z, features + p);
            high += load4(values + p + 4) * gather4(z, features + p + 4);
        }
        if (p < n) low += load4(values + p) * gather4(z, features + p);
    } else {
        for (; p + 8 <= n; p += 8) {
            low += load4(values + p) * load4(z + p);
            high += load4(values + p + 4) * load4(z + p + 4);
        }
        if (p < n) low += load4(values + p) * load4(z + p);
    }
    const Double4 sum = low + high;  // l0+l4, l1+l5, l2+l6, l3+l7
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

void feature_sums(const float* weights, const std::int32_t* features, std::size_t n, Rows rows, double* out) {
    for (std::size_t row = 0; row < rows.n_rows; ++row) out[row] = lane_sum(weights, features, n, rows[row]);
}

inline double clip(double value) {
    return value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value;
}

// The feature sum of a block with at most n_terms weights: the lanes of lane_sum that can differ from 0.
template <std::size_t n_terms, std::size_t size>
inline double block_sum(const Narrow<size>& block, const float* z) {
    const auto term = [&](std::size_t p) {
        return static_cast<double>(block.weights[p]) * static_cast<double>(z[block.features[p]]);
    };
    if constexpr (n_terms == 1) {
        return term(0);
    } else if constexpr (n_terms == 2) {
        return term(0) + term(1);
    } else {
        Double4 sum = load4(block.weights) * gather4(z, block.features);
        if constexpr (n_terms == 5)
            sum += Double4{term(4), 0.0, 0.0, 0.0};
        else if constexpr (n_terms == 6)
            sum += Double4{term(4), term(5), 0.0, 0.0};
        else if constexpr (n_terms > 6) {
            Double4 high = load4(block.weights + 4) * gather4(z, block.features + 4);
            if constexpr (n_terms > 8) sum += load4(block.weights + 8) * gather4(z, block.features + 8);
            if constexpr (n_terms > 12) high += load4(block.weights + 12) * gather4(z, block.features + 12);
            sum += high;
        }
        return (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
}
template <std::size_t>
inline double block_sum(const Wide& block, const float* z) {
    const auto* features = reinterpret_cast<const std::int32_t*>(&block + 1);
    if (block.is_dense) return lane_sum(reinterpret_cast<const float*>(features), nullptr, block.n, z);
    return lane_sum(reinterpret_cast<const float*>(features + block.n), features, block.n, z);
}

// Several walks go on at once, a block each in turn: while one waits for its next block to come from memory,
// the others have work. Nothing in the loop branches on the data, since a wrong guess would throw away the
// work of all: a walk that has ended stays at the block that leads nowhere (number 0) until, every few steps,
// its place is given to the next.
template <class Block, std::size_t n_terms, Confidence mode>
void walk_by(const Walks& walks, std::uint32_t* leaf, double* confidence) {
    constexpr std::size_t max_walkers = 12, n_steps = 4;
    struct Start {
        Ref ref;
        const float* z;
    };
    const std::size_t n_walks = walks.n_trees * walks.rows.n_rows;
    thread_local std::vector<Start> starts;
    starts.resize(n_walks + 1);
    for (std::size_t tree = 0, slot = 0; tree < walks.n_trees; ++tree)
        for (std::size_t row = 0; row < walks.rows.n_rows; ++row, ++slot)
            starts[slot] = {walks.forest.trees[walks.first_tree + tree].root, walks.rows[row]};
    starts[n_walks] = {leaf_bit, walks.rows[0]};  // for walkers without a walk

    const std::size_t n_walkers = n_walks < max_walkers ? n_walks : max_walkers;
    Ref ref[max_walkers];
    const float* z[max_walkers];
    double distance[max_walkers];
    std::size_t slot[max_walkers];
    std::size_t next = 0, n_ended = 0;
    for (std::size_t i = 0; i < n_walkers; ++i) {
        slot[i] = next;
        ref[i] = starts[next].ref;
        z[i] = starts[next].z;
        distance[i] = 1.0;
        next += next < n_walks;
    }
    const std::uint64_t* const blocks = walks.forest.blocks.data();
    if (walks.n_trees == 1 &&
        n_walks >= 256) {  // the whole tree is fetched faster in order than by the walks
        const PackedTree& tree = walks.forest.trees[walks.first_tree];
        for (Ref line = tree.begin; line < tree.end; line += 8) __builtin_prefetch(blocks + line, 0, 2);
    }
    while (n_ended < n_walks) {
        for (std::size_t step = 0; step < n_steps; ++step)
            for (std::size_t i = 0; i < n_walkers; ++i) {
                const Ref is_over = -(ref[i] >> 31);  // all ones or none
                const auto& block = *reinterpret_cast<const Block*>(blocks + (ref[i] & ~is_over));
                const double y = block_sum<n_terms>(block, z[i]) - block.offset;
                if constexpr (mode != Confidence::none) {
                    const double length = y < 0.0 ? -y : y;
                    if constexpr (mode == Confidence::path)
                        distance[i] = length < distance[i] ? length : distance[i];
                    else
                        distance[i] = length == infinity ? distance[i] : length;
                }
                ref[i] = (ref[i] & is_over) | block.child[!(y < 0.0)];
                __builtin_prefetch(blocks + (ref[i] & ((ref[i] >> 31) - 1)));
            }
        for (std::size_t i = 0; i < n_walkers; ++i) {
            const bool is_over = ref[i] & leaf_bit;
            leaf[slot[i]] = ref[i] & ~leaf_bit;
            confidence[slot[i]] = distance[i] < 1.0 ? distance[i] : 1.0;
            n_ended += is_over && slot[i] < n_walks;
            slot[i] = is_over ? next : slot[i];
            next += is_over && next < n_walks;
            const Start& from = starts[slot[i]];
            ref[i] = is_over ? from.ref : ref[i];
            z[i] = from.z;
            distance[i] = is_over ? 1.0 : distance[i];
        }
    }
}

template <class Block, std::size_t n_terms>
void walk_layout(const Walks& walks, std::uint32_t* leaf, double* confidence) {
    switch (walks.confidence) {
        case Confidence::none:
            return walk_by<Block, n_terms, Confidence::none>(walks, leaf, confidence);
        case Confidence::last:
            return walk_by<Block, n_terms, Confidence::last>(walks, leaf, confidence);
        case Confidence::path:
            return walk_by<Block, n_terms, Confidence::path>(walks, leaf, confidence);
    }
}

void walk(const Walks& walks, std::uint32_t* leaf, double* confidence) {
    switch (walks.forest.trees[walks.first_tree].n_terms) {
        case 1:
            return walk_layout<Narrow<4>, 1>(walks, leaf, confidence);
        case 2:
            return walk_layout<Narrow<4>, 2>(walks, leaf, confidence);
        case 4:
            return walk_layout<Narrow<4>, 4>(walks, leaf, confidence);
        case 5:
            return walk_layout<Narrow<8>, 5>(walks, leaf, confidence);
        case 6:
            return walk_layout<Narrow<8>, 6>(walks, leaf, confidence);
        case 8:
            return walk_layout<Narrow<8>, 8>(walks, leaf, confidence);
        case 12:
            return walk_layout<Narrow<12>, 12>(walks, leaf, confidence);
        case 16:
            return walk_layout<Narrow<16>, 16>(walks, leaf, confidence);
        default:
            return walk_layout<Wide, 0>(walks, leaf, confidence);
    }
}

double membership(const PackedForest& forest, std::uint32_t number, const float* z) {
    const Leaf& leaf = forest.leaves[number];
    if (leaf.n == 0) return clip(leaf.intercept);
    return clip(leaf.intercept +
                lane_sum(forest.slopes.data() + leaf.at, forest.slope_features.data() + leaf.at, leaf.n, z));
}

// The accumulators of eight features stay in registers while the rows go by.
template <bool is_weighted>
inline void sum_rows_by(const WeightedRows& samples, double* sum, float* low, float* high) {
    const Rows& rows = samples.rows;
    for (std::size_t f = 0; f < rows.n_features; f += 8) {
        Double4 sum_low = load4(sum + f), sum_high = load4(sum + f + 4);
        Float8 least = load<Float8>(low + f), most = load<Float8>(high + f);
        const float* z = rows.data + f;
        for (std::size_t row = 0; row < rows.n_rows; ++row, z += rows.n_features) {
            const Float8 eight = load<Float8>(z);
            Double4 first = load4(z), second = load4(z + 4);
            if constexpr (is_weighted) {
                first *= samples.weight[row];
                second *= samples.weight[row];
            }
            sum_low += first;
            sum_high += second;
            least = eight < least ? eight : least;
            most = eight > most ? eight : most;
        }
        store(sum + f, sum_low);
        store(sum + f + 4, sum_high);
        store(low + f, least);
        store(high + f, most);
    }
}

void sum_rows(const WeightedRows& samples, double* sum, float* low, float* high) {
    samples.weight ? sum_rows_by<true>(samples, sum, low, high) : sum_rows_by<false>(samples, sum, low, high);
}

template <bool is_weighted>
inline void square_rows_by(const WeightedRows& samples, const double* mean, double* squares) {
    const Rows& rows = samples.rows;
    for (std::size_t f = 0; f < rows.n_features; f += 8) {
        Double4 low = load4(squares + f), high = load4(squares + f + 4);
        const Double4 mean_low = load4(mean + f), mean_high = load4(mean + f + 4);
        const float* z = rows.data + f;
        for (std::size_t row = 0; row < rows.n_rows; ++row, z += rows.n_features) {
            const Double4 first = load4(z) - mean_low, second = load4(z + 4) - mean_high;
            if constexpr (is_weighted) {
                low += samples.weight[row] * (first * first);
                high += samples.weight[row] * (second * second);
            } else {
                low += first * first;
                high += second * second;
            }
        }
        store(squares + f, low);
        store(squares + f + 4, high);
    }
}

void square_rows(const WeightedRows& samples, const double* mean, double* squares) {
    samples.weight ? square_rows_by<true>(samples, mean, squares)
                   : square_rows_by<false>(samples, mean, squares);
}

// Up to eight features: the triangle stays in registers, as rows of whole vectors.
template <bool is_weighted>
inline void scatter_eight(const WeightedRows& samples, const double* mean, double* scatter) {
    const Rows& rows = samples.rows;
    const std::size_t p = rows.n_features;
    double square[8][8] = {};
    for (std::size_t f = 0; f < p; ++f)
        for (std::size_t g = 0; g <= f; ++g) square[f][g] = scatter[f * p + g];
    Double4 left[8], right[4];
    for (std::size_t f = 0; f < 8; ++f) left[f] = load4(square[f]);
    for (std::size_t f = 0; f < 4; ++f) right[f] = load4(square[f + 4] + 4);
    const Double4 mean_low = load4(mean), mean_high = load4(mean + 4);
    const float* z = rows.data;
    for (std::size_t row = 0; row < rows.n_rows; ++row, z += p) {
        const Double4 low = load4(z) - mean_low, high = load4(z + 4) - mean_high;
        Double4 weighted_low = low, weighted_high = high;
        if constexpr (is_weighted) {
            weighted_low *= samples.weight[row];
            weighted_high *= samples.weight[row];
        }
#pragma GCC unroll 4
        for (std::size_t f = 0; f < 4; ++f) {
            left[f] += weighted_low[f] * low;
            left[f + 4] += weighted_high[f] * low;
            right[f] += weighted_high[f] * high;
        }
    }
    for (std::size_t f = 0; f < 8; ++f) store(square[f], left[f]);
    for (std::size_t f = 0; f < 4; ++f) store(square[f + 4] + 4, right[f]);
    for (std::size_t f = 0; f < p; ++f)
        for (std::size_t g = 0; g <= f; ++g) scatter[f * p + g] = square[f][g];
}

void scatter_rows(const WeightedRows& samples, const double* mean, double* scatter) {
    const Rows& rows = samples.rows;
    const std::size_t n_features = rows.n_features;
    if (n_features <= 8) {
        samples.weight ? scatter_eight<true>(samples, mean, scatter)
                       : scatter_eight<false>(samples, mean, scatter);
        return;
    }
    std::vector<double> distances(n_features);
    double* distance = distances.data();
    for (std::size_t row = 0; row < rows.n_rows; ++row) {
        const double weight = samples.weight ? samples.weight[row] : 1.0;
        const float* z = rows[row];
        for (std::size_t f = 0; f < n_features; ++f) distance[f] = static_cast<double>(z[f]) - mean[f];
        for (std::size_t f = 0; f < n_features; ++f) {
            const double weighted = weight * distance[f];
            double* line = scatter + f * n_features;
            for (std::size_t g = 0; g <= f; ++g) line[g] += weighted * distance[g];
        }
    }
}

inline double least_of(Double4 v) {
    const double a = v[0] < v[1] ? v[0] : v[1], b = v[2] < v[3] ? v[2] : v[3];
    return a < b ? a : b;
}
inline double most_of(Double4 v) {
    return -least_of(-v);
}

void extremes(const double* values, std::size_t n, double& low, double& high) {
    Double4 least = Double4{} + infinity, most = Double4{} - infinity;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const Double4 four = load4(values + i);
        least = four < least ? four : least;
        most = four > most ? four : most;
    }
    low = least_of(least);
    high = most_of(most);
    for (; i < n; ++i) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
}

Side below(const double* values, const double* weight, std::size_t n, double bound) {
    Double4 nearest = Double4{} - infinity;
    Long4 count{};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const Double4 four = load4(values + i);
        const Long4 is_below = four < bound;
        count -= is_below;
        const Double4 candidate = is_below ? four : Double4{} - infinity;
        nearest = candidate > nearest ? candidate : nearest;
    }
    Side side{static_cast<double>(count[0] + count[1] + count[2] + count[3]), most_of(nearest)};
    for (; i < n; ++i)
        if (values[i] < bound) {
            side.weight += 1.0;
            side.nearest = values[i] > side.nearest ? values[i] : side.nearest;
        }
    if (weight) {
        side.weight = 0.0;
        for (std::size_t row = 0; row < n; ++row) side.weight += values[row] < bound ? weight[row] : 0.0;
    }
    return side;
}

Side above(const double* values, const double* weight, std::size_t n, double bound) {
    Double4 nearest = Double4{} + infinity;
    Long4 count{};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const Double4 four = load4(values + i);
        const Long4 is_above = four > bound;
        count -= is_above;
        const Double4 candidate = is_above ? four : Double4{} + infinity;
        nearest = candidate < nearest ? candidate : nearest;
    }
    Side side{static_cast<double>(count[0] + count[1] + count[2] + count[3]), least_of(nearest)};
    for (; i < n; ++i)
        if (values[i] > bound) {
            side.weight += 1.0;
            side.nearest = values[i] < side.nearest ? values[i] : side.nearest;
        }
    if (weight) {
        side.weight = 0.0;
        for (std::size_t row = 0; row < n; ++row) side.weight += values[row] > bound ? weight[row] : 0.0;
    }
    return side;
}

template <class Value>  // double or four of them
inline Value gini_cost(Value rest, Value target, Value right_rest, Value right_target) {
    return target * rest / (target + rest) + right_target * right_rest / (right_target + right_rest);
}

double gini_costs(const double* values, const double* rest, const double* target, std::size_t n,
                  const double (&total)[2], double min_samples_leaf, double* cost) {
    if (n < 2) return infinity;
    Double4 least = Double4{} + infinity;
    std::size_t i = 0;
    for (; i + 5 <= n; i += 4) {
        const Double4 left_rest = load4(rest + i), left_target = load4(target + i);
        const Double4 right_rest = total[0] - left_rest, right_target = total[1] - left_target;
        const Long4 is_cut = (load4(values + i) != load4(values + i + 1)) &
                             (left_rest + left_target >= min_samples_leaf) &
                             (right_rest + right_target >= min_samples_leaf);
        const Double4 four =
            is_cut ? gini_cost(left_rest, left_target, right_rest, right_target) : Double4{} + infinity;
        store(cost + i, four);
        least = four < least ? four : least;
    }
    double result = least_of(least);
    for (; i + 1 < n; ++i) {
        const double right_rest = total[0] - rest[i], right_target = total[1] - target[i];
        const bool is_cut = values[i] != values[i + 1] && rest[i] + target[i] >= min_samples_leaf &&
                            right_rest + right_target >= min_samples_leaf;
        cost[i] = is_cut ? gini_cost(rest[i], target[i], right_rest, right_target) : infinity;
        result = cost[i] < result ? cost[i] : result;
    }
    return result;
}

inline Float8 gini_bound(Float8 rest, Float8 target, float all_rest, float all_target) {
    const Float8 tiny = Float8{} + 1e-30f;  // makes 0 of 0 / 0
    const Float8 right_rest = all_rest - rest, right_target = all_target - target;
    return target * rest / (target + rest + tiny) +
           right_target * right_rest / (right_target + right_rest + tiny);
}
inline Float8 lesser(Float8 a, Float8 b) {
    return a < b ? a : b;
}

float gini_bounds(const float* rest, const float* target, std::size_t n, float min_samples_leaf,
                  bool is_exact, float* bound) {
    const float all_rest = rest[n], all_target = target[n], all = all_rest + all_target;
    Float8 least = Float8{} + std::numeric_limits<float>::infinity();
    for (std::size_t b = 0; b < n; b += 8) {
        const Float8 rest_before = load<Float8>(rest + b), rest_behind = load<Float8>(rest + b + 1);
        const Float8 target_before = load<Float8>(target + b), target_behind = load<Float8>(target + b + 1);
        const Float8 behind = gini_bound(rest_behind, target_behind, all_rest, all_target);
        const Float8 left = rest_behind + target_behind;
        const auto is_cut = (left >= min_samples_leaf) & (all - left >= min_samples_leaf);
        least = lesser(is_cut ? behind : least, least);
        Float8 lowest = behind;
        if (!is_exact) {
            lowest = lesser(lowest, gini_bound(rest_before, target_behind, all_rest, all_target));
            lowest = lesser(lowest, gini_bound(rest_behind, target_before, all_rest, all_target));
            lowest = lesser(lowest, gini_bound(rest_before, target_before, all_rest, all_target));
        }
        store(bound + b, lowest);
    }
    float result = least[0];
    for (std::size_t i = 1; i < 8; ++i) result = least[i] < result ? least[i] : result;
    return result;
}

template <class Value>
inline bool normalise(const Value* x, const double* centre, const double* scale, std::size_t n, float* z) {
    bool is_finite = true;
    for (std::size_t f = 0; f < n; ++f) {
        const double value = static_cast<double>(x[f]);
        double quotient = (value - centre[f]) / scale[f];
        is_finite &= !(value - value != 0.0) | (value != value);  // inf - inf is NaN, which differs from 0
        quotient = quotient > 1e30 ? 1e30 : quotient;
        quotient = quotient < -1e30 ? -1e30 : quotient;
        z[f] = static_cast<float>(value != value ? 0.0 : quotient);
    }
    return is_finite;
}

bool normalise_float64(const double* x, const double* centre, const double* scale, std::size_t n, float* z) {
    return normalise(x, centre, scale, n, z);
}

bool normalise_float32(const float* x, const double* centre, const double* scale, std::size_t n, float* z) {
    return normalise(x, centre, scale, n, z);
}

}  // namespace

const Kernels LHTREE_KERNELS = {
    LHTREE_KERNELS_NAME, feature_sums,     walk,  membership, sum_rows,   square_rows,
    scatter_rows,        extremes,         below, above,      gini_costs, gini_bounds,
    normalise_float64,   normalise_float32};

}  // namespace lhtree
