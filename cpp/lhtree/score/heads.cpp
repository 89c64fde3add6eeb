#include "lhtree/score/heads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "lhtree/shared/elementary.hpp"

namespace lhtree {
namespace {

void apply_logistic(const double* raw, std::size_t, std::size_t n_rows, double* proba) {
    for (std::size_t row = 0; row < n_rows; ++row, proba += 2) {
        const double e = elementary::exp(-std::fabs(raw[row]));
        // Neither is computed as 1 minus the other, which would round twice.
        const bool is_second = raw[row] > 0.0;
        proba[is_second] = 1.0 / (1.0 + e);
        proba[!is_second] = e / (1.0 + e);
    }
}

void apply_softmax(const double* raw, std::size_t n_classes, std::size_t n_rows, double* proba) {
    for (std::size_t row = 0; row < n_rows; ++row, raw += n_classes, proba += n_classes) {
        const double largest = *std::max_element(raw, raw + n_classes);
        for (std::size_t cls = 0; cls < n_classes; ++cls) proba[cls] = elementary::exp(raw[cls] - largest);
        take_shares(n_classes, 1, proba);
    }
}

void apply_identity(const double* combined, std::size_t n_columns, std::size_t n_rows, double* values) {
    std::copy(combined, combined + n_rows * n_columns, values);
}

// Quantiles in ascending order: sorting never increases the pinball loss.
void apply_sorted(const double* raw, std::size_t n_columns, std::size_t n_rows, double* values) {
    for (std::size_t row = 0; row < n_rows; ++row, raw += n_columns, values += n_columns)
        for (std::size_t i = 0; i < n_columns; ++i) {
            std::size_t place = i;
            for (; place > 0 && raw[i] < values[place - 1]; --place) values[place] = values[place - 1];
            values[place] = raw[i];
        }
}

void apply_log(const double* raw, std::size_t n_columns, std::size_t n_rows, double* values) {
    // e^710 is infinite.
    std::transform(raw, raw + n_rows * n_columns, values,
                   [](double one) { return elementary::exp(std::min(one, 709.0)); });
}

}  // namespace

const std::vector<Link>& all_links() {
    constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
    static const std::vector<Link> links = {{"wolf", Output::membership, 2, any, nullptr},
                                            {"logistic", Output::raw_score, 2, 2, apply_logistic},
                                            {"softmax", Output::raw_score, 3, any, apply_softmax},
                                            {"mean", Output::estimate, 0, 0, apply_identity},
                                            {"identity", Output::raw_score, 0, 0, apply_identity},
                                            {"sorted", Output::raw_score, 0, 0, apply_sorted},
                                            {"log", Output::raw_score, 0, 0, apply_log}};
    return links;
}

const Link& find_link(const std::string& name) {
    for (const Link& link : all_links())
        if (name == link.name) return link;
    throw std::invalid_argument("unknown name: " + name);
}

void check_score(const Link& link, Score score) {
    if (score == Score::raw_score) {
        if (!link.is_boosted())
            throw std::invalid_argument("raw scores are those of boosted models: use wolf");
    } else if (link.is_regression() != (score == Score::value)) {
        throw std::invalid_argument(link.is_regression() ? "a regression has no classes: use value"
                                                         : "values are those of regressions: use proba");
    } else if (link.is_boosted() && !is_probability(score) && score != Score::value) {
        throw std::invalid_argument("a boosted model has no memberships or confidences: use raw_score");
    }
}

void settle(const double* membership, const std::vector<double>& prior, std::size_t n_rows, double* wolf) {
    const std::size_t n_classes = prior.size();
    const auto is_zero = [](double value) { return value == 0.0; };
    for (std::size_t row = 0; row < n_rows; ++row, wolf += n_classes, membership += n_classes) {
        if (std::all_of(wolf, wolf + n_classes, is_zero)) std::copy(membership, membership + n_classes, wolf);
        if (std::all_of(wolf, wolf + n_classes, is_zero)) std::copy(prior.begin(), prior.end(), wolf);
    }
}

void take_shares(std::size_t n_classes, std::size_t n_rows, double* scores) {
    for (std::size_t row = 0; row < n_rows; ++row, scores += n_classes) {
        double sum = 0.0;
        for (std::size_t cls = 0; cls < n_classes; ++cls) sum += scores[cls];
        for (std::size_t cls = 0; cls < n_classes; ++cls) scores[cls] /= sum;
    }
}

void add_log_memberships(const double* membership, std::size_t n_classes, std::size_t n_rows, double weight,
                         double* raw) {
    const auto log = [](double share) { return elementary::log(std::max(share, least_membership)); };
    if (n_classes == 2)
        for (std::size_t row = 0; row < n_rows; ++row, membership += 2)
            raw[row] += weight * (log(membership[1]) - log(membership[0]));
    else
        for (std::size_t i = 0; i < n_rows * n_classes; ++i) raw[i] += weight * log(membership[i]);
}

void find_largest(const double* scores, std::size_t n_classes, std::size_t n_rows, std::int64_t* out) {
    for (std::size_t row = 0; row < n_rows; ++row, scores += n_classes)
        out[row] = std::max_element(scores, scores + n_classes) - scores;
}

void Calibration::check(std::size_t n_targets) const {
    const auto require = [](bool holds) {
        if (!holds) throw std::invalid_argument("not the arrays of a model: calibration is not valid");
    };
    if (!is_given()) return;
    require(ptr.size() == n_targets + 1 && ptr[0] == 0 && x.size() == y.size());
    require(ptr[n_targets] == static_cast<std::int64_t>(x.size()));
    for (std::size_t target = 0; target < n_targets; ++target) {
        require(ptr[target] < ptr[target + 1] && ptr[target + 1] <= ptr[n_targets]);
        const auto first = static_cast<std::size_t>(ptr[target]),
                   last = static_cast<std::size_t>(ptr[target + 1]);
        require(kind == Calibrator::lines || last == first + 1);
        for (std::size_t at = first; at < last; ++at) {
            require(std::isfinite(x[at]) && std::isfinite(y[at]));
            if (kind == Calibrator::sigmoid) continue;
            require(y[at] >= 0.0 && y[at] <= 1.0);
            require(at == first || (x[at - 1] < x[at] && y[at - 1] <= y[at]));
            require(std::isfinite(x[at] - x[first]));
        }
    }
}

double Calibration::map(std::size_t target, double score) const {
    const auto first = static_cast<std::size_t>(ptr[target]),
               last = static_cast<std::size_t>(ptr[target + 1]);
    if (kind == Calibrator::sigmoid) {
        const double raw = x[first] * score + y[first];
        double both[2];
        apply_logistic(&raw, 2, 1, both);
        return both[1];
    }
    if (!(score > x[first])) return y[first];
    if (!(score < x[last - 1])) return y[last - 1];
    const auto next = static_cast<std::size_t>(
        std::upper_bound(x.begin() + ptr[target], x.begin() + ptr[target + 1], score) - x.begin());
    const double part = (score - x[next - 1]) / (x[next] - x[next - 1]);
    return y[next - 1] + part * (y[next] - y[next - 1]);
}

void Calibration::apply(const double* scores, std::size_t stride, std::size_t n_classes, std::size_t n_rows,
                        double* proba) const {
    for (std::size_t row = 0; row < n_rows; ++row, scores += stride, proba += n_classes) {
        if (n_classes == 2 && kind == Calibrator::sigmoid) {
            const double raw = x[0] * scores[0] + y[0];
            apply_logistic(&raw, 2, 1, proba);
        } else if (n_classes == 2) {
            proba[1] = map(0, scores[0]);
            proba[0] = 1.0 - proba[1];
        } else {
            double sum = 0.0;
            for (std::size_t cls = 0; cls < n_classes; ++cls) sum += proba[cls] = map(cls, scores[cls]);
            for (std::size_t cls = 0; cls < n_classes; ++cls)
                proba[cls] = sum == 0.0 ? 1.0 / static_cast<double>(n_classes) : proba[cls] / sum;
        }
    }
}

namespace {

// In trees of all classes every block has shares, or a value per class, and there are no other trees.
std::string find_fault_in_values(const ForestView& forest, std::size_t n_joint, const ModelParts& parts) {
    const bool are_shares = !parts.link.is_boosted();
    if (n_joint != forest.n_trees()) return "some trees are of all classes and others are not";
    if (parts.n_outputs() < (parts.link.is_regression() ? 2 : 3))
        return "trees of all classes need three classes, those of all outputs two";
    if (forest.value_ptr.empty()) return "trees of all classes need values";
    for (std::size_t block = 0; block < forest.n_blocks(); ++block)
        if (forest.value_ptr[block] == forest.value_ptr[block + 1]) return "a block has no values";
    if (!are_shares) return "";
    for (std::size_t i = 0; i < forest.value.size(); ++i)
        if (!(forest.value[i] >= 0.0 && forest.value[i] <= 1.0)) return "value is not between 0 and 1";
    for (std::size_t block = 0; block < forest.prior_share.size(); ++block)
        if (!(forest.prior_share[block] >= 0.0 && forest.prior_share[block] <= 1.0))
            return "prior_share is not between 0 and 1";
    return "";
}

std::string find_fault_in_targets(const ForestView& forest, const ModelParts& parts) {
    std::vector<bool> has_tree(parts.n_outputs(), false);
    const std::int32_t* const target = forest.target.data();
    const auto n_joint = std::count(target, target + forest.n_trees(), -1);
    if (n_joint > 0) return find_fault_in_values(forest, static_cast<std::size_t>(n_joint), parts);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree)
        has_tree[static_cast<std::size_t>(forest.target[tree])] = true;
    if (parts.n_classes == 2) {  // one tree serves both classes
        if (has_tree[0]) return "two classes need target 1";
        has_tree[0] = true;
    }
    return std::find(has_tree.begin(), has_tree.end(), false) == has_tree.end() ? "" : "a class has no tree";
}

std::string find_fault_in_link(const ForestView& forest, const ModelParts& parts) {
    const Link& link = parts.link;
    const std::int8_t* const missing = forest.missing.data();
    const bool has_sides =
        std::any_of(missing, missing + forest.missing.size(), [](std::int8_t side) { return side != 0; });
    if (!(parts.clip > 0.0 && std::isfinite(parts.clip))) return "clip is not a positive number";
    if (has_sides && parts.confidence != Confidence::none)
        return "missing is not 0, which leaves no distances for a confidence";
    if (!forest.unit_offset.empty() &&
        (has_sides || parts.confidence != Confidence::none || link.is_boosted()))
        return "trees in the user's units have no confidence, no sides for missing values and no raw scores";
    if (!link.is_boosted() && !parts.base.empty()) return "base needs another link than wolf and mean";
    if (link.output == Output::membership) return "";
    if (parts.confidence != Confidence::none) return "only the link wolf has a confidence";
    if (!link.is_boosted()) return "";
    if (forest.target[0] < 0 && (!forest.membership_slope.empty() || !forest.prior_share.empty()))
        return "trees of all classes have no slopes and, if boosted, no prior_share";
    if (parts.n_classes < link.least_classes || parts.n_classes > link.most_classes)
        return "the link of two classes is logistic, that of more is softmax";
    const bool fits = link.is_regression()
                          ? !parts.base.empty()
                          : parts.base.size() == (parts.n_classes == 2 ? 1 : parts.n_classes);
    if (!fits) return "base needs a value per target";
    for (const double score : parts.base)
        if (!std::isfinite(score)) return "base has a value that is not finite";
    return "";
}

// Memberships are between 0 and 1, and other values of trees have finite sums for any leaves.
std::string find_fault_in_sums(const ForestView& forest, const ModelParts& parts) {
    const bool has_ranges = !forest.low.empty(), is_membership = parts.link.output == Output::membership;
    std::vector<double> sum(parts.n_outputs(), 0.0);
    for (const double score : parts.base)
        for (double& largest : sum) largest += std::abs(score);
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        double largest = 0.0;
        std::vector<double> of_classes(forest.target[tree] < 0 ? sum.size() : 0);
        for (std::int64_t block = forest.block_ptr[tree]; block < forest.block_ptr[tree + 1]; ++block) {
            if (forest.left[block] >= 0) continue;
            const double low = has_ranges ? forest.low[block] : 0.0;
            const double high = has_ranges ? forest.high[block] : 1.0;
            if (is_membership && !(low >= 0.0 && high <= 1.0))
                return "low and high of a membership are not between 0 and 1";
            largest = std::max({largest, std::abs(low), std::abs(high)});
            if (of_classes.empty()) continue;
            for (std::int64_t i = forest.value_ptr[block]; i < forest.value_ptr[block + 1]; ++i) {
                double& of_class = of_classes[static_cast<std::size_t>(forest.value_class[i])];
                of_class = std::max(of_class, std::abs(forest.value[i]));
            }
        }
        for (std::size_t cls = 0; cls < of_classes.size(); ++cls) sum[cls] += of_classes[cls];
        if (forest.target[tree] >= 0) sum[static_cast<std::size_t>(forest.target[tree])] += largest;
    }
    // Half of the largest number: sums in another order are rounded otherwise, and intervals add an error.
    constexpr double most = std::numeric_limits<double>::max() / 2.0;
    const bool is_finite = std::all_of(sum.begin(), sum.end(), [](double one) { return one <= most; });
    return is_finite ? "" : "the values of the trees add up to more than a number can hold";
}

}  // namespace

const ForestView& checked(const ForestView& forest, const ModelParts& parts) {
    const bool has_classes = !parts.link.is_regression();
    std::string fault = find_fault(forest, parts.n_features, parts.n_outputs());
    if (fault.empty() && parts.n_scales != parts.n_features) fault = "centre and scale differ in length";
    if (fault.empty() && parts.n_features == 0) fault = "there are no features";
    if (fault.empty() && has_classes && parts.n_classes < 2) fault = "fewer than two classes";
    if (fault.empty() && !has_classes && parts.n_classes > 0) fault = "a regression has no classes";
    if (fault.empty()) fault = find_fault_in_targets(forest, parts);
    if (fault.empty()) fault = find_fault_in_link(forest, parts);
    if (fault.empty()) fault = find_fault_in_sums(forest, parts);
    if (!fault.empty()) throw std::invalid_argument("not the arrays of a model: " + fault);
    return forest;
}

}  // namespace lhtree
