// RandomShuffle: permutes rows randomly, such as the examples of an epoch.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::random_shuffle_op {

extern constexpr op_def random_shuffle{
    .name = "RandomShuffle",
    .doc = "Brings the rows of a tensor, along its first axis, into a random order.\n\n"
           "Each order is equally likely. Equal seeds give equal orders, as for RandomUniform.",
    .inputs = {{"value", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"seed", 0}, {"seed2", 0}, {"T", any_type}},
    .effects = effect::stateful | effect::random,
    .infer = infer::same_as_input,
    .no_gradient = "TensorFlow defines none, either: the order is not kept",
    .example = R"(
x = RandomShuffle(f32[[1, 1], [1, 1], [1, 1]]) seed=7
fetch x = f32[[1, 1], [1, 1], [1, 1]]
)",
};

} // namespace troupe::ops::random_shuffle_op
