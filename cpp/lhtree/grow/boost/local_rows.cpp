#include "lhtree/grow/boost/local_rows.hpp"

#include <algorithm>
#include <cmath>

namespace lhtree::boost {

namespace {

// Above it derivatives are taken twice a tree instead of being kept: 8 bytes a row count then.
constexpr std::size_t most_kept_rows = std::size_t{1} << 24;

}  // namespace

LocalRows::LocalRows(const Holding& holding, const WeightUnits& units, std::size_t n_threads, Watch& watch)
    : Rows(holding.bins, holding.n_scores()),
      codes_(holding.codes),
      labels_(holding.labels),
      units_(units),
      weights_(holding.weight, holding.labels, units),
      loss_(holding.loss),
      n_classes_(holding.n_classes),
      first_row_(holding.first_row),
      watch_(watch),
      raw_(labels_.n_rows * n_scores(), 0.0) {
    if (std::holds_alternative<Softmax>(loss_)) log_sums_.resize(labels_.n_rows);
    // A pass over fewer rows is over before a thread has started. Chunks of up to 2^16 rows: see add_moments.
    constexpr std::size_t most = 65536, rows_per_thread = 16384;
    const std::size_t n_rows = labels_.n_rows;
    n_threads_ = std::clamp<std::size_t>(n_rows / rows_per_thread, 1, n_threads);
    const std::size_t size =
        n_threads_ == 1 ? most : std::clamp<std::size_t>(n_rows / (4 * n_threads_), 1024, most);
    for (std::size_t begin = 0; begin < n_rows; begin += size) {
        Chunk chunk{begin, std::min(n_rows - begin, size), {}, {}, {}, {}};
        chunk.entries.resize(chunk.size);
        if (n_rows <= most_kept_rows) {
            chunk.gradient.resize(chunk.size);
            chunk.hessian.resize(chunk.size);
        }
        chunks_.push_back(std::move(chunk));
    }
}

std::vector<WideSum> LocalRows::weigh_classes() {
    std::vector<WideSum> sums(n_classes_);
    for (std::size_t row = 0; row < labels_.n_rows; ++row)
        if (!labels_.is_held(row)) sums[static_cast<std::size_t>(labels_.classes[row])].add(weights_.at(row));
    return sums;
}

ResponseSurvey LocalRows::survey_responses() {
    return gather_one<ResponseSurvey>([&](ResponseSurvey& own, const Chunk& chunk) {
        for (std::size_t row = chunk.begin; row < chunk.begin + chunk.size; ++row) {
            const double response = labels_.response[row];
            const bool of_held = labels_.is_held(row);
            own.low[of_held] = std::min(own.low[of_held], response);
            own.high[of_held] = std::max(own.high[of_held], response);
            if (!of_held && weights_.at(row) > 0) own.largest = std::max(own.largest, std::abs(response));
        }
    });
}

SplitSums LocalRows::sum_responses(double unit) {
    return gather_one<SplitSums>([&](SplitSums& own, const Chunk& chunk) {
        for (std::size_t row = chunk.begin; row < chunk.begin + chunk.size; ++row) {
            const std::int64_t of_row = weights_.at(row);
            if (labels_.is_held(row) || of_row == 0) continue;
            const auto whole = static_cast<std::int64_t>(std::nearbyint(labels_.response[row] / unit));
            own.high.add((whole >> 26) * of_row);
            own.low.add((whole & 0x3ffffff) * of_row);
            own.weight.add(of_row);
        }
    });
}

void LocalRows::begin(const std::vector<double>& first, const double (&loss_unit)[2]) {
    for (std::size_t i = 0; i < raw_.size(); ++i) raw_[i] = first[i % first.size()];
    std::copy(loss_unit, loss_unit + 2, loss_unit_);
}

Part LocalRows::part_of(const Chunk& chunk, const Extent& extent) const {
    return {chunk.entries.data() + extent.begin, extent.middle - extent.begin,
            codes_ + chunk.begin * bins().slots.size(), bins().slots.size(),
            weights_.of.empty() ? nullptr : weights_.of.data() + chunk.begin};
}

Scored LocalRows::scored(const Chunk& chunk) const {
    return {labels_.classes ? labels_.classes + chunk.begin : nullptr,
            labels_.response ? labels_.response + chunk.begin : nullptr,
            &raw_[chunk.begin * n_scores()],
            chunk.size,
            n_scores(),
            log_sums_.empty() ? nullptr : &log_sums_[chunk.begin]};
}

void LocalRows::begin_round() {
    if (log_sums_.empty()) return;
    each_chunk([&](Chunk& chunk) {
        for (std::size_t row = chunk.begin; row < chunk.begin + chunk.size; ++row)
            log_sums_[row] = Softmax::log_sum(&raw_[row * n_scores()], n_scores());
    });
}

LocalRows::Kept LocalRows::differentiate(Chunk& chunk, std::vector<float>& aside) const {
    float *gradient = chunk.gradient.data(), *hessian = chunk.hessian.data();
    if (chunk.gradient.empty()) {
        aside.resize(2 * chunk.size);
        gradient = aside.data();
        hessian = gradient + chunk.size;
    }
    boost::differentiate(loss_, scored(chunk), score_, gradient, hessian);
    return {gradient, hessian};
}

Steepness LocalRows::differentiate(std::size_t score) {
    score_ = score;
    return gather_one<Steepness>([&](Steepness& own, Chunk& chunk) {
        std::vector<float> aside;
        const Kept derivatives = differentiate(chunk, aside);
        float g = 0.0f, h = 0.0f;
        for (std::size_t row = 0; row < chunk.size; ++row) {
            if (labels_.is_held(chunk.begin + row) || weights_.at(chunk.begin + row) == 0) continue;
            g = std::max(g, std::abs(derivatives.gradient[row]));
            h = std::max(h, derivatives.hessian[row]);
        }
        own.merge({static_cast<double>(g), static_cast<double>(h)});
    });
}

Sums LocalRows::begin_tree(const Sampling& sampling, const Quanta& quanta) {
    const auto by_gradient = static_cast<float>(1.0 / quanta.gradient);
    const auto by_hessian = static_cast<float>(1.0 / quanta.hessian);
    n_blocks_ = 1;
    return gather(
        [] { return Sums{}; },
        [&](Sums& own, Chunk& chunk) {
            std::vector<float> aside;
            const Kept derivatives = chunk.gradient.empty()
                                         ? differentiate(chunk, aside)
                                         : Kept{chunk.gradient.data(), chunk.hessian.data()};
            std::uint32_t n_taken = 0, n_other = static_cast<std::uint32_t>(chunk.size);
            for (std::uint32_t row = 0; row < chunk.size; ++row) {
                if (labels_.is_held(chunk.begin + row) || !sampling.takes(first_row_ + chunk.begin + row)) {
                    chunk.entries[--n_other] = {row, 0, 0};
                    continue;
                }
                const float g = std::nearbyint(derivatives.gradient[row] * by_gradient);
                const float h = std::nearbyint(derivatives.hessian[row] * by_hessian);
                const Entry entry{row, static_cast<std::int16_t>(std::clamp(g, -32767.0f, 32767.0f)),
                                  static_cast<std::uint16_t>(std::min(h, 65535.0f))};
                chunk.entries[n_taken++] = entry;
                const std::int64_t weight = weights_.at(chunk.begin + row);
                own += {entry.gradient * weight, entry.hessian * weight, weight};
            }
            chunk.blocks = {{0, n_taken, static_cast<std::uint32_t>(chunk.size)}};
        },
        [](Sums& all, const Sums& own) { all += own; });
}

void LocalRows::begin_all(std::size_t score) {
    score_ = score;
    n_blocks_ = 1;
    each_chunk([&](Chunk& chunk) {
        std::uint32_t n_learned = 0, n_other = static_cast<std::uint32_t>(chunk.size);
        for (std::uint32_t row = 0; row < chunk.size; ++row)
            chunk.entries[labels_.is_held(chunk.begin + row) ? --n_other : n_learned++] = {row, 0, 0};
        chunk.blocks = {{0, n_learned, static_cast<std::uint32_t>(chunk.size)}};
    });
}

Later<std::vector<std::int64_t>> LocalRows::count_rows(std::size_t n_blocks) {
    return [this, n_blocks] {
        std::vector<std::int64_t> counts(n_blocks, 0);
        for (const Chunk& chunk : chunks_)
            for (std::size_t block = 0; block < n_blocks; ++block)
                counts[block] += chunk.blocks[block].middle - chunk.blocks[block].begin;
        return counts;
    };
}

// One histogram of each size, filled by add(chunk, histograms).
template <class Add>
std::vector<Histogram> LocalRows::gather_sums(const std::vector<std::size_t>& sizes, const Add& add) {
    return gather(
        [&] {
            std::vector<Histogram> empty;
            for (const std::size_t size : sizes) empty.emplace_back(size, is_lean());
            return empty;
        },
        [&](std::vector<Histogram>& own, const Chunk& chunk) { add(chunk, own); },
        [](std::vector<Histogram>& all, const std::vector<Histogram>& own) {
            for (std::size_t i = 0; i < all.size(); ++i) all[i].add(own[i]);
        });
}

Later<std::vector<Histogram>> LocalRows::count_codes(const std::vector<std::size_t>& blocks,
                                                     std::size_t first, std::size_t last) {
    return [this, blocks, first, last] {
        const Slots& slots = bins().slots;
        const std::vector<std::size_t> sizes(blocks.size(), slots.begin(last) - slots.begin(first));
        return gather_sums(sizes, [&](const Chunk& chunk, std::vector<Histogram>& histograms) {
            for (std::size_t i = 0; i < blocks.size(); ++i)
                histograms[i].count([&](auto* sums) {
                    boost::count_codes(part_of(chunk, chunk.blocks[blocks[i]]), slots, first, last, sums);
                });
        });
    };
}

template <class AnyMoments>
std::vector<AnyMoments> LocalRows::gather_moments(const std::vector<std::vector<std::int32_t>>& features) {
    return gather(
        [&] {
            std::vector<AnyMoments> empty;
            for (const auto& of_block : features) empty.emplace_back(of_block.size());
            return empty;
        },
        [&](std::vector<AnyMoments>& own, const Chunk& chunk) {
            for (std::size_t block = 0; block < features.size(); ++block)
                if (!features[block].empty())
                    add_moments(part_of(chunk, chunk.blocks[block]), bins(), features[block], units_.shift,
                                own[block]);
        },
        [](std::vector<AnyMoments>& all, const std::vector<AnyMoments>& own) {
            for (std::size_t block = 0; block < all.size(); ++block) all[block].merge(own[block]);
        });
}

Later<std::vector<Moments>> LocalRows::measure(const std::vector<std::vector<std::int32_t>>& drawn) {
    return [this, drawn] { return gather_moments<Moments>(drawn); };
}

std::vector<LeafMoments> LocalRows::measure_leaves(const std::vector<std::vector<std::int32_t>>& features) {
    return gather_moments<LeafMoments>(features);
}

std::vector<Histogram> LocalRows::count_steps(const std::vector<Direction>& directions) {
    std::vector<SumTables> tables;
    std::vector<std::size_t> sizes;
    for (const Direction& direction : directions) {
        tables.emplace_back(direction, bins());
        sizes.push_back(direction.empty() ? 0 : n_steps);
    }
    return gather_sums(sizes, [&](const Chunk& chunk, std::vector<Histogram>& histograms) {
        for (std::size_t block = 0; block < directions.size(); ++block)
            if (!directions[block].empty())
                histograms[block].count([&](auto* sums) {
                    boost::count_steps(part_of(chunk, chunk.blocks[block]), directions[block], tables[block],
                                       sums);
                });
    });
}

std::vector<double> LocalRows::select(std::size_t n_blocks) {
    std::vector<double> values(n_blocks);
    run(n_blocks, n_threads_, watch_, [&](std::size_t block) {
        Selection residuals;
        for (const Chunk& chunk : chunks_)
            for (std::uint32_t i = chunk.blocks[block].begin; i < chunk.blocks[block].middle; ++i) {
                const std::size_t row = chunk.begin + chunk.entries[i].row;
                residuals.add(labels_.response[row] - raw_[row], weights_.at(row));
            }
        values[block] = residuals.find(selected_share(loss_));
    });
    return values;
}

std::vector<DigitWeights> LocalRows::weigh_digits(const std::vector<Digits>& digits) {
    return gather(
        [&] {
            std::vector<DigitWeights> empty;
            for (const Digits& known : digits)
                empty.push_back({std::vector<std::int64_t>(std::size_t{1} << known.n_bits(), 0)});
            return empty;
        },
        [&](std::vector<DigitWeights>& own, const Chunk& chunk) {
            for (std::size_t block = 0; block < digits.size(); ++block)
                for (std::uint32_t i = chunk.blocks[block].begin; i < chunk.blocks[block].middle; ++i) {
                    const std::size_t row = chunk.begin + chunk.entries[i].row;
                    digits[block].with_next(labels_.response[row] - raw_[row], [&](std::uint64_t digit) {
                        own[block].of[digit] += weights_.at(row);
                    });
                }
        },
        [](std::vector<DigitWeights>& all, const std::vector<DigitWeights>& own) {
            for (std::size_t block = 0; block < all.size(); ++block) all[block].merge(own[block]);
        });
}

SplitSums LocalRows::sum_losses(bool of_held) {
    const LossQuanta quanta(loss_);
    return gather_one<SplitSums>([&](SplitSums& own, const Chunk& chunk) {
        const auto is_wanted = [&](std::size_t row) { return labels_.is_held(chunk.begin + row) == of_held; };
        each_row_loss(loss_, scored(chunk), is_wanted, [&](std::size_t row, double value) {
            const std::int64_t weight = weights_.at(chunk.begin + row);
            const std::int64_t n_quanta = quanta.count(value, loss_unit_[of_held]);
            own.high.add(n_quanta * (weight >> 16));  // 46 bits times 31 are too many for one product
            own.low.add(n_quanta * (weight & 0xffff));
            own.weight.add(weight);
        });
    });
}

}  // namespace lhtree::boost
