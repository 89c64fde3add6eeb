// Tests of the core without Python. `lhtree_tests` runs all tests, `lhtree_tests test_cuts` the tests of one
// file; ctest has an entry per file.
#include <string>

#include "check.hpp"

int main(int n_arguments, char** arguments) {
    int n_run = 0;
    for (const Test& test : all_tests()) {
        const std::string file = test.file, wanted = n_arguments > 1 ? arguments[1] : "";
        if (file.find(wanted) == std::string::npos) continue;
        const int n_failed_before = n_failed;
        test.run();
        ++n_run;
        if (n_failed > n_failed_before) std::printf("failed: %s\n", test.name);
    }
    std::printf("%d tests, %d checks passed, %d failed\n", n_run, n_passed, n_failed);
    return n_failed > 0 || n_run == 0;
}
