// Empty: a tensor whose elements nobody has set yet.
#include "troupe/ops/define/dims.hpp"

namespace troupe::ops::empty_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, listed_extents(at, 0));
  return shapes{dims};
}

} // namespace

extern constexpr op_def empty{
    .name = "Empty",
    .doc = "Makes a tensor of the listed extents.\n\nIts elements are zero, whether init asks for "
           "that or not, so that a mistake shows itself in every run alike.",
    .inputs = {on_host("shape", "i32")},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"dtype", any_type}, {"init", false}},
    .infer = infer,
    .no_gradient = "its elements depend on nothing",
    .example = R"(
y = Empty(i32[2, 1]) dtype=f32 init=true
fetch y = f32[[0], [0]]
)",
};

} // namespace troupe::ops::empty_op
