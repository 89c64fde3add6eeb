#include "lhtree/grow/boost/rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "lhtree/shared/random.hpp"

namespace lhtree::boost {

namespace {

// 2^k such that the largest value takes 15 bits; 1 if there is none. 2^-k stays within the range of floats.
double quantum_of(double largest) {
    if (!(largest > 0.0)) return 1.0;
    int exponent;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, std::max(exponent, -100) - 15);
}

}  // namespace

Weights::Weights(const double* weight, const Labels& labels) {
    if (!weight) return;
    const auto n = static_cast<double>(labels.n_rows);
    const double* const end = weight + labels.n_rows;
    if (std::all_of(weight, end, [](double one) { return one == 1.0; })) return;
    of.resize(labels.n_rows);
    // Rows that are held back have a unit of their own: it makes no difference to their mean loss, and they
    // make none to the trees.
    for (const bool of_held : {true, false}) {
        constexpr double most = 0x1p31, most_in_all = 0x1p47;
        double largest = 0.0;
        bool is_whole = true;
        for (std::size_t row = 0; row < labels.n_rows; ++row) {
            if (labels.is_held(row) != of_held) continue;
            largest = std::max(largest, weight[row]);
            is_whole = is_whole && std::floor(weight[row]) == weight[row];
        }
        unit = 1.0;
        if (!(is_whole && largest <= most && largest * n <= most_in_all)) {
            int exponent;
            std::frexp(largest, &exponent);
            // largest / unit < 2^31, and n times that < 2^47
            int bits = 31;
            while (bits > 1 && std::ldexp(n, bits) > most_in_all) --bits;
            unit = std::ldexp(1.0, std::max(exponent - bits, -1022));
        }
        for (std::size_t row = 0; row < labels.n_rows; ++row)
            if (labels.is_held(row) == of_held)
                of[row] = static_cast<std::uint32_t>(std::nearbyint(weight[row] / unit));
        shift = 0;
        for (double size = largest / unit; size >= std::ldexp(1.0, most_moment_bits); size /= 2.0) ++shift;
    }
}

bool Sampling::takes(std::uint64_t row) const {
    return share >= 1.0 || static_cast<double>(derive(key, row) >> 11) * 0x1p-53 < share;
}

Rows::Rows(const Bins& bins, std::vector<std::uint8_t>&& codes, const Labels& labels, const Weights& weights,
           Loss loss, std::vector<double> first, std::size_t n_threads, Watch& watch)
    : bins_(bins),
      codes_(std::move(codes)),
      labels_(labels),
      weights_(weights),
      loss_(loss),
      first_(std::move(first)),
      watch_(watch),
      raw_(labels.n_rows * first_.size()) {
    for (std::size_t i = 0; i < raw_.size(); ++i) raw_[i] = first_[i % first_.size()];
    if (loss_ == Loss::softmax) log_sums_.resize(labels.n_rows);
    // A pass over fewer rows is over before a thread has started. Chunks of up to 2^16 rows: see add_moments.
    constexpr std::size_t most = 65536, rows_per_thread = 16384;
    n_threads_ = std::clamp<std::size_t>(labels.n_rows / rows_per_thread, 1, n_threads);
    const std::size_t size =
        n_threads_ == 1 ? most : std::clamp<std::size_t>(labels.n_rows / (4 * n_threads_), 1024, most);
    for (std::size_t begin = 0; begin < labels.n_rows; begin += size) {
        Chunk chunk{begin, std::min(labels.n_rows - begin, size), {}, {}, {}, {}};
        chunk.entries.resize(chunk.size);
        chunk.gradient.resize(chunk.size);
        chunk.hessian.resize(chunk.size);
        chunks_.push_back(std::move(chunk));
    }
}

template <class Task>
void Rows::each_chunk(const Task& task) {
    run(chunks_.size(), n_threads_, watch_, [&](std::size_t i) { task(chunks_[i]); });
}

template <class Make, class Add, class Merge>
auto Rows::gather(const Make& make, const Add& add, const Merge& merge) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::optional<decltype(make())> all;
    const std::size_t n_workers = std::min(n_threads_, chunks_.size());
    run(n_workers, n_workers, watch_, [&](std::size_t) {
        auto own = make();
        for (std::size_t i = next++; i < chunks_.size(); i = next++) {
            watch_.check();
            add(own, chunks_[i]);
        }
        const std::lock_guard<std::mutex> lock(mutex);
        if (all)
            merge(*all, own);
        else
            all = std::move(own);
    });
    return std::move(*all);
}

Part Rows::part_of(const Chunk& chunk, const Extent& extent) const {
    return {chunk.entries.data() + extent.begin, extent.middle - extent.begin,
            codes_.data() + chunk.begin * bins_.n_features(), bins_.n_features(),
            weights_.of.empty() ? nullptr : weights_.of.data() + chunk.begin};
}

