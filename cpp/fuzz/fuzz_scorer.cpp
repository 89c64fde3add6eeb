// Coverage-guided fuzzing of the checks of models from files: find_fault, pack, Scorer, with all links and
// calibrations. `make fuzz` builds it with libFuzzer, the address and the undefined-behaviour sanitizer.
// Scores of valid models and finite rows must be finite. Every input becomes arrays of exactly their size, so
// that the sanitizer sees a read beyond their end.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "lhtree/score/staged_scores.hpp"

namespace {

using namespace lhtree;

// Reads the input byte by byte, and zeros behind its end.
class Source {
  public:
    Source(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

    template <class T>
    T take() {
        T value{};
        const std::size_t n = sizeof(T) < size_ ? sizeof(T) : size_;
        std::memcpy(&value, data_, n);
        data_ += n;
        size_ -= n;
        return value;
    }

    std::size_t below(std::size_t limit) { return take<std::uint8_t>() % limit; }

    // Returns mostly a number as models have it, and now and then any bits.
    template <class T>
    T real() {
        const auto kind = take<std::uint8_t>();
        return kind < 8 ? take<T>() : static_cast<T>((static_cast<double>(kind) - 128.0) / 64.0);
    }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
};

template <class T>
void shrink(std::vector<T>& values) {
    std::vector<T>(values.begin(), values.end()).swap(values);  // no room behind the last value
}

// Adds some features, ascending.
void add_row(Source& source, std::size_t n_features, std::vector<std::int64_t>& ptr,
             std::vector<std::int32_t>& feature) {
    const std::size_t step = 1 + source.below(4);
    for (std::size_t f = source.below(n_features + 1); f < n_features; f += step)
        feature.push_back(static_cast<std::int32_t>(f));
    ptr.push_back(static_cast<std::int64_t>(feature.size()));
}

// Returns a valid forest. The input gives the shape of every tree, breadth-first, and its values.
// Boosted trees of all classes have any values and no slopes.
Forest sound_forest(Source& source, std::size_t n_features, std::size_t n_classes, bool is_joint,
                    bool is_boosted) {
    Forest forest;
    const bool has_ranges = source.below(2), has_sides = source.below(2);
    const std::size_t n_targets = n_classes < 3 || is_joint ? 1 : n_classes,
                      n_estimators = 1 + source.below(3);
    if (is_joint) forest.value_ptr.push_back(0);
    for (std::size_t tree = 0; tree < n_estimators * n_targets; ++tree) {
        forest.target.push_back(is_joint ? -1
                                         : static_cast<std::int32_t>(n_classes == 2 ? 1 : tree % n_targets));
        const std::size_t most = 1 + 2 * source.below(24), begin = forest.left.size();
        for (std::size_t block = 0, n = 1; block < n; ++block) {
            const bool is_branching = n < most && (source.below(4) || block + 1 == n);
            forest.left.push_back(is_branching ? static_cast<std::int32_t>(n) : -1);
            if (is_branching) {
                n += 2;
                add_row(source, n_features, forest.hyperplane_ptr, forest.hyperplane_feature);
            } else {
                forest.hyperplane_ptr.push_back(forest.hyperplane_ptr.back());
            }
            if (is_joint && is_boosted)
                forest.membership_ptr.push_back(forest.membership_ptr.back());
            else
                add_row(source, n_features, forest.membership_ptr, forest.membership_feature);
            const std::size_t n_weights =
                forest.hyperplane_feature.size() - static_cast<std::size_t>(forest.hyperplane_ptr.end()[-2]);
            const auto side = static_cast<std::int8_t>(static_cast<int>(source.below(3)) - 1);
            if (has_sides) forest.missing.push_back(n_weights == 1 ? side : std::int8_t{0});
            forest.offset.push_back(source.real<double>());
            forest.intercept.push_back(source.real<double>());
            if (is_joint) {
                for (std::size_t cls = source.below(n_classes); cls < n_classes; cls += 1 + source.below(3)) {
                    forest.value_class.push_back(static_cast<std::int32_t>(cls));
                    forest.value.push_back(is_boosted ? source.real<double>()
                                                      : static_cast<double>(source.below(5)) / 4.0);
                }
                forest.value_ptr.push_back(static_cast<std::int64_t>(forest.value.size()));
                if (has_sides && !is_boosted)
                    forest.prior_share.push_back(static_cast<double>(source.below(5)) / 4.0);
            }
            if (!has_ranges) continue;
            forest.low.push_back(source.real<double>());
            forest.high.push_back(forest.low.back() + static_cast<double>(source.below(3)));
        }
        forest.block_ptr.push_back(forest.block_ptr.back() +
                                   static_cast<std::int64_t>(forest.left.size() - begin));
    }
    for (std::size_t i = 0; i < forest.hyperplane_feature.size(); ++i)
        forest.hyperplane_weight.push_back(has_sides ? 1.0f : source.real<float>());
    for (std::size_t i = 0; i < forest.membership_feature.size(); ++i)
        forest.membership_slope.push_back(source.real<double>());
    return forest;
}

// Overwrites one value of some array by any number, as a hostile file could.
void harm(Source& source, Forest& forest) {
    std::size_t number = source.take<std::uint8_t>();
    each_array([&](auto, const auto& get) {
        auto& values = get(forest);
        if (number-- != 0 || values.empty()) return;
        using Value = typename std::decay_t<decltype(values)>::value_type;
        values[source.take<std::uint16_t>() % values.size()] = source.take<Value>();
    });
}

// Returns arrays of any lengths and values.
Forest any_arrays(Source& source) {
    Forest forest;
    const std::size_t n_trees = source.below(4), n_blocks = source.below(12);
    const std::size_t n_weights = source.below(12), n_slopes = source.below(12), n_values = source.below(4);
    each_array([&](auto info, const auto& get) {
        auto& values = get(forest);
        using Value = typename std::decay_t<decltype(values)>::value_type;
        const std::size_t sizes[] = {n_trees,   n_trees + 1, n_blocks, n_blocks + 1,
                                     n_weights, n_slopes,    n_values};
        const std::size_t kind = source.take<std::uint8_t>();  // mostly the right length
        std::size_t size = kind < 4 ? source.below(14) : sizes[static_cast<std::size_t>(info.axis)];
        if (info.need != Need::scoring && kind > 64) size = 0;
        values.clear();
        for (std::size_t i = 0; i < size; ++i) values.push_back(source.take<Value>());
    });
    return forest;
}

// Scores every row in every way. If `is_normal` (centres and scales are as files may have them), scores of
// rows without infinities must be finite, and paths must end in the leaves that are applied.
template <class Value>
void score_all(const Scorer& scorer, Source& source) {
    const std::size_t n_rows = source.below(40), m = scorer.n_features();
    std::vector<Value> x;
    for (std::size_t i = 0; i < n_rows * m; ++i) x.push_back(source.real<Value>());
    shrink(x);
    const Strided<Value> rows{x.data(), n_rows, m, static_cast<std::ptrdiff_t>(m), 1};
    Watch watch;
    const Link& link = scorer.head();
    std::vector<double> out(n_rows * std::max(scorer.n_classes(), scorer.n_targets()));
    for (const Score score : {Score::proba, Score::uncalibrated, Score::wolf, Score::membership,
                              Score::confidence, Score::raw_score, Score::value})
        try {
            const bool is_finite = scorer.score(rows, score, 1, watch, out.data());
            const auto end = out.begin() + static_cast<std::ptrdiff_t>(n_rows * scorer.columns_of(score));
            if (is_finite)
                for (auto value = out.begin(); value != end; ++value)
                    if (!std::isfinite(*value)) __builtin_trap();
        } catch (const std::invalid_argument&) {  // the link has no such score
        }
    std::vector<std::int64_t> numbers(n_rows), leaves(n_rows * scorer.n_trees());
    if (!link.is_regression() && scorer.predict(rows, 1, watch, numbers.data()))
        for (const std::int64_t number : numbers)
            if (number < 0 || number >= static_cast<std::int64_t>(scorer.n_classes())) __builtin_trap();
    const std::size_t n_estimators = scorer.n_trees() / scorer.n_trees_each();
    if (link.is_boosted()) {
        std::vector<double> stages(n_estimators * n_rows * scorer.n_targets());
        StagedScores staged(scorer, {});
        if (staged.begin(rows, nullptr, 1, watch)) staged.next(n_estimators, 1, watch, stages.data());
    } else {
        std::vector<std::int64_t> estimators;
        std::vector<std::uint8_t> bits;
        const std::size_t n_bytes = (n_rows + 7) / 8;
        for (std::size_t number = 0; number < n_estimators; ++number) {
            estimators.push_back(static_cast<std::int64_t>(number));
            for (std::size_t i = 0; i < n_bytes; ++i) bits.push_back(source.take<std::uint8_t>());
        }
        std::vector<double> second(out.size());
        scorer.sum_left_out(rows, {estimators.data(), n_estimators, bits.data(), n_bytes, 0}, 0.5, 2.0, 1,
                            watch, out.data(), second.data());
    }
    scorer.apply(rows, 1, watch, leaves.data());
    std::vector<double> membership(leaves.size()), confidence(leaves.size());
    scorer.per_tree(rows, 1, watch, membership.data(), confidence.data());
    std::vector<std::int64_t> ptr(leaves.size() + 1);
    if (!scorer.measure_paths(rows, 1, watch, ptr.data())) return;
    std::vector<std::int32_t> block(static_cast<std::size_t>(ptr.back()));
    std::vector<double> value(block.size());
    scorer.trace(rows, 1, watch, ptr.data(), block.data(), value.data());
    for (std::size_t path = 0; path < leaves.size(); ++path)
        if (block[static_cast<std::size_t>(ptr[path + 1] - 1)] != leaves[path]) __builtin_trap();
}

// Returns mostly a calibration of n_targets targets (none for 0), now and then any numbers.
Calibration draw_calibration(Source& source, std::size_t n_targets) {
    Calibration calibration;
    if (n_targets == 0) return calibration;
    calibration.kind = static_cast<Calibrator>(source.below(3));
    if (!calibration.is_given()) return calibration;
    const bool is_valid = source.below(8) > 0;
    calibration.ptr.push_back(0);
    for (std::size_t target = 0; target < (is_valid ? n_targets : source.below(8)); ++target) {
        const std::size_t n_knots =
            calibration.kind == Calibrator::sigmoid && is_valid ? 1 : 1 + source.below(4);
        double x = source.real<double>(), y = 0.0;
        for (std::size_t knot = 0; knot < n_knots; ++knot) {
            calibration.x.push_back(is_valid ? x : source.real<double>());
            calibration.y.push_back(is_valid ? y : source.real<double>());
            x += 0.125 + static_cast<double>(source.below(4));
            y += 0.0625 * static_cast<double>(source.below(5));
        }
        calibration.ptr.push_back(is_valid ? static_cast<std::int64_t>(calibration.x.size())
                                           : source.take<std::int8_t>());
    }
    shrink(calibration.ptr);
    shrink(calibration.x);
    shrink(calibration.y);
    return calibration;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Source source(data, size);
    const auto plan = source.take<std::uint8_t>();
    const std::size_t n_features = 1 + source.below(40);
    std::size_t n_classes = source.below(6);
    // Mostly a link and matching properties, now and then any.
    const Link& link = all_links()[source.below(all_links().size())];
    const bool fits = source.below(8) > 0;
    if (fits) n_classes = std::min(std::max(n_classes, link.least_classes), link.most_classes);
    const bool has_confidence = !fits || link.output == Output::membership;
    const auto confidence = static_cast<Confidence>(has_confidence ? source.below(3) : 0);
    const std::size_t n_targets = n_classes < 3 ? 1 : n_classes;
    const std::size_t n_base = fits ? (link.is_boosted() ? n_targets : 0) : source.below(6);
    const bool is_sound = plan % 4 > 0;
    const bool is_joint = link.output != Output::estimate && n_classes > 2 && source.below(4) == 0;
    Forest forest = is_sound ? sound_forest(source, n_features, n_classes, is_joint, link.is_boosted())
                             : any_arrays(source);
    const std::size_t n_harms = is_sound ? plan / 4 % 4 : 0;
    for (std::size_t i = 0; i < n_harms; ++i) harm(source, forest);
    each_array([&](auto, const auto& get) { shrink(get(forest)); });
    try {
        std::vector<double> centre, scale, prior(n_classes, 0.5);
        for (std::size_t f = 0; f < n_features; ++f) {
            centre.push_back(source.real<double>());
            scale.push_back(source.real<double>());
        }
        std::vector<double> base;
        for (std::size_t i = 0; i < n_base; ++i) base.push_back(source.real<double>());
        const double clip = source.below(2) ? 1e30 : source.real<double>();
        const Scorer scorer(view_of(forest), centre, scale, prior, confidence, link, base, clip,
                            draw_calibration(source, link.is_regression() && fits ? 0 : n_targets));
        if (plan & 128)
            score_all<double>(scorer, source);
        else
            score_all<float>(scorer, source);
    } catch (const std::invalid_argument&) {  // rejected, as expected
    }
    return 0;
}
