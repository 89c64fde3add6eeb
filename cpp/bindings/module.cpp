// The module lhtree._core. This folder is all that knows Python.
#include "shared.hpp"

NB_MODULE(_core, m) {
    m.doc() =
        "Growing and scoring Learning Hyperplane Trees. Takes exact arrays; lhtree's estimators prepare "
        "them.";

    lhtree::bind_boosting(m);
    lhtree::bind_compact(m);
    lhtree::bind_growing(m);
    lhtree::bind_scoring(m);
    lhtree::bind_pieces(m);
}
