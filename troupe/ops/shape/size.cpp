// Size: the number of elements.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::size_op {

extern constexpr op_def size{
    .name = "Size",
    .doc = "Gives the number of elements of its input.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"T", any_type}, {"out_type", index_types, dtype::i32}},
    .effects = effect::of_shape,
    .infer = infer::scalar,
    .no_gradient = "extents are whole numbers",
    .example = R"(
y = Size(f32[[1, 2, 3], [4, 5, 6]])
fetch y = i32(6)
)",
};

} // namespace troupe::ops::size_op
