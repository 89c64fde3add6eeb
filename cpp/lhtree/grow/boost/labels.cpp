#include "lhtree/grow/boost/labels.hpp"

#include <algorithm>
#include <cmath>

#include "lhtree/grow/boost/statistics.hpp"

namespace lhtree::boost {

WeightSurvey::WeightSurvey(const double* weight, const Labels& labels)
    : n_rows(labels.n_rows), has_held(labels.held != nullptr) {
    for (std::size_t row = 0; row < labels.n_rows; ++row) {
        const bool of_held = labels.is_held(row);
        const double one = weight ? weight[row] : 1.0;
        are_ones = are_ones && one == 1.0;
        is_whole[of_held] = is_whole[of_held] && std::floor(one) == one;
        largest[of_held] = std::max(largest[of_held], one);
    }
}

void WeightSurvey::merge(const WeightSurvey& other) {
    n_rows += other.n_rows;
    has_held = has_held || other.has_held;
    are_ones = are_ones && other.are_ones;
    for (const int of_held : {0, 1}) {
        is_whole[of_held] = is_whole[of_held] && other.is_whole[of_held];
        largest[of_held] = std::max(largest[of_held], other.largest[of_held]);
    }
}

double find_weight_unit(double largest, bool is_whole, std::uint64_t n_rows) {
    constexpr double most = 0x1p31, most_in_all = 0x1p47;
    const auto n = static_cast<double>(n_rows);
    if (is_whole && largest <= most && largest * n <= most_in_all) return 1.0;
    int exponent;
    std::frexp(largest, &exponent);
    // largest / unit < 2^31, and n times that < 2^47
    int bits = 31;
    while (bits > 1 && std::ldexp(n, bits) > most_in_all) --bits;
    return std::ldexp(1.0, std::max(exponent - bits, -1022));
}

WeightUnits::WeightUnits(const WeightSurvey& survey) : are_ones(survey.are_ones) {
    if (are_ones) return;
    for (const int of_held : {0, 1})
        unit[of_held] = find_weight_unit(survey.largest[of_held], survey.is_whole[of_held], survey.n_rows);
    for (double size = survey.largest[0] / unit[0]; size >= std::ldexp(1.0, most_moment_bits); size /= 2.0)
        ++shift;
}

Weights::Weights(const double* weight, const Labels& labels, const WeightUnits& units) {
    if (units.are_ones) return;
    of.resize(labels.n_rows);
    for (std::size_t row = 0; row < labels.n_rows; ++row)
        of[row] = static_cast<std::uint32_t>(
            std::nearbyint((weight ? weight[row] : 1.0) / units.unit[labels.is_held(row)]));
}

}  // namespace lhtree::boost
