// What is asked of parts of the rows as bytes: written by who grows, read and checked by who has the rows.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lhtree/grow/boost/messages.hpp"
#include "lhtree/grow/boost/rows.hpp"
#include "lhtree/grow/boost/selection.hpp"

namespace lhtree::boost {

void write(Writer& to, const WeightUnits& units);
void write(Writer& to, const Sampling& sampling);
void write(Writer& to, const Quanta& quanta);
void write(Writer& to, const std::vector<std::vector<std::int32_t>>& features);
void write(Writer& to, const std::vector<Direction>& directions);
void write(Writer& to, const std::vector<std::optional<Cut>>& cuts, const std::vector<Leaf>& leaves);
void write(Writer& to, const std::vector<Digits>& digits);

WeightUnits read_units(Reader& from);
Sampling read_sampling(Reader& from);
Quanta read_quanta(Reader& from);
// Of every block of the level.
std::vector<std::vector<std::int32_t>> read_features(Reader& from, const Bins& bins, std::size_t n_blocks);
std::vector<Direction> read_directions(Reader& from, const Bins& bins, std::size_t n_blocks);
void read_parting(Reader& from, const Bins& bins, std::size_t n_blocks, std::vector<std::optional<Cut>>& cuts,
                  std::vector<Leaf>& leaves);
std::vector<Digits> read_digits(Reader& from, std::size_t n_blocks);

// Whether a message changes what a part has: whoever takes the place of a part must have had these, in their
// order, to be as it was.
bool changes_rows(const std::string& request);

}  // namespace lhtree::boost
