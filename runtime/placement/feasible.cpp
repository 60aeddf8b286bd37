#include "troupe/runtime/placement/feasible.hpp"

#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"

#include <algorithm>
#include <set>

namespace troupe {
namespace {

constexpr std::array all_kinds{device_kind::cpu, device_kind::gpu};

size_t index_of(device_kind kind) { return kind == device_kind::gpu ? 1 : 0; }

// Among devices that a node may use, the GPUs of the first's task come first: a node that does not
// say where runs on one, if it can.
void prefer_accelerators(std::vector<int>& open, const device_list& devices) {
  if (open.empty())
    return;
  const auto home = devices[static_cast<size_t>(open.front())].on_task();
  std::ranges::stable_partition(open, [&](int i) {
    const auto& one = devices[static_cast<size_t>(i)];
    return kind_of(one) == device_kind::gpu && one.on_task() == home;
  });
}

// What other steps look for where it is, whether that task is there or not.
bool keeps_state(const node& at) {
  if (at.op().makes != resource::none || is_collective(at.op()) ||
      has(at.op().effects, effect::random))
    return true;
  return runs_functions(at.op()) && std::ranges::any_of(functions_of(at), [](const auto* one) {
           return !one->body || one->body->has_effects();
         });
}

bool keeps_state(const node_set& set) {
  return std::ranges::any_of(set.members, [](const node* one) { return keeps_state(*one); });
}

// Of a name whose job no device is of: the nearest jobs.
std::string nearest_jobs(const device_name& asked, const device_list& devices) {
  std::set<std::string_view> jobs;
  for (const auto& each : devices)
    jobs.insert(each.job);
  return asked.job.empty() || jobs.contains(asked.job)
             ? ""
             : did_you_mean(asked.job, {jobs.begin(), jobs.end()});
}

std::string listed(const device_list& devices) {
  constexpr size_t enough = 20;
  std::string text;
  for (size_t i = 0; i < std::min(devices.size(), enough); ++i)
    text += concat(text.empty() ? "" : ", ", devices[i]);
  return devices.size() > enough ? concat(text, " and ", devices.size() - enough, " more") : text;
}

} // namespace

feasible_devices::feasible_devices(const device_list& devices, bool soft,
                                   const std::set<task_name>& avoid)
    : devices_(devices), soft_(soft), local_(is_local(devices)), avoid_(avoid) {
  for (const auto& one : devices)
    there_[index_of(kind_of(one))] = true;
}

// What no device is of is not asked about.
feasible_devices::kinds feasible_devices::kinds_of(const node_set& set) const {
  kinds able{};
  for (auto kind : all_kinds)
    able[index_of(kind)] =
        there_[index_of(kind)] && std::ranges::all_of(set.members, [&](const node* one) {
          return site_of(*one, kind) != kernel_site::none;
        });
  return able;
}

// GPUs come before others of all that match, also where they cannot run the set: then they are left
// out.
const std::vector<int>& feasible_devices::find(const device_name& asked, kinds able, bool avoids) {
  auto [it, fresh] = known_.try_emplace({asked, able[0], able[1], avoids});
  auto& open = it->second;
  if (!fresh)
    return open;
  for (size_t i = 0; i < devices_.size(); ++i)
    if (asked.matches(devices_[i]) && !(avoids && avoid_.contains(devices_[i].on_task())))
      open.push_back(static_cast<int>(i));
  prefer_accelerators(open, devices_);
  std::erase_if(open,
                [&](int i) { return !able[index_of(kind_of(devices_[static_cast<size_t>(i)]))]; });
  return open;
}

status feasible_devices::failed(const node_set& set) const {
  std::vector<device_kind> left;
  for (const auto& one : devices_)
    if (set.asked.matches(one))
      left.push_back(kind_of(one));
  if (left.empty()) {
    auto jobs = nearest_jobs(set.asked, devices_);
    return failure(error_kind::not_found, set.members.front()->description(),
                   ": there is no device '", set.asked, '\'', jobs,
                   jobs.empty() ? "; there are " : " There are ", listed(devices_),
                   "; with soft placement (placement.soft of session_options, --soft-placement) it "
                   "runs on the nearest of them");
  }
  for (const auto* one : set.members) {
    std::erase_if(left, [&](device_kind kind) { return site_of(*one, kind) == kernel_site::none; });
    if (left.empty())
      return failure(error_kind::unimplemented, one->description(), ": no device that matches '",
                     set.asked, "' has a kernel for it");
  }
  return failure(error_kind::internal, set.members.front()->description(),
                 ": a device was overlooked");
}

// Less and less of what was asked, until there is such a device; numbers that are too high wrap
// around, so that what was spread stays so.
std::optional<device_name> feasible_devices::nearest(const device_name& asked, kinds able,
                                                     const device_name& required) {
  auto wrapped = [&](const device_name& near, int number, auto part) -> std::optional<device_name> {
    auto merged = merge(near, required);
    if (!merged)
      return {};
    auto wide = *std::move(merged);
    const auto& open = find(wide, able);
    if (open.empty())
      return {};
    std::vector<int> numbers;
    for (auto i : open)
      numbers.push_back(devices_[static_cast<size_t>(i)].*part);
    std::ranges::sort(numbers);
    auto twice = std::ranges::unique(numbers);
    numbers.erase(twice.begin(), twice.end());
    if (number >= 0 && wide.*part < 0)
      wide.*part = numbers[static_cast<size_t>(number) % numbers.size()];
    return wide;
  };
  const device_name of_kind{asked.job, asked.task, asked.kind, -1},
      of_task{asked.job, asked.task, "", -1}, of_job_and_kind{asked.job, -1, asked.kind, -1},
      of_job{asked.job, -1, "", -1}, any_of_kind{"", -1, asked.kind, -1};
  if (auto found = wrapped(of_kind, asked.ordinal, &device_name::ordinal))
    return found;
  if (auto found = wrapped(of_task, -1, &device_name::ordinal))
    return found;
  for (const auto& wide : {of_job_and_kind, of_job, any_of_kind, device_name{}})
    if (auto found = wrapped(wide, asked.task, &device_name::task))
      return found;
  return {};
}

// In a cluster, a task that is asked for may come later: state must not begin somewhere else.
device_name feasible_devices::required_of(const node_set& set) const {
  auto required = set.required;
  if (!local_) {
    required.job = set.asked.job;
    required.task = set.asked.task;
  }
  return required;
}

result<feasible_devices::choice> feasible_devices::of(const node_set& set) {
  auto able = kinds_of(set);
  if (!avoid_.empty() && !keeps_state(set))
    if (const auto& open = find(set.asked, able, true); !open.empty())
      return choice{&open};
  if (const auto& open = find(set.asked, able); !open.empty())
    return choice{&open};
  if (kind_of(set.asked) == device_kind::gpu) {
    auto gpu = std::ranges::find_if(devices_, [&](auto& one) { return set.asked.matches(one); });
    if (gpu != devices_.end())
      if (const auto& beside = find({gpu->job, gpu->task, "cpu", -1}, able); !beside.empty())
        return choice{&beside, true};
  }
  if (soft_ || set.asked != set.required)
    if (auto instead = nearest(set.asked, able, soft_ ? device_name{} : required_of(set)))
      return choice{&find(*instead, able), false, true};
  return failed(set);
}

} // namespace troupe