void Rows::begin_round() {
    if (loss_ != Loss::softmax) return;
    each_chunk([&](Chunk& chunk) {
        for (std::size_t row = chunk.begin; row < chunk.begin + chunk.size; ++row)
            log_sums_[row] = log_sum(&raw_[row * n_scores()], n_scores());
    });
}

Sums Rows::begin_tree(std::size_t score, const Sampling& sampling, Quanta& quanta) {
    score_ = score;
    using Largest = std::pair<double, double>;
    const Largest largest = gather(
        [] { return Largest{0.0, 0.0}; },
        [&](Largest& own, Chunk& chunk) {
            differentiate(
                loss_,
                {labels_.classes + chunk.begin, &raw_[chunk.begin * n_scores()], chunk.size, n_scores()},
                score, log_sums_.empty() ? nullptr : &log_sums_[chunk.begin], chunk.gradient.data(),
                chunk.hessian.data());
            float g = 0.0f, h = 0.0f;
            for (std::size_t row = 0; row < chunk.size; ++row) {
                if (labels_.is_held(chunk.begin + row) || weight_of(chunk.begin + row) == 0) continue;
                g = std::max(g, std::abs(chunk.gradient[row]));
                h = std::max(h, chunk.hessian[row]);
            }
            own = {std::max(own.first, static_cast<double>(g)), std::max(own.second, static_cast<double>(h))};
        },
        [](Largest& all, const Largest& own) {
            all = {std::max(all.first, own.first), std::max(all.second, own.second)};
        });
    quanta = {quantum_of(largest.first), quantum_of(largest.second), weights_.unit};
    const auto by_gradient = static_cast<float>(1.0 / quanta.gradient);
    const auto by_hessian = static_cast<float>(1.0 / quanta.hessian);
    return gather([] { return Sums{}; },
                  [&](Sums& own, Chunk& chunk) {
                      std::uint32_t n_taken = 0, n_other = static_cast<std::uint32_t>(chunk.size);
                      for (std::uint32_t row = 0; row < chunk.size; ++row) {
                          if (labels_.is_held(chunk.begin + row) || !sampling.takes(chunk.begin + row)) {
                              chunk.entries[--n_other] = {row, 0, 0};
                              continue;
                          }
                          const float g = std::nearbyint(chunk.gradient[row] * by_gradient);
                          const float h = std::nearbyint(chunk.hessian[row] * by_hessian);
                          const Entry entry{row,
                                            static_cast<std::int16_t>(std::clamp(g, -32767.0f, 32767.0f)),
                                            static_cast<std::uint16_t>(h)};
                          chunk.entries[n_taken++] = entry;
                          const std::int64_t weight = weight_of(chunk.begin + row);
                          own += {entry.gradient * weight, entry.hessian * weight, weight};
                      }
                      chunk.blocks = {{0, n_taken, static_cast<std::uint32_t>(chunk.size)}};
                  },
                  [](Sums& all, const Sums& own) { all += own; });
}

void Rows::begin_replay(std::size_t score) {
    score_ = score;
    each_chunk([](Chunk& chunk) {
        const auto size = static_cast<std::uint32_t>(chunk.size);
        for (std::uint32_t row = 0; row < size; ++row) chunk.entries[row] = {row, 0, 0};
        chunk.blocks = {{0, size, size}};
    });
}

std::vector<std::int64_t> Rows::count_rows(std::size_t n_blocks) const {
    std::vector<std::int64_t> counts(n_blocks, 0);
    for (const Chunk& chunk : chunks_)
        for (std::size_t block = 0; block < n_blocks; ++block)
            counts[block] += chunk.blocks[block].middle - chunk.blocks[block].begin;
    return counts;
}

