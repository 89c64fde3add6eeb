#include "lhtree/grow/boost/holder.hpp"

#include "lhtree/grow/boost/answers.hpp"
#include "lhtree/grow/boost/requests.hpp"

namespace lhtree::boost {

std::string Holder::answer(const std::string& request) {
    Reader from(request);
    const Subject subject = from.subject();
    if (subject == Subject::survey_weights) {
        from.end();
        return write_answer(subject, WeightSurvey(holding_.weight, holding_.labels));
    }
    if (subject == Subject::settle) {
        const WeightUnits units = read_units(from);
        from.end();
        settle(units);
        return write_answer(subject, Done{});
    }
    require_message(rows_.has_value(), "the units of weights are not settled yet");
    return answer_settled(request);
}

void Holder::settle(const WeightUnits& units) {
    const WeightSurvey survey(holding_.weight, holding_.labels);
    for (const int of_held : {0, 1})
        require_message(survey.largest[of_held] / units.unit[of_held] <= 0x1p31 || units.are_ones,
                        "a weight is too large for its unit");
    require_message(!units.are_ones || survey.are_ones, "weights are not 1");
    rows_.reset();
    rows_.emplace(holding_, units, n_threads_, quiet_);
}

std::string Holder::answer_settled(const std::string& request) {
    Reader from(request);
    const Subject subject = from.subject();
    const Bins& bins = holding_.bins;
    const bool is_of_classes = boost::is_of_classes(holding_.loss);
    LocalRows& rows = *rows_;
    const std::size_t n_blocks = rows.n_blocks();
    const auto give = [&](const auto& answer) { return write_answer(subject, answer); };
    const auto read_score = [&] { return from.below(rows.n_scores(), "a score is out of range"); };
    switch (subject) {
        case Subject::weigh_classes:
            from.end();
            require_message(is_of_classes, "there are no classes");
            return give(rows.weigh_classes());
        case Subject::survey_responses:
            from.end();
            require_message(!is_of_classes, "there are no responses");
            return give(rows.survey_responses());
        case Subject::sum_responses: {
            const double unit = from.finite();
            from.end();
            require_message(!is_of_classes, "there are no responses");
            require_message(unit > 0.0 && rows.survey_responses().largest / unit <= 0x1p53,
                            "a response is too large for its unit");
            return give(rows.sum_responses(unit));
        }
        case Subject::begin: {
            std::vector<double> first(rows.n_scores());
            for (double& score : first) score = from.finite();
            const double loss_unit[2] = {from.finite(), from.finite()};
            from.end();
            require_message(loss_unit[0] > 0.0 && loss_unit[1] > 0.0, "a unit is not positive");
            rows.begin(first, loss_unit);
            return give(Done{});
        }
        case Subject::begin_round:
            from.end();
            rows.begin_round();
            return give(Done{});
        case Subject::differentiate: {
            const std::size_t score = read_score();
            from.end();
            return give(rows.differentiate(score));
        }
        case Subject::begin_tree: {
            const Sampling sampling = read_sampling(from);
            const Quanta quanta = read_quanta(from);
            from.end();
            return give(rows.begin_tree(sampling, quanta));
        }
        case Subject::begin_all: {
            const std::size_t score = read_score();
            from.end();
            rows.begin_all(score);
            return give(Done{});
        }
        case Subject::count_rows:
            from.end();
            return give(rows.count_rows(n_blocks)());
        case Subject::count_codes: {
            const std::size_t first = from.below(bins.slots.size(), "a slot is out of range");
            const std::size_t last = from.below(bins.slots.size() + 1, "a slot is out of range");
            std::vector<std::size_t> blocks(from.count());
            for (std::size_t& block : blocks) block = from.below(n_blocks, "a block is out of range");
            from.end();
            require_message(first < last && blocks.size() <= n_blocks,
                            "nothing, or too much, is to be counted");
            return give(rows.count_codes(blocks, first, last)());
        }
        case Subject::measure: {
            const auto features = read_features(from, bins, n_blocks);
            from.end();
            return give(rows.measure(features)());
        }
        case Subject::measure_leaves: {
            const auto features = read_features(from, bins, n_blocks);
            from.end();
            return give(rows.measure_leaves(features));
        }
        case Subject::count_steps: {
            const auto directions = read_directions(from, bins, n_blocks);
            from.end();
            return give(rows.count_steps(directions));
        }
        case Subject::part: {
            std::vector<std::optional<Cut>> cuts;
            std::vector<Leaf> leaves;
            read_parting(from, bins, n_blocks, cuts, leaves);
            from.end();
            rows.part(cuts, leaves);
            return give(Done{});
        }
        case Subject::weigh_digits: {
            const auto digits = read_digits(from, n_blocks);
            from.end();
            require_message(!is_of_classes, "there are no responses");
            return give(rows.weigh_digits(digits));
        }
        default: {
            const bool of_held = from.flag();
            from.end();
            return give(rows.sum_losses(of_held));
        }
    }
}

}  // namespace lhtree::boost
