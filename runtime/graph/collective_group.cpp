#include "troupe/runtime/graph/collective_group.hpp"

#include <algorithm>
#include <tuple>

namespace troupe {
namespace {

constexpr size_t max_named = 8;

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

auto key_of(const collective_call& what) {
  return std::tuple{what.kind, what.by, what.average, what.type};
}

std::string places(std::span<const placed_member> all) {
  std::string text;
  for (size_t i = 0; i < all.size() && i <= max_named; ++i)
    text += i == max_named ? ", ..." : concat(i ? ", " : "", to_string(all[i].where));
  return text;
}

} // namespace

collective_call call_of(const node& node) {
  collective_call what{.kind = kind_of(node), .type = node.output_type(0)};
  if (what.kind == collective_kind::all_reduce || what.kind == collective_kind::reduce_scatter) {
    what.by = reduction_of(node);
    what.average = node.attr<std::string>("final_op") == "Div";
  }
  return what;
}

bool is_sender(const node& member) { return !member.inputs().empty(); }

status check_members(std::span<const placed_member> all) {
  const auto& first = all.front();
  const auto call = call_of(*first.origin);
  auto size = first.origin->attr<int64_t>("group_size");
  auto wrong = [&](const placed_member& at, const auto&... parts) {
    return invalid(at.origin->description(), ": ", parts...);
  };
  for (const auto& one : all) {
    if (one.origin->attr<int64_t>("group_size") != size)
      return wrong(one, "group_size is ", one.origin->attr<int64_t>("group_size"), ", and that of ",
                   first.origin->description(), " in the same group is ", size);
    if (key_of(call_of(*one.origin)) != key_of(call))
      return wrong(one, "is in one group with ", first.origin->description(),
                   ", which computes something else or in another type: give them different "
                   "instance keys");
    if (one.where.kind != first.where.kind)
      return wrong(one, "is on ", one.where, ", but ", first.origin->description(),
                   " of the same group is on ", first.where,
                   ": put all members on GPUs, or all on processors");
  }
  if (static_cast<int64_t>(all.size()) != size)
    return failure(error_kind::failed_precondition, first.origin->description(), ": group ",
                   first.origin->attr<int64_t>("group_key"), ", instance ",
                   first.origin->attr<int64_t>("instance_key"), " has ", all.size(), " of ", size,
                   " members in this step, on ", places(all),
                   ": all members must be run by one step");
  if (call.kind != collective_kind::broadcast)
    return {};
  auto senders =
      std::ranges::count_if(all, [](const placed_member& one) { return is_sender(*one.origin); });
  if (senders == 1)
    return {};
  return wrong(first, "its group has ", senders, " senders, and must have one CollectiveBcastSend");
}

} // namespace troupe
