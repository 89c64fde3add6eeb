// Coverage-guided fuzzing of what stands between a hostile file and the memory: find_fault, pack, Scorer.
// `make fuzz` builds it with libFuzzer, the address and the undefined-behaviour sanitizer. Every input is
// turned into arrays of exactly their size, so that a read beyond one of them is seen.
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "lhtree/score.hpp"

namespace {

using namespace lhtree;

// The input, byte by byte; behind its end there are zeros.
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

    // Numbers that mostly are what they are in models, and now and then anything.
    template <class T>
    T real() {
        const auto kind = take<std::uint8_t>();
        return kind < 8 ? take<T>() : static_cast<T>((static_cast<double>(kind) - 128.0) / 64.0);
    }

  private:
    const std::uint8_t* data_;
    std::size_t size_;
};

struct Arrays {
    std::vector<std::int32_t> target, left, hyperplane_feature, membership_feature;
    std::vector<std::int64_t> block_ptr, hyperplane_ptr, membership_ptr;
    std::vector<double> offset, intercept, membership_slope;
    std::vector<float> hyperplane_weight;

    ForestView view() const {
        return {target.data(),
                block_ptr.data(),
                target.size(),
                left.data(),
                offset.data(),
                intercept.data(),
                left.size(),
                hyperplane_ptr.data(),
                hyperplane_feature.data(),
                hyperplane_weight.data(),
                hyperplane_weight.size(),
                membership_ptr.data(),
                membership_feature.data(),
                membership_slope.data(),
                membership_slope.size()};
    }
};

template <class T>
void shrink(std::vector<T>& values) {
    std::vector<T>(values.begin(), values.end()).swap(values);  // no room behind the last value
}

// Some features, ascending.
void add_row(Source& source, std::size_t n_features, std::vector<std::int64_t>& ptr,
             std::vector<std::int32_t>& feature) {
    const std::size_t step = 1 + source.below(4);
    for (std::size_t f = source.below(n_features + 1); f < n_features; f += step)
        feature.push_back(static_cast<std::int32_t>(f));
    ptr.push_back(static_cast<std::int64_t>(feature.size()));
}

// A sound forest: the shape of every tree, breadth-first, and its values are the input's.
Arrays sound_forest(Source& source, std::size_t n_features, std::size_t n_classes) {
    Arrays arrays;
    arrays.block_ptr = arrays.hyperplane_ptr = arrays.membership_ptr = {0};
    const std::size_t n_targets = n_classes == 2 ? 1 : n_classes, n_estimators = 1 + source.below(3);
    for (std::size_t tree = 0; tree < n_estimators * n_targets; ++tree) {
        arrays.target.push_back(static_cast<std::int32_t>(n_classes - n_targets + tree % n_targets));
        const std::size_t most = 1 + 2 * source.below(24), begin = arrays.left.size();
        for (std::size_t block = 0, n = 1; block < n; ++block) {
            const bool is_branching = n < most && (source.below(4) || block + 1 == n);
            arrays.left.push_back(is_branching ? static_cast<std::int32_t>(n) : -1);
            if (is_branching) {
                n += 2;
                add_row(source, n_features, arrays.hyperplane_ptr, arrays.hyperplane_feature);
            } else {
                arrays.hyperplane_ptr.push_back(arrays.hyperplane_ptr.back());
            }
            add_row(source, n_features, arrays.membership_ptr, arrays.membership_feature);
            arrays.offset.push_back(source.real<double>());
            arrays.intercept.push_back(source.real<double>());
        }
        arrays.block_ptr.push_back(arrays.block_ptr.back() +
                                   static_cast<std::int64_t>(arrays.left.size() - begin));
    }
    for (std::size_t i = 0; i < arrays.hyperplane_feature.size(); ++i)
        arrays.hyperplane_weight.push_back(source.real<float>());
    for (std::size_t i = 0; i < arrays.membership_feature.size(); ++i)
        arrays.membership_slope.push_back(source.real<double>());
    return arrays;
}

template <class T>
void harm_one(Source& source, std::vector<T>& values) {
    if (!values.empty()) values[source.take<std::uint16_t>() % values.size()] = source.take<T>();
}

