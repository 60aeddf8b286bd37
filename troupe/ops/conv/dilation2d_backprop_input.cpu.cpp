#include "troupe/ops/conv/shared/dilation.cpu.hpp"

namespace troupe::ops::dilation2d_backprop_input_cpu {
namespace {

template <class T>
struct backprop {
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

extern constexpr kernel_def dilation2d_backprop_input_cpu{
    .op = "Dilation2DBackpropInput",
    .run = dilation_kernels<backprop>(types::real_numbers),
    .prepare = prepare_dilation,
};

} // namespace troupe::ops::dilation2d_backprop_input_cpu
