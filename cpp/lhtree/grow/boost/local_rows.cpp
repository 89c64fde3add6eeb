#include "lhtree/grow/boost/local_rows.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>

namespace lhtree::boost {

// With more rows derivatives are computed twice per tree instead of being kept, to save 8 bytes per row.
static constexpr std::size_t most_kept_rows = std::size_t{1} << 24;

// Rounds to a whole number, halves to the even one, as std::nearbyint does, but without a call. Beyond 2^22
// the result may not be whole: quanta are clamped far below.
static float round_quanta(float value) {
    constexpr float shift = 0x1.8p23f;
    return (value + shift) - shift;
}

LocalRows::LocalRows(const RowData& data, const WeightUnits& units, std::size_t n_threads, Watch& watch)
    : Rows(data.bins, data.objective.n_scores()),
      codes_(data.codes),
      labels_(data.labels),
      weights_(data.weight, data.labels, units),
      objective_(data.objective),
      first_row_(data.first_row),
      watch_(watch),
      raw_(labels_.n_rows * n_scores(), 0.0) {
    has_held_ = labels_.held != nullptr;
    units_ = units;
    if (objective_.is_softmax()) log_sums_.resize(labels_.n_rows);
    // A pass over fewer rows ends before a thread has started. Chunks have up to 2^16 rows: see add_moments.
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

template <class Task>
void LocalRows::each_chunk(const Task& task) {
    run(chunks_.size(), n_threads_, watch_, [&](std::size_t i) { task(chunks_[i]); });
}

template <class Make, class Add>
auto LocalRows::gather_parts(const Make& make, const Add& add) {
    std::atomic<std::size_t> next{0};
    const std::size_t n_workers =
        std::clamp<std::size_t>(chunks_.size(), 1, n_threads_);  // no chunk: no rows
    std::vector<decltype(make())> parts(n_workers);
    run(n_workers, n_workers, watch_, [&](std::size_t worker) {
        auto own = make();
        for (std::size_t i = next++; i < chunks_.size(); i = next++) {
            watch_.check();
            add(own, chunks_[i]);
        }
        parts[worker] = std::move(own);
    });
    return parts;
}

template <class Make, class Add>
auto LocalRows::gather(const Make& make, const Add& add) {
    auto parts = gather_parts(make, add);
    for (std::size_t i = 1; i < parts.size(); ++i) merge(parts[0], parts[i]);
    return std::move(parts[0]);
}

Answer LocalRows::answer(const Request& request) {
    return std::visit(
        [&](const auto& one) -> Answer {
            using One = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<One, SurveyWeights> || std::is_same_v<One, SetWeightUnits>)
                throw std::logic_error("weights are already converted to integers");
            else
                return perform(one);
        },
        request);
}

std::vector<WideSum> LocalRows::perform(const WeighClasses&) {
    std::vector<WideSum> sums(objective_.n_classes);
    for (std::size_t row = 0; row < labels_.n_rows; ++row)
        if (!labels_.is_held(row)) sums[static_cast<std::size_t>(labels_.classes[row])].add(weights_.at(row));
    return sums;
}

std::vector<ResponseSurvey> LocalRows::perform(const SurveyResponses&) {
    const std::size_t n = objective_.n_responses;
    return gather([&] { return std::vector<ResponseSurvey>(n); },
                  [&](std::vector<ResponseSurvey>& all, const Chunk& chunk) {
                      for (std::size_t i = chunk.begin * n; i < (chunk.begin + chunk.size) * n; ++i) {
                          const double response = labels_.response[i];
                          const bool of_held = labels_.is_held(i / n);
                          ResponseSurvey& own = all[i % n];
                          own.low[of_held] = std::min(own.low[of_held], response);
                          own.high[of_held] = std::max(own.high[of_held], response);
                          if (!of_held && weights_.at(i / n) > 0)
                              own.largest = std::max(own.largest, std::abs(response));
                      }
                  });
}

std::vector<SplitSums> LocalRows::perform(const SumResponses& request) {
    const std::size_t n = objective_.n_responses;
    return gather([&] { return std::vector<SplitSums>(n); },
                  [&](std::vector<SplitSums>& all, const Chunk& chunk) {
                      for (std::size_t i = chunk.begin * n; i < (chunk.begin + chunk.size) * n; ++i) {
                          const std::int64_t of_row = weights_.at(i / n);
                          if (labels_.is_held(i / n) || of_row == 0) continue;
                          const auto whole = static_cast<std::int64_t>(
                              std::nearbyint(labels_.response[i] / request.units[i % n]));
                          SplitSums& own = all[i % n];
                          own.high.add((whole >> 26) * of_row);
                          own.low.add((whole & 0x3ffffff) * of_row);
                          own.weight.add(of_row);
                      }
                  });
}

Done LocalRows::perform(const Begin& request) {
    for (std::size_t i = 0; i < raw_.size(); ++i) raw_[i] = request.scores[i % request.scores.size()];
    std::copy(request.loss_units, request.loss_units + 2, loss_units_);
    return {};
}

BlockRows LocalRows::rows_of(const Chunk& chunk, std::size_t block) const {
    const Extent& extent = chunk.blocks[block];
    return {chunk.entries.data() + extent.begin, extent.middle - extent.begin,
            codes_ + chunk.begin * bins().slots.size(), bins().slots.size(),
            weights_.of.empty() ? nullptr : weights_.of.data() + chunk.begin};
}

Scored LocalRows::scored(const Chunk& chunk) const {
    return {labels_.classes ? labels_.classes + chunk.begin : nullptr,
            labels_.response ? labels_.response + chunk.begin * objective_.n_responses : nullptr,
            &raw_[chunk.begin * n_scores()],
            chunk.size,
            n_scores(),
            objective_.n_responses,
            log_sums_.empty() ? nullptr : &log_sums_[chunk.begin],
            proba_.empty() ? nullptr : &proba_[chunk.begin * n_scores()]};
}

Done LocalRows::perform(const BeginRound& request) {
    const std::size_t n = n_scores();
    proba_.resize(request.is_joint ? labels_.n_rows * n : 0);
    each_chunk([&](Chunk& chunk) {
        std::vector<double> room(n);
        if (request.is_joint)
            for (std::size_t row = chunk.begin; row < chunk.begin + chunk.size; ++row)
                Softmax::take_probabilities(&raw_[row * n], n, room.data(), &proba_[row * n]);
        else
            for (std::size_t row = chunk.begin; row < chunk.begin + chunk.size; ++row)
                log_sums_[row] = Softmax::log_sum(&raw_[row * n], n);
    });
    return {};
}

LocalRows::Kept LocalRows::differentiate(Chunk& chunk, std::vector<float>& aside) const {
    float *gradient = chunk.gradient.data(), *hessian = chunk.hessian.data();
    if (chunk.gradient.empty()) {
        aside.resize(2 * chunk.size);
        gradient = aside.data();
        hessian = gradient + chunk.size;
    }
    if (projection_.empty())
        boost::differentiate(objective_, scored(chunk), score_, gradient, hessian);
    else
        boost::differentiate(objective_, scored(chunk), projection_, gradient, hessian);
    return {gradient, hessian};
}

std::vector<Steepness> LocalRows::perform(const Differentiate& request) {
    score_ = request.score;
    projection_ = request.projection;
    const std::size_t n = projection_.size();
    return gather([&] { return std::vector<Steepness>(1 + n); },
                  [&](std::vector<Steepness>& own, Chunk& chunk) {
                      std::vector<float> aside, g(1 + n), h(1 + n);
                      const Kept derivatives = differentiate(chunk, aside);
                      const auto is_counted = [&](std::size_t row) {
                          return !labels_.is_held(chunk.begin + row) && weights_.at(chunk.begin + row) > 0;
                      };
                      const bool counts_all = !labels_.held && weights_.of.empty();
                      if (counts_all) {
                          g[0] = boost_kernels().find_largest(derivatives.gradient, chunk.size);
                          h[0] = boost_kernels().find_largest(derivatives.hessian, chunk.size);
                      }
                      for (std::size_t row = 0; row < chunk.size && !counts_all; ++row) {
                          if (!is_counted(row)) continue;
                          g[0] = std::max(g[0], std::abs(derivatives.gradient[row]));
                          h[0] = std::max(h[0], derivatives.hessian[row]);
                      }
                      if (n > 0)
                          with_scores(objective_, scored(chunk), [&](const auto& each) {
                              for (std::size_t row = 0; row < chunk.size; ++row)
                                  if (is_counted(row))
                                      each(row, [&](std::size_t k, float gradient, float hessian) {
                                          g[1 + k] = std::max(g[1 + k], std::abs(gradient));
                                          h[1 + k] = std::max(h[1 + k], hessian);
                                      });
                          });
                      for (std::size_t i = 0; i <= n; ++i)
                          own[i].merge({static_cast<double>(g[i]), static_cast<double>(h[i])});
                  });
}

Sums LocalRows::perform(const BeginTree& request) {
    const auto by_gradient = static_cast<float>(1.0 / request.quanta.gradient);
    const auto by_hessian = static_cast<float>(1.0 / request.quanta.hessian);
    const std::uint64_t limit = request.sampling.limit();
    n_blocks_ = 1;
    return gather([] { return Sums{}; },
                  [&](Sums& own, Chunk& chunk) {
                      std::vector<float> aside;
                      const Kept derivatives = chunk.gradient.empty()
                                                   ? differentiate(chunk, aside)
                                                   : Kept{chunk.gradient.data(), chunk.hessian.data()};
                      Entry *taken = chunk.entries.data(), *other = taken + chunk.size;
                      for (std::uint32_t row = 0; row < chunk.size; ++row) {
                          const float g = round_quanta(derivatives.gradient[row] * by_gradient);
                          const float h = round_quanta(derivatives.hessian[row] * by_hessian);
                          const Entry entry{row,
                                            static_cast<std::int16_t>(std::clamp(g, -32767.0f, 32767.0f)),
                                            static_cast<std::uint16_t>(std::min(h, 65535.0f))};
                          const bool is_drawn = request.sampling.takes(first_row_ + chunk.begin + row, limit);
                          const bool is_held = labels_.is_held(chunk.begin + row);
                          const bool takes = is_drawn & !is_held;
                          *(takes ? taken : other - 1) = entry;  // without a branch that guesses wrong
                          taken += takes;
                          other -= !takes;
                          const std::int64_t weight = takes ? weights_.at(chunk.begin + row) : 0;
                          own += {entry.gradient * weight, entry.hessian * weight, weight};
                      }
                      const auto n_taken = static_cast<std::uint32_t>(taken - chunk.entries.data());
                      chunk.blocks = {{0, n_taken, static_cast<std::uint32_t>(chunk.size)}};
                  });
}

Done LocalRows::perform(const BeginReplay& request) {
    score_ = request.score;
    n_blocks_ = 1;
    each_chunk([&](Chunk& chunk) {
        std::uint32_t n_learned = 0, n_other = static_cast<std::uint32_t>(chunk.size);
        for (std::uint32_t row = 0; row < chunk.size; ++row)
            chunk.entries[labels_.is_held(chunk.begin + row) ? --n_other : n_learned++] = {row, 0, 0};
        chunk.blocks = {{0, n_learned, static_cast<std::uint32_t>(chunk.size)}};
    });
    return {};
}

namespace {

// An item of a request and a block that it is about.
struct Pairing {
    std::size_t item, block;
};

// Pairings in the order of their answers (see MeasureLevel).
std::vector<Pairing> pair_up(std::size_t n_items, std::size_t n_sharing) {
    std::vector<Pairing> all;
    for (std::size_t item = 0; item < n_items; ++item)
        for (std::size_t i = 0; i < std::max<std::size_t>(n_sharing, 1); ++i)
            all.push_back({item, n_sharing > 0 ? i : item});
    return all;
}

}  // namespace

// One histogram of each size, filled by add(chunk, histograms).
template <class Add>
std::vector<Histogram> LocalRows::gather_histograms(const std::vector<std::size_t>& sizes, const Add& add) {
    auto parts = gather_parts([&] { return spare_.take(sizes, is_lean()); },
                              [&](std::vector<Histogram>& own, const Chunk& chunk) { add(chunk, own); });
    // Few sums are merged before a thread has started.
    constexpr std::size_t few = 1u << 16;
    const std::size_t n_sums = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    run(sizes.size(), n_sums < few ? 1 : n_threads_, watch_, [&](std::size_t i) {
        for (std::size_t part = 1; part < parts.size(); ++part) parts[0][i].merge(parts[part][i]);
    });
    for (std::size_t part = 1; part < parts.size(); ++part) give_back(std::move(parts[part]));
    return std::move(parts[0]);
}

template <class AnyMoments>
std::vector<AnyMoments> LocalRows::gather_moments(const std::vector<std::vector<std::int32_t>>& features,
                                                  std::size_t n_sharing) {
    const std::vector<Pairing> all = pair_up(features.size(), n_sharing);
    std::vector<ValueTables> tables;
    for (const auto& of_item : features) tables.emplace_back(bins(), of_item);
    return gather(
        [&] {
            std::vector<AnyMoments> empty;
            empty.reserve(all.size());
            for (const auto& [item, block] : all) empty.emplace_back(features[item].size());
            return empty;
        },
        [&](std::vector<AnyMoments>& own, const Chunk& chunk) {
            for (std::size_t i = 0; i < all.size(); ++i)
                if (const ValueTables& of_item = tables[all[i].item]; of_item.size() > 0)
                    add_moments(rows_of(chunk, all[i].block), of_item, units_.shift, own[i]);
        });
}

LevelStatistics LocalRows::perform(const MeasureLevel& request) {
    LevelStatistics found;
    if (request.counts_rows) {
        found.n_rows.resize(n_blocks_);
        for (const Chunk& chunk : chunks_)
            for (std::size_t block = 0; block < n_blocks_; ++block)
                found.n_rows[block] += chunk.blocks[block].middle - chunk.blocks[block].begin;
    }
    if (!request.blocks.empty()) {
        const Slots& slots = bins().slots;
        std::size_t n_codes = 0;
        for (const std::size_t slot : request.slots) n_codes += slots.n_codes(slot);
        const std::vector<std::size_t> sizes(request.blocks.size(), n_codes);
        found.histograms =
            gather_histograms(sizes, [&](const Chunk& chunk, std::vector<Histogram>& histograms) {
                for (std::size_t i = 0; i < request.blocks.size(); ++i)
                    histograms[i].count([&](auto* sums) {
                        count_codes(rows_of(chunk, request.blocks[i]), slots, request.slots, sums);
                    });
            });
    }
    if (!request.features.empty())
        found.moments = gather_moments<Moments>(request.features, request.n_sharing);
    return found;
}

std::vector<LeafMoments> LocalRows::perform(const MeasureLeaves& request) {
    return gather_moments<LeafMoments>(request.features, 0);
}

std::vector<Histogram> LocalRows::perform(const CountSteps& request) {
    const std::vector<Direction>& directions = request.directions;
    const std::vector<Pairing> all = pair_up(directions.size(), request.n_sharing);
    std::vector<TermTables> tables;
    for (const Direction& one : directions) tables.emplace_back(bins(), one.features, one.weights, 1.0);
    std::vector<std::size_t> sizes;
    for (const auto& [item, block] : all) sizes.push_back(directions[item].empty() ? 0 : n_steps);
    return gather_histograms(sizes, [&](const Chunk& chunk, std::vector<Histogram>& histograms) {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (const std::size_t item = all[i].item; !directions[item].empty())
                histograms[i].count([&](auto* sums) {
                    count_steps(rows_of(chunk, all[i].block), directions[item], tables[item], sums);
                });
    });
}

std::vector<Histogram> LocalRows::perform(const SumScores& request) {
    const std::size_t n = n_scores();
    const bool has_weights = !weights_.of.empty();
    std::vector<float> by_gradient, by_hessian;
    for (const Quanta& quanta : request.quanta) {
        by_gradient.push_back(static_cast<float>(1.0 / quanta.gradient));
        by_hessian.push_back(static_cast<float>(1.0 / quanta.hessian));
    }
    return gather([&] { return std::vector<Histogram>(request.blocks.size(), Histogram(n, false)); },
                  [&](std::vector<Histogram>& own, const Chunk& chunk) {
                      std::vector<std::int64_t> gradient(n), hessian(n);
                      for (std::size_t i = 0; i < request.blocks.size(); ++i) {
                          const Extent& extent = chunk.blocks[request.blocks[i]];
                          std::fill(gradient.begin(), gradient.end(), 0);
                          std::fill(hessian.begin(), hessian.end(), 0);
                          with_scores(objective_, scored(chunk), [&](const auto& each) {
                              for (std::uint32_t place = extent.begin; place < extent.middle; ++place) {
                                  const std::size_t row = chunk.entries[place].row;
                                  const std::int64_t weight = weights_.at(chunk.begin + row);
                                  each(row, [&](std::size_t k, float g, float h) {
                                      const auto n_g = static_cast<std::int32_t>(
                                          std::clamp(round_quanta(g * by_gradient[k]), -32767.0f, 32767.0f));
                                      const auto n_h = static_cast<std::int32_t>(
                                          std::min(round_quanta(h * by_hessian[k]), 65535.0f));
                                      gradient[k] += has_weights ? weight * n_g : n_g;
                                      hessian[k] += has_weights ? weight * n_h : n_h;
                                  });
                              }
                          });
                          own[i].count([&](auto* sums) {
                              if constexpr (std::is_same_v<decltype(sums), Sums*>)
                                  for (std::size_t k = 0; k < n; ++k) sums[k] += {gradient[k], hessian[k], 0};
                          });
                      }
                  });
}

template <class Use>
void LocalRows::each_residual(const Chunk& chunk, std::size_t block, std::size_t score,
                              const Use& use) const {
    const std::size_t n = n_scores();
    const Scored rows = scored(chunk);
    for (std::uint32_t i = chunk.blocks[block].begin; i < chunk.blocks[block].middle; ++i) {
        const std::size_t row = chunk.entries[i].row;
        use(chunk.begin + row, rows.response_of(row, score) - rows.raw[row * n + score]);
    }
}

std::vector<double> LocalRows::select(std::size_t n_blocks, const std::vector<std::size_t>& scores) {
    std::vector<double> values(n_blocks * scores.size());
    run(values.size(), n_threads_, watch_, [&](std::size_t i) {
        const std::size_t block = i / scores.size(), score = scores[i % scores.size()];
        Selection residuals;
        for (const Chunk& chunk : chunks_)
            each_residual(chunk, block, score, [&](std::size_t row, double residual) {
                residuals.add(residual, weights_.at(row));
            });
        values[i] = residuals.find(selected_share(objective_.loss(score)));
    });
    return values;
}

std::vector<DigitWeights> LocalRows::perform(const WeighDigits& request) {
    const std::vector<Digits>& digits = request.digits;
    return gather(
        [&] {
            std::vector<DigitWeights> empty;
            for (const Digits& known : digits) empty.emplace_back(std::size_t{1} << known.n_bits(), 0);
            return empty;
        },
        [&](std::vector<DigitWeights>& own, const Chunk& chunk) {
            const std::size_t n = request.scores.size();
            for (std::size_t i = 0; i < digits.size(); ++i)
                each_residual(chunk, i / n, request.scores[i % n], [&](std::size_t row, double residual) {
                    digits[i].with_next(residual,
                                        [&](std::uint64_t digit) { own[i][digit] += weights_.at(row); });
                });
        });
}

std::vector<SplitSums> LocalRows::perform(const SumLosses& request) {
    const bool of_held = request.of_held;
    const LossQuanta quanta(objective_.loss());
    return gather(
        [&] { return std::vector<SplitSums>(objective_.n_losses()); },
        [&](std::vector<SplitSums>& all, const Chunk& chunk) {
            const auto is_wanted = [&](std::size_t row) {
                return labels_.is_held(chunk.begin + row) == of_held;
            };
            const auto add = [&](std::size_t row, std::size_t score, double value) {
                const std::int64_t weight = weights_.at(chunk.begin + row);
                const std::int64_t n_quanta = quanta.count(value, loss_units_[of_held][score]);
                SplitSums& own = all[score];
                own.high.add(n_quanta * (weight >> 16));  // 46 bits times 31 are too many for one product
                own.low.add(n_quanta * (weight & 0xffff));
                own.weight.add(weight);
            };
            each_row_loss(objective_, scored(chunk), is_wanted, add);
        });
}

std::vector<double> LocalRows::measure_held(const std::vector<double>& scales) const {
    std::vector<double> all(labels_.n_rows, 0.0), losses;
    const auto n_losses = static_cast<double>(objective_.n_losses());
    for (const Chunk& chunk : chunks_)
        each_row_loss(
            objective_, scored(chunk), [&](std::size_t row) { return labels_.is_held(chunk.begin + row); },
            [&](std::size_t row, std::size_t score, double value) {
                all[chunk.begin + row] += value / scales[score] / n_losses;
            });
    for (std::size_t row = 0; row < labels_.n_rows; ++row)
        if (labels_.is_held(row)) losses.push_back(all[row]);
    return losses;
}

// The sides of a cut, by the codes of a row.
class LocalRows::Sides {
  public:
    Sides(const std::optional<Cut>& cut, const Bins& bins)
        : Sides(cut && !cut->is_single() ? cut->direction : Direction{}, bins) {
        if (!cut) return;
        sum_ = cut->sum;
        if (!cut->is_single()) return;
        is_single_ = true;
        const auto feature = static_cast<std::size_t>(cut->direction.features[0]);
        slot_ = bins.slots.of(feature);
        for (std::size_t code = 0; code < bins.slots.n_codes(slot_); ++code) {
            const std::size_t bin = bins.slots.bin(feature, code);
            goes_left_[code] = bin <= cut->code || (cut->is_missing_left && bin == bins.missing(feature));
        }
    }
    // Calls use(is_left) with a function of the codes of a row.
    template <class Use>
    void with_side(const Use& use) const {
        if (is_single_) return use([this](const std::uint8_t* row) { return goes_left_[row[slot_]]; });
        tables_.with_size([&](auto size) {
            use([&](const std::uint8_t* row) { return tables_.add<size>(0.0, row) < sum_; });
        });
    }

