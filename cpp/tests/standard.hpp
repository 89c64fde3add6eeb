// Kernels of standard.cpp.
#pragma once
#include "lhtree/grow/kernels/kernels.hpp"
#include "lhtree/score/kernels/kernels.hpp"
#include "lhtree/shared/kernels/normalise.hpp"

namespace lhtree {

extern const GrowKernels standard_grow_kernels;
extern const NormaliseKernels standard_normalise_kernels;
extern const ScoreKernels standard_score_kernels;

// Those of every instruction set, and of no compiler in particular.
inline const GrowKernels* const all_grow_kernels[] = {&portable_grow_kernels, &standard_grow_kernels,
                                                      &grow_kernels()};
inline const NormaliseKernels* const all_normalise_kernels[] = {
    &portable_normalise_kernels, &standard_normalise_kernels, &normalise_kernels()};
inline const ScoreKernels* const all_score_kernels[] = {&portable_score_kernels, &standard_score_kernels,
                                                        &score_kernels()};

}  // namespace lhtree
