// Who has a part of the rows: answers the messages of RemoteRows.
#pragma once
#include <optional>
#include <string>

#include "lhtree/grow/boost/local_rows.hpp"

namespace lhtree::boost {

class Holder {
  public:
    Holder(const Holding& holding, std::size_t n_threads) : holding_(holding), n_threads_(n_threads) {}

    // The answer to a message. One that is malformed, or comes at the wrong time, is a MessageError and
    // changes nothing.
    std::string answer(const std::string& request);

  private:
    Holding holding_;
    std::size_t n_threads_;
    Watch quiet_;
    std::optional<LocalRows> rows_;  // once the units of weights are settled

    void settle(const WeightUnits& units);
    std::string answer_settled(const std::string& request);
};

}  // namespace lhtree::boost
