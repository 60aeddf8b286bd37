#include "troupe/runtime/graph/collective_group.hpp"

#include <algorithm>
#include <tuple>

namespace troupe {
namespace {

constexpr size_t max_named_members = 8;

collective_kind kind_of(const node& node) {
  const auto& op = node.op().name;
  if (op == "CollectiveGather")
    return collective_kind::all_gather;
  if (op == "CollectiveReduceScatter")
    return collective_kind::reduce_scatter;
  return op == "CollectiveReduce" ? collective_kind::all_reduce : collective_kind::broadcast;
}

reduction reduction_of(const node& node) {
  const auto& merge = node.attr<std::string>("merge_op");
  return merge == "Mul"   ? reduction::product
         : merge == "Min" ? reduction::min
         : merge == "Max" ? reduction::max
                          : reduction::sum;
}

auto key_of(const collective_call& call) {
  return std::tuple{call.kind, call.operation, call.average, call.type};
}

std::string devices_of(std::span<const placed_member> members) {
  std::string text;
  for (size_t i = 0; i < members.size() && i <= max_named_members; ++i)
    text +=
        i == max_named_members ? ", ..." : concat(i ? ", " : "", to_string(members[i].location));
  return text;
}

} // namespace

collective_call collective_of(const node& node) {
  collective_call call{.kind = kind_of(node), .type = node.output_type(0)};
  if (call.kind == collective_kind::all_reduce || call.kind == collective_kind::reduce_scatter) {
    call.operation = reduction_of(node);
    call.average = node.attr<std::string>("final_op") == "Div";
  }
  return call;
}

bool is_sender(const node& member) { return !member.inputs().empty(); }

status check_members(std::span<const placed_member> members) {
  const auto& first = members.front();
  const auto call = collective_of(*first.origin);
  auto group_size = first.origin->attr<int64_t>("group_size");
  auto mismatch = [&](const placed_member& member, const auto&... parts) {
    return invalid(member.origin->description(), ": ", parts...);
  };
  for (const auto& member : members) {
    if (member.origin->attr<int64_t>("group_size") != group_size)
      return mismatch(member, "group_size is ", member.origin->attr<int64_t>("group_size"),
                      ", and that of ", first.origin->description(), " in the same group is ",
                      group_size);
    if (key_of(collective_of(*member.origin)) != key_of(call))
      return mismatch(member, "is in one group with ", first.origin->description(),
                      ", which computes another collective or another type: give them different "
                      "instance keys");
    if (member.location.kind != first.location.kind)
      return mismatch(member, "is on ", member.location, ", but ", first.origin->description(),
                      " of the same group is on ", first.location,
                      ": put all members on GPUs or all on CPUs");
  }
  if (static_cast<int64_t>(members.size()) != group_size)
    return failure(error_kind::failed_precondition, first.origin->description(), ": group ",
                   first.origin->attr<int64_t>("group_key"), ", instance ",
                   first.origin->attr<int64_t>("instance_key"), " has ", members.size(), " of ",
                   group_size, " members in this step, on ", devices_of(members),
                   ": all members must be run by one step");
  if (call.kind != collective_kind::broadcast)
    return {};
  auto senders = std::ranges::count_if(
      members, [](const placed_member& member) { return is_sender(*member.origin); });
  if (senders == 1)
    return {};
  return mismatch(first, "its group has ", senders,
                  " senders, and must have one CollectiveBcastSend");
}

} // namespace troupe
