// Convolutions by plain loops, for what no library does: channels come last, and the innermost
// loops go along the output channels.
#pragma once
#include "troupe/ops/element_types.hpp"
#include "troupe/ops/onednn_convolution.cpu.hpp"

namespace troupe::ops {
namespace detail {

template <class T>
inline __attribute__((always_inline)) void add_product(T factor, const T* row, T* to,
                                                       int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i)
    to[i] += factor * row[i];
}

/// Where an element of a tensor with channels last is.
struct place {
  int64_t image, at[3];
};

inline place place_of(int64_t index, const window_axes& axes, int64_t window_axis::*extent) {
  place made{};
  for (int i = 2; i >= 0; --i) {
    auto size = axes[static_cast<size_t>(i)].*extent;
    made.at[i] = index % size;
    index /= size;
  }
  made.image = index;
  return made;
}

/// Calls `body(k, x)` for the elements k of the windows at an output, with the place x of the
/// input, counted as pixels of all images.
template <class Body>
void for_each_element(const convolution_shape& of, const place& out, Body&& body) {
  const auto& [depth, rows, columns] = of.axes;
  auto start = [&](int i) {
    const auto& axis = of.axes[static_cast<size_t>(i)];
    return out.at[i] * axis.stride - axis.before;
  };
  for (auto d = depth.first_in(out.at[0]); d < depth.last_in(out.at[0]); ++d)
    for (auto r = rows.first_in(out.at[1]); r < rows.last_in(out.at[1]); ++r) {
      auto from = ((out.image * depth.in + start(0) + d * depth.dilation) * rows.in + start(1) +
                   r * rows.dilation) *
                  columns.in;
      for (auto c = columns.first_in(out.at[2]); c < columns.last_in(out.at[2]); ++c)
        body((d * rows.size + r) * columns.size + c, from + start(2) + c * columns.dilation);
    }
}

/// Calls `body(k, y)` for the windows that contain an input as element k, with the place y of the
/// output.
template <class Body>
void for_each_window(const convolution_shape& of, const place& in, Body&& body) {
  // The window of which the element is the k-th, or -1.
  auto window = [&](int i, int64_t k) {
    const auto& axis = of.axes[static_cast<size_t>(i)];
    auto start = in.at[i] + axis.before - k * axis.dilation;
    return start >= 0 && start % axis.stride == 0 && start / axis.stride < axis.out
               ? start / axis.stride
               : -1;
  };
  const auto& [depth, rows, columns] = of.axes;
  for (int64_t d = 0; d < depth.size; ++d)
    if (auto plane = window(0, d); plane >= 0)
      for (int64_t r = 0; r < rows.size; ++r)
        if (auto row = window(1, r); row >= 0)
          for (int64_t c = 0; c < columns.size; ++c)
            if (auto column = window(2, c); column >= 0)
              body((d * rows.size + r) * columns.size + c,
                   ((in.image * depth.out + plane) * rows.out + row) * columns.out + column);
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
      auto where = detail::place_of(i, of.axes, &window_axis::out);
      detail::for_each_element(of, where, [&](int64_t k, int64_t pixel) {
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
      auto where = detail::place_of(i, of.axes, &window_axis::in);
      detail::for_each_window(of, where, [&](int64_t k, int64_t pixel) {
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
          auto where = detail::place_of(i, of.axes, &window_axis::out);
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
