#include "troupe/ops/conv/shared/dilation_kernels.hpp"
#include "troupe/ops/conv/shared/window_walk.hpp"
#include "troupe/ops/kernel/element_types.hpp"

#include <cstring>
#include <functional>
#include <limits>

namespace troupe::ops::dilation2d_cpu {
namespace {

// The largest sum of a window, and where it is: element k of the filter, on that pixel of the
// input. Where all are NaN it is the least number, at the first element; where no element of the
// window is inside of the input, there is no pixel (-1).
template <class T>
struct largest_sum {
  T sum;
  int64_t k, pixel;
};

template <class T>
largest_sum<T> find_largest_sum(const dilation& of, const T* input, const T* filter,
                                const pixel_place& window, int64_t channel) {
  auto most = std::numeric_limits<compute_type<T>>::lowest();
  largest_sum<T> found{static_cast<T>(most), 0, -1};
  for_each_element(of.axes, window, [&](int64_t k, int64_t pixel) {
    auto sum = wrapping(std::plus<>{}, compute_type<T>{widen(input[pixel * of.channels + channel])},
                        compute_type<T>{widen(filter[k * of.channels + channel])});
    if (sum > most) {
      most = sum;
      found = {static_cast<T>(most), k, pixel};
    } else if (found.pixel < 0) {
      found.k = k;
      found.pixel = pixel;
    }
  });
  return found;
}

// Calls `give(found, gradient)` for each window of an image and channel, with the gradient that
// its largest sum gets.
template <class T, class Give>
void for_each_largest(const kernel_context& at, const dilation& of, int64_t image, int64_t channel,
                      Give&& give) {
  const auto *input = at.input(0).data<T>(), *filter = at.input(1).data<T>(),
             *gradient = at.input(2).data<T>();
  for (auto pixel = image * of.pixels(); pixel < (image + 1) * of.pixels(); ++pixel) {
    auto found =
        find_largest_sum(of, input, filter, place_of(pixel, of.axes, &window_axis::out), channel);
    if (found.pixel >= 0)
      give(found, gradient[pixel * of.channels + channel]);
  }
}

// Makes output 0, of zeros, like input `like`.
template <class T>
result<T*> start_gradient(kernel_context& at, const dilation& of, int like) {
  TROUPE_TRY(expect_output(of, at.input(2).dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(like).dims()));
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
    TROUPE_ASSIGN(auto of, make_dilation(at));
    TROUPE_ASSIGN(auto* out, at.allocate(0, of.output));
    const auto *input = at.input(0).data<T>(), *filter = at.input(1).data<T>();
    auto* to = out->template data<T>();
    at.parallel_for(out->elements(), of.cost(), [&](int64_t begin, int64_t end) {
      for (auto i = begin; i < end; ++i) {
        auto window = place_of(i / of.channels, of.axes, &window_axis::out);
        to[i] = find_largest_sum(of, input, filter, window, i % of.channels).sum;
      }
    });
    return {};
  }
};

template <class T>
struct dilation2d_backprop_filter_backprop {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, make_dilation(at));
    TROUPE_ASSIGN(auto* to, start_gradient<T>(at, of, 1));
    auto one = of.cost() * static_cast<double>(of.images * of.pixels()); // of a channel
    at.parallel_for(of.channels, one, [&](int64_t begin, int64_t end) {
      for (auto channel = begin; channel < end; ++channel)
        for (int64_t image = 0; image < of.images; ++image)
          for_each_largest<T>(at, of, image, channel, [&](const auto& found, const T& dy) {
            add_gradient(to[found.k * of.channels + channel], dy);
          });
    });
    return {};
  }
};

template <class T>
struct dilation2d_backprop_input_backprop {
  static status run(kernel_context& at) {
    TROUPE_ASSIGN(auto of, make_dilation(at));
    TROUPE_ASSIGN(auto* to, start_gradient<T>(at, of, 0));
    auto one = of.cost() * static_cast<double>(of.pixels()); // of an image and channel
    at.parallel_for(of.images * of.channels, one, [&](int64_t begin, int64_t end) {
      for (auto i = begin; i < end; ++i) {
        auto channel = i % of.channels;
        for_each_largest<T>(at, of, i / of.channels, channel, [&](const auto& found, const T& dy) {
          add_gradient(to[found.pixel * of.channels + channel], dy);
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
