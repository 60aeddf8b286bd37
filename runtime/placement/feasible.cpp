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

// Moves the GPUs of the first device's task to the front: a node without a device prefers a GPU
// that can run it.
void prefer_accelerators(std::vector<int>& open, const device_list& devices) {
  if (open.empty())
    return;
  const auto home = devices[static_cast<size_t>(open.front())].name_of_task();
  std::ranges::stable_partition(open, [&](int i) {
    const auto& device = devices[static_cast<size_t>(i)];
    return kind_of(device) == device_kind::gpu && device.name_of_task() == home;
  });
}

// Returns whether a node has state that other steps expect in its place, also while its task is
// absent.
bool keeps_state(const node& owner) {
  if (owner.op().state_kind != resource::none || is_collective(owner.op()) ||
      has(owner.op().effects, effect::random))
    return true;
  return runs_functions(owner.op()) &&
         std::ranges::any_of(functions_of(owner), [](const auto* callee) {
           return !callee->body || callee->body->has_effects();
         });
}

bool keeps_state(const node_set& set) {
  return std::ranges::any_of(set.members, [](const node* member) { return keeps_state(*member); });
}

// Suggests the nearest jobs for a job that no device has.
std::string nearest_jobs(const device_name& asked, const device_list& devices) {
  std::set<std::string_view> jobs;
  for (const auto& device : devices)
    jobs.insert(device.job);
  return asked.job.empty() || jobs.contains(asked.job)
             ? ""
             : did_you_mean(asked.job, {jobs.begin(), jobs.end()});
}

std::string listed(const device_list& devices) {
  constexpr size_t max_listed = 20;
  std::string text;
  for (size_t i = 0; i < std::min(devices.size(), max_listed); ++i)
    text += concat(text.empty() ? "" : ", ", devices[i]);
  return devices.size() > max_listed ? concat(text, " and ", devices.size() - max_listed, " more")
                                     : text;
}

} // namespace

feasible_devices::feasible_devices(const device_list& devices, bool soft,
                                   const std::set<task_name>& avoid)
    : devices_(devices), soft_(soft), local_(is_local(devices)), avoid_(avoid) {
  for (const auto& device : devices)
    kinds_present_[index_of(kind_of(device))] = true;
}

// Skips kinds of which there is no device.
feasible_devices::kinds feasible_devices::kinds_of(const node_set& set) const {
  kinds able{};
  for (auto kind : all_kinds)
    able[index_of(kind)] =
        kinds_present_[index_of(kind)] && std::ranges::all_of(set.members, [&](const node* member) {
          return site_of(*member, kind) != kernel_site::none;
        });
  return able;
}

// GPUs precede other matching devices even if they cannot run the set; those are removed last.
const std::vector<int>& feasible_devices::find(const device_name& asked, kinds able, bool avoids) {
  auto [known, is_new] = known_.try_emplace({asked, able[0], able[1], avoids});
  auto& open = known->second;
  if (!is_new)
    return open;
  for (size_t i = 0; i < devices_.size(); ++i)
    if (asked.matches(devices_[i]) && !(avoids && avoid_.contains(devices_[i].name_of_task())))
      open.push_back(static_cast<int>(i));
  prefer_accelerators(open, devices_);
  std::erase_if(open,
                [&](int i) { return !able[index_of(kind_of(devices_[static_cast<size_t>(i)]))]; });
  return open;
}

status feasible_devices::failed(const node_set& set) const {
  std::vector<device_kind> left;
  for (const auto& device : devices_)
    if (set.asked.matches(device))
      left.push_back(kind_of(device));
  if (left.empty()) {
    auto jobs = nearest_jobs(set.asked, devices_);
    return failure(error_kind::not_found, set.members.front()->description(),
                   ": there is no device '", set.asked, '\'', jobs,
                   jobs.empty() ? "; there are " : " There are ", listed(devices_),
                   "; with soft placement (placement.soft of session_options, --soft-placement) it "
                   "runs on the nearest of them");
  }
  for (const auto* member : set.members) {
    std::erase_if(left,
                  [&](device_kind kind) { return site_of(*member, kind) == kernel_site::none; });
    if (left.empty())
      return failure(error_kind::unimplemented, member->description(), ": no device that matches '",
                     set.asked, "' has a kernel for it");
  }
  return failure(error_kind::internal, set.members.front()->description(),
                 ": internal: a feasible device was not considered");
}

// Drops more and more of the request until a device matches. A number that is too high wraps
// around, so that nodes stay spread over devices.
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
  if (auto name = wrapped(of_kind, asked.ordinal, &device_name::ordinal))
    return name;
  if (auto name = wrapped(of_task, -1, &device_name::ordinal))
    return name;
  for (const auto& wide : {of_job_and_kind, of_job, any_of_kind, device_name{}})
    if (auto name = wrapped(wide, asked.task, &device_name::task))
      return name;
  return {};
}

// In a cluster, the requested task may join later: its state must not be created on another task.
device_name feasible_devices::required_of(const node_set& set) const {
  auto required = set.required;
  if (!local_) {
    required.job = set.asked.job;
    required.task = set.asked.task;
  }
  return required;
}

result<feasible_devices::choice> feasible_devices::find_for(const node_set& set) {
  auto able = kinds_of(set);
  if (!avoid_.empty() && !keeps_state(set))
    if (const auto& open = find(set.asked, able, true); !open.empty())
      return choice{&open};
  if (const auto& open = find(set.asked, able); !open.empty())
    return choice{&open};
  if (kind_of(set.asked) == device_kind::gpu) {
    auto gpu =
        std::ranges::find_if(devices_, [&](auto& device) { return set.asked.matches(device); });
    if (gpu != devices_.end())
      if (const auto& on_host = find({gpu->job, gpu->task, "cpu", -1}, able); !on_host.empty())
        return choice{&on_host, true};
  }
  if (soft_ || set.asked != set.required)
    if (auto instead = nearest(set.asked, able, soft_ ? device_name{} : required_of(set)))
      return choice{&find(*instead, able), false, true};
  return failed(set);
}

} // namespace troupe
