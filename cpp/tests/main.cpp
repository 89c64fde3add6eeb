// Tests of the core without Python; ctest runs them, also under the sanitizers.
#include "test_boost.hpp"
#include "test_boosted.hpp"
#include "test_compact.hpp"
#include "test_cuts.hpp"
#include "test_kernels.hpp"
#include "test_narrow.hpp"
#include "test_parted.hpp"
#include "test_parts.hpp"
#include "test_same_models.hpp"
#include "test_scoring.hpp"
#include "test_trees.hpp"
#include "test_walks.hpp"

int main() {
    lhtree::test_kernels();
    lhtree::test_parts();
    lhtree::test_cuts();
    lhtree::test_compact();
    lhtree::test_narrow();
    lhtree::test_trees();
    lhtree::test_parted();
    lhtree::test_walks();
    lhtree::test_scoring();
    lhtree::test_boost();
    lhtree::test_boosted();
    lhtree::test_same_models();
    std::printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed > 0;
}
