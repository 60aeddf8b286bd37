// Convolutions by plain loops, where no library applies. Channels come last, and the innermost
// loops run over the output channels.
#pragma once
#include "troupe/ops/conv/shared/onednn_convolution.cpu.hpp"
#include "troupe/ops/conv/shared/window_walk.hpp"
#include "troupe/ops/kernel/element_types.hpp"

namespace troupe::ops {
namespace detail {

template <class T>
inline __attribute__((always_inline)) void add_product(T factor, const T* row, T* to,
                                                       int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i)
    to[i] += factor * row[i];
}

} // namespace detail

template <class T>
void direct_output(kernel_context& at, const convolution_shape& geometry,
                   convolution_data<T> data) {
  auto inputs = geometry.group_inputs(), outputs = geometry.group_outputs();
  auto cost =
      geometry.multiplications() / static_cast<double>(geometry.images * geometry.outputs()) * 0.5;
  at.parallel_for(geometry.images * geometry.outputs(), cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto* y = data.output + i * geometry.out_channels;
      std::fill_n(y, geometry.out_channels, T{});
      auto where = place_of(i, geometry.axes, &window_axis::out);
      for_each_element(geometry.axes, where, [&](int64_t k, int64_t pixel) {
        const auto* x = data.input + pixel * geometry.in_channels;
        const auto* w = data.filter + k * inputs * geometry.out_channels;
        for (int64_t group = 0; group < geometry.groups; ++group)
          for (int64_t c = 0; c < inputs; ++c)
            detail::add_product(x[group * inputs + c],
                                w + c * geometry.out_channels + group * outputs,
                                y + group * outputs, outputs);
      });
    }
  });
}

template <class T>
void direct_input(kernel_context& at, const convolution_shape& geometry, convolution_data<T> data) {
  auto inputs = geometry.group_inputs(), outputs = geometry.group_outputs();
  auto cost =
      geometry.multiplications() / static_cast<double>(geometry.images * geometry.inputs()) * 0.7;
  at.parallel_for(geometry.images * geometry.inputs(), cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto* dx = data.input + i * geometry.in_channels;
      std::fill_n(dx, geometry.in_channels, T{});
      auto where = place_of(i, geometry.axes, &window_axis::in);
      for_each_window(geometry.axes, where, [&](int64_t k, int64_t pixel) {
        const auto* dy = data.output + pixel * geometry.out_channels;
        const auto* w = data.filter + k * inputs * geometry.out_channels;
        for (int64_t group = 0; group < geometry.groups; ++group)
          for (int64_t c = 0; c < inputs; ++c) {
            const auto* row = w + c * geometry.out_channels + group * outputs;
            T sum{};
            for (int64_t o = 0; o < outputs; ++o)
              sum += row[o] * dy[group * outputs + o];
            dx[group * inputs + c] += sum;
          }
      });
    }
  });
}

template <class T>
void direct_filter(kernel_context& at, const convolution_shape& geometry,
                   convolution_data<T> data) {
  auto inputs = geometry.group_inputs(), outputs = geometry.group_outputs();
  // An item is an element of the window and an input channel of all groups.
  auto items = geometry.window() * inputs;
  auto cost = geometry.multiplications() / static_cast<double>(items) * 0.5;
  at.device().parallel_for(items, cost, [&](int64_t begin, int64_t end) {
    for (auto item = begin; item < end; ++item) {
      auto element = item / inputs, c = item % inputs;
      auto* dw = data.filter + item * geometry.out_channels;
      std::fill_n(dw, geometry.out_channels, T{});
      auto columns = geometry.axes[2].out;
      for (int64_t row = 0; row < geometry.images * geometry.outputs(); row += columns) {
        if (at.stopped())
          return;
        for (auto i = row; i < row + columns; ++i) {
          auto where = place_of(i, geometry.axes, &window_axis::out);
          auto inside = true;
          auto pixel = where.image;
          auto remaining = element;
          int64_t k[3];
          for (size_t axis = 3; axis-- > 0; remaining /= geometry.axes[axis].size)
            k[axis] = remaining % geometry.axes[axis].size;
          for (size_t axis = 0; axis < 3; ++axis) {
            const auto& window = geometry.axes[axis];
            auto at_axis =
                where.at[axis] * window.stride - window.before + k[axis] * window.dilation;
            inside = inside && at_axis >= 0 && at_axis < window.in;
            pixel = pixel * window.in + at_axis;
          }
          if (!inside)
            continue;
          const auto* x = data.input + pixel * geometry.in_channels + c;
          const auto* dy = data.output + i * geometry.out_channels;
          for (int64_t group = 0; group < geometry.groups; ++group)
            detail::add_product(x[group * inputs], dy + group * outputs, dw + group * outputs,
                                outputs);
        }
      }
    }
  });
}

template <class T>
void direct_convolution(kernel_context& at, const convolution_shape& geometry,
                        convolution_role computes, convolution_data<T> data) {
  switch (computes) {
    case convolution_role::input: return direct_input(at, geometry, data);
    case convolution_role::filter: return direct_filter(at, geometry, data);
    case convolution_role::output: return direct_output(at, geometry, data);
  }
}

} // namespace troupe::ops
