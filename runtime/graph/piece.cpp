// The ops into which collective operations between tasks are rewritten (passes/spread_collectives).
#include "troupe/runtime/graph/piece.hpp"

#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <numeric>

namespace troupe::internal_ops {
namespace {

constexpr std::string_view no_piece_gradient = "it is part of a partition, not of a user's graph";

constexpr dtype_set reduced_types =
    one_of(dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::i32, dtype::i64);

// Parts of a whole, each at least one; nothing where they are no such list.
result<int64_t> sum_of_shares(const infer_context& at, int64_t count) {
  const auto& shares = at.attr<std::vector<int64_t>>("shares");
  if (static_cast<int64_t>(shares.size()) != count)
    return at.invalid("has ", shares.size(), " shares for ", count, " pieces");
  int64_t sum = 0;
  for (auto one : shares)
    if (one < 1 || one > INT32_MAX)
      return at.invalid("a share must be between 1 and ", INT32_MAX, ", got ", one);
    else
      sum += one;
  return sum;
}

result<shapes> infer_pieces(const infer_context& at) {
  const auto& given = at.input(0);
  const auto count = at.attr<int64_t>("count");
  if (at.attr<int64_t>("tells_dims") > 1)
    return at.invalid("tells_dims must be 0 or 1");
  shapes made;
  if (at.attr<std::vector<int64_t>>("shares").empty()) {
    for (int64_t i = 0; i < count; ++i)
      made.push_back(
          given.fully_known()
              ? partial_shape{shape{
                    piece_of(given.known().elements(), at.input_type(0), i, count).elements()}}
              : partial_shape{std::vector<int64_t>{unknown_extent}});
  } else {
    TROUPE_ASSIGN(auto parts, sum_of_shares(at, count));
    if (given.has_rank() && given.extents().empty())
      return at.invalid("input must have a first axis, got shape ", given);
    for (auto share : at.attr<std::vector<int64_t>>("shares")) {
      if (!given.has_rank()) {
        made.push_back(given);
        continue;
      }
      std::vector<int64_t> extents{given.extents().begin(), given.extents().end()};
      if (extents[0] != unknown_extent && extents[0] % parts != 0)
        return at.invalid("the first axis of ", given, " cannot be cut into ", parts,
                          " equal parts");
      if (extents[0] != unknown_extent)
        extents[0] = extents[0] / parts * share;
      made.emplace_back(std::move(extents));
    }
  }
  if (at.attr<int64_t>("tells_dims") == 1)
    made.emplace_back(std::vector<int64_t>{unknown_extent});
  return made;
}

result<shapes> infer_reduce_pieces(const infer_context& at) {
  const auto count = at.attr<int64_t>("count");
  const auto& merge = at.attr<std::string>("merge_op");
  if (merge != "Add" && merge != "Mul" && merge != "Min" && merge != "Max")
    return at.invalid("merge_op must be Add, Mul, Min or Max, got '", merge, "'");
  if (auto own = at.attr<int64_t>("own"); own >= count)
    return at.invalid("there is no piece ", own, " among ", count);
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
    .doc = "Cuts a tensor for the tasks that reduce it: its elements (graph/piece.hpp), or, where "
           "there are shares, its first axis. Also gives its shape, if asked.",
    .inputs = {{"value", "T"}},
    .outputs = {{"pieces", "T", "count"}, {"dims", "i64", "tells_dims"}},
    .attrs = {{"T", reduced_types},
              {"count", at_least{1}},
              {"shares", attr_kind::integers, true}, // of the first axis, cut into equal parts
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
              {"dims_count", at_least{0}}, // shapes of the whole tensors, to be compared
              {"merge_op", attr_kind::text},
              {"divide_by", at_least{1}},
              {"own", at_least{-1}}, // the piece that is a part of a tensor which others read
              {"tasks", attr_kind::texts}},
    .effects = effect::forwardable,
    .infer = infer_reduce_pieces,
    .no_gradient = no_piece_gradient,
};

extern constexpr op_def join_pieces{
    .name = "_JoinPieces",
    .doc = "Joins pieces to a tensor of a shape that is known, or of that of another one, of which "
           "they were cut.",
    .inputs = {{"pieces", "T", "count"}, {"like", "U", "like_count"}},
    .outputs = {{"joined", "T"}},
    .attrs = {{"T", reduced_types},
              {"U", reduced_types}, // of what was cut
              {"count", at_least{1}},
              {"like_count", at_least{0}},
              {"shape", attr_kind::shape, true}},
    .infer = infer_join_pieces,
    .no_gradient = no_piece_gradient,
};

extern constexpr op_def join_rows{
    .name = "_JoinRows",
    .doc = "Joins what tasks have gathered along the first axis, in the order of the tasks.",
    .inputs = {{"rows", "T", "count"}},
    .outputs = {{"joined", "T"}},
    .attrs = {{"T", reduced_types},
              {"count", at_least{1}},
              {"shares", attr_kind::integers}, // members of the group on each task
              {"tasks", attr_kind::texts},
              {"shape", attr_kind::shape, true}},
    .infer = infer_join_rows,
    .no_gradient = no_piece_gradient,
};

} // namespace troupe::internal_ops
