#include "troupe/runtime/program/collective.hpp"

#include "troupe/runtime/graph/collective_group.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace troupe {
namespace {

constexpr size_t max_named = 8;

std::string short_name(const device_name& name) {
  return concat("/device:", name.kind, ':', name.ordinal);
}

status check_group(const collective_group& group) {
  std::vector<placed_member> placed;
  for (const auto& member : group.members)
    placed.push_back({member.origin, member.location});
  return check_members(placed);
}

} // namespace

bool begins_on_request(const wait_point& wait) noexcept {
  return wait.answered_by != answer_source::channel && wait.answered_by != answer_source::caller;
}

result<collective_call> collective_group::check(std::span<const collective_part> parts) const {
  auto checked = call;
  const collective_part* first = nullptr;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& part = parts[i];
    if (call.kind == collective_kind::broadcast && i != call.root)
      continue;
    if (part.input.empty() || part.input.type() != call.type)
      return failure(error_kind::internal, members[i].origin->description(), ": expected ",
                     call.type);
    if (!first)
      first = &part;
    else if (!(part.input.dims() == first->input.dims()))
      return invalid(members[i].origin->description(), ": has ", part.input.dims(), " on ",
                     members[i].location, ", but ", members.front().origin->description(), " has ",
                     first->input.dims(), " on ", members.front().location,
                     ": all members of a group must have one shape");
  }
  checked.dims = first->input.dims();
  if (call.kind == collective_kind::broadcast)
    for (const auto& member : members)
      if (const auto& expected = member.origin->attr<partial_shape>("shape");
          !expected.compatible(checked.dims))
        return invalid(member.origin->description(), ": expects ", expected, ", but ",
                       members[call.root].origin->description(), " sends ", checked.dims);
  auto scatters = call.kind == collective_kind::reduce_scatter;
  if ((scatters || call.kind == collective_kind::all_gather) && checked.dims.rank() == 0)
    return invalid(members.front().origin->description(), ": needs a first axis, got a scalar");
  auto count = static_cast<int64_t>(members.size());
  if (scatters && checked.dims[0] % count != 0)
    return invalid(members.front().origin->description(), ": the first axis of ", checked.dims,
                   " cannot be cut into ", count, " equal parts");
  if (call.kind == collective_kind::all_gather && checked.dims[0] > INT64_MAX / count)
    return invalid(members.front().origin->description(), ": ", count, " of ", checked.dims,
                   " are too many elements");
  return checked;
}

result<std::vector<collective_group>>
find_collectives(std::span<const std::shared_ptr<const program>> programs,
                 std::span<const device_name> devices) {
  std::map<std::pair<int64_t, int64_t>, collective_group> groups_by_key;
  for (uint32_t p = 0; p < programs.size(); ++p)
    for (uint32_t i = 0; i < programs[p]->waits().size(); ++i) {
      const auto& origin = *programs[p]->waits()[i].origin;
      if (!is_collective(origin.op()))
        continue;
      auto group_key = origin.attr<int64_t>("group_key");
      auto instance_key = origin.attr<int64_t>("instance_key");
      auto& group = groups_by_key[{group_key, instance_key}];
      group.group_key = group_key;
      group.instance_key = instance_key;
      group.members.push_back({&origin, &programs[p]->device(), devices[p], p, i});
    }
  std::vector<collective_group> groups;
  for (auto& [keys, group] : groups_by_key) {
    std::ranges::sort(group.members, {}, [](const collective_member& member) {
      return std::tie(member.location, member.origin->name());
    });
    group.call = collective_of(*group.members.front().origin);
    TROUPE_TRY(check_group(group));
    auto sender = std::ranges::find_if(
        group.members, [](const collective_member& member) { return is_sender(*member.origin); });
    group.call.root = static_cast<size_t>(sender - group.members.begin());
    groups.push_back(std::move(group));
  }
  return groups;
}

collective_rendezvous::collective_rendezvous(const collective_group& group)
    : group_(group), parts_(group.members.size()),
      arrived_(new std::atomic<bool>[group.members.size()]) {
  for (size_t i = 0; i < parts_.size(); ++i)
    parts_[i].target = group.members[i].target;
  reset();
}

collective_rendezvous::arrival collective_rendezvous::arrive(size_t member,
                                                             collective_part part) noexcept {
  if (arrived_[member].exchange(true, std::memory_order_relaxed))
    return arrival::again;
  parts_[member] = std::move(part);
  return missing_.fetch_sub(1, std::memory_order_acq_rel) == 1 ? arrival::last : arrival::waits;
}

void collective_rendezvous::reset() noexcept {
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].input.reset();
    parts_[i].output.reset();
    parts_[i].ready.reset();
    arrived_[i].store(false, std::memory_order_relaxed);
  }
  missing_.store(parts_.size(), std::memory_order_relaxed);
}

std::string collective_rendezvous::describe_missing() const {
  std::string names;
  size_t missing = 0;
  for (size_t i = 0; i < parts_.size(); ++i)
    if (!arrived_[i].load(std::memory_order_relaxed))
      if (++missing <= max_named)
        names += concat(names.empty() ? "" : ", ", short_name(group_.members[i].location));
  return concat(parts_.size() - missing, " of ", parts_.size(), " members have arrived",
                missing ? ", missing: " : "", names, missing > max_named ? ", ..." : "");
}

} // namespace troupe
