#include "lhtree/grow/boost/remote/remote_rows.hpp"

#include <algorithm>

namespace lhtree::boost {
namespace {

// Answers to a number of items (see MeasureLevel).
std::size_t count_answers(std::size_t n_items, std::size_t n_sharing) {
    return n_sharing > 0 ? n_items * n_sharing : n_items;
}

// Whether there is an item for every block.
bool are_of_all(std::size_t n_items, std::size_t n_sharing, std::size_t n_blocks) {
    return n_sharing > 0 ? n_sharing == n_blocks : n_items == n_blocks;
}

bool are_below(const std::vector<std::size_t>& numbers, std::size_t end) {
    return std::all_of(numbers.begin(), numbers.end(), [&](std::size_t number) { return number < end; });
}

// Whether there is an item for every score, and trees of the round may have values of all scores.
bool are_joint(std::size_t n_items, const LocalRows& rows) {
    return rows.may_be_joint() && n_items == rows.n_scores();
}

// Whether an answer has an item for every block or class that a request is about.
template <class OneRequest>
bool fits(const OneRequest& request, const Answer& answer) {
    const auto* const found = std::get_if<typename OneRequest::Answer>(&answer);
    require_message(found != nullptr, "it answers another message");
    if constexpr (std::is_same_v<OneRequest, MeasureLevel>)
        return found->histograms.size() == request.blocks.size() &&
               found->moments.size() == count_answers(request.features.size(), request.n_sharing);
    else if constexpr (std::is_same_v<OneRequest, CountSteps>)
        return found->size() == count_answers(request.directions.size(), request.n_sharing);
    else if constexpr (std::is_same_v<OneRequest, MeasureLeaves>)
        return found->size() == request.features.size();
    else if constexpr (std::is_same_v<OneRequest, Differentiate>)
        return found->size() == 1 + request.projection.size();
    else if constexpr (std::is_same_v<OneRequest, SumScores>)
        return found->size() == request.blocks.size() &&
               std::all_of(found->begin(), found->end(),
                           [&](const Histogram& sums) { return sums.size() == request.quanta.size(); });
    else if constexpr (std::is_same_v<OneRequest, WeighDigits>)
        return found->size() == request.digits.size();
    else
        return true;
}

// Whether a request has an item for every block of the level, and all blocks, slots and scores exist.
template <class OneRequest>
bool fits(const OneRequest& request, const LocalRows& rows) {
    const std::size_t n_blocks = rows.n_blocks();
    if constexpr (std::is_same_v<OneRequest, Begin>)
        return request.scores.size() == rows.n_scores() &&
               request.loss_units[0].size() == rows.objective().n_losses() &&
               request.loss_units[1].size() == rows.objective().n_losses();
    else if constexpr (std::is_same_v<OneRequest, SumResponses>)
        return request.units.size() == rows.objective().n_responses;
    else if constexpr (std::is_same_v<OneRequest, BeginRound>)
        return rows.objective().is_softmax();
    else if constexpr (std::is_same_v<OneRequest, Differentiate>)
        return request.score < rows.n_scores() &&
               (request.projection.empty() || (are_joint(request.projection.size(), rows)));
    else if constexpr (std::is_same_v<OneRequest, BeginReplay>)
        return request.score < rows.n_scores();
    else if constexpr (std::is_same_v<OneRequest, SumScores>)
        return are_below(request.blocks, n_blocks) && are_joint(request.quanta.size(), rows);
    else if constexpr (std::is_same_v<OneRequest, MeasureLevel>)
        return are_below(request.slots, rows.bins().slots.size()) && are_below(request.blocks, n_blocks) &&
               (request.features.empty() || are_of_all(request.features.size(), request.n_sharing, n_blocks));
    else if constexpr (std::is_same_v<OneRequest, CountSteps>)
        return are_of_all(request.directions.size(), request.n_sharing, n_blocks);
    else if constexpr (std::is_same_v<OneRequest, MeasureLeaves>)
        return request.features.size() == n_blocks;
    else if constexpr (std::is_same_v<OneRequest, SplitLevel>)
        return request.n_sharing > 0
                   ? request.n_sharing == n_blocks && request.cuts.size() == 1 && request.cuts[0]
                   : request.cuts.size() == n_blocks && request.leaves.size() == n_blocks &&
                         std::all_of(request.leaves.begin(), request.leaves.end(), [&](const Leaf& leaf) {
                             return !leaf.is_joint() || leaf.values.size() == rows.n_scores();
                         });
    else if constexpr (std::is_same_v<OneRequest, WeighDigits>)
        return !request.scores.empty() && are_below(request.scores, rows.n_scores()) &&
               request.digits.size() == n_blocks * request.scores.size();
    else
        return true;
}

}  // namespace

RemoteRows::RemoteRows(const Bins& bins, const Objective& objective, const Exchange& exchange, Watch& watch)
    : Rows(bins, objective.n_scores()), objective_(objective), exchange_(exchange), watch_(watch) {
    const WeightSurvey survey = ask(SurveyWeights{});
    if (!(survey.largest[0] > 0.0))
        throw std::invalid_argument("there is no row to learn from: all are held back or weigh nothing");
    has_held_ = survey.has_held;
    units_ = WeightUnits(survey);
    ask(SetWeightUnits{{}, units_});
}

Answer RemoteRows::answer(const Request& request) {
    waiting_.push_back(write(request));
    const bool can_wait = std::visit(
        [](const auto& one) { return std::is_same_v<typename std::decay_t<decltype(one)>::Answer, Done>; },
        request);
    if (can_wait) return Done{};
    watch_.check();
    std::optional<Answer> all;
    for (const std::vector<std::string>& answers : exchange_(waiting_)) {
        require_message(answers.size() == waiting_.size(), "an answer is not to all messages");
        Answer own = read<Answer>(answers.back());
        if (all)
            merge_answer(*all, own);
        else
            all = std::move(own);
    }
    require_message(all.has_value(), "there is no answer");
    require_message(std::visit([&](const auto& one) { return fits(one, *all); }, request),
                    "an answer is not of all blocks");
    waiting_.clear();
    return std::move(*all);
}

std::vector<double> RemoteRows::select(std::size_t n_blocks, const std::vector<std::size_t>& scores) {
    std::vector<DigitSearch> searches;
    for (std::size_t block = 0; block < n_blocks; ++block)
        for (const std::size_t score : scores) searches.emplace_back(selected_share(objective_.loss(score)));
    while (!searches.empty() && !searches[0].is_done()) {
        WeighDigits request{{}, scores, {}};
        for (const DigitSearch& search : searches) request.digits.push_back(search.known());
        const std::vector<DigitWeights> weights = ask(std::move(request));
        for (std::size_t i = 0; i < searches.size(); ++i) searches[i].take(weights[i]);
    }
    std::vector<double> values;
    for (const DigitSearch& search : searches) values.push_back(search.value());
    return values;
}

std::string Partition::answer(const std::string& request) {
    return write(answer(read<Request>(request)));
}

Answer Partition::answer(const Request& request) {
    if (std::holds_alternative<SurveyWeights>(request)) return WeightSurvey(data_.weight, data_.labels);
    if (const auto* const given = std::get_if<SetWeightUnits>(&request)) {
        rows_.reset();
        rows_.emplace(data_, given->units, n_threads_, quiet_);
        return Done{};
    }
    require_message(rows_.has_value(), "the units of weights are not known yet");
    require_message(std::visit([&](const auto& one) { return fits(one, *rows_); }, request),
                    "a request is not of all blocks");
    return rows_->answer(request);
}

}  // namespace lhtree::boost
