// InTopK: how often a classifier's best guesses contain the answer.
#include "troupe/ops/loss/in_top_k.hpp"

namespace troupe::ops::in_top_k_op {
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

} // namespace troupe::ops::in_top_k_op
