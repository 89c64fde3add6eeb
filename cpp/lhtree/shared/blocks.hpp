// The blocks of one or many trees in flat arrays: the result of growing and the input of scoring.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lhtree {

// y(x) = FS(x) - c of a branching block: its weights (the direction) and its offset c.
struct Hyperplane {
    std::vector<std::int32_t> features;  // ascending
    std::vector<float> weights;
    double offset = 0.0;
    std::vector<float> shares;  // part of the gain of every feature
};

// The membership function of a block: p̂(x) = intercept + Σ slopes_i · x_i, clipped when it is used.
struct LinearMembership {
    double intercept = 0.0;
    std::vector<std::int32_t> features;  // ascending
    std::vector<double> slopes;
    std::vector<float> means{};  // of the features in the block; may be unknown
};

// Rows of a block, their weight, and the sum of weight · response.
struct Counts {
    std::size_t n_samples;
    double weight, n_target;
};

template <class T>
class View {
  public:
    View() = default;
    View(const T* data, std::size_t size) : data_(data), size_(size) {}

    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    template <class Index>
    const T& operator[](Index i) const {
        return data_[i];
    }

  private:
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

template <class T>
using Owned = std::vector<T>;

// Blocks of a tree are numbered breadth-first; the children of a block are neighbours: right = left + 1.
template <template <class> class Array>
struct BlockArrays {
    Array<std::int32_t> left;  // number of the left child within the tree; -1 in a leaf
    Array<std::int32_t> n_samples;
    Array<double> weight, n_target;
    Array<double> offset, intercept;
    // Weights of the hyperplane and slopes of the membership, as rows of sparse matrices (CSR).
    Array<std::int64_t> hyperplane_ptr;
    Array<std::int32_t> hyperplane_feature;
    Array<float> hyperplane_weight;
    Array<std::int64_t> membership_ptr;
    Array<std::int32_t> membership_feature;
    Array<double> membership_slope;
    // From here on, an empty array stands for its default.
    Array<double> low, high;        // range to which the estimate of a leaf is clipped; default 0 and 1
    Array<std::int8_t> missing;     // side of a missing value, -1 or 1; 0, the default: at the centre
    Array<std::int64_t> value_ptr;  // values by class, of trees of all classes (CSR); default none
    Array<std::int32_t> value_class;
    Array<double> value;
    Array<double> prior_share;  // share of the class prior in a leaf of all classes; default 0
    Array<double> gain;
    Array<float> hyperplane_share;  // part of the gain of every feature; default: unknown
    Array<float> membership_mean;   // of the features of the slopes in the block; default 0
    // Weights, offsets, slopes and intercepts in the user's units; default none.
    Array<double> unit_weight, unit_offset, unit_slope, unit_intercept;
};

template <template <class> class Array>
struct ForestArrays : BlockArrays<Array> {
    Array<std::int32_t> target;     // class of every tree; -1: a tree of all classes
    Array<std::int64_t> block_ptr;  // first block of every tree

    std::size_t n_trees() const { return target.size(); }
    std::size_t n_blocks() const { return this->left.size(); }
};

// Axis of an array. A `_ptr` has the start of every entry and the end of the last.
enum class Axis : std::uint8_t { tree, tree_ptr, block, block_ptr, weight, slope, value };
// Use of an array: needed for scoring; for reading a model; or optional, with a default.
enum class Need : std::uint8_t { scoring, reading, option };

template <Axis axis_, Need need_>
struct ArrayInfo {
    const char* name;
    static constexpr Axis axis = axis_;
    static constexpr Need need = need_;
};

// The only list of the arrays. Calls visit(info, get) for each; get(arrays) is that array of BlockArrays …
template <class Visit>
void each_block_array(const Visit& visit) {
    constexpr auto scoring = Need::scoring, reading = Need::reading, option = Need::option;
#define LHTREE_ARRAY(axis, need, name) \
    visit(ArrayInfo<Axis::axis, need>{#name}, [](auto& arrays) -> auto& { return arrays.name; })
    LHTREE_ARRAY(block, scoring, left);
    LHTREE_ARRAY(block, reading, n_samples);
    LHTREE_ARRAY(block, reading, weight);
    LHTREE_ARRAY(block, reading, n_target);
    LHTREE_ARRAY(block, scoring, offset);
    LHTREE_ARRAY(block, scoring, intercept);
    LHTREE_ARRAY(block_ptr, scoring, hyperplane_ptr);
    LHTREE_ARRAY(weight, scoring, hyperplane_feature);
    LHTREE_ARRAY(weight, scoring, hyperplane_weight);
    LHTREE_ARRAY(block_ptr, scoring, membership_ptr);
    LHTREE_ARRAY(slope, scoring, membership_feature);
    LHTREE_ARRAY(slope, scoring, membership_slope);
    LHTREE_ARRAY(block, option, low);
    LHTREE_ARRAY(block, option, high);
    LHTREE_ARRAY(block, option, missing);
    LHTREE_ARRAY(block_ptr, option, value_ptr);
    LHTREE_ARRAY(value, option, value_class);
    LHTREE_ARRAY(value, option, value);
    LHTREE_ARRAY(block, option, prior_share);
    LHTREE_ARRAY(block, option, gain);
    LHTREE_ARRAY(weight, option, hyperplane_share);
    LHTREE_ARRAY(slope, option, membership_mean);
    LHTREE_ARRAY(weight, option, unit_weight);
    LHTREE_ARRAY(block, option, unit_offset);
    LHTREE_ARRAY(slope, option, unit_slope);
    LHTREE_ARRAY(block, option, unit_intercept);
}
// … or of any ForestArrays.
template <class Visit>
void each_array(const Visit& visit) {
    constexpr auto scoring = Need::scoring;
    LHTREE_ARRAY(tree, scoring, target);
    LHTREE_ARRAY(tree_ptr, scoring, block_ptr);
    each_block_array(visit);
#undef LHTREE_ARRAY
}

struct Blocks : BlockArrays<Owned> {
    Blocks() { hyperplane_ptr = membership_ptr = {0}; }

    std::size_t size() const { return left.size(); }
    void add(const Counts& counts, const Hyperplane& hyperplane, const LinearMembership& membership,
             std::int32_t left_);
    void add(const Blocks& other, std::size_t block, std::int32_t left_);
};

struct Forest : ForestArrays<Owned> {
    Forest() { block_ptr = hyperplane_ptr = membership_ptr = {0}; }

    void add(std::int32_t target_, Blocks&& tree);
};

using ForestView = ForestArrays<View>;
ForestView view_of(const Forest& forest);

// Returns the fault of the arrays, or "". Without a fault, scoring ends and reads nothing out of bounds.
std::string find_fault(const ForestView& forest, std::size_t n_features, std::size_t n_classes);

}  // namespace lhtree
