#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::count_up_to_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  auto& counter = at.variable(0);
  auto limit = at.state<int64_t>();
  TROUPE_ASSIGN(auto* before, at.allocate(0, shape{}));
  return counter.update(
      [&](tensor& value) -> status {
        if (value.rank() != 0)
          return invalid("variable '", counter.name(), "' must be a scalar, its value has shape ",
                         value.dims());
        auto& count = *value.data<T>();
        if (count >= limit)
          return failure(error_kind::out_of_range, "variable '", counter.name(),
                         "' has reached the limit ", limit);
        *before->template data<T>() = count;
        // The limit may lie beyond what the type can count.
        count = static_cast<T>(static_cast<uint64_t>(count) + 1);
        return {};
      },
      at.device().memory()); // outlives the step
}

} // namespace

extern constexpr kernel_def count_up_to_cpu{
    .op = "CountUpTo",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .prepare = cache_attr<int64_t, "limit">,
};

} // namespace troupe::ops::count_up_to_cpu
