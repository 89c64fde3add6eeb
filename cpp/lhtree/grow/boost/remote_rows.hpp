// Rows that are elsewhere, in several parts: every question becomes a message to all parts, every answer the
// sum of theirs. What only changes the rows waits for the next question.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lhtree/grow/boost/answers.hpp"
#include "lhtree/grow/boost/losses.hpp"
#include "lhtree/grow/boost/requests.hpp"

namespace lhtree::boost {

// Hands messages to every part of the rows; what each part answers to all of them, the parts in any order,
// some of them merged already.
using Exchange = std::function<std::vector<std::vector<std::string>>(const std::vector<std::string>&)>;

class RemoteRows : public Rows {
  public:
    RemoteRows(const Bins& bins, const Loss& loss, std::size_t n_classes, const Exchange& exchange,
               Watch& watch);

    bool has_held() const override { return survey_.has_held; }
    const WeightUnits& units() const override { return units_; }
    std::vector<WideSum> weigh_classes() override;
    ResponseSurvey survey_responses() override;
    SplitSums sum_responses(double unit) override;
    void begin(const std::vector<double>& first, const double (&loss_unit)[2]) override;
    void begin_round() override;
    Steepness differentiate(std::size_t score) override;
    Sums begin_tree(const Sampling& sampling, const Quanta& quanta) override;
    void begin_all(std::size_t score) override;
    Later<std::vector<std::int64_t>> count_rows(std::size_t n_blocks) override;
    Later<std::vector<Moments>> measure(const std::vector<std::vector<std::int32_t>>& drawn) override;
    std::vector<LeafMoments> measure_leaves(const std::vector<std::vector<std::int32_t>>& features) override;
    std::vector<Histogram> count_steps(const std::vector<Direction>& directions) override;
    void part(const std::vector<std::optional<Cut>>& cuts, const std::vector<Leaf>& leaves) override;
    std::vector<double> select(std::size_t n_blocks) override;
    SplitSums sum_losses(bool of_held) override;

  protected:
    Later<std::vector<Histogram>> count_codes(const std::vector<std::size_t>& blocks, std::size_t first,
                                              std::size_t last) override;

  private:
    Loss loss_;
    std::size_t n_classes_;
    const Exchange& exchange_;
    Watch& watch_;
    std::vector<std::string> waiting_;  // messages
    std::size_t n_sent_ = 0;
    std::map<std::size_t, std::vector<std::string>> answers_;  // not yet read, by the number of the message
    std::vector<Later<Done>> told_;
    WeightSurvey survey_;
    WeightUnits units_;

    // Asks all parts; write(to) adds what belongs to the subject.
    template <class Answer, class Write>
    Later<Answer> ask_later(Subject subject, const Write& write_rest);
    template <class Answer, class Write>
    Answer ask(Subject subject, const Write& write_rest);
    template <class Answer>
    Answer ask(Subject subject);
    // Tells all parts what changes their rows.
    template <class Write>
    void tell(Subject subject, const Write& write_rest);
    void send();
};

}  // namespace lhtree::boost
