#include "lhtree/grow/rows/parted.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "lhtree/shared/constants.hpp"

namespace lhtree {
namespace {

// Copies the smaller side aside while the larger one moves together, so that memory for half the rows is
// enough. Positions are computed without branches: cuts are unpredictable.
template <std::size_t fixed, class T>
void move_array_by(T* values, std::size_t any_width, const std::uint8_t* is_left, std::size_t n,
                   std::size_t n_left, T* waiting) {
    const std::size_t width = fixed ? fixed : any_width, n_right = n - n_left;
    const auto copy_row = [&](const T* from, T* to) {
        if (fixed == 1)
            *to = *from;
        else if (to != from)
            std::memcpy(to, from, width * sizeof(T));
    };
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
template <class T>
void move_array(T* values, std::size_t width, const std::uint8_t* is_left, std::size_t n, std::size_t n_left,
                std::vector<unsigned char>& aside) {
    const std::size_t room = (std::min(n_left, n - n_left) + 1) * width * sizeof(T);
    if (aside.size() < room) aside = std::vector<unsigned char>(room);
    T* const waiting = reinterpret_cast<T*>(aside.data());
    // With a small width as a constant, copies of rows need no call.
    with_constant<1, 8>(
        width, [&](auto fixed) { move_array_by<fixed>(values, width, is_left, n, n_left, waiting); });
}

// Swaps two adjacent ranges; the shorter one is copied aside.
template <class T>
void swap_array(T* values, std::size_t width, std::size_t n_first, std::size_t n_second,
                std::vector<unsigned char>& aside) {
    const std::size_t first = n_first * width * sizeof(T), second = n_second * width * sizeof(T);
    auto* const bytes = reinterpret_cast<unsigned char*>(values);
    if (aside.size() < std::min(first, second)) aside = std::vector<unsigned char>(std::min(first, second));
    if (first < second) {
        std::memcpy(aside.data(), bytes, first);
        std::memmove(bytes, bytes + first, second);
        std::memcpy(bytes + second, aside.data(), first);
    } else {
        std::memcpy(aside.data(), bytes + first, second);
        std::memmove(bytes + second, bytes, first);
        std::memcpy(bytes, aside.data(), second);
    }
}

}  // namespace

PartedRows::PartedRows(const Labelled& given)
    : rows_(given.rows), width_(given.rows.width()), codes_(given.codes) {
    const Chosen* chosen = given.chosen;
    const std::size_t n = chosen ? chosen->rows.size() : given.rows.n_rows;
    const double* weight = chosen ? (chosen->weight.empty() ? nullptr : chosen->weight.data()) : given.weight;
    const auto row_of = [&](std::size_t i) { return chosen ? static_cast<std::size_t>(chosen->rows[i]) : i; };
    const bool is_real = given.response != nullptr, is_classed = given.of_class != nullptr;
    if (!is_real && !is_classed)
        for (std::size_t i = 0; i < n; ++i) n_rest_ += !given.is_target[row_of(i)];
    row_.resize(n);
    if (is_real) response_.resize(n);
    if (is_classed) class_.resize(n);
    if (weight) weight_.resize(n);
    if (codes_ && chosen) {
        own_codes_ = codes_->take(chosen->rows);
        codes_ = &own_codes_;
    }

    if (given.in_place && !chosen && !is_classed) {
        features_ = given.in_place;
        std::iota(row_.begin(), row_.end(), 0);
        if (weight) weight_.assign(weight, weight + n);
        if (is_real) {
            response_.assign(given.response, given.response + n);
            return;
        }
        std::vector<std::uint8_t> is_rest(n);
        for (std::size_t row = 0; row < n; ++row) is_rest[row] = !given.is_target[row];
        std::vector<unsigned char> aside;
        move_rows(0, is_rest.data(), n, n_rest_, aside);
        return;
    }
    copy_.resize(n * width_ + slack);
    features_ = copy_.data();
    // Position of the next row of each class; rows with a numeric response keep their order.
    std::vector<std::size_t> next{0, n_rest_};
    if (is_classed) {
        next.assign(given.n_classes + 1, 0);
        for (std::size_t i = 0; i < n; ++i) ++next[static_cast<std::size_t>(given.of_class[row_of(i)]) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t row = row_of(i);
        const auto kind = is_classed ? static_cast<std::size_t>(given.of_class[row])
                                     : static_cast<std::size_t>(!is_real && given.is_target[row]);
        const std::size_t to = is_real ? i : next[kind]++;
        std::memcpy(features_ + to * width_, given.rows[row], width_ * sizeof(float));
        row_[to] = static_cast<std::int32_t>(i);
        if (weight) weight_[to] = weight[i];
        if (is_real) response_[to] = given.response[row];
        if (is_classed) class_[to] = given.of_class[row];
    }
}

void PartedRows::move_rows(std::size_t begin, const std::uint8_t* is_left, std::size_t n, std::size_t n_left,
                           std::vector<unsigned char>& aside) {
    move_array(features_ + begin * width_, width_, is_left, n, n_left, aside);
    move_array(row_.data() + begin, 1, is_left, n, n_left, aside);
    if (!weight_.empty()) move_array(weight_.data() + begin, 1, is_left, n, n_left, aside);
    if (!response_.empty()) move_array(response_.data() + begin, 1, is_left, n, n_left, aside);
    if (!class_.empty()) move_array(class_.data() + begin, 1, is_left, n, n_left, aside);
}

void PartedRows::swap_rows(std::size_t begin, std::size_t n_first, std::size_t n_second,
                           std::vector<unsigned char>& aside) {
    swap_array(features_ + begin * width_, width_, n_first, n_second, aside);
    swap_array(row_.data() + begin, 1, n_first, n_second, aside);
    if (!weight_.empty()) swap_array(weight_.data() + begin, 1, n_first, n_second, aside);
    if (!response_.empty()) swap_array(response_.data() + begin, 1, n_first, n_second, aside);
    if (!class_.empty()) swap_array(class_.data() + begin, 1, n_first, n_second, aside);
}

// Each thread partitions a range of the rows; then the left sides of the ranges are moved together.
void PartedRows::move(std::size_t begin, const std::uint8_t* is_left, std::size_t n, std::size_t n_threads,
                      Aside& aside, Watch& watch) {
    aside.resize(std::max(aside.size(), n_threads));
    const std::size_t size = (n + n_threads - 1) / n_threads;
    std::vector<std::size_t> n_left(n_threads, 0);
    const auto run_of = [&](std::size_t number) { return std::min(n, number * size); };
    run(n_threads, n_threads, watch, [&](std::size_t number) {
        const std::size_t first = run_of(number), last = run_of(number + 1);
        for (std::size_t i = first; i < last; ++i) n_left[number] += is_left[i];
        move_rows(begin + first, is_left + first, last - first, n_left[number], aside[number]);
    });
    std::size_t all_left = n_left[0];
    for (std::size_t number = 1; number < n_threads; ++number) {
        swap_rows(begin + all_left, run_of(number) - all_left, n_left[number], aside[0]);
        all_left += n_left[number];
    }
}

void PartedRows::restore() {
    std::vector<float> held(width_);
    const std::size_t bytes = width_ * sizeof(float);
    for (std::size_t start = 0; start < size(); ++start) {
        // Follows the cycle of a permutation: every row moves to its original position.
        auto home = static_cast<std::size_t>(row_[start]);
        if (home == start) continue;
        std::memcpy(held.data(), features_ + start * width_, bytes);
        while (home != start) {
            std::swap_ranges(held.begin(), held.end(), features_ + home * width_);
            const auto next = static_cast<std::size_t>(row_[home]);
            row_[home] = static_cast<std::int32_t>(home);
            home = next;
        }
        std::memcpy(features_ + start * width_, held.data(), bytes);
        row_[start] = static_cast<std::int32_t>(start);
    }
}

}  // namespace lhtree
