// Shared by the kernels of FusedBatchNorm and its gradients, on all devices.
#pragma once
#include "troupe/ops/define/data_format.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

struct batch_norm_state {
  bool channels_first, training;
  int rank;
  double epsilon, factor;
};

result<std::shared_ptr<void>> prepare_batch_norm(const kernel_setup& setup);

/// The channels of the normalized tensor.
result<channel_view> view_normalized(const kernel_context& at, const shape& x);
/// Requires one element per channel, or with `or_none` permits an empty vector.
status expect_channels(const tensor& vector, int64_t count, std::string_view name,
                       bool or_none = false);
status expect_like_x(const tensor& gradient, const tensor& x);

} // namespace troupe::ops
