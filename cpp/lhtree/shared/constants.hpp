// Small numbers as compile-time constants, so that loops over them are unrolled.
#pragma once
#include <cstddef>
#include <type_traits>

namespace lhtree {

// Calls use(constant) with a number from `first` to `last` as a constant; 0 stands for any other.
template <std::size_t first, std::size_t last, class Use>
void with_constant(std::size_t number, const Use& use) {
    if constexpr (first > last) {
        use(std::integral_constant<std::size_t, 0>{});
    } else {
        if (number == first) return use(std::integral_constant<std::size_t, first>{});
        with_constant<first + 1, last>(number, use);
    }
}

}  // namespace lhtree
