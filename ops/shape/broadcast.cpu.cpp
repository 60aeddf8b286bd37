#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops::broadcast_cpu {
namespace {

template <class T>
status run_broadcast_args(kernel_context& at) {
  for (int i = 0; i < 2; ++i)
    if (at.input(i).rank() != 1)
      return invalid("s0 and s1 must be vectors, got shape ", at.input(i).dims());
  TROUPE_ASSIGN(auto a, shape::make(to_integers(at.input(0))));
  TROUPE_ASSIGN(auto b, shape::make(to_integers(at.input(1))));
  TROUPE_ASSIGN(auto joint, broadcast(a, b));
  TROUPE_ASSIGN(auto* out, at.allocate(0, {joint.rank()}));
  std::ranges::transform(joint, out->template data<T>(),
                         [](int64_t extent) { return static_cast<T>(extent); });
  return {};
}

template <class T>
status run_broadcast_gradient_args(kernel_context& at) {
  TROUPE_ASSIGN(auto a, shape::make(to_integers(at.input(0))));
  TROUPE_ASSIGN(auto b, shape::make(to_integers(at.input(1))));
  TROUPE_ASSIGN(auto joint, broadcast(a, b));
  for (int i = 0; i < 2; ++i) {
    const auto& extents = i == 0 ? a : b;
    std::array<T, max_rank> axes{};
    size_t count = 0;
    auto missing = joint.rank() - extents.rank();
    for (int axis = 0; axis < joint.rank(); ++axis)
      if (!(a == b) && (axis < missing || extents[axis - missing] == 1))
        axes[count++] = static_cast<T>(axis);
    TROUPE_ASSIGN(auto* out, at.allocate(i, {static_cast<int64_t>(count)}));
    std::copy_n(axes.begin(), count, out->template data<T>());
  }
  return {};
}

} // namespace

extern constexpr kernel_def broadcast_args_cpu{
    .op = "BroadcastArgs",
    .run = {{dtype::i32, run_broadcast_args<int32_t>}, {dtype::i64, run_broadcast_args<int64_t>}},
};

extern constexpr kernel_def broadcast_gradient_args_cpu{
    .op = "BroadcastGradientArgs",
    .run = {{dtype::i32, run_broadcast_gradient_args<int32_t>},
            {dtype::i64, run_broadcast_gradient_args<int64_t>}},
};

} // namespace troupe::ops::broadcast_cpu
