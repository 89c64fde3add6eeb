#include "lhtree/grow/boost/statistics.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "lhtree/shared/compiler.hpp"

namespace lhtree::boost {

static void add_entry(const BlockRows&, const Entry& entry, LeanSums& to) {
    to.gradient += entry.gradient;
    to.both += std::int64_t{entry.hessian} << 24 | 1;
}
static void add_entry(const BlockRows& rows, const Entry& entry, Sums& to) {
    const std::int64_t weight = rows.weight ? rows.weight[entry.row] : 1;
    to += {entry.gradient * weight, entry.hessian * weight, weight};
}

// Adds rows to the sums of n slots, whose codes begin at places of the sums.
template <std::size_t n, class AnySums>
static void count_slots(const BlockRows& rows, const std::size_t* counted, const std::size_t* places,
                        AnySums* sums) {
    std::size_t slot[n];
    AnySums* of_slot[n];
    for (std::size_t s = 0; s < n; ++s) {
        slot[s] = counted[s];
        of_slot[s] = sums + places[s];
    }
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < rows.size; ++i) {
        if (i + ahead < rows.size)
            prefetch(rows.codes + rows.entries[i + ahead].row * rows.n_slots + slot[0]);
        AnySums one;
        add_entry(rows, rows.entries[i], one);
        const std::uint8_t* const codes = rows.codes + rows.entries[i].row * rows.n_slots;
        LHTREE_UNROLL(8)
        for (std::size_t s = 0; s < n; ++s) of_slot[s][codes[slot[s]]] += one;
    }
}

// Slots are counted eight at a time: their places stay in registers.
template <class AnySums>
void count_codes(const BlockRows& rows, const Slots& slots, const std::vector<std::size_t>& counted,
                 AnySums* sums) {
    std::vector<std::size_t> places;
    std::size_t n_codes = 0;
    for (const std::size_t slot : counted) {
        places.push_back(n_codes);
        n_codes += slots.n_codes(slot);
    }
    for (std::size_t first = 0; first < counted.size(); first += 8)
        with_constant<1, 7>(counted.size() - first, [&](auto n) {
            constexpr std::size_t n_slots = n == 0 ? 8 : n;
            count_slots<n_slots>(rows, &counted[first], &places[first], sums);
        });
}

template <class AnySums>
void spread_codes(const Bins& bins, std::size_t first, std::size_t last, const AnySums* codes,
                  AnySums* sums) {
    const Slots& slots = bins.slots;
    for (std::size_t f = first; f < last;) {
        const std::size_t s = slots.of(f);
        const Slots::Slot& slot = slots[s];
        const AnySums* const own = codes + (slot.begin - slots[slots.of(first)].begin);
        AnySums known;  // all rows but those without a level
        for (std::size_t code = 0; slot.is_coded && code < slot.missing(); ++code) known += own[code];
        for (; f < last && f < slot.last; ++f) {
            AnySums* const to = sums + (bins.ptr[f] - bins.ptr[first]);
            if (!slot.is_coded) {
                for (std::size_t code = 0; code < slots.n_codes(s); ++code) to[code] += own[code];
                continue;
            }
            const std::size_t code = f - slot.first;
            AnySums others = known;
            others -= own[code];
            to[slots.bin(f, slot.other())] += others;
            to[slots.bin(f, code)] += own[code];
            to[slots.bin(f, slot.missing())] += own[slot.missing()];
        }
    }
}

void Histogram::merge(const Histogram& other) {
    require_same_size(size(), other.size());
    for (std::size_t i = 0; i < lean_.size(); ++i) lean_[i] += other.lean_[i];
    for (std::size_t i = 0; i < full_.size(); ++i) full_[i] += other.full_[i];
}

void Histogram::subtract(const Histogram& other) {
    for (std::size_t i = 0; i < lean_.size(); ++i) lean_[i] -= other.lean_[i];
    for (std::size_t i = 0; i < full_.size(); ++i) full_[i] -= other.full_[i];
}

void SpareHistograms::give(std::vector<Histogram>&& histograms) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Histogram& one : histograms)
        if (const std::size_t capacity = one.capacity(); capacity > 0)
            by_capacity_.emplace(capacity, std::move(one));
}

std::vector<Histogram> SpareHistograms::take(const std::vector<std::size_t>& sizes, bool is_lean) {
    std::vector<Histogram> taken(sizes.size());
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            // Take a spare of similar size; larger spares suit later requests.
            auto found = by_capacity_.lower_bound(sizes[i]);
            if (found == by_capacity_.end() || found->first > 2 * sizes[i]) {
                if (found == by_capacity_.begin() || 2 * std::prev(found)->first < sizes[i]) continue;
                --found;
            }
            taken[i] = std::move(found->second);
            by_capacity_.erase(found);
        }
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) taken[i].reset(sizes[i], is_lean);
    return taken;
}

