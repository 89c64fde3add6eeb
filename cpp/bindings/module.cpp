// The module lhtree._core. This folder is all that knows Python.
#include "shared.hpp"

NB_MODULE(_core, m) {
    m.doc() =
        "Growing and scoring Learning Hyperplane Trees. Takes exact arrays; lhtree's estimators prepare "
        "them.";

#ifdef NDEBUG
    // What other libraries keep alive until the interpreter ends is no concern of users.
    nanobind::set_leak_warnings(false);
#endif

    lhtree::bind_boosting(m);
    lhtree::bind_growing(m);
    lhtree::bind_scoring(m);
}
