// The module lhtree._core.
#include "shared.hpp"

NB_MODULE(_core, m) {
    m.doc() =
        "Growing and scoring Learning Hyperplane Trees. Takes exact arrays; lhtree's estimators prepare "
        "them.";

#ifdef NDEBUG
    // Objects that other libraries keep alive until the interpreter exits would cause warnings.
    nanobind::set_leak_warnings(false);
#endif

    lhtree::bind_boosting(m);
    lhtree::bind_additive(m);
    lhtree::bind_growing(m);
    lhtree::bind_scoring(m);
}
