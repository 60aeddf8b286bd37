// What TopK and TopKV2 share: they differ in where k stands.
#pragma once
#include "troupe/ops/build.hpp"
#include "troupe/runtime/infer.hpp"
#include "troupe/runtime/kernel.hpp"

#include <optional>

namespace troupe::ops {

inline constexpr auto ranked_types = real_numbers;

/// The shape of both outputs; k may not be known yet.
result<shapes> infer_top_k(const infer_context& at, std::optional<int64_t> k);
edges top_k_gradient(gradient_context& at);
status find_greatest(kernel_context& at, int64_t k);

} // namespace troupe::ops
