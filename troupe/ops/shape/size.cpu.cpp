#include "troupe/runtime/graph/kernel.hpp"

#include <limits>

namespace troupe::ops::size_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  auto count = at.input(0).elements();
  if (count > std::numeric_limits<T>::max())
    return invalid("the number of elements, ", count, ", is beyond ", at.output_type(0));
  TROUPE_ASSIGN(auto* out, at.allocate(0, {}));
  *out->template data<T>() = static_cast<T>(count);
  return {};
}

} // namespace

extern constexpr kernel_def size_cpu{
    .op = "Size",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .key = "out_type",
};

} // namespace troupe::ops::size_cpu
