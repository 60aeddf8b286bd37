#include "troupe/ops/conv/shared/convolution_task.hpp"

#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {
namespace {

result<shape> sizes_at(kernel_context& at, int i) {
  if (at.input(i).rank() != 1)
    return invalid("sizes must be a vector, got shape ", at.input(i).dims());
  return shape::make(to_integers(at.input(i)));
}

status check_bias(const shape& bias, const convolution_shape& geometry) {
  if (bias.rank() == 1 && bias[0] == geometry.out_channels)
    return {};
  return invalid("bias must have shape [", geometry.out_channels, "], got ", bias);
}

} // namespace

result<convolution_setup> read_convolution(const kernel_setup& setup, convolution_form form) {
  TROUPE_ASSIGN(auto options, read_windows(setup.origin, form.windows()));
  return convolution_setup{form, std::move(options)};
}

result<convolution_setup> read_fused_conv2d(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto convolution_settings,
                read_convolution(setup, {convolution_family::plain_2d, convolution_role::output}));
  convolution_settings.end = {.bias = true, .rectify = setup.origin.attr<bool>("rectify")};
  return convolution_settings;
}

result<convolution_task> task_of(kernel_context& at, const convolution_setup& state) {
  using role = convolution_role;
  auto depthwise = state.form.depthwise();
  if (state.form.computes == role::output) {
    TROUPE_ASSIGN(auto geometry, fit_convolution(state.options, depthwise, at.input(0).dims(),
                                                 at.input(1).dims()));
    TROUPE_ASSIGN(auto output, output_of(state.options, geometry));
    if (state.end.bias)
      TROUPE_TRY(check_bias(at.input(2).dims(), geometry));
    return convolution_task{geometry, output};
  }
  auto for_input = state.form.computes == role::input;
  TROUPE_ASSIGN(auto listed_sizes, sizes_at(at, for_input ? 0 : 1));
  const auto& input = for_input ? listed_sizes : at.input(0).dims();
  const auto& filter = for_input ? at.input(1).dims() : listed_sizes;
  TROUPE_ASSIGN(auto geometry, fit_convolution(state.options, depthwise, input, filter));
  TROUPE_ASSIGN(auto output, output_of(state.options, geometry));
  if (!(at.input(2).dims() == output))
    return invalid("out_backprop must have shape ", output, " for an input ", input,
                   " and a filter ", filter, ", got ", at.input(2).dims());
  return convolution_task{geometry, listed_sizes};
}

} // namespace troupe::ops
