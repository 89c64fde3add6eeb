// What is asked of parts of the rows and what they answer, as bytes: for rows that are elsewhere.
// A message is two letters, the version, the subject, and what belongs to it. Numbers are little-endian.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace lhtree::boost {

enum class Subject : std::uint8_t {
    survey_weights,
    settle,
    weigh_classes,
    survey_responses,
    sum_responses,
    begin,
    begin_round,
    differentiate,
    begin_tree,
    begin_all,
    count_rows,
    count_codes,
    measure,
    measure_leaves,
    count_steps,
    part,
    weigh_digits,
    sum_losses
};
constexpr std::size_t n_subjects = 18;

// A message that cannot be what the other side wrote, or not at this time.
struct MessageError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline void require_message(bool holds, const char* what) {
    if (!holds) throw MessageError(std::string("malformed message: ") + what);
}

class Writer {
  public:
    explicit Writer(Subject subject);

    // As it is stored: a number of fixed size.
    template <class Number>
    void fixed(Number number) {
        static_assert(std::is_arithmetic_v<Number>);
        char bytes[sizeof number];
        std::memcpy(bytes, &number, sizeof number);
        text_.append(bytes, sizeof number);
    }
    // Seven bits to a byte, the last ones first; small numbers are short.
    void whole(std::uint64_t number);
    // The same for a number of either sign.
    void integer(std::int64_t number);

    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

class Reader {
  public:
    // Reads the head; the message must outlive the reader.
    explicit Reader(const std::string& message);

    Subject subject() const { return subject_; }
    template <class Number>
    Number fixed() {
        static_assert(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>);
        expect(sizeof(Number));
        Number number;
        std::memcpy(&number, next_, sizeof number);
        next_ += sizeof number;
        return number;
    }
    bool flag();
    double finite();
    std::uint64_t whole();
    std::int64_t integer();
    // A whole number below a limit.
    std::size_t below(std::size_t limit, const char* what);
    // How many items follow, of at least `least` bytes each.
    std::size_t count(std::size_t least = 1);
    void expect(std::size_t n_bytes) const { require_message(n_left() >= n_bytes, "it ends too early"); }
    // Nothing is left.
    void end() const { require_message(n_left() == 0, "it goes on behind its end"); }

  private:
    const char *next_, *end_;
    Subject subject_;

    std::size_t n_left() const { return static_cast<std::size_t>(end_ - next_); }
};

}  // namespace lhtree::boost
