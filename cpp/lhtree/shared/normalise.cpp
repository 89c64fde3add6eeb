#include "lhtree/shared/normalise.hpp"

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <vector>

namespace lhtree {

Levels::Levels(const std::vector<std::int32_t>& n_levels, const double* centre, const double* scale)
    : first_{0} {
    for (const std::int32_t n : n_levels) {
        const std::size_t n_features = n > 0 ? static_cast<std::size_t>(n) : 1;
        column_.insert(column_.end(), n_features, is_coded_.size());
        is_coded_.push_back(n > 0);
        first_.push_back(column_.size());
    }
    const std::vector<double> zeros(n_features(), 0.0), ones(n_features(), 1.0);
    off_.resize(n_features());
    on_.resize(n_features());
    normalise_kernels().float64(zeros.data(), centre, scale, n_features(), 0.0, off_.data());
    normalise_kernels().float64(ones.data(), centre, scale, n_features(), 0.0, on_.data());
}

void Levels::expand(const float* row, float* features, float missing) const {
    for (std::size_t column = 0; column < n_columns(); ++column) {
        const std::size_t begin = first_[column], end = first_[column + 1];
        if (!is_coded(column)) {
            features[begin] = row[column];
            continue;
        }
        const std::int32_t level = read(row, column);
        if (level < 0) {
            std::fill(features + begin, features + end, missing);
            continue;
        }
        std::copy(off_.data() + begin, off_.data() + end, features + begin);
        const std::size_t own = begin + static_cast<std::size_t>(level);
        features[own] = on_[own];
    }
}

template <class Value>
bool normalise(const Strided<Value>& x, const double* centre, const double* scale, std::size_t n_threads,
               Watch& watch, float* z, double missing) {
    const auto normalise_row = [] {
        if constexpr (std::is_same_v<Value, double>)
            return normalise_kernels().float64;
        else
            return normalise_kernels().float32;
    }();
    constexpr std::size_t tile_rows = 64;  // few enough to stay in cache while columns are gathered
    const std::size_t m = x.n_features, n_tiles = (x.n_rows + tile_rows - 1) / tile_rows;
    std::atomic<bool> is_finite{true};
    constexpr std::size_t tiles_per_task = 64;
    run((n_tiles + tiles_per_task - 1) / tiles_per_task, n_threads, watch, [&](std::size_t task) {
        std::vector<Value> tile(x.feature_stride == 1 ? 0 : tile_rows * m);
        const std::size_t last = std::min(n_tiles, (task + 1) * tiles_per_task);
        for (std::size_t i = task * tiles_per_task; i < last; ++i) {
            const std::size_t begin = i * tile_rows, n = std::min(x.n_rows, begin + tile_rows) - begin;
            const Value* rows = x.data + static_cast<std::ptrdiff_t>(begin) * x.row_stride;
            std::ptrdiff_t stride = x.row_stride;
            if (x.feature_stride != 1) {
                for (std::size_t f = 0; f < m; ++f) {
                    const Value* column = rows + static_cast<std::ptrdiff_t>(f) * x.feature_stride;
                    for (std::size_t row = 0; row < n; ++row)
                        tile[row * m + f] = column[static_cast<std::ptrdiff_t>(row) * x.row_stride];
                }
                rows = tile.data();
                stride = static_cast<std::ptrdiff_t>(m);
            }
            for (std::size_t row = 0; row < n; ++row)
                if (!normalise_row(rows + static_cast<std::ptrdiff_t>(row) * stride, centre, scale, m,
                                   missing, z + (begin + row) * m))
                    is_finite = false;
        }
    });
    return is_finite;
}

template <class Value>
bool normalise(const Strided<Value>& x, const std::int32_t* codes, const Levels& levels, const double* centre,
               const double* scale, std::size_t n_threads, Watch& watch, float* z, double missing) {
    constexpr std::size_t part_rows = 4096;
    const std::size_t width = levels.n_columns(), n_numbers = x.n_features;
    std::vector<double> own_centre, own_scale;  // of the columns of numbers
    for (std::size_t column = 0; column < width; ++column) {
        if (levels.is_coded(column)) continue;
        own_centre.push_back(centre[levels.first(column)]);
        own_scale.push_back(scale[levels.first(column)]);
    }
    std::atomic<bool> is_finite{true};
    run((x.n_rows + part_rows - 1) / part_rows, n_threads, watch, [&](std::size_t part) {
        const std::size_t begin = part * part_rows, n = std::min(x.n_rows - begin, part_rows);
        std::vector<float> numbers(n * n_numbers + slack);
        Strided<Value> own = x;
        own.data += static_cast<std::ptrdiff_t>(begin) * x.row_stride;
        own.n_rows = n;
        Watch quiet;
        if (n_numbers > 0 &&
            !normalise(own, own_centre.data(), own_scale.data(), 1, quiet, numbers.data(), missing))
            is_finite = false;
        const float* number = numbers.data();
        const std::int32_t* code = codes + begin * (width - n_numbers);
        for (std::size_t row = begin; row < begin + n; ++row)
            for (std::size_t column = 0; column < width; ++column)
                if (levels.is_coded(column))
                    Levels::write(*code++, column, z + row * width);
                else
                    z[row * width + column] = *number++;
    });
    return is_finite;
}

#define LHTREE_NORMALISE(Value)                                                                       \
    template bool normalise(const Strided<Value>&, const double*, const double*, std::size_t, Watch&, \
                            float*, double);                                                          \
    template bool normalise(const Strided<Value>&, const std::int32_t*, const Levels&, const double*, \
                            const double*, std::size_t, Watch&, float*, double)
LHTREE_NORMALISE(double);
LHTREE_NORMALISE(float);
#undef LHTREE_NORMALISE

}  // namespace lhtree