// One histogram of each size, filled by add(chunk, histograms).
template <class Add>
std::vector<Histogram> Rows::gather_sums(const std::vector<std::size_t>& sizes, const Add& add) {
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

std::vector<Histogram> Rows::count_bins(const std::vector<std::size_t>& blocks, std::size_t first,
                                        std::size_t last) {
    const std::vector<std::size_t> sizes(blocks.size(), bins_.ptr[last] - bins_.ptr[first]);
    return gather_sums(sizes, [&](const Chunk& chunk, std::vector<Histogram>& histograms) {
        for (std::size_t i = 0; i < blocks.size(); ++i)
            histograms[i].count([&](auto* sums) {
                boost::count_bins(part_of(chunk, chunk.blocks[blocks[i]]), bins_, first, last, sums);
            });
    });
}

std::vector<Moments> Rows::measure(const std::vector<std::vector<std::int32_t>>& drawn) {
    return gather(
        [&] {
            std::vector<Moments> empty;
            for (const auto& features : drawn) empty.emplace_back(features.size());
            return empty;
        },
        [&](std::vector<Moments>& own, const Chunk& chunk) {
            for (std::size_t block = 0; block < drawn.size(); ++block)
                if (!drawn[block].empty())
                    add_moments(part_of(chunk, chunk.blocks[block]), bins_, drawn[block], weights_.shift,
                                own[block]);
        },
        [](std::vector<Moments>& all, const std::vector<Moments>& own) {
            for (std::size_t block = 0; block < all.size(); ++block) all[block].merge(own[block]);
        });
}

std::vector<Histogram> Rows::count_steps(const std::vector<Direction>& directions) {
    std::vector<SumTables> tables;
    std::vector<std::size_t> sizes;
    for (const Direction& direction : directions) {
        tables.emplace_back(direction, bins_);
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

// Both ranges of a block, each parted in its order.
void Rows::part_block(Chunk& chunk, const Extent& extent, const Cut& cut, const SumTables& tables,
                      std::vector<Entry>& aside, Extent (&children)[2]) const {
    const std::size_t m = bins_.n_features();
    const std::uint8_t* const codes = codes_.data() + chunk.begin * m;
    const auto feature = static_cast<std::size_t>(cut.direction.features[0]);
    const std::uint8_t missing = bins_.missing(feature);
    const auto part_by = [&](const auto& is_left) {
        aside.resize(extent.end - extent.begin);
        std::uint32_t to = extent.begin, n_aside = 0, n_right = 0;
        for (std::uint32_t i = extent.begin; i < extent.end; ++i) {
            if (i == extent.middle) children[0].middle = to, n_right = n_aside;
            const Entry entry = chunk.entries[i];
            const bool goes_left = is_left(codes + entry.row * m);
            chunk.entries[to] = entry;
            aside[n_aside] = entry;
            to += goes_left;
            n_aside += !goes_left;
        }
        if (extent.middle == extent.end) children[0].middle = to, n_right = n_aside;
        std::copy(aside.begin(), aside.begin() + n_aside, chunk.entries.begin() + to);
        children[0].begin = extent.begin;
        children[0].end = children[1].begin = to;
        children[1].middle = to + n_right;
        children[1].end = extent.end;
    };
    if (!cut.is_single())
        tables.with_size([&](auto size) {
            part_by([&](const std::uint8_t* row) { return tables.sum<size>(row) < cut.sum; });
        });
    else if (cut.is_missing_left)
        part_by([&](const std::uint8_t* row) { return row[feature] <= cut.code || row[feature] == missing; });
    else
        part_by([&](const std::uint8_t* row) { return row[feature] <= cut.code; });
}

void Rows::part(const std::vector<std::optional<Cut>>& cuts, const std::vector<double>& values) {
    std::vector<SumTables> tables;
    for (const auto& cut : cuts)
        tables.emplace_back(cut && !cut->is_single() ? cut->direction : Direction{}, bins_);
    each_chunk([&](Chunk& chunk) {
        std::vector<Entry> aside;
        std::vector<Extent> next;
        for (std::size_t block = 0; block < cuts.size(); ++block) {
            const Extent& extent = chunk.blocks[block];
            if (cuts[block]) {
                Extent children[2];
                part_block(chunk, extent, *cuts[block], tables[block], aside, children);
                next.insert(next.end(), children, children + 2);
            } else {
                for (std::uint32_t i = extent.begin; i < extent.end; ++i)
                    raw_[(chunk.begin + chunk.entries[i].row) * n_scores() + score_] += values[block];
            }
        }
        chunk.blocks = std::move(next);
    });
}

double Rows::mean_loss(bool of_held) {
    struct Losses {
        WideSum high, low, weight;
    };
    const Losses found =
        gather([] { return Losses{}; },
               [&](Losses& own, const Chunk& chunk) {
                   const Scored rows{labels_.classes + chunk.begin, &raw_[chunk.begin * n_scores()],
                                     chunk.size, n_scores()};
                   for (std::size_t row = 0; row < chunk.size; ++row) {
                       if (labels_.is_held(chunk.begin + row) != of_held) continue;
                       const std::int64_t weight = weight_of(chunk.begin + row);
                       const std::int64_t loss = count_loss(loss_, rows, row);
                       own.high.add(loss * (weight >> 16));  // 42 bits times 31 are too many for one product
                       own.low.add(loss * (weight & 0xffff));
                       own.weight.add(weight);
                   }
               },
               [](Losses& all, const Losses& own) {
                   all.high.add(own.high);
                   all.low.add(own.low);
                   all.weight.add(own.weight);
               });
    return (found.high.value() * 0x1p16 + found.low.value()) * 0x1p-32 / found.weight.value();
}

}  // namespace lhtree::boost
