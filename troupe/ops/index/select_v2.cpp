// SelectV2: elements of one of two tensors, all of them broadcast.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::select_v2_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto values, broadcast(at.input(1), at.input(2)));
  TROUPE_ASSIGN(auto joint, broadcast(at.input(0), values));
  return shapes{joint};
}

edges gradient(gradient_context& at) {
  auto condition = at.input(0), dy = at.output_gradient(0), zero = scalar_like(dy, 0);
  return {{},
          unbroadcast(build("SelectV2", {condition, dy, zero}), at.input(1), dy),
          unbroadcast(build("SelectV2", {condition, zero, dy}), at.input(2), dy)};
}

} // namespace

extern constexpr op_def select_v2{
    .name = "SelectV2",
    .doc = "Takes each element from t where condition is true, from e where it is false.\n\nAll "
           "three are broadcast to one shape by NumPy's rules.",
    .inputs = {{"condition", "bool"}, {"t", "T"}, {"e", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .effects = autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = SelectV2(bool[[true], [false]], f32[1, 2, 3], f32(0))
fetch y = f32[[1, 2, 3], [0, 0, 0]]
)",
};

} // namespace troupe::ops::select_v2_op
