// What the kernels of FusedBatchNorm and its gradients share, on every device.
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

/// The channels of what is normalized.
result<channel_view> view_normalized(const kernel_context& at, const shape& x);
/// A vector must have an element for each channel, or as an option none.
status expect_channels(const tensor& of, int64_t count, std::string_view name,
                       bool or_none = false);
status expect_like_x(const tensor& gradient, const tensor& x);

} // namespace troupe::ops
