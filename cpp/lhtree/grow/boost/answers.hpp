// The answers of parts of the rows as bytes: written, read and merged.
#pragma once
#include <string>
#include <vector>

#include "lhtree/grow/boost/messages.hpp"
#include "lhtree/grow/boost/rows.hpp"
#include "lhtree/grow/boost/selection.hpp"

namespace lhtree::boost {

// An answer that says only that it is done.
struct Done {
    void merge(const Done&) {}
};

void write(Writer& to, const Done&);
void write(Writer& to, const WeightSurvey& survey);
void write(Writer& to, const ResponseSurvey& survey);
void write(Writer& to, const Steepness& steepness);
void write(Writer& to, const Sums& sums);
void write(Writer& to, const WideSum& sum);
void write(Writer& to, const SplitSums& sums);
void write(Writer& to, const Histogram& histogram);
void write(Writer& to, const Moments& moments);
void write(Writer& to, const LeafMoments& moments);
void write(Writer& to, const DigitWeights& weights);
void write(Writer& to, std::int64_t count);

void read(Reader& from, Done&);
void read(Reader& from, WeightSurvey& survey);
void read(Reader& from, ResponseSurvey& survey);
void read(Reader& from, Steepness& steepness);
void read(Reader& from, Sums& sums);
void read(Reader& from, WideSum& sum);
void read(Reader& from, SplitSums& sums);
void read(Reader& from, Histogram& histogram);
void read(Reader& from, Moments& moments);
void read(Reader& from, LeafMoments& moments);
void read(Reader& from, DigitWeights& weights);
void read(Reader& from, std::int64_t& count);

template <class Item>
void write(Writer& to, const std::vector<Item>& items) {
    to.whole(items.size());
    for (const Item& item : items) write(to, item);
}

template <class Item>
void read(Reader& from, std::vector<Item>& items) {
    items.resize(from.count());
    for (Item& item : items) read(from, item);
}

// Adds an answer to another of the same subject, which must have the same sizes.
template <class Item>
void merge(Item& all, const Item& own) {
    all.merge(own);
}
void merge(std::int64_t& all, const std::int64_t& own);
void merge(Sums& all, const Sums& own);
void merge(WideSum& all, const WideSum& own);
void merge(Histogram& all, const Histogram& own);
void merge(Moments& all, const Moments& own);
void merge(LeafMoments& all, const LeafMoments& own);
void merge(DigitWeights& all, const DigitWeights& own);

template <class Item>
void merge(std::vector<Item>& all, const std::vector<Item>& own) {
    require_message(all.size() == own.size(), "answers differ in size");
    for (std::size_t i = 0; i < all.size(); ++i) merge(all[i], own[i]);
}

template <class Answer>
std::string write_answer(Subject subject, const Answer& answer) {
    Writer to(subject);
    write(to, answer);
    return to.take();
}

// The sum of the answers of all parts to a message.
template <class Answer>
Answer read_answers(Subject subject, const std::vector<std::string>& answers) {
    require_message(!answers.empty(), "there is no answer");
    Answer all{};
    for (std::size_t i = 0; i < answers.size(); ++i) {
        Reader from(answers[i]);
        require_message(from.subject() == subject, "it answers another message");
        Answer own{};
        read(from, own);
        from.end();
        if (i == 0)
            all = std::move(own);
        else
            merge(all, own);
    }
    return all;
}

// Answers of some parts to the same message, as one.
std::string merge_answers(const std::vector<std::string>& answers);

}  // namespace lhtree::boost
