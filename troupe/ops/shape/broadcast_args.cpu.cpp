#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops::broadcast_args_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
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

} // namespace

extern constexpr kernel_def broadcast_args_cpu{
    .op = "BroadcastArgs",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
};

} // namespace troupe::ops::broadcast_args_cpu
