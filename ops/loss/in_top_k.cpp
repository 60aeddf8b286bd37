// InTopK and InTopKV2: whether the target is among the k best classes. K is an attribute, or an
// input.
#include "troupe/ops/loss/in_top_k.hpp"

namespace troupe::ops::in_top_k_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(2, 0));
  return infer_in_top_k(at);
}

} // namespace

extern constexpr op_def in_top_k{
    .name = "InTopK",
    .doc = "Says for each row whether the prediction of its target class is among the k "
           "greatest.\n\n"
           "All classes that tie with the k-th are among them. A target outside [0, classes) is "
           "not, nor is any target of a row whose predictions are not all finite up to the "
           "decision.",
    .inputs = {{"predictions", "f32"}, {"targets", "T"}},
    .outputs = {{"precision", "bool"}},
    .attrs = {{"k", attr_kind::integer}, {"T", index_types, dtype::i32}},
    .infer = infer_in_top_k,
    .no_gradient = "its output is a truth value",
    .example = R"(
x = Placeholder dtype=f32 shape=[-1,3]
best = InTopK(x, i32[1, 0]) k=1
feed x = f32[[0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]
fetch best = bool[true, false]
)",
};

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

} // namespace troupe::ops::in_top_k_op
