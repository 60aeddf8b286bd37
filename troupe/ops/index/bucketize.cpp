// Bucketize: which of some intervals a number lies in.
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/op.hpp"

namespace troupe::ops::bucketize_op {

extern constexpr op_def bucketize{
    .name = "Bucketize",
    .doc = "Counts for each element the boundaries that are not larger.\n\nBoundaries must not "
           "decrease. NaN lies behind all of them.",
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "i32"}},
    .attrs = {{"T", one_of(dtype::i32, dtype::i64, dtype::f32, dtype::f64)},
              {"boundaries", attr_kind::reals}},
    .infer = infer::same_as_input,
    .no_gradient = "counts are whole numbers and jump",
    .example = R"(
y = Bucketize(f32[[-5, 10000], [150, 10], [5, 100]]) boundaries=[0, 10, 100]
fetch y = i32[[0, 3], [3, 2], [1, 3]]
)",
};

} // namespace troupe::ops::bucketize_op