template <class Weight>
TermTables::TermTables(const Bins& bins, const std::vector<std::int32_t>& features,
                       const std::vector<Weight>& weights, double unit)
    : tables_(features.size() * 256) {
    const ValueTables values(bins, features);
    for (std::size_t i = 0; i < features.size(); ++i) {
        slots_.push_back(values.slot(i));
        const auto weight = static_cast<double>(weights[i]);
        for (std::size_t code = 0; code < bins.slots.n_codes(slots_[i]); ++code)
            tables_[i * 256 + code] = weight * (static_cast<double>(values.values(i)[code]) * unit);
    }
}

// In tiles, so that the places of sums are known long before the sums are needed.
template <class AnySums>
void count_steps(const BlockRows& rows, const Direction& direction, const TermTables& tables, AnySums* sums) {
    constexpr std::size_t tile = 128;
    constexpr double last = n_steps - 1;
    // Sums and steps are whole numbers: half a unit keeps rounding off the borders.
    const double shift = 0.5 - direction.low, inverse = 1.0 / direction.step;
    std::array<double, tile> place;
    std::array<std::int32_t, tile> step;
    for (std::size_t begin = 0; begin < rows.size; begin += tile) {
        const std::size_t n = std::min(tile, rows.size - begin);
        const Entry* const entries = rows.entries + begin;
        tables.with_size([&](auto size) {
            for (std::size_t i = 0; i < n; ++i)
                place[i] = tables.add<size>(0.0, rows.codes + entries[i].row * rows.n_slots);
        });
        for (std::size_t i = 0; i < n; ++i) {
            double bounded = (place[i] + shift) * inverse;
            bounded = bounded > 0.0 ? bounded : 0.0;
            bounded = bounded < last ? bounded : last;
            step[i] = static_cast<std::int32_t>(bounded);
        }
        for (std::size_t i = 0; i < n; ++i) add_entry(rows, entries[i], sums[step[i]]);
    }
}

void Moments::merge(const Moments& other) {
    require_same_size(products.size(), other.products.size());
    hessian.add(other.hessian);
    gradient.add(other.gradient);
    for (std::size_t i = 0; i < hessian_value.size(); ++i) {
        hessian_value[i].add(other.hessian_value[i]);
        gradient_value[i].add(other.gradient_value[i]);
    }
    for (std::size_t i = 0; i < products.size(); ++i) products[i].add(other.products[i]);
}

void LeafMoments::merge(const LeafMoments& other) {
    Moments::merge(other);
    least = std::min(least, other.least);
    largest = std::max(largest, other.largest);
}

ValueTables::ValueTables(const Bins& bins, const std::vector<std::int32_t>& features)
    : made_(bins.slots.any_coded() ? features.size() * 256 : 0) {
    std::size_t n_made = 0;
    for (const std::int32_t feature : features) {
        const auto f = static_cast<std::size_t>(feature);
        slots_.push_back(bins.slots.of(f));
        tables_.push_back(bins.value.data() + bins.ptr[f]);
        if (!bins.slots[slots_.back()].is_coded) continue;
        std::int32_t* const table = &made_[256 * n_made++];
        for (std::size_t code = 0; code < bins.slots.n_codes(slots_.back()); ++code)
            table[code] = bins.value_of(f, code);
        tables_.back() = table;
    }
}

FourFeatures ValueTables::four() const {
    static constexpr std::int32_t zeros[256] = {};
    FourFeatures four{};
    for (std::size_t i = 0; i < 4; ++i) {
        four.slot[i] = i < size() ? slots_[i] : 0;
        four.value[i] = i < size() ? tables_[i] : zeros;
    }
    return four;
}

