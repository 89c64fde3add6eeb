// The pieces of compact trees, each bound by itself so that the tests can hold it against its slow twin.
#include <nanobind/stl/tuple.h>

#include "lhtree/grow/compact/block.hpp"
#include "shared.hpp"

namespace lhtree {
namespace {

using namespace nb::literals;
using compact::Block;
using compact::Line;

using NamedLine = std::tuple<std::vector<std::int32_t>, std::vector<float>, double>;

compact::RowNumbers all_rows(std::size_t n) {
    compact::RowNumbers rows(n);
    for (std::size_t row = 0; row < n; ++row) rows[row] = static_cast<std::uint32_t>(row);
    return rows;
}

Line line_of(const NamedLine& given, std::size_t n_features) {
    const auto& [features, weights, offset] = given;
    require(features.size() == weights.size(), "features and weights differ in length");
    for (const auto f : features)
        require(f >= 0 && static_cast<std::size_t>(f) < n_features, "a feature is out of range");
    return {features, weights, offset};
}

// A tree of lines, parents first, left before right; a line without features stands for a leaf.
compact::Tree tree_of(const std::vector<NamedLine>& lines, std::size_t& next, std::size_t n_features) {
    require(next < lines.size(), "lines end within the tree");
    auto block = std::make_unique<Block>();
    block->line = line_of(lines[next++], n_features);
    if (block->line.is_given()) {
        block->left = tree_of(lines, next, n_features);
        block->right = tree_of(lines, next, n_features);
    }
    return block;
}

std::vector<NamedLine> lines_of(Block& root) {
    std::vector<NamedLine> lines;
    compact::each_block(root, [&](Block& block) {
        lines.emplace_back(block.line.features, block.line.weights, block.line.offset);
    });
    return lines;
}

}  // namespace

void bind_compact_pieces(nb::module_& m) {
    m.def(
        "solve_compact",
        [](const Matrix<float>& Z, const Vector<double>& weight, const Vector<double>& gain,
           NamedLine present, double penalty, double min_samples_leaf, std::size_t max_terms, bool is_quick) {
            require(weight.size() == Z.shape(0) && gain.size() == Z.shape(0),
                    "weight and gain need every row");
            const compact::Options options{penalty, min_samples_leaf, 2, max_terms, 1};
            const std::vector<double> response(Z.shape(0), 0.0);  // the gains say what rows want
            const compact::Labels labels{nullptr, 0, nullptr, response.data()};
            Watch watch;
            const compact::Data data({Z.data(), Z.shape(0), Z.shape(1)}, weight.data(), labels, options, 1,
                                     watch);
            const compact::Question question{all_rows(Z.shape(0)), copy(gain)};
            const compact::Candidate best =
                compact::solve(compact::Problem(data, question), line_of(present, Z.shape(1)),
                               is_quick ? compact::Effort::quick : compact::Effort::all, watch);
            return std::pair(NamedLine(best.line.features, best.line.weights, best.line.offset),
                             std::pair(best.wrong, best.value));
        },
        "Z"_a, "weight"_a, "gain"_a, "present"_a, "penalty"_a, "min_samples_leaf"_a, "max_terms"_a,
        "is_quick"_a);
    m.def(
        "pass_compact",
        [](const Matrix<float>& Z, const Vector<double>& weight, const Vector<std::int32_t>& classes,
           const Vector<double>& prior, const std::vector<NamedLine>& lines, double penalty,
           double min_samples_leaf, std::size_t max_terms) {
            require(weight.size() == Z.shape(0) && classes.size() == Z.shape(0),
                    "weight and classes need every row");
            const compact::Options options{penalty, min_samples_leaf, 16, max_terms, 1};
            const compact::Labels labels{classes.data(), prior.size(), prior.data(), nullptr};
            Watch watch;
            const compact::Data data({Z.data(), Z.shape(0), Z.shape(1)}, weight.data(), labels, options, 1,
                                     watch);
            std::size_t next = 0;
            const compact::Tree root = tree_of(lines, next, Z.shape(1));
            compact::route(*root, all_rows(Z.shape(0)), data);
            compact::pass(*root, data, compact::Effort::all, 1, watch);
            return std::pair(lines_of(*root), compact::objective(*root, data));
        },
        "Z"_a, "weight"_a, "classes"_a, "prior"_a, "lines"_a, "penalty"_a, "min_samples_leaf"_a,
        "max_terms"_a);
}

}  // namespace lhtree
