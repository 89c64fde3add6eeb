#include "lhtree/grow/boost/remote_rows.hpp"

#include <algorithm>

#include "lhtree/grow/boost/answers.hpp"

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
Answer RemoteRows::ask(Subject subject, const Write& write_rest) {
    watch_.check();
    Writer to(subject);
    write_rest(to);
    return read_answers<Answer>(subject, exchange_(to.take()));
}

template <class Answer>
Answer RemoteRows::ask(Subject subject) {
    return ask<Answer>(subject, [](Writer&) {});
}

RemoteRows::RemoteRows(const Bins& bins, const Objective& objective, std::size_t n_classes,
                       const Exchange& exchange, Watch& watch)
    : Rows(bins, n_classes > 2 ? n_classes : 1),
      objective_(objective),
      n_classes_(n_classes),
      exchange_(exchange),
      watch_(watch),
      survey_(ask<WeightSurvey>(Subject::survey_weights)),
      units_(survey_) {
    if (!(survey_.largest[0] > 0.0))
        throw std::invalid_argument("there is no row to learn from: all are held back or weigh nothing");
    ask<Done>(Subject::settle, [&](Writer& to) { write(to, units_); });
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
    ask<Done>(Subject::begin, [&](Writer& to) {
        for (const double score : first) to.fixed(score);
        for (const double unit : loss_unit) to.fixed(unit);
    });
}

void RemoteRows::begin_round() {
    if (objective_.loss == Loss::softmax) ask<Done>(Subject::begin_round);
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
    ask<Done>(Subject::begin_all, [&](Writer& to) { to.whole(score); });
}

std::vector<std::int64_t> RemoteRows::count_rows(std::size_t n_blocks) {
    auto counts = ask<std::vector<std::int64_t>>(Subject::count_rows);
    require_message(counts.size() == n_blocks, "an answer is not of all blocks");
    return counts;
}

std::vector<Histogram> RemoteRows::count_codes(const std::vector<std::size_t>& blocks, std::size_t first,
                                               std::size_t last) {
    auto histograms = ask<std::vector<Histogram>>(Subject::count_codes, [&](Writer& to) {
        to.whole(first);
        to.whole(last);
        to.whole(blocks.size());
        for (const std::size_t block : blocks) to.whole(block);
    });
    const std::size_t size = bins().slots.begin(last) - bins().slots.begin(first);
    check_sizes(histograms, blocks.size(), [&](std::size_t i) { return histograms[i].size() == size; });
    return histograms;
}

std::vector<Moments> RemoteRows::measure(const std::vector<std::vector<std::int32_t>>& drawn) {
    auto moments = ask<std::vector<Moments>>(Subject::measure, [&](Writer& to) { write(to, drawn); });
    check_sizes(moments, drawn.size(),
                [&](std::size_t i) { return moments[i].hessian_value.size() == drawn[i].size(); });
    return moments;
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
    ask<Done>(Subject::part, [&](Writer& to) { write(to, cuts, leaves); });
}

std::vector<double> RemoteRows::select(std::size_t n_blocks) {
    std::vector<DigitSearch> searches(n_blocks, DigitSearch(objective_.share()));
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
