// InTopKV2: InTopK with a k that a step chooses.
#include "troupe/ops/loss/in_top_k.hpp"

namespace troupe::ops::in_top_k_v2_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(2, 0));
  return infer_in_top_k(at);
}

} // namespace

extern constexpr op_def in_top_k_v2{
    .name = "InTopKV2",
    .doc =
        "Says for each row whether the prediction of its target class is among the k greatest.\n\n"
        "As InTopK, but k is an input.",
    .inputs = {{"predictions", "f32"}, {"targets", "T"}, {"k", "T"}},
    .outputs = {{"precision", "bool"}},
    .attrs = {{"T", index_types, dtype::i32}},
    .infer = infer,
    .no_gradient = "its output is a truth value",
    .example = R"(
best = InTopKV2(f32[[0.1, 0.8, 0.1], [0.3, 0.3, 0.4]], i32[1, 0], i32(1))
fetch best = bool[true, false]
)",
};

} // namespace troupe::ops::in_top_k_v2_op
