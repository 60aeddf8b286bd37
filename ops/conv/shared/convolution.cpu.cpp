#include "troupe/ops/conv/shared/convolution.cpu.hpp"

#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/ops/conv/shared/channels.cpu.hpp"
#include "troupe/ops/conv/shared/direct_convolution.cpu.hpp"
#include "troupe/ops/conv/shared/product_convolution.cpu.hpp"

#include <cstring>

namespace troupe::ops {
namespace {

using role = convolution_role;

// The output is all zeros where there is nothing to sum.
bool adds_nothing(const convolution_task& task, const tensor& out) {
  if (task.geometry.multiplications() != 0)
    return false;
  std::memset(out.raw(), 0, out.bytes());
  return true;
}

// The plain loops need the channels last.
template <class T>
status convolve_by_loops(kernel_context& at, convolution_shape geometry, role computes,
                         convolution_data<T> data) {
  if (!geometry.channels_first) {
    direct_convolution(at, geometry, computes, data);
    return {};
  }
  tensor input, output;
  auto user = data;
  TROUPE_ASSIGN(
      input, turned_like(at, data.input, geometry.images, geometry.in_channels, geometry.inputs()));
  TROUPE_ASSIGN(output, turned_like(at, data.output, geometry.images, geometry.out_channels,
                                    geometry.outputs()));
  data.input = static_cast<T*>(input.raw());
  data.output = static_cast<T*>(output.raw());
  if (computes != role::input)
    turn(at, user.input, data.input, geometry.images, geometry.in_channels, geometry.inputs());
  if (computes != role::output)
    turn(at, user.output, data.output, geometry.images, geometry.out_channels, geometry.outputs());
  geometry.channels_first = false;
  direct_convolution(at, geometry, computes, data);
  if (computes == role::input)
    turn(at, data.input, user.input, geometry.images, geometry.inputs(), geometry.in_channels);
  if (computes == role::output)
    turn(at, data.output, user.output, geometry.images, geometry.outputs(), geometry.out_channels);
  return {};
}

// Applies the bias and the activation where the library has not done so while writing the output.
status add_end(kernel_context& at, const convolution_shape& geometry, const convolution_end& fused,
               const convolution_data<float>& data) {
  auto inner = geometry.channels_first ? geometry.outputs() : 1;
  at.parallel_for(geometry.images * geometry.out_channels * geometry.outputs(), 2,
                  [&](int64_t begin, int64_t end) {
                    for (auto i = begin; i < end; ++i) {
                      auto value = data.output[i] + data.bias[i / inner % geometry.out_channels];
                      data.output[i] = fused.rectify && value <= 0 ? 0 : value;
                    }
                  });
  return {};
}

template <class T>
status compute(kernel_context& at, const convolution_shape& geometry, convolution_data<T> data) {
  auto& state = at.state<convolution_state>();
  auto computes = state.form.computes;
  if constexpr (std::is_same_v<T, float>) {
    if (geometry.multiplications() == 0) { // then there is only a bias
      std::fill_n(data.output, geometry.images * geometry.out_channels * geometry.outputs(), 0.0f);
      return add_end(at, geometry, state.end, data);
    }
    if (has_few_inputs(geometry, computes))
      return input_gradient_by_products(at, geometry, data);
    auto plan = state.plans.get(geometry, [&](const convolution_shape& key) {
      auto threads = at.device().deterministic() ? 0 : at.device().threads();
      return onednn_convolution::make(key, computes, threads, state.end);
    });
    if (plan) {
      auto done = plan->run(at, data);
      if (done || done.kind() != error_kind::unimplemented)
        return done;
    }
  }
  TROUPE_TRY(convolve_by_loops(at, geometry, computes, data));
  if constexpr (std::is_same_v<T, float>)
    if (state.end.bias)
      return add_end(at, geometry, state.end, data);
  return {};
}

template <class T>
convolution_data<T> data_of(role computes, const tensor& first, const tensor& second,
                            const tensor& computed) {
  auto at = [](const tensor& operand) { return static_cast<T*>(operand.raw()); };
  switch (computes) {
    case role::input: return {at(computed), at(first), at(second)};
    case role::filter: return {at(first), at(computed), at(second)};
    default: return {at(first), at(second), at(computed)};
  }
}

template <class T>
status convolve_halves(kernel_context& at, const convolution_task& task, const tensor& first,
                       const tensor& second, tensor& out) {
  const auto& state = at.state<convolution_state>();
  TROUPE_ASSIGN(auto a, as_floats<T>(at, first));
  TROUPE_ASSIGN(auto b, as_floats<T>(at, second));
  TROUPE_ASSIGN(auto c, tensor::make(dtype::f32, out.dims(), at.memory()));
  auto data = data_of<float>(state.form.computes, a, b, c);
  tensor bias;
  if (state.end.bias) {
    TROUPE_ASSIGN(bias, as_floats<T>(at, at.input(2)));
    data.bias = bias.data<float>();
  }
  TROUPE_TRY(compute(at, task.geometry, data));
  from_floats(at, c, out.data<T>());
  return {};
}

} // namespace

template <class T>
status convolve(kernel_context& at) {
  const auto& state = at.state<convolution_state>();
  auto computes = state.form.computes;
  TROUPE_ASSIGN(auto task, task_of(at, state));
  TROUPE_ASSIGN(auto* out, at.allocate(0, task.result));
  if (out->elements() == 0 || (!state.end.bias && adds_nothing(task, *out)))
    return {};
  const auto& first = at.input(computes == role::input ? 1 : 0);
  const auto& second = at.input(computes == role::output ? 1 : 2);
  if constexpr (is_half<T>) {
    return convolve_halves<T>(at, task, first, second, *out);
  } else {
    // Integers wrap around.
    using number = std::conditional_t<std::is_same_v<T, int32_t>, uint32_t, T>;
    auto data = data_of<number>(computes, first, second, *out);
    if (state.end.bias)
      data.bias = static_cast<const number*>(at.input(2).raw());
    return compute(at, task.geometry, data);
  }
}

template status convolve<float16>(kernel_context&);
template status convolve<bfloat16>(kernel_context&);
template status convolve<float>(kernel_context&);
template status convolve<double>(kernel_context&);
template status convolve<int32_t>(kernel_context&);

result<std::shared_ptr<void>> prepare_convolution(const kernel_setup& setup,
                                                  convolution_form form) {
  TROUPE_ASSIGN(auto convolution_settings, read_convolution(setup, form));
  auto state = std::make_shared<convolution_state>();
  static_cast<convolution_setup&>(*state) = std::move(convolution_settings);
  return std::shared_ptr<void>{std::move(state)};
}

} // namespace troupe::ops
