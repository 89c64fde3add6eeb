// The two kinds of response a tree learns. What growing a block does is the same for both; here is what they
// measure and decide by. A response of 0 and 1 could be grown as any number, with the same partition; its own
// kind keeps rows sorted by class, so that no loop has to ask for it.
#pragma once
#include "lhtree/grow/rows/parted.hpp"
#include "lhtree/grow/statistics/scatter.hpp"
#include "lhtree/grow/trees/cut.hpp"

namespace lhtree {

// Rows begin … end - 1 of the parted rows, non-targets first.
struct Block {
    std::size_t begin, end, n_rest;  // n_rest is 0 where the response is any number
    std::int64_t depth;
    std::uint64_t key;  // of its random draws; a function of its path

    std::size_t size() const { return end - begin; }
};

// Options of one tree, amounts settled.
struct Settings {
    Options options;
    double gamma, min_samples_split, min_samples_leaf;

    Settings(const Options& options_, double total_weight, std::size_t n_features);
};

// What is known of a block when it is cut.
template <class Response>
struct CutContext {
    const Settings& settings;
    const typename Response::Samples& samples;  // with the features that are looked at
    const typename Response::Totals& totals;
    const typename Response::Moments& moments;
};

struct TwoValued {
    using Samples = lhtree::Samples;
    using Totals = ClassTotals;
    using Moments = lhtree::Moments;

    static Samples samples(const PartedRows& rows, const Block& block) {
        return rows.part(block.begin, block.end, block.n_rest);
    }
    static void set_range(const Totals&, Blocks&) {}  // 0 to 1, the default

    class Cutter {
      public:
        using Context = CutContext<TwoValued>;
        Cut cut(const Context& context, const double* feature_sums) {
            if (context.settings.options.offset == Offset::gini)
                return gini_.cut(context.samples, limits(context), feature_sums);
            return cut_purest(context.samples, limits(context), feature_sums, context.settings.gamma);
        }
        Cut cut_feature(const Context& context, std::size_t feature, const CodedRows& coded, double limit) {
            return gini_.cut_feature(context.samples, limits(context), feature, coded, limit);
        }

      private:
        GiniCutter gini_;

        static Limits limits(const Context& context) {
            return {context.totals, context.settings.min_samples_leaf};
        }
    };
};

struct RealValued {
    using Samples = RealSamples;
    using Totals = RealTotals;
    using Moments = RealMoments;

    static Samples samples(const PartedRows& rows, const Block& block) {
        return rows.real_part(block.begin, block.end);
    }
    static void set_range(const Totals& totals, Blocks& blocks) {
        blocks.low.push_back(totals.low);
        blocks.high.push_back(totals.high);
    }

    class Cutter {
      public:
        using Context = CutContext<RealValued>;
        Cut cut(const Context& context, const double* feature_sums) {
            return cutter_.cut(context.samples, context.totals, context.moments,
                               context.settings.min_samples_leaf, feature_sums);
        }
        Cut cut_feature(const Context& context, std::size_t feature, const CodedRows&, double) {
            return cutter_.cut_feature(context.samples, context.totals, context.moments,
                                       context.settings.min_samples_leaf, feature);
        }

      private:
        LeastSquaresCutter cutter_;
    };
};

}  // namespace lhtree
