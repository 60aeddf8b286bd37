// Reverses the order of elements along axes.
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <algorithm>

namespace troupe::ops::reverse_op {
namespace {

result<shapes> infer_reverse(const infer_context& at) {
  TROUPE_ASSIGN(auto marks, at.of_rank(1, 1));
  const auto& dims = at.input(0);
  if (dims.has_rank() && marks[0] != unknown_extent && marks[0] != dims.rank())
    return at.invalid("dims must say of ", dims.rank(), " axes whether to reverse them, got ",
                      marks[0]);
  return shapes{dims};
}

edges reverse_gradient(gradient_context& at) {
  return {build("Reverse", {at.output_gradient(0), at.input(1)}), {}};
}

result<shapes> infer_reverse_v2(const infer_context& at) {
  TROUPE_TRY(at.of_rank(1, 1));
  const auto& dims = at.input(0);
  if (auto axes = at.integers(1); axes && dims.has_rank())
    TROUPE_TRY(axes_of(*axes, dims.rank()));
  return shapes{dims};
}

edges reverse_v2_gradient(gradient_context& at) {
  return {build("ReverseV2", {at.output_gradient(0), at.input(1)}), {}};
}

result<shapes> infer_reverse_sequence(const infer_context& at) {
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

edges reverse_sequence_gradient(gradient_context& at) {
  return {build("ReverseSequence", {at.output_gradient(0), at.input(1)},
                {{"seq_dim", at.attr<int64_t>("seq_dim")},
                 {"batch_dim", at.attr<int64_t>("batch_dim")}}),
          {}};
}

} // namespace

extern constexpr op_def reverse{
    .name = "Reverse",
    .doc = "Reverses the order of the elements along each axis for which dims is true.",
    .inputs = {{"tensor", "T"}, on_host("dims", "bool")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer_reverse,
    .gradient = reverse_gradient,
    .example = R"(
y = Reverse(f32[[1, 2], [3, 4]], bool[false, true])
fetch y = f32[[2, 1], [4, 3]]
)",
};

extern constexpr op_def reverse_v2{
    .name = "ReverseV2",
    .doc = "Reverses the order of the elements along the listed axes.\n\nNegative axes count from "
           "the end; none may be listed twice.",
    .inputs = {{"tensor", "T"}, on_host("axis", "Tidx")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tidx", index_types, dtype::i32}},
    .infer = infer_reverse_v2,
    .gradient = reverse_v2_gradient,
    .example = R"(
y = ReverseV2(f32[[1, 2], [3, 4]], i32[-1])
fetch y = f32[[2, 1], [4, 3]]
)",
};

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
    .infer = infer_reverse_sequence,
    .gradient = reverse_sequence_gradient,
    .example = R"(
y = ReverseSequence(f32[[1, 2, 3], [4, 5, 6]], i64[2, 3]) seq_dim=1
fetch y = f32[[2, 1, 3], [6, 5, 4]]
)",
};

} // namespace troupe::ops::reverse_op