namespace {

void add_few(const BlockRows& rows, const ValueTables& features, Moments& moments) {
    FourMoments sums;
    boost_kernels().add_four(rows, features.four(), sums);
    moments.hessian.add(sums.hessian);
    moments.gradient.add(sums.gradient);
    for (std::size_t i = 0, at = 0; i < features.size(); ++i) {
        moments.hessian_value[i].add(sums.hessian_value[i]);
        moments.gradient_value[i].add(sums.gradient_value[i]);
        // 3 and 0 are neighbours in their circle.
        for (std::size_t j = 0; j <= i; ++j, ++at)
            moments.products[at].add(i - j < 3 ? sums.products[i - j][j] : sums.products[1][i]);
    }
}

// For up to 16 features: products stay below 2^46, and the sums of a chunk below 2^62.
void add_some(const BlockRows& rows, const ValueTables& features, Moments& moments) {
    constexpr std::size_t most = 16, tile = 64;
    const std::size_t p = features.size(), stride = (p + 3) / 4 * 4;
    std::array<std::int64_t, tile * most> values, room;
    if (p < stride) values.fill(0);
    std::array<std::int64_t, tile> hessians, gradients;
    std::array<std::int64_t, most> by_hessian{}, by_gradient{};
    std::array<std::int64_t, most * most> products{};
    std::int64_t hessian = 0, gradient = 0;
    for (std::size_t begin = 0; begin < rows.size; begin += tile) {
        const std::size_t n = std::min(tile, rows.size - begin);
        for (std::size_t row = 0; row < n; ++row) {
            const Entry& entry = rows.entries[begin + row];
            const std::uint8_t* const codes = rows.codes + entry.row * rows.n_slots;
            hessian += hessians[row] = entry.hessian;
            gradient += gradients[row] = entry.gradient;
            std::int64_t* const own = &values[row * stride];
            for (std::size_t i = 0; i < p; ++i) own[i] = features.values(i)[codes[features.slot(i)]];
        }
        boost_kernels().add_integers({values.data(), n, stride, hessians.data(), gradients.data()},
                                     by_hessian.data(), by_gradient.data(), products.data(), room.data());
    }
    moments.hessian.add(hessian);
    moments.gradient.add(gradient);
    for (std::size_t i = 0, at = 0; i < p; ++i) {
        moments.hessian_value[i].add(by_hessian[i]);
        moments.gradient_value[i].add(by_gradient[i]);
        for (std::size_t j = 0; j <= i; ++j, ++at) moments.products[at].add(products[i * stride + j]);
    }
}

void add_any(const BlockRows& rows, const ValueTables& features, int shift, Moments& moments) {
    const std::size_t p = features.size();
    std::vector<std::int64_t> r(p);
    for (std::size_t row = 0; row < rows.size; ++row) {
        const Entry& entry = rows.entries[row];
        const std::int64_t weight = rows.weight ? rows.weight[entry.row] >> shift : 1;
        const std::uint8_t* const codes = rows.codes + entry.row * rows.n_slots;
        for (std::size_t i = 0; i < p; ++i) r[i] = features.values(i)[codes[features.slot(i)]];
        const std::int64_t hessian = entry.hessian * weight, gradient = entry.gradient * weight;
        moments.hessian.add(hessian);
        moments.gradient.add(gradient);
        for (std::size_t i = 0, at = 0; i < p; ++i) {
            moments.hessian_value[i].add(hessian * r[i]);
            moments.gradient_value[i].add(gradient * r[i]);
            for (std::size_t j = 0; j <= i; ++j, ++at) moments.products[at].add(hessian * r[i] * r[j]);
        }
    }
}

}  // namespace

void add_moments(const BlockRows& rows, const ValueTables& features, int shift, Moments& moments) {
    if (rows.weight || features.size() > 16) return add_any(rows, features, shift, moments);
    features.size() > 4 ? add_some(rows, features, moments) : add_few(rows, features, moments);
}

void add_moments(const BlockRows& rows, const ValueTables& features, int shift, LeafMoments& moments) {
    add_moments(rows, features, shift, static_cast<Moments&>(moments));
    for (std::size_t row = 0; row < rows.size; ++row) {
        const Entry& entry = rows.entries[row];
        if (entry.hessian == 0 || (rows.weight && rows.weight[entry.row] == 0)) continue;
        const double step = -static_cast<double>(entry.gradient) / static_cast<double>(entry.hessian);
        moments.least = std::min(moments.least, step);
        moments.largest = std::max(moments.largest, step);
    }
}

template TermTables::TermTables(const Bins&, const std::vector<std::int32_t>&,
                                const std::vector<std::int32_t>&, double);
template TermTables::TermTables(const Bins&, const std::vector<std::int32_t>&, const std::vector<double>&,
                                double);
template void count_codes(const BlockRows&, const Slots&, const std::vector<std::size_t>&, Sums*);
template void count_codes(const BlockRows&, const Slots&, const std::vector<std::size_t>&, LeanSums*);
template void spread_codes(const Bins&, std::size_t, std::size_t, const Sums*, Sums*);
template void spread_codes(const Bins&, std::size_t, std::size_t, const LeanSums*, LeanSums*);
template void count_steps(const BlockRows&, const Direction&, const TermTables&, Sums*);
template void count_steps(const BlockRows&, const Direction&, const TermTables&, LeanSums*);

}  // namespace lhtree::boost
