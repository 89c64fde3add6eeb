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
    if (table.codes) part.codes += begin * table.n_coded();
    return part;
}

// A value of a column of numbers.
template <class Value>
Value number_at(const Table<Value>& table, std::size_t row, std::size_t number) {
    return table.x.data[static_cast<std::ptrdiff_t>(row) * table.x.row_stride +
                        static_cast<std::ptrdiff_t>(number) * table.x.feature_stride];
}

// The place of every column among the columns of its kind: numbers or levels.
std::vector<std::size_t> find_places(const Levels* levels, std::size_t n_columns) {
    std::vector<std::size_t> places;
    std::size_t n[2] = {0, 0};
    for (std::size_t column = 0; column < n_columns; ++column)
        places.push_back(n[levels && levels->is_coded(column)]++);
    return places;
}

// A value of a feature, and the weight of the rows that have it.
struct Level {
    float z;
    std::uint64_t weight;
};

// The last value of every bin but the last: all values, or the values that reach the next quantile.
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
        // A heavy value has a bin of its own; the others share the rest.
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

// The mean of z over a bin, clipped, in units. Summed by value, so the order of rows does not matter.
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

// The number of edges that are not above z.
std::size_t find_bin(const double* edges, std::size_t n_edges, float z) {
    const auto value = static_cast<double>(z);
    std::size_t bin = 0;
    for (std::size_t left = n_edges; left > 0;) {
        const std::size_t half = (left + 1) / 2;
        bin += edges[bin + half - 1] <= value ? half : 0;
        left -= half;
    }
    return bin;
}

// The bins of one feature.
struct Feature {
    std::vector<double> edges;
    std::vector<std::int32_t> values;
    bool any_missing = false;

    // From its values in ascending order.
    void cut(std::vector<Level> levels, std::size_t max_bins) {
        if (levels.empty()) {
            levels.push_back({0.0f, 0});
            any_missing = false;
        }
        std::size_t begin = 0;
        for (const std::size_t end : find_ends(levels, max_bins)) {
            edges.push_back((static_cast<double>(levels[end].z) + static_cast<double>(levels[end + 1].z)) /
                            2.0);
            values.push_back(represent(&levels[begin], &levels[end] + 1));
            begin = end + 1;
        }
        values.push_back(represent(&levels[begin], levels.data() + levels.size()));
    }
};

// A column of numbers. False if it holds an infinity.
template <class Value>
bool cut_numbers(const Table<Value>& table, std::size_t number, std::size_t f,
                 const std::vector<std::int64_t>& rows, const std::uint32_t* weight, std::size_t max_bins,
                 Feature& feature) {
    std::vector<Value> x;
    std::vector<std::uint32_t> x_weight;
    for (const std::int64_t row : rows) {
        const std::uint32_t row_weight = weight ? weight[row] : 1;
        if (row_weight == 0) continue;
        const Value value = number_at(table, static_cast<std::size_t>(row), number);
        if (std::isnan(value)) {
            feature.any_missing = true;
        } else {
            x.push_back(value);
            x_weight.push_back(row_weight);
        }
    }
    std::vector<float> z(x.size() + slack);
    Watch quiet;
    const bool is_finite = normalise(Strided<Value>{x.data(), x.size(), 1, 1, 1}, table.centre + f,
                                     table.scale + f, 1, quiet, z.data());
    std::vector<KeyedRow> entries(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) entries[i] = keyed_row(z[i], i);
    RowSorter sorter;
    sorter.sort(entries);
    std::vector<Level> levels;
    for (const KeyedRow entry : entries) {
        const float z_of_entry = key_of(entry);
        if (levels.empty() || levels.back().z != z_of_entry) levels.push_back({z_of_entry, 0});
        levels.back().weight += x_weight[row_of(entry)];
    }
    feature.cut(std::move(levels), max_bins);
    return is_finite;
}

// All features of a column of categories, from the weights of its levels.
template <class Value>
void cut_levels(const Table<Value>& table, std::size_t place, std::size_t first, std::size_t n_levels,
                const std::vector<std::int64_t>& rows, const std::uint32_t* weight, std::size_t max_bins,
                Feature* features) {
    std::vector<std::uint64_t> of_level(n_levels, 0);
    std::uint64_t total = 0;
    bool any_missing = false;
    for (const std::int64_t row : rows) {
        const std::uint32_t row_weight = weight ? weight[row] : 1;
        const std::int32_t level = table.codes[static_cast<std::size_t>(row) * table.n_coded() + place];
        if (level < 0) {
            any_missing = any_missing || row_weight > 0;
        } else {
            of_level[static_cast<std::size_t>(level)] += row_weight;
            total += row_weight;
        }
    }
    for (std::size_t level = 0; level < n_levels; ++level) {
        std::vector<Level> levels;
        for (const Level& one : {Level{table.levels->off(first + level), total - of_level[level]},
                                 Level{table.levels->on(first + level), of_level[level]}}) {
            if (one.weight == 0) continue;
            if (levels.empty() || levels.back().z != one.z)
                levels.push_back(one);
            else
                levels.back().weight += one.weight;
        }
        features[level].any_missing = any_missing;
        features[level].cut(std::move(levels), max_bins);
    }
}

}  // namespace

