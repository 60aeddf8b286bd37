// Shared by the kernels of BiasAdd and its gradient on all devices.
#pragma once
#include "troupe/ops/define/data_format.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The state says whether the channels come first.
inline result<std::shared_ptr<void>> prepare_bias(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto first, channels_come_first(setup.origin.attr<std::string>("data_format")));
  return std::shared_ptr<void>{std::make_shared<bool>(first)};
}

/// The channels of a value; the bias must have one element for each.
inline result<channel_view> view_biased(const kernel_context& at, const shape& value,
                                        const shape& bias) {
  TROUPE_ASSIGN(auto view, view_channels(value, at.state<bool>()));
  if (bias.rank() != 1 || bias[0] != view.channels)
    return invalid("bias must have shape [", view.channels, "] for a value of shape ", value,
                   ", got ", bias);
  return view;
}

} // namespace troupe::ops
