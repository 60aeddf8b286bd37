// The ops that implement collective operations between tasks (passes/spread_collectives).
#include "troupe/runtime/graph/piece.hpp"

#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <numeric>

namespace troupe::internal_ops {
namespace {

constexpr std::string_view no_piece_gradient = "it is part of a partition, not of a user's graph";

constexpr dtype_set reduced_types =
    one_of(dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::i32, dtype::i64);

// Returns the sum of the shares, one for each piece. Fails unless each share is at least 1.
result<int64_t> sum_of_shares(const infer_context& at, int64_t count) {
  const auto& shares = at.attr<std::vector<int64_t>>("shares");
  if (static_cast<int64_t>(shares.size()) != count)
    return at.invalid("has ", shares.size(), " shares for ", count, " pieces");
  int64_t sum = 0;
  for (auto share : shares)
    if (share < 1 || share > INT32_MAX)
      return at.invalid("a share must be between 1 and ", INT32_MAX, ", got ", share);
    else
      sum += share;
  return sum;
}

result<shapes> infer_pieces(const infer_context& at) {
  const auto& value_dims = at.input(0);
  const auto count = at.attr<int64_t>("count");
  if (at.attr<int64_t>("tells_dims") > 1)
    return at.invalid("tells_dims must be 0 or 1");
  shapes piece_shapes;
  if (at.attr<std::vector<int64_t>>("shares").empty()) {
    for (int64_t i = 0; i < count; ++i)
      piece_shapes.push_back(
          value_dims.fully_known()
              ? partial_shape{shape{
                    piece_of(value_dims.known().elements(), at.input_type(0), i, count).elements()}}
              : partial_shape{std::vector<int64_t>{unknown_extent}});
  } else {
    TROUPE_ASSIGN(auto share_sum, sum_of_shares(at, count));
    if (value_dims.has_rank() && value_dims.extents().empty())
      return at.invalid("input must have a first axis, got shape ", value_dims);
    for (auto share : at.attr<std::vector<int64_t>>("shares")) {
      if (!value_dims.has_rank()) {
        piece_shapes.push_back(value_dims);
        continue;
      }
      std::vector<int64_t> extents{value_dims.extents().begin(), value_dims.extents().end()};
      if (extents[0] != unknown_extent && extents[0] % share_sum != 0)
        return at.invalid("the first axis of ", value_dims, " cannot be cut into ", share_sum,
                          " equal parts");
      if (extents[0] != unknown_extent)
        extents[0] = extents[0] / share_sum * share;
      piece_shapes.emplace_back(std::move(extents));
    }
  }
  if (at.attr<int64_t>("tells_dims") == 1)
    piece_shapes.emplace_back(std::vector<int64_t>{unknown_extent});
  return piece_shapes;
}

result<shapes> infer_reduce_pieces(const infer_context& at) {
  const auto count = at.attr<int64_t>("count");
  const auto& merge = at.attr<std::string>("merge_op");
  if (merge != "Add" && merge != "Mul" && merge != "Min" && merge != "Max")
    return at.invalid("merge_op must be Add, Mul, Min or Max, got '", merge, "'");
  if (auto own_piece = at.attr<int64_t>("own"); own_piece >= count)
    return at.invalid("there is no piece ", own_piece, " among ", count);
  if (static_cast<int64_t>(at.attr<std::vector<std::string>>("tasks").size()) != count)
    return at.invalid("must name the task of each of its ", count, " pieces");
  if (auto dims = at.attr<int64_t>("dims_count"); dims != 0 && dims != count)
    return at.invalid("has ", dims, " shapes for ", count, " pieces");
  return shapes{at.input(0)};
}

result<shapes> infer_join_pieces(const infer_context& at) {
  auto like = at.attr<int64_t>("like_count");
  if (like > 1 || (like == 0 && !at.attr<partial_shape>("shape").fully_known()))
    return at.invalid("must have a shape, or one tensor that has it");
  return infer::shape_attr(at);
}

result<shapes> infer_join_rows(const infer_context& at) {
  const auto count = at.attr<int64_t>("count");
  TROUPE_TRY(sum_of_shares(at, count));
  if (static_cast<int64_t>(at.attr<std::vector<std::string>>("tasks").size()) != count)
    return at.invalid("must name the task of each of its ", count, " pieces");
  return infer::shape_attr(at);
}

} // namespace

extern constexpr op_def pieces{
    .name = "_Pieces",
    .doc =
        "Cuts a tensor for the tasks that reduce it: its elements (graph/piece.hpp) or, if there "
        "are shares, its first axis. Returns its shape as well if `tells_dims` is 1.",
    .inputs = {{"value", "T"}},
    .outputs = {{"pieces", "T", "count"}, {"dims", "i64", "tells_dims"}},
    .attrs = {{"T", reduced_types},
              {"count", at_least{1}},
              {"shares", attr_kind::integers, true}, // equal parts of the first axis, per piece
              {"tells_dims", at_least{0}}},
    .infer = infer_pieces,
    .no_gradient = no_piece_gradient,
};

extern constexpr op_def reduce_pieces{
    .name = "_ReducePieces",
    .doc = "Reduces one piece of each task, in the order of the tasks.",
    .inputs = {{"pieces", "T", "count"}, {"dims", "i64", "dims_count"}},
    .outputs = {{"reduced", "T"}},
    .attrs = {{"T", reduced_types},
              {"count", at_least{1}},
              {"dims_count", at_least{0}}, // shapes of the complete tensors, to be compared
              {"merge_op", attr_kind::text},
              {"divide_by", at_least{1}},
              {"own", at_least{-1}}, // a piece that is a view of a tensor with other readers, or -1
              {"tasks", attr_kind::texts}},
    .effects = effect::forwardable,
    .infer = infer_reduce_pieces,
    .no_gradient = no_piece_gradient,
};

extern constexpr op_def join_pieces{
    .name = "_JoinPieces",
    .doc =
        "Joins pieces to a tensor of a known shape, or of the shape of the tensor from which they "
        "were cut.",
    .inputs = {{"pieces", "T", "count"}, {"like", "U", "like_count"}},
    .outputs = {{"joined", "T"}},
    .attrs = {{"T", reduced_types},
              {"U", reduced_types}, // the type of that tensor
              {"count", at_least{1}},
              {"like_count", at_least{0}},
              {"shape", attr_kind::shape, true}},
    .infer = infer_join_pieces,
    .no_gradient = no_piece_gradient,
};

extern constexpr op_def join_rows{
    .name = "_JoinRows",
    .doc = "Joins rows that tasks have gathered along the first axis, in the order of the tasks.",
    .inputs = {{"rows", "T", "count"}},
    .outputs = {{"joined", "T"}},
    .attrs = {{"T", reduced_types},
              {"count", at_least{1}},
              {"shares", attr_kind::integers}, // group members on each task
              {"tasks", attr_kind::texts},
              {"shape", attr_kind::shape, true}},
    .infer = infer_join_rows,
    .no_gradient = no_piece_gradient,
};

} // namespace troupe::internal_ops
