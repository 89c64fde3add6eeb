#include "lhtree/grow/boost/statistics.hpp"

#include <array>

namespace lhtree::boost {

namespace {

void add_entry(const Part&, const Entry& entry, LeanSums& to) {
    to.gradient += entry.gradient;
    to.both += std::int64_t{entry.hessian} << 24 | 1;
}
void add_entry(const Part& part, const Entry& entry, Sums& to) {
    const std::int64_t weight = part.weight ? part.weight[entry.row] : 1;
    to += {entry.gradient * weight, entry.hessian * weight, weight};
}

}  // namespace

template <class AnySums>
void count_bins(const Part& part, const Bins& bins, std::size_t first, std::size_t last, AnySums* sums) {
    const std::uint32_t* const ptr = bins.ptr.data();
    const std::uint32_t origin = ptr[first];
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < part.size; ++i) {
        if (i + ahead < part.size)
            __builtin_prefetch(part.codes + part.entries[i + ahead].row * part.n_features + first);
        AnySums one;
        add_entry(part, part.entries[i], one);
        const std::uint8_t* const codes = part.codes + part.entries[i].row * part.n_features;
        for (std::size_t f = first; f < last; ++f) sums[ptr[f] - origin + codes[f]] += one;
    }
}

void Histogram::add(const Histogram& other) {
    for (std::size_t i = 0; i < lean_.size(); ++i) lean_[i] += other.lean_[i];
    for (std::size_t i = 0; i < full_.size(); ++i) full_[i] += other.full_[i];
}

void Histogram::subtract(const Histogram& other) {
    for (std::size_t i = 0; i < lean_.size(); ++i) lean_[i] -= other.lean_[i];
    for (std::size_t i = 0; i < full_.size(); ++i) full_[i] -= other.full_[i];
}

SumTables::SumTables(const Direction& direction, const Bins& bins)
    : features_(direction.features), tables_(direction.features.size() * 256) {
    for (std::size_t i = 0; i < features_.size(); ++i) {
        const auto f = static_cast<std::size_t>(features_[i]);
        for (std::size_t bin = bins.ptr[f]; bin < bins.ptr[f + 1]; ++bin)
            tables_[i * 256 + (bin - bins.ptr[f])] =
                static_cast<double>(direction.weights[i]) * static_cast<double>(bins.value[bin]);
    }
}

template <class AnySums>
void count_steps(const Part& part, const Direction& direction, const SumTables& tables, AnySums* sums) {
    const double inverse = 1.0 / direction.step;
    tables.with_size([&](auto size) {
        for (std::size_t i = 0; i < part.size; ++i) {
            AnySums one;
            add_entry(part, part.entries[i], one);
            const double sum = tables.sum<size>(part.codes + part.entries[i].row * part.n_features);
            // Sums and steps are whole numbers: half a unit keeps the rounding of the quotient off the
            // borders.
            const double step = (sum - direction.low + 0.5) * inverse;
            const double bounded = step < 0.0       ? 0.0
                                   : step < n_steps ? step
                                                    : static_cast<double>(n_steps - 1);
            sums[static_cast<std::size_t>(bounded)] += one;
        }
    });
}

void Moments::merge(const Moments& other) {
    hessian.add(other.hessian);
    gradient.add(other.gradient);
    for (std::size_t i = 0; i < hessian_value.size(); ++i) {
        hessian_value[i].add(other.hessian_value[i]);
        gradient_value[i].add(other.gradient_value[i]);
    }
    for (std::size_t i = 0; i < products.size(); ++i) products[i].add(other.products[i]);
}

namespace {

// Unweighted: the sums of a chunk stay below 2^62.
template <std::size_t fixed>
void add_plain(const Part& part, const Bins& bins, const std::vector<std::int32_t>& features,
               Moments& moments) {
    constexpr std::size_t most = 16;
    const std::size_t p = fixed ? fixed : features.size();
    std::array<const std::int32_t*, most> value{};
    std::array<std::size_t, most> column{};
    for (std::size_t i = 0; i < p; ++i) {
        column[i] = static_cast<std::size_t>(features[i]);
        value[i] = bins.value.data() + bins.ptr[column[i]];
    }
    std::int64_t hessian = 0, gradient = 0;
    std::array<std::int64_t, most> h{}, g{}, r{};
    std::array<std::int64_t, most*(most + 1) / 2> products{};
    for (std::size_t row = 0; row < part.size; ++row) {
        const Entry& entry = part.entries[row];
        const std::uint8_t* const codes = part.codes + entry.row * part.n_features;
        hessian += entry.hessian;
        gradient += entry.gradient;
        for (std::size_t i = 0; i < p; ++i) r[i] = value[i][codes[column[i]]];
        for (std::size_t i = 0, at = 0; i < p; ++i) {
            const std::int64_t by_hessian = entry.hessian * r[i];
            h[i] += by_hessian;
            g[i] += entry.gradient * r[i];
            for (std::size_t j = 0; j <= i; ++j, ++at) products[at] += by_hessian * r[j];
        }
    }
    moments.hessian.add(hessian);
    moments.gradient.add(gradient);
    for (std::size_t i = 0; i < p; ++i) {
        moments.hessian_value[i].add(h[i]);
        moments.gradient_value[i].add(g[i]);
    }
    for (std::size_t at = 0; at < p * (p + 1) / 2; ++at) moments.products[at].add(products[at]);
}

void add_any(const Part& part, const Bins& bins, const std::vector<std::int32_t>& features, int shift,
             Moments& moments) {
    const std::size_t p = features.size();
    std::vector<std::int64_t> r(p);
    for (std::size_t row = 0; row < part.size; ++row) {
        const Entry& entry = part.entries[row];
        const std::int64_t weight = part.weight ? part.weight[entry.row] >> shift : 1;
        const std::uint8_t* const codes = part.codes + entry.row * part.n_features;
        for (std::size_t i = 0; i < p; ++i) {
            const auto f = static_cast<std::size_t>(features[i]);
            r[i] = bins.value[bins.ptr[f] + codes[f]];
        }
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

void add_moments(const Part& part, const Bins& bins, const std::vector<std::int32_t>& features, int shift,
                 Moments& moments) {
    const std::size_t p = features.size();
    if (part.weight || p > 16) return add_any(part, bins, features, shift, moments);
    with_constant(p, [&](auto size) { add_plain<size>(part, bins, features, moments); });
}

template void count_bins(const Part&, const Bins&, std::size_t, std::size_t, Sums*);
template void count_bins(const Part&, const Bins&, std::size_t, std::size_t, LeanSums*);
template void count_steps(const Part&, const Direction&, const SumTables&, Sums*);
template void count_steps(const Part&, const Direction&, const SumTables&, LeanSums*);

}  // namespace lhtree::boost
