// Both sides of the protocol: RemoteRows sends requests to partitions of the rows on other machines and
// merges their answers; a Partition answers them.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lhtree/grow/boost/local_rows.hpp"
#include "lhtree/grow/boost/remote/messages.hpp"

namespace lhtree::boost {

// Sends requests to all partitions and returns a list of answers per partition, in any order, or merged ones.
using Exchange = std::function<std::vector<std::vector<std::string>>(const std::vector<std::string>&)>;

class RemoteRows : public Rows {
  public:
    RemoteRows(const Bins& bins, const Objective& objective, const Exchange& exchange, Watch& watch);

    // Requests that only change the rows are sent together with the next one.
    Answer answer(const Request& request) override;
    std::vector<double> select(std::size_t n_blocks, const std::vector<std::size_t>& scores) override;

  private:
    Objective objective_;
    const Exchange& exchange_;
    Watch& watch_;
    std::vector<std::string> waiting_;
};

// Server side of the protocol: owns one partition of the rows.
class Partition {
  public:
    Partition(const RowData& data, std::size_t n_threads) : data_(data), n_threads_(n_threads) {}

    // A malformed request, or one of wrong sizes, throws MessageError and changes nothing.
    std::string answer(const std::string& request);

  private:
    RowData data_;
    std::size_t n_threads_;
    Watch quiet_;
    std::optional<LocalRows> rows_;  // once the units of weights are known

    Answer answer(const Request& request);
};

}  // namespace lhtree::boost
