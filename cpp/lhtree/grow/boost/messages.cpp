#include "lhtree/grow/boost/messages.hpp"

#include <cmath>

namespace lhtree::boost {

namespace {

constexpr char head[] = {'L', 'H', 1};  // the version comes last

}  // namespace

Writer::Writer(Subject subject) : text_(head, sizeof head) {
    text_.push_back(static_cast<char>(subject));
}

void Writer::whole(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) text_.push_back(static_cast<char>(number | 0x80));
    text_.push_back(static_cast<char>(number));
}

void Writer::integer(std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    whole(number < 0 ? ~bits << 1 | 1 : bits << 1);
}

Reader::Reader(const std::string& message) : next_(message.data()), end_(next_ + message.size()) {
    require_message(message.size() > sizeof head && std::memcmp(next_, head, sizeof head) == 0,
                    "its head is not that of this version of lhtree");
    next_ += sizeof head;
    const auto subject = fixed<std::uint8_t>();
    require_message(subject < n_subjects, "its subject is unknown");
    subject_ = static_cast<Subject>(subject);
}

bool Reader::flag() {
    return below(2, "a flag is neither 0 nor 1") == 1;
}

double Reader::finite() {
    const auto number = fixed<double>();
    require_message(std::isfinite(number), "a number is not finite");
    return number;
}

std::uint64_t Reader::whole() {
    std::uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
        const auto byte = fixed<std::uint8_t>();
        require_message(shift < 63 || byte <= 1, "a number is too long");
        number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return number;
    }
}

std::int64_t Reader::integer() {
    const std::uint64_t bits = whole();
    return static_cast<std::int64_t>(bits & 1 ? ~(bits >> 1) : bits >> 1);
}

std::size_t Reader::below(std::size_t limit, const char* what) {
    const std::uint64_t number = whole();
    require_message(number < limit, what);
    return static_cast<std::size_t>(number);
}

std::size_t Reader::count(std::size_t least) {
    return below(n_left() / least + 1, "it holds fewer items than it says");
}

}  // namespace lhtree::boost
