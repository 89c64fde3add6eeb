#include "lhtree/parted.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lhtree {

PartedRows::PartedRows(const Labelled& given) : n_features_(given.rows.n_features) {
    const Chosen* chosen = given.chosen;
    const std::size_t n = chosen ? chosen->rows.size() : given.rows.n_rows;
    const double* weight = chosen ? (chosen->weight.empty() ? nullptr : chosen->weight.data()) : given.weight;
    const auto row_of = [&](std::size_t i) { return chosen ? static_cast<std::size_t>(chosen->rows[i]) : i; };
    for (std::size_t i = 0; i < n; ++i) n_rest_ += !given.is_target[row_of(i)];
    row_.resize(n);
    if (weight) weight_.resize(n);

    if (given.in_place && !chosen) {
        features_ = given.in_place;
        std::iota(row_.begin(), row_.end(), 0);
        if (weight) weight_.assign(weight, weight + n);
        std::vector<std::uint8_t> is_rest(n);
        for (std::size_t row = 0; row < n; ++row) is_rest[row] = !given.is_target[row];
        move(0, is_rest.data(), n, n_rest_);
        return;
    }
    copy_.resize(n * n_features_ + slack);
    features_ = copy_.data();
    std::size_t next[2] = {0, n_rest_};
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t row = row_of(i), to = next[given.is_target[row]]++;
        std::memcpy(features_ + to * n_features_, given.rows[row], n_features_ * sizeof(float));
        row_[to] = static_cast<std::int32_t>(i);
        if (weight) weight_[to] = weight[i];
    }
}

void PartedRows::move(std::size_t begin, const std::uint8_t* is_left, std::size_t n, std::size_t n_left) {
    move_array(features_ + begin * n_features_, n_features_, is_left, n, n_left);
    move_array(row_.data() + begin, 1, is_left, n, n_left);
    if (!weight_.empty()) move_array(weight_.data() + begin, 1, is_left, n, n_left);
}

void PartedRows::restore() {
    std::vector<float> held(n_features_);
    const std::size_t bytes = n_features_ * sizeof(float);
    for (std::size_t start = 0; start < size(); ++start) {
        // Follow the cycle: the row that lies here belongs where it was given, and so on round.
        auto home = static_cast<std::size_t>(row_[start]);
        if (home == start) continue;
        std::memcpy(held.data(), features_ + start * n_features_, bytes);
        while (home != start) {
            std::swap_ranges(held.begin(), held.end(), features_ + home * n_features_);
            const auto next = static_cast<std::size_t>(row_[home]);
            row_[home] = static_cast<std::int32_t>(home);
            home = next;
        }
        std::memcpy(features_ + start * n_features_, held.data(), bytes);
        row_[start] = static_cast<std::int32_t>(start);
    }
}

// The smaller side waits aside while the larger one closes up, so that half a copy is enough. Where a value
// goes is selected, not branched to: a cut is as good as random to the branch predictor.
template <class T>
void PartedRows::move_array(T* values, std::size_t width, const std::uint8_t* is_left, std::size_t n,
                            std::size_t n_left) {
    const auto copy_row = [width](const T* from, T* to) {
        if (width == 1)
            *to = *from;
        else if (to != from)
            std::memcpy(to, from, width * sizeof(T));
    };
    const std::size_t n_right = n - n_left;
    const std::size_t room = (std::min(n_left, n_right) + 1) * width * sizeof(T);
    if (aside_.size() < room) aside_ = std::vector<unsigned char>(room);
    T* const waiting = reinterpret_cast<T*>(aside_.data());
    if (n_right <= n_left) {
        T *to = values, *wait = waiting;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t left = is_left[i];
            copy_row(values + i * width, left ? to : wait);
            to += left * width;
            wait += (1 - left) * width;
        }
        std::memcpy(to, waiting, n_right * width * sizeof(T));
    } else {
        T *to = values + n * width, *wait = waiting + n_left * width;
        for (std::size_t i = n; i-- > 0;) {
            const std::size_t left = is_left[i];
            to -= (1 - left) * width;
            wait -= left * width;
            copy_row(values + i * width, left ? wait : to);
        }
        std::memcpy(values, waiting, n_left * width * sizeof(T));
    }
}

}  // namespace lhtree
