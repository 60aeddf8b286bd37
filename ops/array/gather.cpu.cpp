#include "troupe/ops/axes.hpp"
#include "troupe/ops/copy.hpp"
#include "troupe/runtime/infer.hpp"
#include "troupe/runtime/kernel.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) {
  const auto &params = at.input(0), &indices = at.input(1);
  if (params.rank() == 0)
    return invalid("params must have rows, got a scalar");
  std::vector<int64_t> extents{indices.dims().begin(), indices.dims().end()};
  extents.insert(extents.end(), params.dims().begin() + 1, params.dims().end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  auto rows = params.dims()[0], length = product(params.dims(), 1, params.rank());
  auto numbers_of_rows = to_integers(indices);
  for (auto row : numbers_of_rows)
    if (row < 0 || row >= rows)
      return invalid("indices has ", row, ", but params ", params.dims(), " has the rows [0, ",
                     rows, ')');
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto cost = 5 + 0.3 * static_cast<double>(length);
  at.parallel_for(indices.elements(), cost, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      copy_elements({params, numbers_of_rows[static_cast<size_t>(i)] * length}, {*out, i * length},
                    length);
  });
  return {};
}

} // namespace

extern constexpr kernel_def gather_cpu{
    .op = "Gather",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
