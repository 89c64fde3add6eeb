// Kernels of boosting, compiled once per instruction set into the namespace LHTREE_KERNELS.
#include "lhtree/grow/boost/kernels.hpp"

#include <cstring>

#include "lhtree/shared/elementary.hpp"
#include "lhtree/shared/vectors.hpp"

namespace lhtree {
namespace {

using namespace boost;

// The lanes of x, those with a higher number first.
inline Long4 rotate(Long4 x) {
    return Long4{x[1], x[2], x[3], x[0]};
}

void add_four(const BlockRows& rows, const FourFeatures& features, FourMoments& moments) {
    const std::size_t a = features.slot[0], b = features.slot[1], c = features.slot[2], d = features.slot[3];
    const std::int32_t *const of_a = features.value[0], *const of_b = features.value[1],
                              *const of_c = features.value[2], *const of_d = features.value[3];
    std::int64_t hessian = 0, gradient = 0;
    Long4 by_hessian{}, by_gradient{}, squares{}, by_next{}, by_opposite{};
    for (std::size_t i = 0; i < rows.size; ++i) {
        const Entry& entry = rows.entries[i];
        const std::uint8_t* const codes = rows.codes + entry.row * rows.n_slots;
        const Long4 value = widen(Int4{of_a[codes[a]], of_b[codes[b]], of_c[codes[c]], of_d[codes[d]]});
        hessian += entry.hessian;
        gradient += entry.gradient;
        const Long4 own = multiply_low(Long4{} + static_cast<long long>(entry.hessian), value);
        const Long4 next = rotate(value), opposite = rotate(next);
        by_hessian += own;
        by_gradient += multiply_low(Long4{} + static_cast<long long>(entry.gradient), value);
        squares += multiply_low(own, value);
        by_next += multiply_low(own, next);
        by_opposite += multiply_low(own, opposite);
    }
    moments.hessian += hessian;
    moments.gradient += gradient;
    for (std::size_t i = 0; i < 4; ++i) {
        moments.hessian_value[i] += by_hessian[i];
        moments.gradient_value[i] += by_gradient[i];
        moments.products[0][i] += squares[i];
        moments.products[1][i] += by_next[i];
        moments.products[2][i] += by_opposite[i];
    }
}

// Adds the products of four columns of `own` and the first 4 · n_vectors columns of the values.
template <std::size_t n_vectors>
inline void add_integer_products(const IntegerRows& rows, const std::int64_t* own, std::int64_t* products) {
    Long4 sums[4][n_vectors];
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t v = 0; v < n_vectors; ++v)
            sums[i][v] = load<Long4>(products + i * rows.stride + 4 * v);
    const std::int64_t* values = rows.values;
    for (std::size_t row = 0; row < rows.n_rows; ++row, own += rows.stride, values += rows.stride) {
        Long4 others[n_vectors];
        for (std::size_t v = 0; v < n_vectors; ++v) others[v] = load<Long4>(values + 4 * v);
        LHTREE_UNROLL(4)
        for (std::size_t i = 0; i < 4; ++i) {
            const Long4 one = Long4{} + static_cast<long long>(own[i]);
            LHTREE_UNROLL(4)
            for (std::size_t v = 0; v < n_vectors; ++v) sums[i][v] += multiply_low(one, others[v]);
        }
    }
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t v = 0; v < n_vectors; ++v) store(products + i * rows.stride + 4 * v, sums[i][v]);
}

void add_integers(const IntegerRows& rows, std::int64_t* by_first, std::int64_t* by_second,
                  std::int64_t* products, std::int64_t* room) {
    for (std::size_t f = 0; f < rows.stride; f += 4) {
        Long4 first = load<Long4>(by_first + f), second = load<Long4>(by_second + f);
        for (std::size_t row = 0; row < rows.n_rows; ++row) {
            const Long4 four = load<Long4>(rows.values + row * rows.stride + f);
            const Long4 own = multiply_low(Long4{} + static_cast<long long>(rows.first[row]), four);
            store(room + row * rows.stride + f, own);
            first += own;
            second += multiply_low(Long4{} + static_cast<long long>(rows.second[row]), four);
        }
        store(by_first + f, first);
        store(by_second + f, second);
    }
    const std::size_t s = rows.stride;
    add_integer_products<1>(rows, room, products);
    if (s > 4) add_integer_products<2>(rows, room + 4, products + 4 * s);
    if (s > 8) add_integer_products<3>(rows, room + 8, products + 8 * s);
    if (s > 12) add_integer_products<4>(rows, room + 12, products + 12 * s);
}

