#include "troupe/runtime/placement/place.hpp"

#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/runtime/graph/collective.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/placement/constraints.hpp"
#include "troupe/runtime/placement/divide.hpp"
#include "troupe/runtime/placement/explain.hpp"
#include "troupe/runtime/placement/feasible.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"
#include "troupe/runtime/placement/simulation.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace troupe {
namespace {

// Returns whether the device of a node matters in later steps, or its outputs can only be used
// there.
bool is_tied(const node& candidate, const device_list& devices) {
  if (candidate.op().state_kind != resource::none || is_collective(candidate.op()) ||
      has(candidate.op().effects, effect::stateful | effect::random | effect::blocking))
    return true;
  for (int i = 0; i < static_cast<int>(candidate.inputs().size()); ++i)
    if (candidate.input_is_ref(i) || candidate.input_port(i).handle ||
        (candidate.inputs()[static_cast<size_t>(i)].type() == dtype::variant))
      return true;
  for (int i = 0; i < candidate.outputs(); ++i)
    if (candidate.output_is_ref(i) || candidate.output_type(i) == dtype::variant)
      return true;
  if (!runs_functions(candidate.op()))
    return false;
  return needs_frame(candidate, devices) ||
         std::ranges::any_of(functions_of(candidate), [](const auto* callee) {
           return !callee->body || callee->body->has_effects();
         });
}

bool is_tied(const node_set& set, const device_list& devices) {
  return std::ranges::any_of(set.members,
                             [&](const node* member) { return is_tied(*member, devices); });
}

// Returns the GPU, and the processor of its task, between which a node may choose.
std::optional<gpu_and_host> find_gpu_and_host(const node_set& set, int chosen,
                                              const std::vector<int>& open,
                                              const device_list& devices) {
  const auto& first = devices[static_cast<size_t>(chosen)];
  if (kind_of(first) != device_kind::gpu || set.members.size() > 1)
    return {};
  const auto& candidate = *set.members.front();
  if (candidate.op().state_kind != resource::none || runs_functions(candidate.op()) ||
      has(candidate.op().effects, effect::stateful | effect::random | effect::blocking))
    return {};
  for (auto i : open) {
    const auto& device = devices[static_cast<size_t>(i)];
    if (kind_of(device) == device_kind::cpu && device.name_of_task() == first.name_of_task())
      return gpu_and_host{chosen, i};
  }
  return {};
}

// Caches for each list of devices the GPUs of each task, or the processors of a task without a GPU
// in the list. The choice between a GPU and its processor is made later.
class choices {
public:
  explicit choices(const device_list& devices) : devices_(devices) {}

  const std::vector<int>& among(const std::vector<int>& open) {
    auto [narrowed, is_new] = known_.try_emplace(&open);
    if (!is_new)
      return narrowed->second;
    std::set<task_name> with_gpu;
    for (auto i : open)
      if (is_gpu(i))
        with_gpu.insert(devices_[static_cast<size_t>(i)].name_of_task());
    for (auto i : open)
      if (is_gpu(i) || !with_gpu.contains(devices_[static_cast<size_t>(i)].name_of_task()))
        narrowed->second.push_back(i);
    return narrowed->second;
  }

private:
  bool is_gpu(int i) const { return kind_of(devices_[static_cast<size_t>(i)]) == device_kind::gpu; }

  const device_list& devices_;
  std::map<const std::vector<int>*, std::vector<int>> known_;
};

class placer {
public:
  placer(const graph& placed, const device_list& devices, const place_options& options)
      : graph_(placed), devices_(devices), options_(options),
        feasible_(devices, options.soft, options.avoid) {}

  result<placement> run() {
    TROUPE_ASSIGN(sets_, node_sets::find(graph_, devices_));
    placement_.chosen.assign(graph_.nodes().size(), -1);
    for (const auto& set : sets_.all())
      TROUPE_TRY(add(set));
    auto first_worker = placement_.chosen;
    placement_grounds grounds{sets_, answers_, {}, false};
    if (options_.strategy == placement_strategy::greedy)
      choose_greedily(grounds);
    divide_tasks();
    if (options_.explain)
      placement_.report = std::make_shared<const placement_report>(
          explain(graph_, devices_, options_, placement_.chosen, first_worker, grounds));
    return std::move(placement_);
  }

private:
  status add(const node_set& set) {
    TROUPE_ASSIGN(auto answer, feasible_.find_for(set));
    for (auto* node : set.members)
      placement_.chosen[node->index()] = answer.candidates->front();
    if (answer.moved_to_host)
      placement_.moved_to_host.insert(placement_.moved_to_host.end(), set.members.begin(),
                                      set.members.end());
    else
      for (auto* node : set.members)
        if (answer.request_replaced || !gets_preferred(*node))
          placement_.replaced_requests.push_back(node);
    answers_.push_back(answer);
    return {};
  }

  // Returns whether the node is on a device that it prefers. If the preferences of a set contradict
  // each other, some of its nodes are not.
  bool gets_preferred(const node& preferring) const {
    if (preferring.device().find('?') == std::string::npos)
      return true;
    auto asked = device_name::parse(preferring.device());
    return asked &&
           asked->matches(devices_[static_cast<size_t>(placement_.chosen[preferring.index()])]);
  }

  // Keeps the former choices if the greedy ones are slower by the model.
  void choose_greedily(placement_grounds& grounds) {
    std::vector<free_choice> free_choices(graph_.nodes().size());
    choices narrowed{devices_};
    for (size_t i = 0; i < sets_.all().size(); ++i) {
      const auto& set = sets_.all()[i];
      const auto& open = narrowed.among(*answers_[i].candidates);
      if (open.size() > 1 && !is_tied(set, devices_))
        for (auto* node : set.members)
          free_choices[node->index()] = {&open, static_cast<int>(i)};
    }
    auto current = simulate(graph_, devices_, options_, placement_.chosen);
    auto greedy = simulate(graph_, devices_, options_, placement_.chosen, free_choices);
    if (greedy.total_ns > current.total_ns) {
      grounds.greedy_was_worse = true;
      return;
    }
    placement_.chosen = std::move(greedy.chosen);
    grounds.decisions = std::move(greedy.decisions);
  }

  void divide_tasks() {
    if (!options_.by_cost)
      return;
    std::vector<bool> may_choose(graph_.nodes().size());
    std::set<gpu_and_host> pairs;
    for (size_t i = 0; i < sets_.all().size(); ++i) {
      const auto& set = sets_.all()[i];
      auto id = set.members.front()->index();
      if (auto between =
              find_gpu_and_host(set, placement_.chosen[id], *answers_[i].candidates, devices_)) {
        may_choose[id] = true;
        pairs.insert(*between);
      }
    }
    for (const auto& between : pairs)
      divide(graph_, between, options_, placement_.chosen, may_choose);
  }

  const graph& graph_;
  const device_list& devices_;
  const place_options& options_;
  feasible_devices feasible_;
  node_sets sets_;
  std::vector<feasible_devices::choice> answers_; // by set
  placement placement_;
};

} // namespace

device_kind kind_of(const device_name& device) {
  return device.kind == to_string(device_kind::gpu) ? device_kind::gpu : device_kind::cpu;
}

bool is_local(const device_list& devices) noexcept {
  return std::ranges::all_of(
      devices, [](const auto& device) { return device.job == local_job && device.task == 0; });
}

result<placement> place(const graph& placed, const device_list& devices,
                        const place_options& options) {
  if (devices.empty())
    return failure(error_kind::failed_precondition, "there is no device to place nodes on");
  return placer{placed, devices, options}.run();
}

} // namespace troupe
