// Requests and answers as bytes: two letters, the version, the kind of request or answer, and its fields.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "lhtree/grow/boost/rows.hpp"

namespace lhtree::boost {

struct MessageError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline void require_message(bool holds, const char* what) {
    if (!holds) throw MessageError(std::string("malformed message: ") + what);
}

// Message: Request or Answer.
template <class Message>
std::string write(const Message& message);
template <class Message>
Message read(const std::string& text);

// Adds the statistics of another partition for the same request.
void merge_answer(Answer& all, const Answer& own);
std::string merge_answers(const std::vector<std::string>& answers);

// Whether a request changes the rows, so that it has to be repeated for a partition that is replaced.
bool changes_rows(const std::string& request);

}  // namespace lhtree::boost
