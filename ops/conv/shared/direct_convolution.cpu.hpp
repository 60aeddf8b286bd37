// Convolutions by plain loops, for what no library does: channels come last, and the innermost
// loops go along the output channels.
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
void direct_output(kernel_context& at, const convolution_shape& of, convolution_data<T> data) {
  auto inputs = of.group_inputs(), outputs = of.group_outputs();
  auto cost = of.multiplications() / static_cast<double>(of.images * of.outputs()) * 0.5;
  at.parallel_for(of.images * of.outputs(), cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto* y = data.output + i * of.out_channels;
      std::fill_n(y, of.out_channels, T{});
      auto where = place_of(i, of.axes, &window_axis::out);
      for_each_element(of.axes, where, [&](int64_t k, int64_t pixel) {
        const auto* x = data.input + pixel * of.in_channels;
        const auto* w = data.filter + k * inputs * of.out_channels;
        for (int64_t group = 0; group < of.groups; ++group)
          for (int64_t c = 0; c < inputs; ++c)
            detail::add_product(x[group * inputs + c], w + c * of.out_channels + group * outputs,
                                y + group * outputs, outputs);
      });
    }
  });
}

template <class T>
void direct_input(kernel_context& at, const convolution_shape& of, convolution_data<T> data) {
  auto inputs = of.group_inputs(), outputs = of.group_outputs();
  auto cost = of.multiplications() / static_cast<double>(of.images * of.inputs()) * 0.7;
  at.parallel_for(of.images * of.inputs(), cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto* dx = data.input + i * of.in_channels;
      std::fill_n(dx, of.in_channels, T{});
      auto where = place_of(i, of.axes, &window_axis::in);
      for_each_window(of.axes, where, [&](int64_t k, int64_t pixel) {
        const auto* dy = data.output + pixel * of.out_channels;
        const auto* w = data.filter + k * inputs * of.out_channels;
        for (int64_t group = 0; group < of.groups; ++group)
          for (int64_t c = 0; c < inputs; ++c) {
            const auto* row = w + c * of.out_channels + group * outputs;
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
void direct_filter(kernel_context& at, const convolution_shape& of, convolution_data<T> data) {
  auto inputs = of.group_inputs(), outputs = of.group_outputs();
  // An item is an element of the window and an input channel of all groups.
  auto items = of.window() * inputs;
  auto cost = of.multiplications() / static_cast<double>(items) * 0.5;
  at.device().parallel_for(items, cost, [&](int64_t begin, int64_t end) {
    for (auto item = begin; item < end; ++item) {
      auto element = item / inputs, c = item % inputs;
      auto* dw = data.filter + item * of.out_channels;
      std::fill_n(dw, of.out_channels, T{});
      auto columns = of.axes[2].out;
      for (int64_t row = 0; row < of.images * of.outputs(); row += columns) {
        if (at.stopped())
          return;
        for (auto i = row; i < row + columns; ++i) {
          auto where = place_of(i, of.axes, &window_axis::out);
          auto inside = true;
          auto pixel = where.image;
          auto rest = element;
          int64_t k[3];
          for (size_t axis = 3; axis-- > 0; rest /= of.axes[axis].size)
            k[axis] = rest % of.axes[axis].size;
          for (size_t axis = 0; axis < 3; ++axis) {
            const auto& by = of.axes[axis];
            auto at_axis = where.at[axis] * by.stride - by.before + k[axis] * by.dilation;
            inside = inside && at_axis >= 0 && at_axis < by.in;
            pixel = pixel * by.in + at_axis;
          }
          if (!inside)
            continue;
          const auto* x = data.input + pixel * of.in_channels + c;
          const auto* dy = data.output + i * of.out_channels;
          for (int64_t group = 0; group < of.groups; ++group)
            detail::add_product(x[group * inputs], dy + group * outputs, dw + group * outputs,
                                outputs);
        }
      }
    }
  });
}

template <class T>
void direct_convolution(kernel_context& at, const convolution_shape& of, convolution_role computes,
                        convolution_data<T> data) {
  switch (computes) {
    case convolution_role::input: return direct_input(at, of, data);
    case convolution_role::filter: return direct_filter(at, of, data);
    case convolution_role::output: return direct_output(at, of, data);
  }
}

} // namespace troupe::ops
