// TEST and CHECK macros, and the random rows that tests share. No framework.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "lhtree/shared/matrix.hpp"

struct Test {
    const char *file, *name;
    void (*run)();
};
inline std::vector<Test>& all_tests() {
    static std::vector<Test> tests;
    return tests;
}
struct Registration {
    explicit Registration(const Test& test) { all_tests().push_back(test); }
};

#define TEST(name)                                               \
    void name();                                                 \
    const Registration register_##name({__FILE__, #name, name}); \
    void name()

inline int n_passed = 0, n_failed = 0;

inline void count_check(bool is_true, const char* what, const char* file, int line) {
    if (is_true) {
        ++n_passed;
        return;
    }
    ++n_failed;
    std::printf("%s:%d: failed: %s\n", file, line, what);
}

#define CHECK(condition) count_check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) \
    count_check(std::abs((a) - (b)) <= (tolerance), #a " ≈ " #b, __FILE__, __LINE__)
#define CHECK_THROWS(expression, Exception)                                             \
    do {                                                                                \
        bool has_thrown = false;                                                        \
        try {                                                                           \
            expression;                                                                 \
        } catch (const Exception&) {                                                    \
            has_thrown = true;                                                          \
        }                                                                               \
        count_check(has_thrown, #expression " throws " #Exception, __FILE__, __LINE__); \
    } while (false)

// Whether two runs of values have the same bits, so that 0 and -0 differ and NaN equals itself.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

class Random {
  public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}
    std::size_t below(std::size_t size) { return static_cast<std::size_t>(bits_() % size); }
    double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
    // About normal: the sum of four uniform values.
    double normal() { return (uniform() + uniform() + uniform() + uniform() - 2.0) * 1.7; }

  private:
    std::mt19937_64 bits_;
};

// Rows with slack behind the last, their classes and weights.
struct Table {
    std::size_t n_rows, n_features;
    std::vector<float> values;
    std::vector<std::uint8_t> is_target;
    std::vector<double> weight;

    Table(std::size_t n_rows_, std::size_t n_features_)
        : n_rows(n_rows_),
          n_features(n_features_),
          values(n_rows * n_features + lhtree::slack),
          is_target(n_rows),
          weight(n_rows, 1.0) {}

    float& at(std::size_t row, std::size_t feature) { return values[row * n_features + feature]; }
    lhtree::Rows rows() const { return {values.data(), n_rows, n_features}; }
};

// Returns random rows. With n_levels > 0 the features have that many values, which gives ties and duplicates.
inline Table random_table(std::size_t n_rows, std::size_t n_features, std::uint64_t seed, int n_levels = 0) {
    Random random(seed);
    Table table(n_rows, n_features);
    for (std::size_t row = 0; row < n_rows; ++row) {
        double sum = 0.0;
        for (std::size_t f = 0; f < n_features; ++f) {
            const double value = n_levels > 0
                                     ? static_cast<double>(random.below(static_cast<std::size_t>(n_levels)))
                                     : random.normal();
            table.at(row, f) = static_cast<float>(value);
            sum += f % 2 ? -value : value;
        }
        table.is_target[row] = sum + random.normal() > 0.0;
        table.weight[row] = static_cast<double>(1 + random.below(4));
    }
    return table;
}
