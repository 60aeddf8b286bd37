#include "troupe/ops/norm/shared/batch_norm_kernels.hpp"

#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {

result<std::shared_ptr<void>> prepare_batch_norm(const kernel_setup& setup) {
  const auto& format = setup.origin.attr<std::string>("data_format");
  TROUPE_ASSIGN(auto first, channels_come_first(format));
  auto factor = setup.origin.attrs().find("exponential_avg_factor");
  return std::shared_ptr<void>{std::make_shared<batch_norm_state>(batch_norm_state{
      first, setup.origin.attr<bool>("is_training"), static_cast<int>(format.size()),
      setup.origin.attr<double>("epsilon"),
      factor == setup.origin.attrs().end() ? 1.0 : *factor->second.get_if<double>()})};
}

result<channel_view> view_normalized(const kernel_context& at, const shape& x) {
  const auto& state = at.state<batch_norm_state>();
  if (x.rank() != state.rank)
    return invalid("x must have ", state.rank, " axes, got shape ", x);
  return view_channels(x, state.channels_first);
}

status expect_channels(const tensor& vector, int64_t count, std::string_view name, bool or_none) {
  if ((or_none && vector.elements() == 0) || (vector.rank() == 1 && vector.elements() == count))
    return {};
  return invalid(name, " must have shape [", count, "], got ", vector.dims());
}

status expect_like_x(const tensor& gradient, const tensor& x) {
  if (gradient.dims() == x.dims())
    return {};
  return invalid("y_backprop must have the shape of x, ", x.dims(), ", got ", gradient.dims());
}

} // namespace troupe::ops