  private:
    TermTables tables_;  // of several features
    double sum_ = 0.0;
    bool is_single_ = false;
    std::size_t slot_ = 0;
    std::array<bool, 256> goes_left_{};

    Sides(const Direction& direction, const Bins& bins)
        : tables_(bins, direction.features, direction.weights, 1.0) {}
};

// Splits both ranges of a block, each in its order.
void LocalRows::split_block(Chunk& chunk, const Extent& extent, const Sides& sides, Entry* aside,
                            Extent (&children)[2]) const {
    const std::size_t m = bins().slots.size();
    const std::uint8_t* const codes = codes_ + chunk.begin * m;
    sides.with_side([&](const auto& is_left) {
        Entry* const entries = chunk.entries.data();
        std::uint32_t to = extent.begin, n_aside = 0, n_right = 0;
        for (std::uint32_t i = extent.begin; i < extent.end; ++i) {
            if (i == extent.middle) children[0].middle = to, n_right = n_aside;
            const Entry entry = entries[i];
            const bool goes_left = is_left(codes + entry.row * m);
            entries[to] = entry;
            aside[n_aside] = entry;
            to += goes_left;
            n_aside += !goes_left;
        }
        if (extent.middle == extent.end) children[0].middle = to, n_right = n_aside;
        std::copy(aside, aside + n_aside, entries + to);
        children[0].begin = extent.begin;
        children[0].end = children[1].begin = to;
        children[1].middle = to + n_right;
        children[1].end = extent.end;
    });
}

// Adds a leaf to the scores of all rows of a block, whether they take part or not.
void LocalRows::add_leaf(const Chunk& chunk, const Extent& extent, const Leaf& leaf,
                         const TermTables& tables) {
    const std::size_t m = bins().slots.size(), n = n_scores();
    const std::uint8_t* const codes = codes_ + chunk.begin * m;
    for (std::uint32_t i = extent.begin; i < extent.end; ++i) {
        const std::size_t row = chunk.entries[i].row;
        if (leaf.is_joint()) {
            double* const raw = &raw_[(chunk.begin + row) * n];
            for (std::size_t k = 0; k < n; ++k) raw[k] += leaf.values[k];
            continue;
        }
        const double sum = tables.add<0>(leaf.line.intercept, codes + row * m);
        raw_[(chunk.begin + row) * n + score_] += std::clamp(sum, leaf.low, leaf.high);
    }
}

Done LocalRows::perform(const SplitLevel& request) {
    const std::vector<std::optional<Cut>>& cuts = request.cuts;
    const std::vector<Leaf>& leaves = request.leaves;
    std::vector<Sides> sides;
    std::vector<TermTables> of_leaves;
    for (const auto& cut : cuts) sides.emplace_back(cut, bins());
    for (const Leaf& leaf : leaves)
        of_leaves.emplace_back(bins(), leaf.line.features, leaf.line.slopes, value_unit);
    const bool is_shared = request.n_sharing > 0;
    const std::size_t n_before = is_shared ? request.n_sharing : cuts.size();
    n_blocks_ = 0;
    for (const auto& cut : cuts) n_blocks_ += cut ? (is_shared ? 2 * n_before : 2) : 0;
    each_chunk([&](Chunk& chunk) {
        const std::unique_ptr<Entry[]> aside(new Entry[chunk.size]);  // not initialised
        std::vector<Extent> next;
        next.reserve(n_blocks_);
        for (std::size_t block = 0; block < n_before; ++block) {
            const Extent& extent = chunk.blocks[block];
            const std::size_t item = is_shared ? 0 : block;
            if (cuts[item]) {
                Extent children[2];
                split_block(chunk, extent, sides[item], aside.get(), children);
                next.insert(next.end(), children, children + 2);
            } else {
                add_leaf(chunk, extent, leaves[block], of_leaves[block]);
            }
        }
        chunk.blocks = std::move(next);
    });
    return {};
}

}  // namespace lhtree::boost
