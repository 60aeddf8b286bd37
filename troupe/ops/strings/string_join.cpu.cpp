#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::string_join_cpu {
namespace {

status run(kernel_context& at) {
  shape dims;
  for (int i = 0; i < at.inputs(); ++i) {
    const auto& next = at.input(i).dims();
    if (next.rank() > 0 && dims.rank() > 0 && !(next == dims))
      return invalid("all inputs must have one shape or be scalars, got ", dims, " and ", next);
    if (next.rank() > 0)
      dims = next;
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto* to = out->data<std::string>();
  const auto& separator = at.state<std::string>();
  at.parallel_for(out->elements(), 40.0 * at.inputs(), [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      for (int k = 0; k < at.inputs(); ++k) {
        if (k > 0)
          to[i] += separator;
        to[i] += at.input(k).data<std::string>()[at.input(k).rank() > 0 ? i : 0];
      }
  });
  return {};
}

} // namespace

extern constexpr kernel_def string_join_cpu{
    .op = "StringJoin",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<std::string, "separator">,
};

} // namespace troupe::ops::string_join_cpu
