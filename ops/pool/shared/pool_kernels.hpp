// Shared by the kernels of poolings on all devices. Each channel is pooled separately, so that
// images with the channels first count as more images of one channel.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/pool/shared/pooling.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {

struct pool_state {
  window_options options;
  bool include_batch = false; ///< positions count from the start of the batch
};

template <window_form Form>
result<std::shared_ptr<void>> prepare_pool(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto options, read_windows(setup.origin, Form));
  auto include_batch = false;
  if (auto attribute = setup.origin.attrs().find("include_batch_in_index");
      attribute != setup.origin.attrs().end())
    include_batch = *attribute->second.get_if<bool>();
  return std::shared_ptr<void>{
      std::make_shared<pool_state>(pool_state{std::move(options), include_batch})};
}

/// A pooling of known extents.
struct pooling {
  int64_t images = 0, channels = 0;
  window_axes axes{};
  shape input, output;

  int64_t inputs() const { return axes[0].in * axes[1].in * axes[2].in; } ///< pixels per image
  int64_t outputs() const { return axes[0].out * axes[1].out * axes[2].out; }
  /// The nanoseconds for the windows of an output element, or for the windows that contain an input
  /// element.
  double cost() const {
    auto covered = [](const window_axis& axis) { return std::min(axis.size, axis.in); };
    return 0.5 * static_cast<double>(covered(axes[0]) * covered(axes[1]) * covered(axes[2])) *
           static_cast<double>(channels);
  }
};

result<pooling> make_pooling(const kernel_context& at, const shape& dims);
status expect_dims(const tensor& actual, const shape& expected, std::string_view name);

/// Fails where the type of output 1 is too small for the input's positions.
status expect_places(const kernel_context& at, const tensor& input);

/// The pooling for gradients whose input lists the sizes of the pooled tensor.
result<pooling> make_pooling_of_sizes(const kernel_context& at, const tensor& sizes);

} // namespace troupe::ops
