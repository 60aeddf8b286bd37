// Resizing of images on GPUs: one thread per element.
#pragma once
#include "troupe/ops/image/shared/resize_filters.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// An axis of the source images and of the resized images.
struct resized_axis {
  int64_t source, made;
  float scale;
  resize_options how;

  resized_axis(int64_t from, int64_t to, const resize_options& options)
      : source(from), made(to), scale(resize_scale(from, to, options.align_corners)), how(options) {
  }

  TROUPE_DEVICE int64_t nearest(int64_t i) const { return nearest_pixel(i, source, scale, how); }

  /// The range [first, last) of output pixels that the source pixel may contribute to.
  TROUPE_DEVICE int64_t first_of(int64_t pixel, int64_t reach = 1) const {
    if (!(scale > 0))
      return 0;
    auto estimate = static_cast<int64_t>(static_cast<float>(pixel - reach) / scale) - 2;
    return pixel == 0 || estimate < 0 ? 0 : estimate;
  }
  TROUPE_DEVICE int64_t last_of(int64_t pixel, int64_t reach = 1) const {
    if (!(scale > 0))
      return made;
    auto estimate = static_cast<int64_t>(static_cast<float>(pixel + reach + 1) / scale) + 2;
    return pixel == source - 1 || estimate > made ? made : estimate;
  }
};

/// The position of an element in images [batch, rows, columns, channels].
struct image_place {
  int64_t image, row, column, channel;
};
TROUPE_DEVICE inline image_place place_in(int64_t i, int64_t rows, int64_t columns,
                                          int64_t channels) {
  if (i <= UINT32_MAX) { // a 32-bit division costs a quarter
    auto remaining = static_cast<uint32_t>(i);
    auto take = [&](int64_t extent) {
      auto quotient = remaining / static_cast<uint32_t>(extent);
      auto at = remaining - quotient * static_cast<uint32_t>(extent);
      remaining = quotient;
      return at;
    };
    auto channel = take(channels), column = take(columns), row = take(rows);
    return {remaining, row, column, channel};
  }
  auto channel = i % channels;
  i /= channels;
  auto column = i % columns;
  i /= columns;
  return {i / rows, i % rows, column, channel};
}

template <class T, class Taps>
struct filter_images_body {
  Taps rows, columns;
  int64_t height, width, channels; // of the output
  const T* x;
  float* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = place_in(i, height, width, channels);
    float sum = 0;
    columns(position.column, [&](int64_t column, float of_column) {
      float mixed = 0;
      rows(position.row, [&](int64_t row, float of_row) {
        auto place = ((position.image * rows.source + row) * columns.source + column) * channels;
        mixed += of_row * static_cast<float>(load(x[place + position.channel]));
      });
      sum += of_column * mixed;
    });
    y[i] = sum;
  }
};

/// Resizes input 0 to floats of the size in input 1.
template <class T, class Taps>
status filter_images(kernel_context& at, const resize_options& options) {
  const auto& dims = at.input(0).dims();
  TROUPE_ASSIGN(auto resized, resized_shape(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, resized));
  return for_each(at, out->elements(),
                  filter_images_body<T, Taps>{{dims[1], resized[1], options},
                                              {dims[2], resized[2], options},
                                              resized[1],
                                              resized[2],
                                              dims[3],
                                              at.input(0).data<T>(),
                                              out->template data<float>()});
}

// A pixel of the original gathers from all pixels computed from it.
template <class T, class Taps>
struct filter_gradient_body {
  resized_axis rows, columns;
  Taps row_taps, column_taps;
  int64_t channels;
  const float* dy;
  T* dx;

  TROUPE_DEVICE static double share(const Taps& taps, int64_t target, int64_t pixel) {
    double sum = 0;
    taps(target, [&](int64_t at, float weight) {
      if (at == pixel)
        sum += double{weight};
    });
    return sum;
  }
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto position = place_in(i, rows.source, columns.source, channels);
    auto first = columns.first_of(position.column, Taps::reach),
         last = columns.last_of(position.column, Taps::reach),
         end = rows.last_of(position.row, Taps::reach);
    double sum = 0;
    for (auto row = rows.first_of(position.row, Taps::reach); row < end; ++row) {
      auto of_row = share(row_taps, row, position.row);
      if (of_row == 0)
        continue;
      double line = 0;
      for (auto column = first; column < last; ++column) {
        auto of_column = share(column_taps, column, position.column);
        auto place = ((position.image * rows.made + row) * columns.made + column) * channels;
        if (of_column != 0)
          line += of_column * double{dy[place + position.channel]};
      }
      sum += of_row * line;
    }
    dx[i] = store<T>(static_cast<compute_type<T>>(sum));
  }
};

/// The gradient of filter_images: input 0 to images like input 1.
template <class T, class Taps>
status filter_gradient(kernel_context& at) {
  const auto &grads = at.input(0), &original = at.input(1);
  const auto &from = grads.dims(), &dims = original.dims();
  TROUPE_TRY(check_resized(from, dims));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  const auto& options = at.state<resize_options>();
  return for_each(at, out->elements(),
                  filter_gradient_body<T, Taps>{{dims[1], from[1], options},
                                                {dims[2], from[2], options},
                                                {dims[1], from[1], options},
                                                {dims[2], from[2], options},
                                                dims[3],
                                                grads.data<float>(),
                                                out->template data<T>()});
}

/// For kernels whose state is resize_options.
template <class T, class Taps>
status filter_images(kernel_context& at) {
  return filter_images<T, Taps>(at, at.state<resize_options>());
}
template <class Taps, class... Ts>
constexpr inplace_vector<typed_kernel, 18> resize_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, filter_images<Ts, Taps>}...};
}
template <class Taps, class... Ts>
constexpr inplace_vector<typed_kernel, 18> resize_gradient_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, filter_gradient<Ts, Taps>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
