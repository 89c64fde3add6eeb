#include "lhtree/grow/boost/requests.hpp"

#include <cmath>
#include <cstdlib>

namespace lhtree::boost {

namespace {

constexpr double largest_value = 1e100;  // of a leaf; scores stay finite

double read_positive(Reader& from) {
    const double number = from.finite();
    require_message(number > 0.0, "a number is not positive");
    return number;
}

double read_value(Reader& from) {
    const double number = from.finite();
    require_message(std::abs(number) <= largest_value, "a value is too large");
    return number;
}

void write_features(Writer& to, const std::vector<std::int32_t>& features) {
    to.whole(features.size());
    for (const std::int32_t feature : features) to.whole(static_cast<std::uint64_t>(feature));
}

std::vector<std::int32_t> read_some(Reader& from, const Bins& bins) {
    std::vector<std::int32_t> features(from.count());
    for (std::int32_t& feature : features)
        feature = static_cast<std::int32_t>(from.below(bins.n_features(), "a feature is out of range"));
    require_message(features.size() <= bins.n_features(), "there are more features than the rows have");
    return features;
}

// Features and weights.
void write_direction(Writer& to, const Direction& direction) {
    write_features(to, direction.features);
    for (const std::int32_t weight : direction.weights) to.integer(weight);
}

Direction read_direction(Reader& from, const Bins& bins) {
    Direction direction;
    direction.features = read_some(from, bins);
    for (std::size_t i = 0; i < direction.features.size(); ++i) {
        const std::int64_t weight = from.integer();
        require_message(weight >= -(1 << 15) && weight <= 1 << 15, "a weight is out of range");
        direction.weights.push_back(static_cast<std::int32_t>(weight));
    }
    return direction;
}

void write_cut(Writer& to, const Cut& cut) {
    write_direction(to, cut.direction);
    if (!cut.is_single()) return to.fixed(cut.sum);
    to.whole(cut.code);
    to.whole(cut.is_missing_left);
}

Cut read_cut(Reader& from, const Bins& bins) {
    Cut cut;
    cut.direction = read_direction(from, bins);
    require_message(!cut.direction.empty(), "a cut has no feature");
    if (!cut.is_single()) {
        cut.sum = from.finite();
        return cut;
    }
    const auto feature = static_cast<std::size_t>(cut.direction.features[0]);
    cut.code = static_cast<std::uint32_t>(from.below(bins.n_bins(feature), "a bin is out of range"));
    cut.is_missing_left = from.flag();
    return cut;
}

void write_leaf(Writer& to, const Leaf& leaf) {
    write_features(to, leaf.line.features);
    to.fixed(leaf.line.intercept);
    if (leaf.is_constant()) return;
    for (const double slope : leaf.line.slopes) to.fixed(slope);
    to.fixed(leaf.low);
    to.fixed(leaf.high);
}

Leaf read_leaf(Reader& from, const Bins& bins) {
    std::vector<std::int32_t> features = read_some(from, bins);
    Leaf leaf = Leaf::constant(read_value(from));
    if (features.empty()) return leaf;
    for (std::size_t i = 0; i < features.size(); ++i) leaf.line.slopes.push_back(read_value(from));
    leaf.line.features = std::move(features);
    leaf.low = read_value(from);
    leaf.high = read_value(from);
    require_message(leaf.low <= leaf.high, "a leaf has no range");
    return leaf;
}

}  // namespace

void write(Writer& to, const WeightUnits& units) {
    to.whole(units.are_ones);
    for (const double unit : units.unit) to.fixed(unit);
    to.whole(static_cast<std::uint64_t>(units.shift));
}

WeightUnits read_units(Reader& from) {
    WeightUnits units;
    units.are_ones = from.flag();
    for (double& unit : units.unit) unit = read_positive(from);
    units.shift = static_cast<int>(from.below(32, "a shift is out of range"));
    return units;
}

void write(Writer& to, const Sampling& sampling) {
    to.fixed(sampling.key);
    to.fixed(sampling.share);
}

Sampling read_sampling(Reader& from) {
    const auto key = from.fixed<std::uint64_t>();
    return {key, read_positive(from)};
}

void write(Writer& to, const Quanta& quanta) {
    for (const double quantum : {quanta.gradient, quanta.hessian, quanta.weight, quanta.moment})
        to.fixed(quantum);
}

Quanta read_quanta(Reader& from) {
    Quanta quanta;
    for (double* quantum : {&quanta.gradient, &quanta.hessian, &quanta.weight, &quanta.moment})
        *quantum = read_positive(from);
    return quanta;
}

void write(Writer& to, const std::vector<std::vector<std::int32_t>>& features) {
    for (const auto& of_block : features) write_features(to, of_block);
}

std::vector<std::vector<std::int32_t>> read_features(Reader& from, const Bins& bins, std::size_t n_blocks) {
    std::vector<std::vector<std::int32_t>> features;
    for (std::size_t block = 0; block < n_blocks; ++block) features.push_back(read_some(from, bins));
    return features;
}

void write(Writer& to, const std::vector<Direction>& directions) {
    for (const Direction& direction : directions) {
        write_direction(to, direction);
        if (direction.empty()) continue;
        to.fixed(direction.low);
        to.fixed(direction.step);
    }
}

std::vector<Direction> read_directions(Reader& from, const Bins& bins, std::size_t n_blocks) {
    std::vector<Direction> directions;
    for (std::size_t block = 0; block < n_blocks; ++block) {
        directions.push_back(read_direction(from, bins));
        if (directions.back().empty()) continue;
        directions.back().low = from.finite();
        directions.back().step = read_positive(from);
    }
    return directions;
}

void write(Writer& to, const std::vector<std::optional<Cut>>& cuts, const std::vector<Leaf>& leaves) {
    for (std::size_t block = 0; block < cuts.size(); ++block) {
        to.whole(cuts[block].has_value());
        if (cuts[block])
            write_cut(to, *cuts[block]);
        else
            write_leaf(to, leaves[block]);
    }
}

void read_parting(Reader& from, const Bins& bins, std::size_t n_blocks, std::vector<std::optional<Cut>>& cuts,
                  std::vector<Leaf>& leaves) {
    for (std::size_t block = 0; block < n_blocks; ++block) {
        const bool is_cut = from.flag();
        cuts.push_back(is_cut ? std::optional<Cut>(read_cut(from, bins)) : std::nullopt);
        leaves.push_back(is_cut ? Leaf::constant(0.0) : read_leaf(from, bins));
    }
}

void write(Writer& to, const std::vector<Digits>& digits) {
    for (const Digits& known : digits) {
        to.whole(static_cast<std::uint64_t>(known.n_left));
        to.fixed(known.prefix);
    }
}

std::vector<Digits> read_digits(Reader& from, std::size_t n_blocks) {
    std::vector<Digits> digits(n_blocks);
    for (Digits& known : digits) {
        known.n_left = static_cast<int>(from.below(65, "there are too many digits"));
        require_message(known.n_left > 0, "all digits are known");
        known.prefix = from.fixed<std::uint64_t>();
    }
    return digits;
}

bool changes_rows(const std::string& request) {
    switch (Reader(request).subject()) {
        case Subject::settle:
        case Subject::begin:
        case Subject::begin_round:
        case Subject::differentiate:
        case Subject::begin_tree:
        case Subject::begin_all:
        case Subject::part:
            return true;
        default:
            return false;
    }
}

}  // namespace lhtree::boost