// Adds the gains of four cuts with these sums on their left.
inline void add_four_gains(Double4 g, Double4 h, Double4 w, const GainTerms& terms, double* gains) {
    const double square = terms.gradient_quantum * terms.gradient_quantum;
    const Double4 other_g = terms.gradient - g, other_h = terms.hessian - h, other_w = terms.weight - w;
    Double4 gain = g * g * square / (h * terms.hessian_quantum + terms.l2) +
                   other_g * other_g * square / (other_h * terms.hessian_quantum + terms.l2) - terms.unsplit;
    gain = select(w >= terms.least_weight, gain, Double4{});
    gain = select(other_w >= terms.least_weight, gain, Double4{});
    gain = select(h >= terms.least_hessian, gain, Double4{});
    gain = select(other_h >= terms.least_hessian, gain, Double4{});
    store(gains, load4(gains) + gain);
}

void add_gains(const double* gradient, const double* hessian, const double* weight, std::size_t n,
               const GainTerms& terms, double* gains) {
    for (std::size_t i = 0; i < n; i += 4)
        add_four_gains(load4(gradient + i), load4(hessian + i), load4(weight + i), terms, gains + i);
}

// Converts numbers between -2^51 and 2^51.
inline Double4 to_double(Long4 values) {
    constexpr double shift = 0x1.8p52;
    const Long4 bits = values + static_cast<long long>(elementary::bits_of(shift));
    return load<Double4>(&bits) - shift;
}

void add_lean_gains(const std::int64_t* gradient, const std::int64_t* both, std::size_t n,
                    const GainTerms& terms, double* gains) {
    for (std::size_t i = 0; i < n; i += 4) {
        const Long4 pair = load<Long4>(both + i);
        add_four_gains(to_double(load<Long4>(gradient + i)), to_double(pair >> 24),
                       to_double(pair & (Long4{} + 0xffffffLL)), terms, gains + i);
    }
}

// Raw scores of up to `tile` rows, and exp(-|raw score|) of each.
struct LogisticTile {
    static constexpr std::size_t tile = 64;  // loops of fixed size are vectorised
    double score[tile] = {}, power[tile];

    void fill(const double* raw, std::size_t size) {
        std::memcpy(score, raw, size * sizeof(double));
        for (std::size_t i = 0; i < tile; i += 4) {
            const Double4 four = load4(score + i), against = select(four < 0.0, four, -four);
            store(power + i, select(against < -746.0, Double4{} - 746.0, against));
        }
        for (std::size_t i = 0; i < tile; ++i) power[i] = elementary::exp_in_range(power[i]);
    }
};

void differentiate_logistic(const double* raw, const std::int32_t* classes, std::size_t n, float* gradient,
                            float* hessian) {
    constexpr std::size_t tile = LogisticTile::tile;
    LogisticTile rows;
    double g[tile], h[tile];
    for (std::size_t begin = 0; begin < n; begin += tile) {
        const std::size_t size = n - begin < tile ? n - begin : tile;
        rows.fill(raw + begin, size);
        for (std::size_t i = 0; i < tile; i += 4) {
            const Double4 power = load4(rows.power + i), one = Double4{} + 1.0;
            const Double4 p = select(load4(rows.score + i) < 0.0, power, one) / (one + power);
            store(g + i, p);
            store(h + i, p * (one - p));
        }
        for (std::size_t i = 0; i < size; ++i) {
            gradient[begin + i] = static_cast<float>(g[i] - (classes[begin + i] == 1 ? 1.0 : 0.0));
            hessian[begin + i] = static_cast<float>(h[i]);
        }
    }
}

void measure_logistic(const double* raw, const std::int32_t* classes, std::size_t n, double* losses) {
    constexpr std::size_t tile = LogisticTile::tile;
    LogisticTile rows;
    for (std::size_t begin = 0; begin < n; begin += tile) {
        const std::size_t size = n - begin < tile ? n - begin : tile;
        rows.fill(raw + begin, size);
        for (std::size_t i = 0; i < tile; ++i) rows.power[i] = elementary::log_in_range(1.0 + rows.power[i]);
        for (std::size_t i = 0; i < size; ++i) {
            const double away = classes[begin + i] == 1 ? -rows.score[i] : rows.score[i];
            losses[begin + i] = (away > 0.0 ? away : 0.0) + rows.power[i];
        }
    }
}

float find_largest(const float* values, std::size_t n) {
    Float8 most{};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const Float8 eight = load<Float8>(values + i);
        const Float8 size = select(eight < Float8{}, -eight, eight);
        most = select(size > most, size, most);
    }
    float largest = 0.0f;
    for (std::size_t lane = 0; lane < 8; ++lane) largest = most[lane] > largest ? most[lane] : largest;
    for (; i < n; ++i) {
        const float size = values[i] < 0.0f ? -values[i] : values[i];
        largest = size > largest ? size : largest;
    }
    return largest;
}

}  // namespace

namespace LHTREE_KERNELS {
const BoostKernels boost_kernels = {add_four,       add_integers,           add_gains,
                                    add_lean_gains, differentiate_logistic, measure_logistic,
                                    find_largest};
}

}  // namespace lhtree
