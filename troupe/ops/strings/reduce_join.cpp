// ReduceJoin: strings put together along axes.
#include "troupe/ops/define/axes.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::reduce_join_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  auto axes = at.integers(1);
  if (!dims.has_rank() || (!axes && !at.attr<bool>("keep_dims")))
    return shapes{partial_shape::unknown()};
  if (!axes)
    return shapes{partial_shape::of_rank(dims.rank())};
  TROUPE_ASSIGN(auto gone, axes_of(*axes, dims.rank()));
  return shapes{without(dims, gone, at.attr<bool>("keep_dims"))};
}

} // namespace

extern constexpr op_def reduce_join{
    .name = "ReduceJoin",
    .doc = "Puts the strings of some axes together, with a separator between them.\n\n"
           "The first of the axes runs fastest: [1, 0] joins a matrix row by row. No axes change "
           "nothing.",
    .inputs = {{"inputs", "string"}, on_host("reduction_indices", "i32")},
    .outputs = {{"output", "string"}},
    .attrs = {{"keep_dims", false}, {"separator", ""}},
    .infer = infer,
    .no_gradient = "text has none",
    .example = R"(
rows = ReduceJoin(string[["a", "b"], ["c", "d"]], i32[1]) separator="-"
all = ReduceJoin(string[["a", "b"], ["c", "d"]], i32[0, 1])
fetch rows = string["a-b", "c-d"]
fetch all = string("acbd")
)",
};

} // namespace troupe::ops::reduce_join_op
