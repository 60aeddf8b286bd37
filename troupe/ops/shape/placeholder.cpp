// Placeholder: a value that each run is given.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::placeholder_op {

extern constexpr op_def placeholder{
    .name = "Placeholder",
    .doc = "Stands for a value that is fed to each run.\n\nRunning it without feeding it fails. A "
           "fed value must fit the shape, as far as that is given.",
    .outputs = {{"output", "dtype"}},
    .attrs = {{"dtype", any_type}, {"shape", attr_kind::shape, true}},
    .effects = effect::stateful | effect::fed, // two of the same type and shape are not one
    .infer = infer::shape_attr,
    .no_gradient = "it has no inputs",
    .example = R"(
x = Placeholder dtype=f32 shape=[-1, 2]
feed x = f32[[1, 2]]
fetch x = f32[[1, 2]]
)",
};

} // namespace troupe::ops::placeholder_op
