// What the definitions of candidate samplers share.
#pragma once
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// true_classes has a row for each example, with `num_true` classes in each.
inline result<shapes> infer_candidates(const infer_context& at) {
  TROUPE_ASSIGN(auto classes, at.of_rank(0, 2));
  auto each = at.attr<int64_t>("num_true"), sampled = at.attr<int64_t>("num_sampled");
  auto counts = merge(classes, partial_shape{unknown_extent, each});
  if (!counts)
    return at.invalid("true_classes must have num_true = ", each, " columns, got shape ", classes);
  TROUPE_ASSIGN(auto chosen, shape::make(std::array{sampled}));
  return shapes{chosen, *counts, chosen};
}

/// Completes the form of a sampler.
constexpr op_def candidate_sampler(op_def own) {
  own.inputs = {{"true_classes", "i64"}};
  own.outputs = {{"sampled_candidates", "i64"},
                 {"true_expected_count", "f32"},
                 {"sampled_expected_count", "f32"}};
  own.effects = effect::stateful | effect::random;
  own.infer = infer_candidates;
  own.no_gradient = "its output does not depend on the values of its inputs";
  return own;
}

inline constexpr attr_list sampler_attrs{{"num_true", at_least{1}},
                                         {"num_sampled", at_least{1}},
                                         {"unique", attr_kind::boolean},
                                         {"range_max", at_least{1}},
                                         {"seed", 0},
                                         {"seed2", 0}};

} // namespace troupe::ops
