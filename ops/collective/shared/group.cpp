#include "troupe/ops/collective/shared/group.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

// Counts the members of that instance on the node's device in its group.
int64_t count_members(const node& member, int64_t instance_key) {
  int64_t count = 0;
  for (const auto& other_node : member.graph().nodes())
    count += is_collective(other_node->op()) && other_node->device() == member.device() &&
             other_node->attr<int64_t>("group_key") == member.attr<int64_t>("group_key") &&
             other_node->attr<int64_t>("instance_key") == instance_key;
  return count;
}

} // namespace

status check_timeout(const infer_context& at) {
  if (auto seconds = at.attr<double>("timeout_seconds"); seconds != 0)
    return at.invalid("timeout_seconds must be 0, got ", seconds,
                      ": give the step a deadline, it bounds the wait for the other members");
  return {};
}

status check_reduction(const infer_context& at) {
  TROUPE_TRY(check_timeout(at));
  constexpr std::string_view merges[] = {"Add", "Mul", "Min", "Max"};
  const auto& merge = at.attr<std::string>("merge_op");
  const auto& last = at.attr<std::string>("final_op");
  if (std::ranges::find(merges, merge) == std::end(merges))
    return at.invalid("merge_op must be Add, Mul, Min or Max, got '", merge, "'");
  if (last != "Id" && last != "Div")
    return at.invalid("final_op must be Id or Div, got '", last, "'");
  if (last == "Div" && merge != "Add")
    return at.invalid("final_op Div, the mean, needs merge_op Add, got ", merge);
  return {};
}

result<shapes> infer_first_axis(const infer_context& at, int64_t times, int64_t divided_by) {
  const auto& input_shape = at.input(0);
  if (!input_shape.has_rank())
    return shapes{input_shape};
  if (input_shape.extents().empty())
    return at.invalid("input must have a first axis, got shape ", input_shape);
  std::vector<int64_t> extents{input_shape.extents().begin(), input_shape.extents().end()};
  if (extents[0] != unknown_extent) {
    if (extents[0] % divided_by != 0)
      return at.invalid("the first axis of ", input_shape, " cannot be cut into ", divided_by,
                        " equal parts");
    if (extents[0] > INT64_MAX / times)
      return at.invalid(times, " times the first axis of ", input_shape, " is too much");
    extents[0] = extents[0] * times / divided_by;
  }
  return shapes{partial_shape{std::move(extents)}};
}

edge gradient_member(gradient_context& at, std::string op, edge input, bool average) {
  constexpr int64_t key_step = int64_t{1} << 32; // users' keys are smaller
  const auto& forward_node = at.source_node();
  const auto forward_key = forward_node.attr<int64_t>("instance_key");
  auto member_count = count_members(forward_node, forward_key);
  auto key = forward_key + key_step;
  while (key < INT64_MAX - key_step && count_members(forward_node, key) >= member_count)
    key += key_step;
  attr_map attrs{{"group_size", forward_node.attr<int64_t>("group_size")},
                 {"group_key", forward_node.attr<int64_t>("group_key")},
                 {"instance_key", key}};
  if (op != "CollectiveGather") {
    attrs["merge_op"] = std::string{"Add"};
    attrs["final_op"] = std::string{average ? "Div" : "Id"};
  }
  return at.op(std::move(op), {input}, std::move(attrs));
}

} // namespace troupe::ops
