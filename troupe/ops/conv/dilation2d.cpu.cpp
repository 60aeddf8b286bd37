#include "troupe/ops/conv/shared/dilation.cpu.hpp"

namespace troupe::ops::dilation2d_cpu {
namespace {

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

} // namespace

extern constexpr kernel_def dilation2d_cpu{
    .op = "Dilation2D",
    .run = dilation_kernels<dilate>(types::real_numbers),
    .prepare = prepare_dilation,
};

} // namespace troupe::ops::dilation2d_cpu
