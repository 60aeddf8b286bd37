// Multinomial: samples classes with the probabilities that their logits give, such as an agent's
// next action.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::multinomial_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto logits, at.of_rank(0, 2));
  TROUPE_TRY(at.of_rank(1, 0));
  auto samples = at.integers(1);
  if (samples && samples->front() < 0)
    return at.invalid("num_samples must not be negative, got ", samples->front());
  return shapes{partial_shape{logits[0], samples ? samples->front() : unknown_extent}};
}

} // namespace

extern constexpr op_def multinomial{
    .name = "Multinomial",
    .doc = "Draws num_samples classes for each row of logits.\n\n"
           "The softmax of a row is how likely each class is; a logit that is not finite makes its "
           "class impossible, and a row must have another. Equal seeds give equal classes, as for "
           "RandomUniform.",
    .inputs = {{"logits", "T"}, on_host("num_samples", "i32")},
    .outputs = {{"output", "output_dtype"}},
    .attrs = {{"seed", 0},
              {"seed2", 0},
              {"T", real_numbers},
              {"output_dtype", index_types, dtype::i64}},
    .effects = effect::stateful | effect::random,
    .infer = infer,
    .no_gradient = "its output is made of whole numbers",
    .example = R"(
classes = Multinomial(f32[[0, 100, 0], [100, 0, 0]], i32(4)) seed=7
fetch classes = i64[[1, 1, 1, 1], [0, 0, 0, 0]]
)",
};

} // namespace troupe::ops::multinomial_op
