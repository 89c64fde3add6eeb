#include "lhtree/grow/compact/problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lhtree/grow/compact/order.hpp"

namespace lhtree::compact {

Problem::Problem(const Data& data, const Question& question)
    : data_(data),
      question_(question),
      n_padded_(padded(question.rows.size())),
      weight_(n_padded_, 0.0),
      side_(n_padded_, 0.0),
      clipped_(n_padded_ * data.n_features(), 0.0f) {
    for (std::size_t i = 0; i < rows().size(); ++i) {
        weight_[i] = std::abs(gain(i));
        side_[i] = is_right(i);
        (is_right(i) ? wrong_if_left_ : wrong_if_right_) += weight_[i];
        row_weight_ += data.weight(rows()[i]);
    }
    constexpr auto bound = static_cast<float>(clip);
    for (std::size_t feature = 0; feature < data.n_features(); ++feature) {
        const float* const column = data.column(feature);
        float* const to = &clipped_[feature * n_padded_];
        for (std::size_t i = 0; i < rows().size(); ++i)
            to[i] = std::min(std::max(column[rows()[i]], -bound), bound);
    }
}

Cut Problem::cut(const std::vector<double>& sums, double near) const {
    const double least = data_.options().min_samples_leaf;
    Order sorter;
    const std::vector<KeyedRow>& order = sorter.sort(sums);
    Cut best;
    best.wrong = std::numeric_limits<double>::infinity();
    double wrong = wrong_if_right_, left = 0.0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        const std::size_t place = row_of(order[i]);
        wrong += gain(place);
        left += data_.weight(rows()[place]);
        const double lower = sums[place], upper = sums[row_of(order[i + 1])];
        if (!(lower < upper) || left < least || row_weight_ - left < least || wrong > best.wrong) continue;
        double offset = lower + (upper - lower) / 2.0;
        if (!(offset > lower)) offset = upper;
        if (wrong < best.wrong || std::abs(offset - near) < std::abs(best.offset - near))
            best = {offset, wrong, true};
    }
    return best;
}

Cut Problem::judge(const std::vector<double>& sums, double offset) const {
    const double least = data_.options().min_samples_leaf;
    double wrong = wrong_if_right_, left = 0.0;
    for (std::size_t i = 0; i < rows().size(); ++i)
        if (sums[i] < offset) {
            wrong += gain(i);
            left += data_.weight(rows()[i]);
        }
    return {offset, wrong, left >= least && row_weight_ - left >= least};
}

Line Problem::find_single() const {
    const double least = data_.options().min_samples_leaf;
    double best = std::numeric_limits<double>::infinity();
    Line line;
    std::array<double, most_bins> gains, weights;
    for (std::size_t feature = 0; feature < data_.n_features(); ++feature) {
        const std::size_t n_codes = data_.n_codes(feature);
        const std::uint8_t* const codes = data_.codes(feature);
        std::fill_n(gains.begin(), n_codes, 0.0);
        std::fill_n(weights.begin(), n_codes, 0.0);
        for (std::size_t i = 0; i < rows().size(); ++i) {
            const std::uint8_t code = codes[rows()[i]];
            gains[code] += gain(i);
            weights[code] += data_.weight(rows()[i]);
        }
        for (const float sign : {1.0f, -1.0f}) {
            double wrong = sign > 0.0f ? wrong_if_right_ : wrong_if_left_, below = 0.0;
            for (std::size_t code = 0; code + 1 < n_codes; ++code) {
                wrong += sign > 0.0f ? gains[code] : -gains[code];
                below += weights[code];
                if (weights[code] == 0.0 || below < least || row_weight_ - below < least) continue;
                if (wrong < best - tie * total()) {
                    best = wrong;
                    line.features = {static_cast<std::int32_t>(feature)};
                    line.weights = {sign};
                }
            }
        }
    }
    return line;
}

}  // namespace lhtree::compact
