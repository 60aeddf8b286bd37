#include "troupe/runtime/program/collective.hpp"

#include "troupe/runtime/graph/collective_group.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace troupe {
namespace {

constexpr size_t max_named = 8;

std::string short_name(const device_name& of) {
  return concat("/device:", of.kind, ':', of.ordinal);
}

status check_group(const collective_group& of) {
  std::vector<placed_member> all;
  for (const auto& one : of.members)
    all.push_back({one.origin, one.where});
  return check_members(all);
}

} // namespace

bool is_asked(const wait_point& wait) noexcept {
  return wait.by != answered_by::channel && wait.by != answered_by::caller;
}

result<collective_call> collective_group::check(std::span<const collective_part> given) const {
  auto what = call;
  const collective_part* first = nullptr;
  for (size_t i = 0; i < given.size(); ++i) {
    const auto& one = given[i];
    if (call.kind == collective_kind::broadcast && i != call.root)
      continue;
    if (one.input.empty() || one.input.type() != call.type)
      return failure(error_kind::internal, members[i].origin->description(), ": expected ",
                     call.type);
    if (!first)
      first = &one;
    else if (!(one.input.dims() == first->input.dims()))
      return invalid(members[i].origin->description(), ": has ", one.input.dims(), " on ",
                     members[i].where, ", but ", members.front().origin->description(), " has ",
                     first->input.dims(), " on ", members.front().where,
                     ": all members of a group must have one shape");
  }
  what.dims = first->input.dims();
  if (call.kind == collective_kind::broadcast)
    for (const auto& one : members)
      if (const auto& said = one.origin->attr<partial_shape>("shape"); !said.compatible(what.dims))
        return invalid(one.origin->description(), ": expects ", said, ", but ",
                       members[call.root].origin->description(), " sends ", what.dims);
  auto cut = call.kind == collective_kind::reduce_scatter;
  if ((cut || call.kind == collective_kind::all_gather) && what.dims.rank() == 0)
    return invalid(members.front().origin->description(), ": needs a first axis, got a scalar");
  auto count = static_cast<int64_t>(members.size());
  if (cut && what.dims[0] % count != 0)
    return invalid(members.front().origin->description(), ": the first axis of ", what.dims,
                   " cannot be cut into ", count, " equal parts");
  if (call.kind == collective_kind::all_gather && what.dims[0] > INT64_MAX / count)
    return invalid(members.front().origin->description(), ": ", count, " of ", what.dims,
                   " are too many elements");
  return what;
}

result<std::vector<collective_group>>
find_collectives(std::span<const std::shared_ptr<const program>> programs,
                 std::span<const device_name> devices) {
  std::map<std::pair<int64_t, int64_t>, collective_group> found;
  for (uint32_t p = 0; p < programs.size(); ++p)
    for (uint32_t i = 0; i < programs[p]->waits().size(); ++i) {
      const auto& at = *programs[p]->waits()[i].origin;
      if (!is_collective(at.op()))
        continue;
      auto group = at.attr<int64_t>("group_key"), instance = at.attr<int64_t>("instance_key");
      auto& all = found[{group, instance}];
      all.group_key = group;
      all.instance_key = instance;
      all.members.push_back({&at, &programs[p]->device(), devices[p], p, i});
    }
  std::vector<collective_group> groups;
  for (auto& [keys, one] : found) {
    std::ranges::sort(one.members, {}, [](const collective_member& member) {
      return std::tie(member.where, member.origin->name());
    });
    one.call = call_of(*one.members.front().origin);
    TROUPE_TRY(check_group(one));
    auto sender = std::ranges::find_if(
        one.members, [](const collective_member& member) { return is_sender(*member.origin); });
    one.call.root = static_cast<size_t>(sender - one.members.begin());
    groups.push_back(std::move(one));
  }
  return groups;
}

collective_rendezvous::collective_rendezvous(const collective_group& of)
    : group_(of), parts_(of.members.size()), came_(new std::atomic<bool>[of.members.size()]) {
  for (size_t i = 0; i < parts_.size(); ++i)
    parts_[i].on = of.members[i].on;
  reset();
}

collective_rendezvous::arrival collective_rendezvous::arrive(size_t member,
                                                             collective_part mine) noexcept {
  if (came_[member].exchange(true, std::memory_order_relaxed))
    return arrival::again;
  parts_[member] = std::move(mine);
  return missing_.fetch_sub(1, std::memory_order_acq_rel) == 1 ? arrival::last : arrival::waits;
}

void collective_rendezvous::reset() noexcept {
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].input.reset();
    parts_[i].output.reset();
    parts_[i].ready.reset();
    came_[i].store(false, std::memory_order_relaxed);
  }
  missing_.store(parts_.size(), std::memory_order_relaxed);
}

std::string collective_rendezvous::describe_missing() const {
  std::string names;
  size_t missing = 0;
  for (size_t i = 0; i < parts_.size(); ++i)
    if (!came_[i].load(std::memory_order_relaxed))
      if (++missing <= max_named)
        names += concat(names.empty() ? "" : ", ", short_name(group_.members[i].where));
  return concat(parts_.size() - missing, " of ", parts_.size(), " members have come",
                missing ? ", missing: " : "", names, missing > max_named ? ", ..." : "");
}

} // namespace troupe
