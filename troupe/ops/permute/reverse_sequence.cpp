// ReverseSequence: the beginnings of sequences backwards.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe::ops::reverse_sequence_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto lengths, at.of_rank(1, 1));
  auto dims = at.input(0);
  auto along = at.attr<int64_t>("seq_dim"), batch = at.attr<int64_t>("batch_dim");
  if (along < 0 || batch < 0 || along == batch ||
      (dims.has_rank() && std::max(along, batch) >= dims.rank()))
    return at.invalid("seq_dim and batch_dim must be two axes of ", dims, ", got ", along, " and ",
                      batch);
  if (!dims.has_rank())
    return shapes{dims};
  TROUPE_ASSIGN(auto extent, merge(lengths, {dims[static_cast<int>(batch)]}));
  dims.set(static_cast<int>(batch), extent[0]);
  return shapes{dims};
}

edges gradient(gradient_context& at) {
  return {build("ReverseSequence", {at.output_gradient(0), at.input(1)},
                {{"seq_dim", at.attr<int64_t>("seq_dim")},
                 {"batch_dim", at.attr<int64_t>("batch_dim")}}),
          {}};
}

} // namespace

extern constexpr op_def reverse_sequence{
    .name = "ReverseSequence",
    .doc = "Reverses the first seq_lengths[i] slices along axis seq_dim of the i-th slice along "
           "axis batch_dim.\n\nWhat is behind them stays as it is.",
    .inputs = {{"input", "T"}, {"seq_lengths", "Tlen"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"seq_dim", attr_kind::integer},
              {"batch_dim", 0},
              {"T", any_type},
              {"Tlen", index_types, dtype::i64}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = ReverseSequence(f32[[1, 2, 3], [4, 5, 6]], i64[2, 3]) seq_dim=1
fetch y = f32[[2, 1, 3], [6, 5, 4]]
)",
};

} // namespace troupe::ops::reverse_sequence_op
