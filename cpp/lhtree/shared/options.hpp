// Options of growing a tree, with the names and meanings of LHTClassifier.
#pragma once
#include <cstddef>
#include <cstdint>

namespace lhtree {

enum class Direction : std::uint8_t { mean_difference, fisher, mixed };
enum class Offset : std::uint8_t { purity, gini };
enum class Membership : std::uint8_t { marginal, least_squares, constant };
enum class Confidence : std::uint8_t { none, last, path };

// Names of choices, which Python and the command line use.
template <class Choice>
struct Named {
    const char* name;
    Choice value;
};
constexpr Named<Direction> direction_names[] = {{"mean_difference", Direction::mean_difference},
                                                {"fisher", Direction::fisher},
                                                {"mixed", Direction::mixed}};
constexpr Named<Offset> offset_names[] = {{"purity", Offset::purity}, {"gini", Offset::gini}};
constexpr Named<Membership> membership_names[] = {{"marginal", Membership::marginal},
                                                  {"least_squares", Membership::least_squares},
                                                  {"constant", Membership::constant}};
constexpr Named<Confidence> confidence_names[] = {{"last", Confidence::last}, {"path", Confidence::path}};

// A weight of samples: absolute, or a share of the weight of the root.
struct Amount {
    double value = 1.0;
    bool is_share = false;
    double of(double total) const { return is_share ? value * total : value; }
};

struct Options {
    Direction direction = Direction::mean_difference;
    Offset offset = Offset::purity;
    Membership membership = Membership::marginal;
    double alpha = 0.0;
    double beta = 0.0;
    Amount gamma{10.0, false};
    Amount min_samples_split{10.0, false};
    Amount min_samples_leaf{1.0, false};
    std::int64_t max_depth = -1;   // negative: none
    std::size_t max_features = 0;  // features considered per block; 0: all
    double shrinkage = 1e-3;
    bool branching_membership = true;  // keep the membership of branching blocks too
};

}  // namespace lhtree