Slots::Slots(const std::vector<std::size_t>& bins, const Levels* levels, const std::vector<std::uint8_t>& off,
             const std::vector<std::uint8_t>& on)
    : off_(off), on_(on) {
    const auto add = [&](std::size_t first, std::size_t last, bool is_coded) {
        slots_.push_back({first, last, is_coded, n_codes_});
        slot_of_.insert(slot_of_.end(), last - first, slots_.size() - 1);
        n_codes_ += is_coded ? last - first + 2 : bins[first];
        any_coded_ = any_coded_ || is_coded;
    };
    for (const std::size_t n : bins) missing_.push_back(n - 1);
    if (!levels) {
        for (std::size_t feature = 0; feature < bins.size(); ++feature) add(feature, feature + 1, false);
        return;
    }
    for (std::size_t column = 0; column < levels->n_columns(); ++column) {
        const std::size_t end = levels->first(column + 1);
        for (std::size_t first = levels->first(column); first < end; first += most_levels)
            add(first, std::min(first + most_levels, end), levels->is_coded(column));
    }
}

void Bins::add(const std::vector<double>& edges, const std::vector<std::int32_t>& values, bool any_missing) {
    edge.insert(edge.end(), edges.begin(), edges.end());
    value.insert(value.end(), values.begin(), values.end());
    edge.resize(value.size() + 1, 0.0);
    value.push_back(0);
    has_missing.push_back(any_missing);
    ptr.push_back(static_cast<std::uint32_t>(value.size()));
}

void Bins::place(const Levels* levels) {
    std::vector<std::size_t> sizes;
    std::vector<std::uint8_t> off, on;
    for (std::size_t f = 0; f < n_features(); ++f) {
        sizes.push_back(n_bins(f) + 1);
        const auto bin_of = [&](float z) {
            return static_cast<std::uint8_t>(find_bin(&edge[ptr[f]], n_bins(f) - 1, z));
        };
        const bool is_level = levels && levels->is_level(f);
        off.push_back(is_level ? bin_of(levels->off(f)) : std::uint8_t{0});
        on.push_back(is_level ? bin_of(levels->on(f)) : std::uint8_t{0});
    }
    slots = Slots(sizes, levels, off, on);
}

template <class Value>
bool make_bins(const Table<Value>& table, const std::vector<std::int64_t>& rows, const std::uint32_t* weight,
               std::size_t max_bins, std::size_t n_threads, Watch& watch, Bins& bins) {
    const Levels* const levels = table.levels;
    const std::size_t n_columns = levels ? levels->n_columns() : table.x.n_features;
    const std::vector<std::size_t> places = find_places(levels, n_columns);
    std::vector<Feature> features(table.n_features());
    std::atomic<bool> is_finite{true};
    run(n_columns, n_threads, watch, [&](std::size_t column) {
        const std::size_t first = levels ? levels->first(column) : column;
        if (levels && levels->is_coded(column))
            cut_levels(table, places[column], first, levels->first(column + 1) - first, rows, weight,
                       max_bins, &features[first]);
        else if (!cut_numbers(table, places[column], first, rows, weight, max_bins, features[first]))
            is_finite = false;
    });
    if (!is_finite) return false;
    bins = {};
    for (const Feature& feature : features) bins.add(feature.edges, feature.values, feature.any_missing);
    bins.place(levels);
    return true;
}

template <class Value>
bool encode(const Table<Value>& table, const Bins& bins, std::size_t n_threads, Watch& watch,
            std::vector<std::uint8_t>& codes) {
    const Slots& slots = bins.slots;
    const Levels* const levels = table.levels;
    const std::size_t n = table.x.n_rows, n_slots = slots.size(), n_numbers = table.x.n_features;
    std::vector<double> centre, scale;  // of the columns of numbers
    std::vector<std::size_t> places = find_places(levels, levels ? levels->n_columns() : n_numbers);
    for (std::size_t slot = 0; slot < n_slots; ++slot)
        if (!slots[slot].is_coded) {
            centre.push_back(table.centre[slots[slot].first]);
            scale.push_back(table.scale[slots[slot].first]);
        }
    codes.resize(n * n_slots);
    std::atomic<bool> is_finite{true};
    run((n + tile_rows - 1) / tile_rows, n_threads, watch, [&](std::size_t tile) {
        const std::size_t begin = tile * tile_rows, n_some = std::min(n - begin, tile_rows);
        const Table<Value> part = part_of(table, begin, n_some);
        std::vector<float> z(n_some * n_numbers + slack);
        Watch quiet;
        if (n_numbers > 0 && !normalise(part.x, centre.data(), scale.data(), 1, quiet, z.data()))
            is_finite = false;
        for (std::size_t s = 0; s < n_slots; ++s) {
            const Slots::Slot& slot = slots[s];
            const std::size_t column = levels ? levels->column(slot.first) : s, place = places[column];
            std::uint8_t* const to = codes.data() + begin * n_slots + s;
            if (slot.is_coded) {
                const std::size_t first = levels->first(column), n_coded = table.n_coded();
                for (std::size_t row = 0; row < n_some; ++row)
                    to[row * n_slots] = slot.code(first, part.codes[row * n_coded + place]);
                continue;
            }
            const double* const edges = bins.edge.data() + bins.ptr[slot.first];
            const std::size_t n_edges = bins.n_bins(slot.first) - 1;
            for (std::size_t row = 0; row < n_some; ++row)
                to[row * n_slots] =
                    std::isnan(number_at(part, row, place))
                        ? bins.missing(slot.first)
                        : static_cast<std::uint8_t>(find_bin(edges, n_edges, z[row * n_numbers + place]));
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
