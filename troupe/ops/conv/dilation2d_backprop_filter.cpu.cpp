#include "troupe/ops/conv/shared/dilation.cpu.hpp"

namespace troupe::ops::dilation2d_backprop_filter_cpu {
namespace {

template <class T>
struct backprop {
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

} // namespace

extern constexpr kernel_def dilation2d_backprop_filter_cpu{
    .op = "Dilation2DBackpropFilter",
    .run = dilation_kernels<backprop>(types::real_numbers),
    .prepare = prepare_dilation,
};

} // namespace troupe::ops::dilation2d_backprop_filter_cpu
