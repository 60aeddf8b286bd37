#include "troupe/ops/conv/shared/dilation_kernels.hpp"
#include "troupe/ops/conv/shared/window_walk.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <cstring>
#include <functional>
#include <limits>

namespace troupe::ops::dilation2d_cpu {
namespace {

// The largest sum of a window, and its position: element k of the filter, at `pixel` of the input.
// Where all sums are NaN it is the lowest number, at the first element. Where no element of the
// window lies on the input, `pixel` is -1.
template <class T>
struct largest_sum {
  T sum;
  int64_t k, pixel;
};

template <class T>
largest_sum<T> find_largest_sum(const dilation& geometry, const T* input, const T* filter,
                                const pixel_place& window, int64_t channel) {
  auto largest = std::numeric_limits<compute_type<T>>::lowest();
  largest_sum<T> best{static_cast<T>(largest), 0, -1};
  for_each_element(geometry.axes, window, [&](int64_t k, int64_t pixel) {
    auto sum =
        wrapping(std::plus<>{}, compute_type<T>{widen(input[pixel * geometry.channels + channel])},
                 compute_type<T>{widen(filter[k * geometry.channels + channel])});
    if (sum > largest) {
      largest = sum;
      best = {static_cast<T>(largest), k, pixel};
    } else if (best.pixel < 0) {
      best.k = k;
      best.pixel = pixel;
    }
  });
  return best;
}

// Calls `give(largest, gradient)` for each window of an image and channel, with the gradient of its
// largest sum.
template <class T, class Give>
void for_each_largest(const kernel_context& at, const dilation& geometry, int64_t image,
                      int64_t channel, Give&& give) {
  const auto *input = at.input(0).data<T>(), *filter = at.input(1).data<T>(),
             *gradient = at.input(2).data<T>();
  for (auto pixel = image * geometry.pixels(); pixel < (image + 1) * geometry.pixels(); ++pixel) {
    auto largest = find_largest_sum(geometry, input, filter,
                                    place_of(pixel, geometry.axes, &window_axis::out), channel);
    if (largest.pixel >= 0)
      give(largest, gradient[pixel * geometry.channels + channel]);
  }
}

// Allocates output 0 with the shape of input `same_shape_input`, filled with zeros.
template <class T>
result<T*> start_gradient(kernel_context& at, const dilation& geometry, int same_shape_input) {
  TROUPE_TRY(expect_output(geometry, at.input(2).dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(same_shape_input).dims()));
  std::memset(out->raw(), 0, out->bytes());
  return out->template data<T>();
}

template <class T>
void add_gradient(T& to, const T& gradient) {
  to = static_cast<T>(
      wrapping(std::plus<>{}, compute_type<T>{widen(to)}, compute_type<T>{widen(gradient)}));
}

template <template <class> class Kernel, class... Ts>
constexpr inplace_vector<typed_kernel, 18> dilation_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, Kernel<Ts>::run}...};
}

template <class T>
struct dilate {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto geometry, make_dilation(at));
    TROUPE_ASSIGN(auto* out, at.allocate(0, geometry.output));
    const auto *input = at.input(0).data<T>(), *filter = at.input(1).data<T>();
    auto* to = out->template data<T>();
    at.parallel_for(out->elements(), geometry.cost(), [&](int64_t begin, int64_t end) {
      for (auto i = begin; i < end; ++i) {
        auto window = place_of(i / geometry.channels, geometry.axes, &window_axis::out);
        to[i] = find_largest_sum(geometry, input, filter, window, i % geometry.channels).sum;
      }
    });
    return {};
  }
};

template <class T>
struct dilation2d_backprop_filter_backprop {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto geometry, make_dilation(at));
    TROUPE_ASSIGN(auto* to, start_gradient<T>(at, geometry, 1));
    auto channel_cost = geometry.cost() * static_cast<double>(geometry.images * geometry.pixels());
    at.parallel_for(geometry.channels, channel_cost, [&](int64_t begin, int64_t end) {
      for (auto channel = begin; channel < end; ++channel)
        for (int64_t image = 0; image < geometry.images; ++image)
          for_each_largest<T>(at, geometry, image, channel, [&](const auto& largest, const T& dy) {
            add_gradient(to[largest.k * geometry.channels + channel], dy);
          });
    });
    return {};
  }
};

template <class T>
struct dilation2d_backprop_input_backprop {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto geometry, make_dilation(at));
    TROUPE_ASSIGN(auto* to, start_gradient<T>(at, geometry, 0));
    auto plane_cost =
        geometry.cost() * static_cast<double>(geometry.pixels()); // per image and channel
    at.parallel_for(
        geometry.images * geometry.channels, plane_cost, [&](int64_t begin, int64_t end) {
          for (auto i = begin; i < end; ++i) {
            auto channel = i % geometry.channels;
            for_each_largest<T>(at, geometry, i / geometry.channels, channel,
                                [&](const auto& largest, const T& dy) {
                                  add_gradient(to[largest.pixel * geometry.channels + channel], dy);
                                });
          }
        });
    return {};
  }
};

} // namespace

extern constexpr kernel_def dilation2d_cpu{
    .op = "Dilation2D",
    .run = dilation_kernels<dilate>(types::real_numbers),
    .prepare = prepare_dilation,
};

extern constexpr kernel_def dilation2d_backprop_filter_cpu{
    .op = "Dilation2DBackpropFilter",
    .run = dilation_kernels<dilation2d_backprop_filter_backprop>(types::real_numbers),
    .prepare = prepare_dilation,
};

extern constexpr kernel_def dilation2d_backprop_input_cpu{
    .op = "Dilation2DBackpropInput",
    .run = dilation_kernels<dilation2d_backprop_input_backprop>(types::real_numbers),
    .prepare = prepare_dilation,
};

} // namespace troupe::ops::dilation2d_cpu
