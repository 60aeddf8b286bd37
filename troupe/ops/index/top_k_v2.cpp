// TopKV2: the greatest elements of each row; k is an input.
#include "troupe/ops/index/shared/top_k.hpp"

namespace troupe::ops::top_k_v2_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 0));
  auto k = at.integers(1);
  return infer_top_k(at, k ? std::optional{k->front()} : std::nullopt);
}

} // namespace

extern constexpr op_def top_k_v2{
    .name = "TopKV2",
    .doc =
        "Gives the k greatest elements along the last axis, the greatest first, and their places "
        "there.\n\nOf equal ones the first come first; NaN counts as greater than every number. "
        "The attribute sorted allows, but does not need, another order.",
    .inputs = {{"input", "T"}, on_host("k", "Tk")},
    .outputs = {{"values", "T"}, {"indices", "index_type"}},
    .attrs = {{"sorted", true},
              {"T", ranked_types},
              {"Tk", index_types, dtype::i32},
              {"index_type", index_types, dtype::i32}},
    .infer = infer,
    .gradient = top_k_gradient,
    .example = R"(
y = TopKV2(f32[[1, 5, 3], [6, 2, 4]], i32(2))
fetch y = f32[[5, 3], [6, 4]]
fetch y:1 = i32[[1, 2], [0, 2]]
)",
};

} // namespace troupe::ops::top_k_v2_op
