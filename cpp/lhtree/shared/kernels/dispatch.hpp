// Inner loops are compiled once for every instruction set, and the fastest that this machine can run are
// chosen at run time.
//
// Every kernel fixes its order of summation, and the core is compiled without contraction, so all versions
// give the same bits: a row takes the same way in growing and in scoring, on every machine.
#pragma once

namespace lhtree {

bool has_avx2();
const char* instruction_set();
// The compiler of the core and its version.
const char* compiler();

}  // namespace lhtree
