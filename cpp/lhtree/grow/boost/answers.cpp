#include "lhtree/grow/boost/answers.hpp"

namespace lhtree::boost {

namespace {

constexpr std::size_t most_sums = std::size_t{1} << 24;  // of a histogram
constexpr std::size_t bytes_of_wide = 16;
constexpr std::uint64_t most = std::uint64_t{1} << 62;  // of sums, so that merging them does not overflow
constexpr std::uint64_t most_high = std::uint64_t{1} << 48;  // of the high half of a wide sum, likewise

std::int64_t read_amount(Reader& from) {
    return static_cast<std::int64_t>(from.below(most, "a sum is out of range"));
}

std::int64_t read_sum(Reader& from) {
    const std::int64_t sum = from.integer();
    require_message(static_cast<std::uint64_t>(sum < 0 ? ~sum : sum) < most, "a sum is out of range");
    return sum;
}

void require_same(std::size_t a, std::size_t b) {
    require_message(a == b, "answers differ in size");
}

// Calls use(answer) with an answer of the type that belongs to a subject.
template <class Use>
auto with_answer(Subject subject, const Use& use) {
    switch (subject) {
        case Subject::survey_weights:
            return use(WeightSurvey{});
        case Subject::weigh_classes:
            return use(std::vector<WideSum>{});
        case Subject::survey_responses:
            return use(ResponseSurvey{});
        case Subject::sum_responses:
        case Subject::sum_losses:
            return use(SplitSums{});
        case Subject::differentiate:
            return use(Steepness{});
        case Subject::begin_tree:
            return use(Sums{});
        case Subject::count_rows:
            return use(std::vector<std::int64_t>{});
        case Subject::count_codes:
        case Subject::count_steps:
            return use(std::vector<Histogram>{});
        case Subject::measure:
            return use(std::vector<Moments>{});
        case Subject::measure_leaves:
            return use(std::vector<LeafMoments>{});
        case Subject::weigh_digits:
            return use(std::vector<DigitWeights>{});
        case Subject::settle:
        case Subject::begin:
        case Subject::begin_round:
        case Subject::begin_all:
        case Subject::part:
            break;
    }
    return use(Done{});
}

}  // namespace

void write(Writer&, const Done&) {}
void read(Reader&, Done&) {}

void write(Writer& to, std::int64_t count) {
    to.integer(count);
}
void read(Reader& from, std::int64_t& count) {
    count = read_sum(from);
}
void merge(std::int64_t& all, const std::int64_t& own) {
    all += own;
}

void write(Writer& to, const WeightSurvey& survey) {
    to.whole(survey.n_rows);
    to.whole(survey.has_held);
    to.whole(survey.are_ones);
    for (const int of_held : {0, 1}) {
        to.whole(survey.is_whole[of_held]);
        to.fixed(survey.largest[of_held]);
    }
}
void read(Reader& from, WeightSurvey& survey) {
    survey.n_rows = from.whole();
    survey.has_held = from.flag();
    survey.are_ones = from.flag();
    for (const int of_held : {0, 1}) {
        survey.is_whole[of_held] = from.flag();
        survey.largest[of_held] = from.finite();
    }
}

void write(Writer& to, const ResponseSurvey& survey) {
    for (const int of_held : {0, 1}) {
        to.fixed(survey.low[of_held]);
        to.fixed(survey.high[of_held]);
    }
    to.fixed(survey.largest);
}
void read(Reader& from, ResponseSurvey& survey) {
    for (const int of_held : {0, 1}) {
        survey.low[of_held] = from.fixed<double>();
        survey.high[of_held] = from.fixed<double>();
    }
    survey.largest = from.finite();
}

void write(Writer& to, const Steepness& steepness) {
    to.fixed(steepness.gradient);
    to.fixed(steepness.hessian);
}
void read(Reader& from, Steepness& steepness) {
    steepness.gradient = from.finite();
    steepness.hessian = from.finite();
}

void write(Writer& to, const Sums& sums) {
    to.integer(sums.gradient);
    to.whole(static_cast<std::uint64_t>(sums.hessian));
    to.whole(static_cast<std::uint64_t>(sums.weight));
}
void read(Reader& from, Sums& sums) {
    sums.gradient = read_sum(from);
    sums.hessian = read_amount(from);
    sums.weight = read_amount(from);
}
void merge(Sums& all, const Sums& own) {
    all += own;
}

void write(Writer& to, const WideSum& sum) {
    to.fixed(sum.high());
    to.fixed(sum.low());
}
void read(Reader& from, WideSum& sum) {
    const auto high = from.fixed<std::int64_t>();
    require_message(static_cast<std::uint64_t>(high < 0 ? ~high : high) < most_high, "a sum is out of range");
    sum = WideSum(high, from.fixed<std::uint64_t>());
}
void merge(WideSum& all, const WideSum& own) {
    all.add(own);
}

void write(Writer& to, const SplitSums& sums) {
    write(to, sums.high);
    write(to, sums.low);
    write(to, sums.weight);
}
void read(Reader& from, SplitSums& sums) {
    read(from, sums.high);
    read(from, sums.low);
    read(from, sums.weight);
}

void write(Writer& to, const Histogram& histogram) {
    const std::size_t size = histogram.size();
    to.whole(size);
    for (std::size_t i = 0; i < size;) {
        const Sums sums = histogram[i];
        to.whole(static_cast<std::uint64_t>(sums.weight));
        std::size_t next = i + 1;
        if (sums.weight == 0) {  // nothing at all; so are those that follow, which are counted
            while (next < size && histogram[next].weight == 0) ++next;
            to.whole(next - i);
        } else {
            to.integer(sums.gradient);
            to.whole(static_cast<std::uint64_t>(sums.hessian));
        }
        i = next;
    }
}
void read(Reader& from, Histogram& histogram) {
    std::vector<Sums> sums(from.below(most_sums, "a histogram is too large"));
    for (std::size_t i = 0; i < sums.size();) {
        sums[i].weight = read_amount(from);
        if (sums[i].weight == 0) {
            const std::size_t n_zeros = from.below(sums.size() - i + 1, "a run of zeros is too long");
            require_message(n_zeros > 0, "a run of zeros is empty");
            i += n_zeros;
            continue;
        }
        sums[i].gradient = read_sum(from);
        sums[i++].hessian = read_amount(from);
    }
    histogram = Histogram::of(std::move(sums));
}
void merge(Histogram& all, const Histogram& own) {
    require_same(all.size(), own.size());
    all.add(own);
}

void write(Writer& to, const Moments& moments) {
    to.whole(moments.hessian_value.size());
    if (moments.hessian_value.empty()) return;
    write(to, moments.hessian);
    write(to, moments.gradient);
    for (const auto* sums : {&moments.hessian_value, &moments.gradient_value, &moments.products})
        for (const WideSum& sum : *sums) write(to, sum);
}
void read(Reader& from, Moments& moments) {
    const std::size_t n = from.below(std::size_t{1} << 16, "there are too many moments");
    from.expect(n == 0 ? 0 : (2 + 2 * n + n * (n + 1) / 2) * bytes_of_wide);
    moments = Moments(n);
    if (moments.hessian_value.empty()) return;
    read(from, moments.hessian);
    read(from, moments.gradient);
    for (auto* sums : {&moments.hessian_value, &moments.gradient_value, &moments.products})
        for (WideSum& sum : *sums) read(from, sum);
}
void merge(Moments& all, const Moments& own) {
    require_same(all.hessian_value.size(), own.hessian_value.size());
    all.merge(own);
}

void write(Writer& to, const LeafMoments& moments) {
    write(to, static_cast<const Moments&>(moments));
    to.fixed(moments.least);
    to.fixed(moments.largest);
}
void read(Reader& from, LeafMoments& moments) {
    read(from, static_cast<Moments&>(moments));
    moments.least = from.fixed<double>();
    moments.largest = from.fixed<double>();
}
void merge(LeafMoments& all, const LeafMoments& own) {
    require_same(all.hessian_value.size(), own.hessian_value.size());
    all.merge(own);
}

void write(Writer& to, const DigitWeights& weights) {
    std::size_t last = 0, n_known = 0;
    for (const std::int64_t weight : weights.of) n_known += weight != 0;
    to.whole(weights.of.size());
    to.whole(n_known);
    for (std::size_t digit = 0; digit < weights.of.size(); ++digit) {
        if (weights.of[digit] == 0) continue;
        to.whole(digit - last);
        to.whole(static_cast<std::uint64_t>(weights.of[digit]));
        last = digit;
    }
}
void read(Reader& from, DigitWeights& weights) {
    weights.of.assign(from.below(most_sums, "there are too many digits"), 0);
    std::size_t digit = 0;
    for (std::size_t n_known = from.count(2); n_known > 0; --n_known) {
        digit += from.below(weights.of.size() - digit, "a digit is out of range");
        weights.of[digit] = read_amount(from);
    }
}
void merge(DigitWeights& all, const DigitWeights& own) {
    require_same(all.of.size(), own.of.size());
    all.merge(own);
}

std::string merge_answers(const std::vector<std::string>& answers) {
    require_message(!answers.empty(), "there is no answer");
    const Subject subject = Reader(answers[0]).subject();
    return with_answer(subject, [&](const auto& empty) {
        using Answer = std::decay_t<decltype(empty)>;
        return write_answer(subject, read_answers<Answer>(subject, answers));
    });
}

}  // namespace lhtree::boost
