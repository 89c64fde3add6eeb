#include "lhtree/grow/boost/bins.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "lhtree/shared/normalise.hpp"
#include "lhtree/shared/sort.hpp"

namespace lhtree::boost {

namespace {

constexpr std::size_t tile_rows = 256;

template <class Value>
Table<Value> part_of(const Table<Value>& table, std::size_t begin, std::size_t n) {
    Table<Value> part = table;
    part.x.data += static_cast<std::ptrdiff_t>(begin) * table.x.row_stride;
    part.x.n_rows = n;
    return part;
}

template <class Value>
bool is_missing(const Table<Value>& table, std::size_t row, std::size_t feature) {
    return std::isnan(table.x.data[static_cast<std::ptrdiff_t>(row) * table.x.row_stride +
                                   static_cast<std::ptrdiff_t>(feature) * table.x.feature_stride]);
}

// A value of a feature, and the weight of the rows that have it.
struct Level {
    float z;
    std::uint64_t weight;
};

// Which values end a bin: all but the last, or those at which the weight reaches the next quantile.
std::vector<std::size_t> find_ends(const std::vector<Level>& levels, std::size_t max_bins) {
    std::vector<std::size_t> ends;
    if (levels.size() <= max_bins) {
        for (std::size_t i = 0; i + 1 < levels.size(); ++i) ends.push_back(i);
        return ends;
    }
    std::uint64_t left = 0;
    for (const Level& level : levels) left += level.weight;
    std::size_t n_left = max_bins;
    std::uint64_t reached = 0;  // in the bin at hand
    for (std::size_t i = 0; i + 1 < levels.size() && n_left > 1; ++i) {
        reached += levels[i].weight;
        // A heavy value takes a bin alone; the others share what it leaves.
        const std::uint64_t share = left / n_left;
        const bool is_next_heavy = levels[i + 1].weight > share && reached > 0;
        if (reached >= share || is_next_heavy) {
            ends.push_back(i);
            left -= reached;
            reached = 0;
            --n_left;
        }
    }
    return ends;
}

// The mean of z over a bin, clipped, in units. Added up by value: the order of rows does not matter.
std::int32_t represent(const Level* first, const Level* last) {
    double weight = 0.0, sum = 0.0;  // over values in ascending order
    for (const Level* level = first; level != last; ++level) {
        const double z = std::clamp(static_cast<double>(level->z), -clip, clip);
        weight += static_cast<double>(level->weight);
        sum += static_cast<double>(level->weight) * z;
    }
    const double mean = weight > 0.0 ? sum / weight : std::clamp(static_cast<double>(first->z), -clip, clip);
    return static_cast<std::int32_t>(std::nearbyint(mean / value_unit));
}

}  // namespace

void Bins::add(const std::vector<double>& edges, const std::vector<std::int32_t>& values, bool any_missing) {
    edge.insert(edge.end(), edges.begin(), edges.end());
    value.insert(value.end(), values.begin(), values.end());
    edge.resize(value.size() + 1, 0.0);
    value.push_back(0);
    has_missing.push_back(any_missing);
    ptr.push_back(static_cast<std::uint32_t>(value.size()));
}

template <class Value>
bool make_bins(const Table<Value>& table, const std::vector<std::int64_t>& rows, const std::uint32_t* weight,
               std::size_t max_bins, std::size_t n_threads, Watch& watch, Bins& bins) {
    const std::size_t m = table.x.n_features;
    struct Feature {
        std::vector<double> edges;
        std::vector<std::int32_t> values;
        bool any_missing = false;
    };
    std::vector<Feature> features(m);
    std::atomic<bool> is_finite{true};
    run(m, n_threads, watch, [&](std::size_t f) {
        Feature& feature = features[f];
        std::vector<Value> x;
        std::vector<std::uint32_t> x_weight;
        for (const std::int64_t row : rows) {
            const std::uint32_t row_weight = weight ? weight[row] : 1;
            if (row_weight == 0) continue;
            if (is_missing(table, static_cast<std::size_t>(row), f)) {
                feature.any_missing = true;
            } else {
                x.push_back(table.x.data[static_cast<std::ptrdiff_t>(row) * table.x.row_stride +
                                         static_cast<std::ptrdiff_t>(f) * table.x.feature_stride]);
                x_weight.push_back(row_weight);
            }
        }
        std::vector<float> z(x.size() + slack);
        Watch quiet;
        if (!normalise(Strided<Value>{x.data(), x.size(), 1, 1, 1}, table.centre + f, table.scale + f, 1,
                       quiet, z.data()))
            is_finite = false;
        std::vector<KeyedRow> entries(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) entries[i] = keyed_row(z[i], i);
        RowSorter sorter;
        sorter.sort(entries);
        std::vector<Level> levels;
        for (const KeyedRow entry : entries) {
            const float z = key_of(entry);
            if (levels.empty() || levels.back().z != z) levels.push_back({z, 0});
            levels.back().weight += x_weight[row_of(entry)];
        }
        if (levels.empty()) {
            levels.push_back({0.0f, 0});
            feature.any_missing = false;
        }
        std::size_t begin = 0;
        for (const std::size_t end : find_ends(levels, max_bins)) {
            feature.edges.push_back(
                (static_cast<double>(levels[end].z) + static_cast<double>(levels[end + 1].z)) / 2.0);
            feature.values.push_back(represent(&levels[begin], &levels[end] + 1));
            begin = end + 1;
        }
        feature.values.push_back(represent(&levels[begin], levels.data() + levels.size()));
    });
    if (!is_finite) return false;
    bins = {};
    for (const Feature& feature : features) bins.add(feature.edges, feature.values, feature.any_missing);
    return true;
}

template <class Value>
bool encode(const Table<Value>& table, const Bins& bins, std::size_t n_threads, Watch& watch,
            std::vector<std::uint8_t>& codes) {
    const std::size_t n = table.x.n_rows, m = table.x.n_features;
    codes.resize(n * m + slack);
    std::atomic<bool> is_finite{true};
    run((n + tile_rows - 1) / tile_rows, n_threads, watch, [&](std::size_t tile) {
        const std::size_t begin = tile * tile_rows, n_some = std::min(n - begin, tile_rows);
        const Table<Value> part = part_of(table, begin, n_some);
        std::vector<float> z(n_some * m + slack);
        Watch quiet;
        if (!normalise(part.x, part.centre, part.scale, 1, quiet, z.data())) is_finite = false;
        for (std::size_t f = 0; f < m; ++f) {
            const double* const edges = bins.edge.data() + bins.ptr[f];
            const std::size_t n_edges = bins.n_bins(f) - 1;
            for (std::size_t row = 0; row < n_some; ++row) {
                std::size_t code = 0;  // edges that are not above z
                const auto value = static_cast<double>(z[row * m + f]);
                for (std::size_t left = n_edges; left > 0;) {
                    const std::size_t half = (left + 1) / 2;
                    code += edges[code + half - 1] <= value ? half : 0;
                    left -= half;
                }
                codes[(begin + row) * m + f] =
                    is_missing(part, row, f) ? bins.missing(f) : static_cast<std::uint8_t>(code);
            }
        }
    });
    return is_finite;
}

#define LHTREE_BINS(Value)                                                                               \
    template bool make_bins(const Table<Value>&, const std::vector<std::int64_t>&, const std::uint32_t*, \
                            std::size_t, std::size_t, Watch&, Bins&);                                    \
    template bool encode(const Table<Value>&, const Bins&, std::size_t, Watch&, std::vector<std::uint8_t>&)
LHTREE_BINS(double);
LHTREE_BINS(float);
#undef LHTREE_BINS

}  // namespace lhtree::boost
