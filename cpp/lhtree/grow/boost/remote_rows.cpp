#include "lhtree/grow/boost/remote_rows.hpp"

#include <algorithm>

namespace lhtree::boost {

namespace {

// One answer per block, of these sizes.
template <class Items, class Size>
void check_sizes(const Items& items, std::size_t n_items, const Size& size_is_right) {
    require_message(items.size() == n_items, "an answer is not of all blocks");
    for (std::size_t i = 0; i < n_items; ++i)
        require_message(size_is_right(i), "an answer has another size than asked for");
}

}  // namespace

template <class Answer, class Write>
Later<Answer> RemoteRows::ask_later(Subject subject, const Write& write_rest) {
    Writer to(subject);
    write_rest(to);
    const std::size_t number = n_sent_ + waiting_.size();
    waiting_.push_back(to.take());
    return [this, subject, number] {
        if (number >= n_sent_) send();
        const auto answers = answers_.extract(number);
        return read_answers<Answer>(subject, answers.mapped());
    };
}

template <class Answer, class Write>
Answer RemoteRows::ask(Subject subject, const Write& write_rest) {
    return ask_later<Answer>(subject, write_rest)();
}

template <class Answer>
Answer RemoteRows::ask(Subject subject) {
    return ask<Answer>(subject, [](Writer&) {});
}

template <class Write>
void RemoteRows::tell(Subject subject, const Write& write_rest) {
    told_.push_back(ask_later<Done>(subject, write_rest));
}

void RemoteRows::send() {
    watch_.check();
    for (std::vector<std::string>& part : exchange_(waiting_)) {
        require_message(part.size() == waiting_.size(), "an answer is not to all messages");
        for (std::size_t i = 0; i < part.size(); ++i) answers_[n_sent_ + i].push_back(std::move(part[i]));
    }
    require_message(answers_.count(n_sent_) == 1, "there is no answer");
    n_sent_ += waiting_.size();
    waiting_.clear();
    for (const Later<Done>& is_done : told_) is_done();
    told_.clear();
}

RemoteRows::RemoteRows(const Bins& bins, const Loss& loss, std::size_t n_classes, const Exchange& exchange,
                       Watch& watch)
    : Rows(bins, n_classes > 2 ? n_classes : 1),
      loss_(loss),
      n_classes_(n_classes),
      exchange_(exchange),
      watch_(watch),
      survey_(ask<WeightSurvey>(Subject::survey_weights)),
      units_(survey_) {
    if (!(survey_.largest[0] > 0.0))
        throw std::invalid_argument("there is no row to learn from: all are held back or weigh nothing");
    tell(Subject::settle, [&](Writer& to) { write(to, units_); });
}

std::vector<WideSum> RemoteRows::weigh_classes() {
    auto sums = ask<std::vector<WideSum>>(Subject::weigh_classes);
    require_message(sums.size() == n_classes_, "an answer is not of all classes");
    return sums;
}

ResponseSurvey RemoteRows::survey_responses() {
    return ask<ResponseSurvey>(Subject::survey_responses);
}

SplitSums RemoteRows::sum_responses(double unit) {
    return ask<SplitSums>(Subject::sum_responses, [&](Writer& to) { to.fixed(unit); });
}

void RemoteRows::begin(const std::vector<double>& first, const double (&loss_unit)[2]) {
    tell(Subject::begin, [&](Writer& to) {
        for (const double score : first) to.fixed(score);
        for (const double unit : loss_unit) to.fixed(unit);
    });
}

void RemoteRows::begin_round() {
    if (std::holds_alternative<Softmax>(loss_)) tell(Subject::begin_round, [](Writer&) {});
}

Steepness RemoteRows::differentiate(std::size_t score) {
    return ask<Steepness>(Subject::differentiate, [&](Writer& to) { to.whole(score); });
}

Sums RemoteRows::begin_tree(const Sampling& sampling, const Quanta& quanta) {
    return ask<Sums>(Subject::begin_tree, [&](Writer& to) {
        write(to, sampling);
        write(to, quanta);
    });
}

void RemoteRows::begin_all(std::size_t score) {
    tell(Subject::begin_all, [&](Writer& to) { to.whole(score); });
}

Later<std::vector<std::int64_t>> RemoteRows::count_rows(std::size_t n_blocks) {
    return [n_blocks, count = ask_later<std::vector<std::int64_t>>(Subject::count_rows, [](Writer&) {})] {
        auto counts = count();
        require_message(counts.size() == n_blocks, "an answer is not of all blocks");
        return counts;
    };
}

Later<std::vector<Histogram>> RemoteRows::count_codes(const std::vector<std::size_t>& blocks,
                                                      std::size_t first, std::size_t last) {
    auto count = ask_later<std::vector<Histogram>>(Subject::count_codes, [&](Writer& to) {
        to.whole(first);
        to.whole(last);
        to.whole(blocks.size());
        for (const std::size_t block : blocks) to.whole(block);
    });
    const std::size_t size = bins().slots.begin(last) - bins().slots.begin(first);
    return [size, n_blocks = blocks.size(), count = std::move(count)] {
        auto histograms = count();
        check_sizes(histograms, n_blocks, [&](std::size_t i) { return histograms[i].size() == size; });
        return histograms;
    };
}

Later<std::vector<Moments>> RemoteRows::measure(const std::vector<std::vector<std::int32_t>>& drawn) {
    auto measure = ask_later<std::vector<Moments>>(Subject::measure, [&](Writer& to) { write(to, drawn); });
    return [drawn, measure = std::move(measure)] {
        auto moments = measure();
        check_sizes(moments, drawn.size(),
                    [&](std::size_t i) { return moments[i].hessian_value.size() == drawn[i].size(); });
        return moments;
    };
}

std::vector<LeafMoments> RemoteRows::measure_leaves(const std::vector<std::vector<std::int32_t>>& features) {
    auto moments =
        ask<std::vector<LeafMoments>>(Subject::measure_leaves, [&](Writer& to) { write(to, features); });
    check_sizes(moments, features.size(),
                [&](std::size_t i) { return moments[i].hessian_value.size() == features[i].size(); });
    return moments;
}

std::vector<Histogram> RemoteRows::count_steps(const std::vector<Direction>& directions) {
    auto steps =
        ask<std::vector<Histogram>>(Subject::count_steps, [&](Writer& to) { write(to, directions); });
    check_sizes(steps, directions.size(),
                [&](std::size_t i) { return steps[i].size() == (directions[i].empty() ? 0 : n_steps); });
    return steps;
}

void RemoteRows::part(const std::vector<std::optional<Cut>>& cuts, const std::vector<Leaf>& leaves) {
    tell(Subject::part, [&](Writer& to) { write(to, cuts, leaves); });
}

std::vector<double> RemoteRows::select(std::size_t n_blocks) {
    std::vector<DigitSearch> searches(n_blocks, DigitSearch(selected_share(loss_)));
    while (n_blocks > 0 && !searches[0].is_done()) {
        std::vector<Digits> known;
        for (const DigitSearch& search : searches) known.push_back(search.known());
        const auto weights =
            ask<std::vector<DigitWeights>>(Subject::weigh_digits, [&](Writer& to) { write(to, known); });
        check_sizes(weights, n_blocks, [&](std::size_t i) {
            return weights[i].of.size() == std::size_t{1} << known[i].n_bits();
        });
        for (std::size_t i = 0; i < n_blocks; ++i) searches[i].take(weights[i]);
    }
    std::vector<double> values;
    for (const DigitSearch& search : searches) values.push_back(search.value());
    return values;
}

SplitSums RemoteRows::sum_losses(bool of_held) {
    return ask<SplitSums>(Subject::sum_losses, [&](Writer& to) { to.whole(of_held); });
}

}  // namespace lhtree::boost
