#include "troupe/ops/math/batch_matmul.cpu.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  auto front = [](const shape& dims) {
    return dims.extents().first(static_cast<size_t>(std::max(0, dims.rank() - 2)));
  };
  const auto &x = at.input(0).dims(), &y = at.input(1).dims();
  if (!std::ranges::equal(front(x), front(y)))
    return invalid("x and y must have the same extents before the matrices, got ", x, " and ", y);
  return multiply_batches(at);
}

} // namespace

extern constexpr kernel_def batch_matmul_cpu{
    .op = "BatchMatMul",
    .run = {{dtype::none, run}},
    .prepare = prepare_batch_matmul,
};

} // namespace troupe::ops
