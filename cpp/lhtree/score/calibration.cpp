#include "lhtree/score/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "lhtree/score/link.hpp"

namespace lhtree {

void Calibration::check(std::size_t n_targets) const {
    const auto require = [](bool holds) {
        if (!holds) throw std::invalid_argument("not the arrays of a model: calibration is not valid");
    };
    if (!is_given()) return;
    require(ptr.size() == n_targets + 1 && ptr[0] == 0 && x.size() == y.size());
    require(ptr[n_targets] == static_cast<std::int64_t>(x.size()));
    for (std::size_t target = 0; target < n_targets; ++target) {
        require(ptr[target] < ptr[target + 1] && ptr[target + 1] <= ptr[n_targets]);
        const auto first = static_cast<std::size_t>(ptr[target]),
                   last = static_cast<std::size_t>(ptr[target + 1]);
        require(kind == Calibrator::isotonic || last == first + 1);
        for (std::size_t at = first; at < last; ++at) {
            require(std::isfinite(x[at]) && std::isfinite(y[at]));
            if (kind == Calibrator::sigmoid) continue;
            require(y[at] >= 0.0 && y[at] <= 1.0);
            require(at == first || (x[at - 1] < x[at] && y[at - 1] <= y[at]));
        }
    }
}

double Calibration::map(std::size_t target, double score) const {
    const auto first = static_cast<std::size_t>(ptr[target]),
               last = static_cast<std::size_t>(ptr[target + 1]);
    if (kind == Calibrator::sigmoid) {
        const double raw = x[first] * score + y[first];
        double both[2];
        take_logistic(&raw, 1, both);
        return both[1];
    }
    if (!(score > x[first])) return y[first];
    if (!(score < x[last - 1])) return y[last - 1];
    const auto next = static_cast<std::size_t>(
        std::upper_bound(x.begin() + ptr[target], x.begin() + ptr[target + 1], score) - x.begin());
    const double part = (score - x[next - 1]) / (x[next] - x[next - 1]);
    return y[next - 1] + part * (y[next] - y[next - 1]);
}

void Calibration::apply(const double* scores, std::size_t stride, std::size_t n_classes, std::size_t n_rows,
                        double* proba) const {
    for (std::size_t row = 0; row < n_rows; ++row, scores += stride, proba += n_classes) {
        if (n_classes == 2 && kind == Calibrator::sigmoid) {
            const double raw = x[0] * scores[0] + y[0];
            take_logistic(&raw, 1, proba);
        } else if (n_classes == 2) {
            proba[1] = map(0, scores[0]);
            proba[0] = 1.0 - proba[1];
        } else {
            double sum = 0.0;
            for (std::size_t cls = 0; cls < n_classes; ++cls) sum += proba[cls] = map(cls, scores[cls]);
            for (std::size_t cls = 0; cls < n_classes; ++cls)
                proba[cls] = sum == 0.0 ? 1.0 / static_cast<double>(n_classes) : proba[cls] / sum;
        }
    }
}

}  // namespace lhtree
