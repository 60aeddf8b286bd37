#include "troupe/runtime/infer.hpp"
#include "troupe/runtime/kernel.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_ASSIGN(auto a, shape::make(to_integers(at.input(0))));
  TROUPE_ASSIGN(auto b, shape::make(to_integers(at.input(1))));
  TROUPE_ASSIGN(auto joint, broadcast(a, b));
  for (int i = 0; i < 2; ++i) {
    const auto& own = i == 0 ? a : b;
    std::vector<T> axes;
    auto missing = joint.rank() - own.rank();
    for (int axis = 0; axis < joint.rank(); ++axis)
      if (axis < missing || own[axis - missing] == 1)
        axes.push_back(static_cast<T>(axis));
    TROUPE_ASSIGN(auto* out, at.allocate(i, {static_cast<int64_t>(axes.size())}));
    std::ranges::copy(axes, out->template data<T>());
  }
  return {};
}

} // namespace

extern constexpr kernel_def broadcast_gradient_args_cpu{
    .op = "BroadcastGradientArgs",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
};

} // namespace troupe::ops
