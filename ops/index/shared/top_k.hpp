// Shared by TopK and TopKV2, which differ in where they take k from.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <optional>

namespace troupe::ops {

inline constexpr auto ranked_types = real_numbers;

/// The k of TopKV2.
inline result<int64_t> listed_k(const kernel_context& at) {
  if (at.input(1).elements() != 1)
    return invalid("k must be a scalar, got shape ", at.input(1).dims());
  return to_integers(at.input(1))[0];
}

/// The shape of each output; k may not be known yet.
result<shapes> infer_top_k(const infer_context& at, std::optional<int64_t> k);
edges top_k_gradient(gradient_context& at);
/// The shape of each output; fails where a row has fewer than k elements.
result<shape> greatest_dims(const kernel_context& at, int64_t k);
status find_greatest(kernel_context& at, int64_t k);

} // namespace troupe::ops
