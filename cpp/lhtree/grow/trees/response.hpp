// Kinds of response, and the measurements and decisions that differ between them.
#pragma once
#include <vector>

#include "lhtree/grow/decisions/offset.hpp"
#include "lhtree/grow/rows/parted.hpp"
#include "lhtree/shared/options.hpp"

namespace lhtree {

class GiniCutter {
  public:
    Cut cut(const Samples& samples, const Limits& limits, const double* feature_sums) {
        order_.measure(samples, feature_sums, limits.min_samples_leaf);
        return find_gini_cut(order_, limits, cost_);
    }
    // Cuts column `feature` of the samples alone; a cut that costs `limit` or more may not be found.
    Cut cut_feature(const Samples& samples, const Limits& limits, std::size_t feature, const CodedRows& coded,
                    double limit) {
        order_.measure_feature(samples, feature, coded, limit, limits.min_samples_leaf);
        return find_gini_cut(order_, limits, cost_);
    }

  private:
    ClassOrder order_;
    std::vector<double> cost_;
};

// Kinds of response. Each defines its samples, totals, moments and cuts; the rest of growing is common. Two
// values could be grown as numbers, with the same partition; their own kind keeps rows sorted by class.

// Rows begin … end - 1 of the partitioned rows, non-targets first.
struct Block {
    std::size_t begin, end, n_rest;  // n_rest is 0 with a numeric response
    std::int64_t depth;
    std::uint64_t key;                // of its random draws; a function of its path
    std::vector<bool> is_constant{};  // features known to have one value in it; empty: none

    std::size_t size() const { return end - begin; }
};

// Options of one tree, with amounts as weights.
struct Settings {
    Options options;
    double gamma, min_samples_split, min_samples_leaf;

    Settings(const Options& options_, double total_weight, std::size_t n_features);
};

template <class Response>
struct CutContext {
    const Settings& settings;
    const typename Response::Samples& samples;  // with the candidate features
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
    static void set_values(const Totals&, Blocks&) {}  // its range is 0 to 1, the default
    using Contrast = Samples;                          // rows that the direction separates: all
    static double rounding(const Moments&) { return 0.0; }

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
    using Contrast = Samples;
    static void set_values(const Totals& totals, Blocks& blocks) {
        blocks.low.push_back(totals.low);
        blocks.high.push_back(totals.high);
    }
    static double rounding(const Moments& moments) { return rounding_of(moments); }

    class Cutter {
      public:
        using Context = CutContext<RealValued>;
        Cut cut(const Context& context, const double* feature_sums) {
            order_.measure(context.samples, feature_sums, context.totals.low);
            return find_cut(context);
        }
        Cut cut_feature(const Context& context, std::size_t feature, const CodedRows& coded, double) {
            order_.measure_feature(context.samples, feature, coded, context.totals.low);
            return find_cut(context);
        }

      private:
        RealOrder order_;

        Cut find_cut(const Context& context) const {
            return find_least_squares_cut(order_, context.moments, context.settings.min_samples_leaf);
        }
    };
};

// Many classes in one tree: the direction separates two drawn classes, the cut all classes.
struct ManyClassed {
    using Samples = ClassedSamples;
    using Totals = RunTotals;
    using Moments = lhtree::Moments;
    using Contrast = lhtree::Samples;

    static Samples samples(const PartedRows& rows, const Block& block) {
        return rows.classed_part(block.begin, block.end);
    }
    static void set_values(const Totals& totals, Blocks& blocks) {
        if (blocks.value_ptr.empty()) blocks.value_ptr.push_back(0);
        const double weight = totals.weight();
        for (std::size_t run = 0; run < totals.size(); ++run) {
            blocks.value_class.push_back(totals.classes[run]);
            blocks.value.push_back(totals.of[run] / weight);
        }
        blocks.value_ptr.push_back(static_cast<std::int64_t>(blocks.value.size()));
    }
    static double rounding(const Moments&) { return 0.0; }

    class Cutter {
      public:
        using Context = CutContext<ManyClassed>;
        void start(const Totals& totals) { order_.start(totals); }
        Cut cut(const Context& context, const double* feature_sums) {
            const double least = context.settings.min_samples_leaf;
            order_.measure(context.samples, context.totals, feature_sums, least);
            return find_gini_cut(order_, context.totals.weight(), least);
        }
        Cut cut_feature(const Context& context, std::size_t feature, const CodedRows& coded, double limit) {
            const double least = context.settings.min_samples_leaf;
            order_.measure_feature(context.samples, context.totals, feature, coded, limit, least);
            return find_gini_cut(order_, context.totals.weight(), least);
        }

      private:
        RunOrder order_;
    };
};

}  // namespace lhtree
