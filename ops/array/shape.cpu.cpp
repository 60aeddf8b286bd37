#include "troupe/runtime/kernel.hpp"

#include <limits>

namespace troupe::ops {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto& dims = at.input(0).dims();
  TROUPE_ASSIGN(auto* out, at.allocate(0, {dims.rank()}));
  auto* to = out->template data<T>();
  for (auto extent : dims) {
    if (extent > std::numeric_limits<T>::max())
      return invalid("extent ", extent, " of ", dims, " is beyond ", out->type());
    *to++ = static_cast<T>(extent);
  }
  return {};
}

} // namespace

extern constexpr kernel_def shape_cpu{
    .op = "Shape",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .key = "out_type",
};

} // namespace troupe::ops
