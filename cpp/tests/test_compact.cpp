// Sums between sorted keys.
#include <algorithm>
#include <array>
#include <limits>

#include "check.hpp"
#include "lhtree/grow/compact/order.hpp"

namespace lhtree {
namespace {

using Visits = std::vector<std::array<double, 4>>;  // sum, weight, lower and upper key

// Returns all places between keys where the sum is at most `bound`.
Visits visit(compact::Order& order, double bound) {
    Visits visits;
    order.walk(
        -3.0,
        [&](const compact::Order::Bucket& bucket, const compact::Reached& before) {
            return before.sum + bucket.falls <= bound;
        },
        [&](const compact::Reached& reached, double lower, double upper) {
            if (reached.sum <= bound) visits.push_back({reached.sum, reached.weight, lower, upper});
        });
    return visits;
}

TEST(buckets_visit_the_same_places_as_sorted_keys) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Random random(8);
    compact::Order buckets, sorted;
    for (const std::size_t n : {0, 1, 100, 600, 3000})
        for (const double centre : {0.0, 1.3, -1e5, infinity}) {
            std::vector<double> keys(n), changes(n), weights(n);
            for (std::size_t i = 0; i < n; ++i) {
                const double key = random.normal() / (random.normal() + 1e-3);  // some are far away
                keys[i] = random.below(2) ? std::round(8.0 * key) / 8.0 : key;
                changes[i] = static_cast<double>(random.below(17)) - 8.0;
                weights[i] = static_cast<double>(1 + random.below(3));
            }
            buckets.fill(keys, changes, weights.data(), centre, true);
            sorted.fill(keys, changes, weights.data(), centre, false);
            const Visits all = visit(sorted, infinity);
            CHECK(visit(buckets, infinity) == all);
            double least = infinity;
            for (const auto& one : all) least = std::min(least, one[0]);
            for (const double above : {0.0, 5.0, 50.0})
                CHECK(visit(buckets, least + above) == visit(sorted, least + above));
            // Between two buckets there is a place between two keys.
            buckets.between_buckets(-3.0, [&](const compact::Reached& reached) {
                CHECK(std::any_of(all.begin(), all.end(), [&](const auto& one) {
                    return one[0] == reached.sum && one[1] == reached.weight;
                }));
            });
        }
}

}  // namespace
}  // namespace lhtree
