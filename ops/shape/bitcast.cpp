// Bitcast: reinterprets the bytes as another type.
#include "troupe/ops/shape/shared/bitcast.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::bitcast_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{dims};
  TROUPE_ASSIGN(auto extents,
                recast_extents(dims.extents(), at.attr<dtype>("T"), at.attr<dtype>("type")));
  TROUPE_ASSIGN(auto out, partial_shape::make(extents));
  return shapes{out};
}

} // namespace

extern constexpr op_def bitcast{
    .name = "Bitcast",
    .doc =
        "Reads the bytes of its input as elements of another type.\n\nWhere these are smaller, a "
        "last axis is added for those of one element; where they are larger, the last axis must "
        "make up one, and goes away.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "type"}},
    .attrs = {{"T", numbers}, {"type", numbers}},
    .infer = infer,
    .no_gradient = "bytes know nothing of numbers",
    .example = R"(
y = Bitcast(f32[1, -2]) type=u32
z = Bitcast(u8[[1, 2], [3, 4]]) type=u16
fetch y = u32[1065353216, 3221225472]
fetch z = u16[513, 1027]
)",
};

} // namespace troupe::ops::bitcast_op
