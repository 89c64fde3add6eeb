// Kernels of growing, compiled once per instruction set into the namespace LHTREE_KERNELS.
#include "lhtree/grow/kernels.hpp"

#include "lhtree/shared/elementary.hpp"
#include "lhtree/shared/vectors.hpp"

namespace lhtree {
namespace {

void feature_sums(const float* weights, const std::int32_t* features, std::size_t n, Rows rows, double* out) {
    for (std::size_t row = 0; row < rows.n_rows; ++row) out[row] = lane_sum(weights, features, n, rows[row]);
}

// Accumulators of eight features stay in registers during the loop over rows.
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
            least = select(eight < least, eight, least);
            most = select(eight > most, eight, most);
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

void product_rows(Rows rows, const double* mean, const double* factor, double* products) {
    for (std::size_t f = 0; f < rows.n_features; f += 8) {
        Double4 low = load4(products + f), high = load4(products + f + 4);
        const Double4 mean_low = load4(mean + f), mean_high = load4(mean + f + 4);
        const float* z = rows.data + f;
        for (std::size_t row = 0; row < rows.n_rows; ++row, z += rows.n_features) {
            low += factor[row] * (load4(z) - mean_low);
            high += factor[row] * (load4(z + 4) - mean_high);
        }
        store(products + f, low);
        store(products + f + 4, high);
    }
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
        LHTREE_UNROLL(4)
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

// Adds the products of four features, from `f` on, and eight, from `g` on, of a strip of rows. Only elements
// on and below the diagonal are written.
inline void scatter_block(const double* weighted, const double* distance, std::size_t n_rows,
                          std::size_t stride, std::size_t f, std::size_t g, std::size_t p, double* scatter) {
    double square[4][8] = {};
    const auto n_of = [&](std::size_t i) { return f + i < p ? (f + i + 1 < g + 8 ? f + i + 1 - g : 8) : 0; };
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < n_of(i); ++k) square[i][k] = scatter[(f + i) * p + g + k];
    Double4 low[4], high[4];
    for (std::size_t i = 0; i < 4; ++i) {
        low[i] = load4(square[i]);
        high[i] = load4(square[i] + 4);
    }
    for (std::size_t row = 0; row < n_rows; ++row) {
        const double* const own = weighted + row * stride + f;
        const double* const other = distance + row * stride + g;
        const Double4 other_low = load4(other), other_high = load4(other + 4);
        LHTREE_UNROLL(4)
        for (std::size_t i = 0; i < 4; ++i) {
            low[i] += own[i] * other_low;
            high[i] += own[i] * other_high;
        }
    }
    for (std::size_t i = 0; i < 4; ++i) {
        store(square[i], low[i]);
        store(square[i] + 4, high[i]);
    }
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < n_of(i); ++k) scatter[(f + i) * p + g + k] = square[i][k];
}

void scatter_rows(const WeightedRows& samples, const double* mean, double* scatter, double* room) {
    const Rows& rows = samples.rows;
    const std::size_t p = rows.n_features;
    if (p <= 8) {
        samples.weight ? scatter_eight<true>(samples, mean, scatter)
                       : scatter_eight<false>(samples, mean, scatter);
        return;
    }
    const std::size_t stride = padded(p), strip = scatter_strip(p);
    double* const distance = room;
    double* const weighted = samples.weight ? room + strip * stride : distance;
    for (std::size_t begin = 0; begin < rows.n_rows; begin += strip) {
        const std::size_t n = rows.n_rows - begin < strip ? rows.n_rows - begin : strip;
        for (std::size_t row = 0; row < n; ++row) {
            const float* const z = rows[begin + row];
            double* const to = distance + row * stride;
            for (std::size_t f = 0; f < stride; f += 4) store(to + f, load4(z + f) - load4(mean + f));
            if (!samples.weight) continue;
            double* const own = weighted + row * stride;
            for (std::size_t f = 0; f < stride; f += 4)
                store(own + f, samples.weight[begin + row] * load4(to + f));
        }
        for (std::size_t f = 0; f < p; f += 4)
            for (std::size_t g = 0; g < f + 4 && g < p; g += 8)
                scatter_block(weighted, distance, n, stride, f, g, p, scatter);
    }
}

// Some lanes of the difference stay in registers during the loop over rows.
template <std::size_t n_vectors>
inline void subtract_tile(double* square, std::size_t n, std::size_t j, std::size_t at) {
    Double4 rest[n_vectors];
    for (std::size_t v = 0; v < n_vectors; ++v) rest[v] = load4(square + j * n + at + 4 * v);
    const double* row = square;
    for (std::size_t k = 0; k < j; ++k, row += n) {
        LHTREE_UNROLL(4)
        for (std::size_t v = 0; v < n_vectors; ++v) rest[v] -= row[j] * load4(row + at + 4 * v);
    }
    for (std::size_t v = 0; v < n_vectors; ++v) store(square + j * n + at + 4 * v, rest[v]);
}

void subtract_products(double* square, std::size_t n, std::size_t j) {
    std::size_t at = j;
    for (; at + 16 <= n; at += 16) subtract_tile<4>(square, n, j, at);
    for (; at + 4 <= n; at += 4) subtract_tile<1>(square, n, j, at);
    double* const own = square + j * n;
    for (std::size_t k = 0; k < j; ++k) {
        const double* const row = square + k * n;
        for (std::size_t i = at; i < n; ++i) own[i] -= row[j] * row[i];
    }
}

double dot(const double* first, const double* second, std::size_t n) {
    Double4 low{}, high{};
    for (std::size_t i = 0; i < n; i += 8) {
        low += load4(first + i) * load4(second + i);
        high += load4(first + i + 4) * load4(second + i + 4);
    }
    const Double4 sum = low + high;
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

Curve curve(const float* z, const double* first, const double* second, std::size_t n) {
    Double4 slope[2] = {{}, {}}, bend[2] = {{}, {}};
    for (std::size_t i = 0; i < n; i += 8)
        for (std::size_t half = 0; half < 2; ++half) {
            const Double4 value = load4(z + i + 4 * half);
            slope[half] += load4(first + i + 4 * half) * value;
            bend[half] += load4(second + i + 4 * half) * (value * value);
        }
    const Double4 slopes = slope[0] + slope[1], bends = bend[0] + bend[1];
    return {(slopes[0] + slopes[2]) + (slopes[1] + slopes[3]), (bends[0] + bends[2]) + (bends[1] + bends[3])};
}

// Adds the products of a column and n others to their eight lanes each.
template <std::size_t n>
inline void add_products(const double* own, const double* const* others, std::size_t begin, std::size_t size,
                         double* lanes) {
    Double4 low[n], high[n];
    for (std::size_t k = 0; k < n; ++k) {
        low[k] = load4(lanes + 8 * k);
        high[k] = load4(lanes + 8 * k + 4);
    }
    for (std::size_t i = 0; i < size; i += 8) {
        const Double4 own_low = load4(own + i), own_high = load4(own + i + 4);
        LHTREE_UNROLL(4)
        for (std::size_t k = 0; k < n; ++k) {
            low[k] += own_low * load4(others[k] + begin + i);
            high[k] += own_high * load4(others[k] + begin + i + 4);
        }
    }
    for (std::size_t k = 0; k < n; ++k) {
        store(lanes + 8 * k, low[k]);
        store(lanes + 8 * k + 4, high[k]);
    }
}

void weighted_products(const double* const* columns, std::size_t n_columns, const double* weight,
                       std::size_t n, double* products, double* room) {
    constexpr std::size_t tile = 256;  // ten columns stay in the first-level cache
    for (std::size_t i = 0; i < 8 * n_columns * n_columns; ++i) room[i] = 0.0;
    for (std::size_t begin = 0; begin < n; begin += tile) {
        const std::size_t size = n - begin < tile ? n - begin : tile;
        for (std::size_t a = 0; a < n_columns; ++a) {
            double own[tile];
            for (std::size_t i = 0; i < size; ++i) own[i] = weight[begin + i] * columns[a][begin + i];
            double* const lanes = room + 8 * a * n_columns;
            std::size_t b = 0;
            for (; b + 4 <= a + 1; b += 4) add_products<4>(own, columns + b, begin, size, lanes + 8 * b);
            for (; b < a + 1; ++b) add_products<1>(own, columns + b, begin, size, lanes + 8 * b);
        }
    }
    for (std::size_t a = 0; a < n_columns; ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            const double* const lanes = room + 8 * (a * n_columns + b);
            const Double4 sum = load4(lanes) + load4(lanes + 4);
            products[a * n_columns + b] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
        }
}

// ln(1 + e) for e from 0 to 1: 2 artanh(e / (2 + e)).
inline double log_of_one_and(double e) {
    const double s = e / (2.0 + e), z = s * s;
    double series = 2.0 / 21.0;  // enough for ten digits
    series = series * z + 2.0 / 19.0;
    series = series * z + 2.0 / 17.0;
    series = series * z + 2.0 / 15.0;
    series = series * z + 2.0 / 13.0;
    series = series * z + 2.0 / 11.0;
    series = series * z + 2.0 / 9.0;
    series = series * z + 2.0 / 7.0;
    series = series * z + 2.0 / 5.0;
    series = series * z + 2.0 / 3.0;
    series = series * z + 2.0;
    return s * series;
}

double logistic(const Terms& terms, const double* weight, const double* side, std::size_t n, double* slope,
                double* bend) {
    constexpr std::size_t tile = 64;  // loops of fixed size are vectorised
    double loss[8] = {};
    for (std::size_t begin = 0; begin < n; begin += tile) {
        const std::size_t size = n - begin < tile ? n - begin : tile;
        double own[tile], e[tile], part[tile];
        for (std::size_t i = 0; i < tile; ++i) own[i] = terms.bias;
        for (std::size_t term = 0; term < terms.n_terms; ++term) {
            const double own_slope = terms.slopes[term], *const column = terms.columns[term] + begin;
            for (std::size_t i = 0; i < size; ++i) own[i] += own_slope * column[i];
        }
        for (std::size_t i = 0; i < tile; i += 4) {
            const Double4 four = load4(own + i), against = select(four < 0.0, four, -four);
            store(e + i, select(against < -746.0, Double4{} - 746.0, against));
        }
        for (std::size_t i = 0; i < tile; ++i) e[i] = elementary::exp_in_range(e[i]);
        for (std::size_t i = 0; i < tile; ++i) part[i] = log_of_one_and(e[i]);
        for (std::size_t i = 0; i < size; i += 4) {
            const Double4 four = load4(own + i), exp = load4(e + i);
            const Double4 own_weight = load4(weight + begin + i), own_side = load4(side + begin + i);
            const Double4 excess = select(four > 0.0, four, Double4{});
            store(part + i, (excess - own_side * four + load4(part + i)) * own_weight);
            const Double4 inverse = 1.0 / (1.0 + exp), low = exp * inverse;
            store(slope + begin + i, own_weight * (select(four < 0.0, low, inverse) - own_side));
            store(bend + begin + i, own_weight * (low * inverse));
        }
        for (std::size_t i = 0; i < size; i += 8)
            for (std::size_t lane = 0; lane < 8; ++lane) loss[lane] += part[i + lane];
    }
    return ((loss[0] + loss[4]) + (loss[2] + loss[6])) + ((loss[1] + loss[5]) + (loss[3] + loss[7]));
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
        least = select(four < least, four, least);
        most = select(four > most, four, most);
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
        const Double4 candidate = select(is_below, four, Double4{} - infinity);
        nearest = select(candidate > nearest, candidate, nearest);
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
        const Double4 candidate = select(is_above, four, Double4{} + infinity);
        nearest = select(candidate < nearest, candidate, nearest);
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

template <class Value>  // double or Double4
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
            select(is_cut, gini_cost(left_rest, left_target, right_rest, right_target), Double4{} + infinity);
        store(cost + i, four);
        least = select(four < least, four, least);
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
    const Float8 tiny = Float8{} + 1e-30f;  // so that 0 / 0 becomes 0
    const Float8 right_rest = all_rest - rest, right_target = all_target - target;
    return target * rest / (target + rest + tiny) +
           right_target * right_rest / (right_target + right_rest + tiny);
}
inline Float8 lesser(Float8 a, Float8 b) {
    return select(a < b, a, b);
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
        least = lesser(select(is_cut, behind, least), least);
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

}  // namespace

namespace LHTREE_KERNELS {
const GrowKernels grow_kernels = {feature_sums,      sum_rows, square_rows, product_rows,      scatter_rows,
                                  subtract_products, dot,      curve,       weighted_products, logistic,
                                  extremes,          below,    above,       gini_costs,        gini_bounds};
}

}  // namespace lhtree
