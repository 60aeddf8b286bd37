// BroadcastTo: a tensor stretched to a shape.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/simplify.hpp"

namespace troupe::ops::broadcast_to_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto wanted, listed_extents(at, 1));
  if (!wanted.has_rank() || !at.input(0).has_rank())
    return shapes{wanted};
  TROUPE_ASSIGN(auto joint, broadcast(at.input(0), wanted));
  if (!joint.compatible(wanted))
    return at.invalid("cannot stretch ", at.input(0), " to ", wanted);
  return shapes{wanted};
}

edges gradient(gradient_context& at) {
  return {unbroadcast(at.output_gradient(0), at.input(0), at.output(0)), {}};
}

edge simplify(simplify_context& at) {
  const auto& dims = at.input(0).dims();
  return dims.fully_known() && dims == at.output_shape() ? at.input(0) : edge{};
}

} // namespace

extern constexpr op_def broadcast_to{
    .name = "BroadcastTo",
    .doc = "Repeats elements by NumPy's rules, so that the output has the shape that is listed.",
    .inputs = {{"input", "T"}, on_host("shape", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tidx", index_types, dtype::i32}},
    .infer = infer,
    .gradient = gradient,
    .simplify = simplify,
    .example = R"(
y = BroadcastTo(f32[[1], [2]], i32[2, 3])
fetch y = f32[[1, 1, 1], [2, 2, 2]]
)",
};

} // namespace troupe::ops::broadcast_to_op
