// ComputeAccidentalHits: finds the sampled classes that are true classes.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::compute_accidental_hits_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto truth, at.of_rank(0, 2));
  TROUPE_TRY(at.of_rank(1, 1));
  if (auto true_count = at.attr<int64_t>("num_true");
      truth[1] != unknown_extent && truth[1] != true_count)
    return at.invalid("true_classes must have num_true = ", true_count, " columns, got shape ",
                      truth);
  return shapes(3, partial_shape{unknown_extent});
}

} // namespace

extern constexpr op_def compute_accidental_hits{
    .name = "ComputeAccidentalHits",
    .doc =
        "Finds the sampled candidates that are among the true classes of a row.\n\n"
        "Each hit gives the row in indices, the place among sampled_candidates in ids, and the "
        "lowest float in weights: added to the logit there, it takes the candidate out. Of equal "
        "candidates the last is meant. The seeds are TensorFlow's; nothing here is random.",
    .inputs = {{"true_classes", "i64"}, {"sampled_candidates", "i64"}},
    .outputs = {{"indices", "i32"}, {"ids", "i64"}, {"weights", "f32"}},
    .attrs = {{"num_true", attr_kind::integer}, {"seed", 0}, {"seed2", 0}},
    .infer = infer,
    .no_gradient = "its output does not change with small changes of its inputs",
    .example = R"(
hits = ComputeAccidentalHits(i64[[1, 2], [5, 7]], i64[7, 3, 1]) num_true=2
fetch hits = i32[0, 1]
fetch hits:1 = i64[2, 0]
fetch hits:2 = f32[-3.4028235e38, -3.4028235e38]
)",
};

} // namespace troupe::ops::compute_accidental_hits_op