// What a hostile file could say instead: any number anywhere.
void harm(Source& source, Arrays& arrays) {
    switch (source.below(11)) {
        case 0:
            return harm_one(source, arrays.target);
        case 1:
            return harm_one(source, arrays.left);
        case 2:
            return harm_one(source, arrays.hyperplane_feature);
        case 3:
            return harm_one(source, arrays.membership_feature);
        case 4:
            return harm_one(source, arrays.block_ptr);
        case 5:
            return harm_one(source, arrays.hyperplane_ptr);
        case 6:
            return harm_one(source, arrays.membership_ptr);
        case 7:
            return harm_one(source, arrays.offset);
        case 8:
            return harm_one(source, arrays.intercept);
        case 9:
            return harm_one(source, arrays.membership_slope);
        default:
            return harm_one(source, arrays.hyperplane_weight);
    }
}

template <class T>
void take_all(Source& source, std::size_t n, std::vector<T>& values) {
    for (std::size_t i = 0; i < n; ++i) values.push_back(source.take<T>());
}

// Nothing but what the input says; only the lengths fit, which the bindings see to.
Arrays any_arrays(Source& source) {
    Arrays arrays;
    const std::size_t n_trees = source.below(4), n_blocks = source.below(12);
    const std::size_t n_weights = source.below(12), n_slopes = source.below(12);
    take_all(source, n_trees, arrays.target);
    take_all(source, n_trees + 1, arrays.block_ptr);
    take_all(source, n_blocks, arrays.left);
    take_all(source, n_blocks + 1, arrays.hyperplane_ptr);
    take_all(source, n_blocks + 1, arrays.membership_ptr);
    take_all(source, n_weights, arrays.hyperplane_feature);
    take_all(source, n_slopes, arrays.membership_feature);
    take_all(source, n_blocks, arrays.offset);
    take_all(source, n_blocks, arrays.intercept);
    take_all(source, n_weights, arrays.hyperplane_weight);
    take_all(source, n_slopes, arrays.membership_slope);
    return arrays;
}

template <class Value>
void score_all(const Scorer& scorer, Source& source) {
    const std::size_t n_rows = source.below(40), m = scorer.n_features();
    std::vector<Value> x;
    for (std::size_t i = 0; i < n_rows * m; ++i) x.push_back(source.real<Value>());
    shrink(x);
    const Strided<Value> rows{x.data(), n_rows, m, static_cast<std::ptrdiff_t>(m), 1};
    Watch watch;
    std::vector<double> out(n_rows * scorer.n_classes());
    for (const Score what : {Score::wolf, Score::membership, Score::confidence, Score::proba})
        scorer.score(rows, what, 1, watch, out.data());
    std::vector<std::int64_t> numbers(n_rows), leaves(n_rows * scorer.n_trees());
    if (scorer.predict(rows, 1, watch, numbers.data()))
        for (const std::int64_t number : numbers)
            if (number < 0 || number >= static_cast<std::int64_t>(scorer.n_classes())) __builtin_trap();
    scorer.apply(rows, 1, watch, leaves.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Source source(data, size);
    const auto plan = source.take<std::uint8_t>();
    const std::size_t n_features = 1 + source.below(40), n_classes = source.below(6);
    const auto confidence = static_cast<Confidence>(source.below(3));
    const bool is_sound = plan % 4 > 0 && n_classes >= 2;
    Arrays arrays = is_sound ? sound_forest(source, n_features, n_classes) : any_arrays(source);
    const std::size_t n_harms = is_sound ? plan / 4 % 4 : 0;
    for (std::size_t i = 0; i < n_harms; ++i) harm(source, arrays);
    shrink(arrays.hyperplane_feature);
    shrink(arrays.membership_feature);
    shrink(arrays.hyperplane_weight);
    shrink(arrays.membership_slope);
    for (auto* values : {&arrays.target, &arrays.left}) shrink(*values);
    for (auto* values : {&arrays.block_ptr, &arrays.hyperplane_ptr, &arrays.membership_ptr}) shrink(*values);
    for (auto* values : {&arrays.offset, &arrays.intercept}) shrink(*values);
    try {
        std::vector<double> centre, scale, prior(n_classes, 0.5);
        for (std::size_t f = 0; f < n_features; ++f) {
            centre.push_back(source.real<double>());
            scale.push_back(source.real<double>());
        }
        const Scorer scorer(arrays.view(), centre, scale, prior, confidence);
        if (plan & 128)
            score_all<double>(scorer, source);
        else
            score_all<float>(scorer, source);
    } catch (const std::invalid_argument&) {  // refused, as it should be
    }
    return 0;
}
