#include "lhtree/grow/boost/remote/messages.hpp"

#include <cstring>
#include <type_traits>

namespace lhtree::boost {
namespace {

constexpr char head[] = {'L', 'H', 2};                    // the last is the version
constexpr std::size_t most_items = std::size_t{1} << 24;  // of a vector

// Structs list their fields for writing and for reading. Integers take seven bits to a byte, the low ones
// first; a run of zeros is a zero and its length, as most bins and digits are empty. Numbers are
// little-endian.
class Writer {
  public:
    static constexpr bool reads = false;

    Writer() : text_(head, sizeof head) {}
    template <class... Fields>
    void operator()(const Fields&... values) {
        (put(values), ...);
    }
    std::string take() {
        end_zeros();
        return std::move(text_);
    }

  private:
    std::string text_;
    std::uint64_t n_zeros_ = 0;

    template <class Field>
    void put(const Field& value) {
        if constexpr (std::is_same_v<Field, double>) {
            end_zeros();
            char bytes[sizeof value];
            std::memcpy(bytes, &value, sizeof value);
            text_.append(bytes, sizeof value);
        } else if constexpr (std::is_integral_v<Field>) {
            const auto number = static_cast<std::int64_t>(value);
            const auto bits = static_cast<std::uint64_t>(number);
            if (number == 0) {
                ++n_zeros_;
            } else {
                end_zeros();
                put_bits(number < 0 ? ~bits << 1 | 1 : bits << 1);
            }
        } else if constexpr (!std::is_empty_v<Field>) {
            fields(*this, const_cast<Field&>(value));  // which a writer does not change
        }
    }
    void put_bits(std::uint64_t bits) {
        for (; bits >= 0x80; bits >>= 7) text_.push_back(static_cast<char>(bits | 0x80));
        text_.push_back(static_cast<char>(bits));
    }
    void end_zeros() {
        if (n_zeros_ == 0) return;
        put_bits(0);
        put_bits(n_zeros_);
        n_zeros_ = 0;
    }
};

class Reader {
  public:
    static constexpr bool reads = true;

    explicit Reader(const std::string& message) : next_(message.data()), end_(next_ + message.size()) {
        require_message(message.size() > sizeof head && std::memcmp(next_, head, sizeof head) == 0,
                        "its head is not that of this version of lhtree");
        next_ += sizeof head;
    }
    template <class... Fields>
    void operator()(Fields&... values) {
        (take(values), ...);
    }
    void end() const { require_message(next_ == end_ && n_zeros_ == 0, "it does not end where it should"); }

  private:
    const char *next_, *end_;
    std::uint64_t n_zeros_ = 0;

    template <class Field>
    void take(Field& value) {
        if constexpr (std::is_same_v<Field, double>) {
            require_message(n_zeros_ == 0, "a number is missing");
            std::memcpy(&value, take_bytes(sizeof value), sizeof value);
        } else if constexpr (std::is_integral_v<Field>) {
            value = static_cast<Field>(take_integer());
        } else if constexpr (!std::is_empty_v<Field>) {
            fields(*this, value);
        }
    }
    const char* take_bytes(std::size_t n) {
        require_message(static_cast<std::size_t>(end_ - next_) >= n, "it ends too early");
        next_ += n;
        return next_ - n;
    }
    std::uint64_t take_bits() {
        std::uint64_t bits = 0;
        for (int shift = 0;; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(*take_bytes(1));
            require_message(shift < 63 || byte <= 1, "an integer is too long");
            bits |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return bits;
        }
    }
    std::int64_t take_integer() {
        if (n_zeros_ == 0) {
            const std::uint64_t bits = take_bits();
            if (bits != 0) return static_cast<std::int64_t>(bits & 1 ? ~(bits >> 1) : bits >> 1);
            n_zeros_ = take_bits();
            require_message(n_zeros_ > 0, "a run of zeros is empty");
        }
        --n_zeros_;
        return 0;
    }
};

template <class Archive, class Item>
void fields(Archive& archive, std::vector<Item>& items) {
    std::size_t size = items.size();
    archive(size);
    if constexpr (Archive::reads) {
        require_message(size <= most_items, "it is too large");
        items.resize(size);
    }
    for (Item& item : items) archive(item);
}

template <class Archive, class Item>
void fields(Archive& archive, std::optional<Item>& item) {
    bool has_value = item.has_value();
    archive(has_value);
    if constexpr (Archive::reads) item = has_value ? std::optional<Item>(Item{}) : std::nullopt;
    if (has_value) archive(*item);
}

template <class Archive>
void fields(Archive& archive, WideSum& sum) {
    std::int64_t high = sum.high();
    std::uint64_t low = sum.low();
    archive(high, low);
    if constexpr (Archive::reads) sum = WideSum(high, low);
}

template <class Archive>
void fields(Archive& archive, Histogram& histogram) {
    if constexpr (Archive::reads) {
        std::vector<Sums> sums;
        archive(sums);
        histogram = Histogram::of(std::move(sums));
    } else {
        archive(histogram.size());
        for (std::size_t i = 0; i < histogram.size(); ++i) archive(histogram[i]);
    }
}

template <class Archive, class Struct>
void fields(Archive& archive, Struct& value) {
    std::apply([&](auto&... each) { archive(each...); }, value.fields());
}

// The alternative of a variant with a number.
template <class Variant, std::size_t i = 0>
Variant make_alternative(std::size_t number) {
    if constexpr (i < std::variant_size_v<Variant>) {
        if (number == i) return Variant(std::in_place_index<i>);
        return make_alternative<Variant, i + 1>(number);
    } else {
        throw MessageError("malformed message: its kind is unknown");
    }
}

}  // namespace

template <class Message>
std::string write(const Message& value) {
    Writer to;
    to(value.index() + 1);
    std::visit([&](const auto& one) { to(one); }, value);
    return to.take();
}

template <class Message>
Message read(const std::string& message) {
    Reader from(message);
    std::size_t number = 0;
    from(number);
    Message value = make_alternative<Message>(number - 1);
    std::visit([&](auto& one) { from(one); }, value);
    from.end();
    return value;
}

template std::string write(const Request&);
template std::string write(const Answer&);
template Request read(const std::string&);
template Answer read(const std::string&);

void merge_answer(Answer& all, const Answer& own) {
    require_message(all.index() == own.index(), "it answers another message");
    std::visit([&](auto& one) { merge(one, std::get<std::decay_t<decltype(one)>>(own)); }, all);
}

std::string merge_answers(const std::vector<std::string>& answers) {
    require_message(!answers.empty(), "there is no answer");
    Answer all = read<Answer>(answers[0]);
    for (std::size_t i = 1; i < answers.size(); ++i) merge_answer(all, read<Answer>(answers[i]));
    return write(all);
}

bool changes_rows(const std::string& request) {
    return std::visit([](const auto& one) { return one.changes_rows; }, read<Request>(request));
}

}  // namespace lhtree::boost
