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

// Whether it matters in later steps where it runs, or what it gives can be used there alone.
bool is_tied(const node& at, const device_list& devices) {
  if (at.op().makes != resource::none || is_collective(at.op()) ||
      has(at.op().effects, effect::stateful | effect::random | effect::blocking))
    return true;
  for (int i = 0; i < static_cast<int>(at.inputs().size()); ++i)
    if (at.input_is_ref(i) || at.input_port(i).handle ||
        (at.inputs()[static_cast<size_t>(i)].type() == dtype::variant))
      return true;
  for (int i = 0; i < at.outputs(); ++i)
    if (at.output_is_ref(i) || at.output_type(i) == dtype::variant)
      return true;
  if (!runs_functions(at.op()))
    return false;
  return needs_frame(at, devices) || std::ranges::any_of(functions_of(at), [](const auto* one) {
           return !one->body || one->body->has_effects();
         });
}

bool is_tied(const node_set& set, const device_list& devices) {
  return std::ranges::any_of(set.members, [&](const node* one) { return is_tied(*one, devices); });
}

// A GPU and the processor of its task that a node may choose between.
std::optional<rivals> find_rivals(const node_set& set, int chosen, const std::vector<int>& open,
                                  const device_list& devices) {
  const auto& first = devices[static_cast<size_t>(chosen)];
  if (kind_of(first) != device_kind::gpu || set.members.size() > 1)
    return {};
  const auto& at = *set.members.front();
  if (at.op().makes != resource::none || runs_functions(at.op()) ||
      has(at.op().effects, effect::stateful | effect::random | effect::blocking))
    return {};
  for (auto i : open) {
    const auto& one = devices[static_cast<size_t>(i)];
    if (kind_of(one) == device_kind::cpu && one.on_task() == first.on_task())
      return rivals{chosen, i};
  }
  return {};
}

// Of each task the GPUs, or where none is open, its processors: which of the two is decided later.
class choices {
public:
  explicit choices(const device_list& devices) : devices_(devices) {}

  const std::vector<int>& among(const std::vector<int>& open) {
    auto [it, fresh] = known_.try_emplace(&open);
    if (!fresh)
      return it->second;
    std::set<task_name> with_gpu;
    for (auto i : open)
      if (is_gpu(i))
        with_gpu.insert(devices_[static_cast<size_t>(i)].on_task());
    for (auto i : open)
      if (is_gpu(i) || !with_gpu.contains(devices_[static_cast<size_t>(i)].on_task()))
        it->second.push_back(i);
    return it->second;
  }

private:
  bool is_gpu(int i) const { return kind_of(devices_[static_cast<size_t>(i)]) == device_kind::gpu; }

  const device_list& devices_;
  std::map<const std::vector<int>*, std::vector<int>> known_;
};

class placer {
public:
  placer(const graph& of, const device_list& devices, const placing& how)
      : of_(of), devices_(devices), how_(how), feasible_(devices, how.soft, how.avoid) {}

  result<placement> run() {
    TROUPE_ASSIGN(sets_, node_sets::find(of_, devices_));
    made_.chosen.assign(of_.nodes().size(), -1);
    for (const auto& set : sets_.all())
      TROUPE_TRY(add(set));
    auto first_worker = made_.chosen;
    placement_grounds grounds{sets_, answers_, {}, false};
    if (how_.strategy == placement_strategy::greedy)
      choose_greedily(grounds);
    divide_tasks();
    if (how_.explain)
      made_.report = std::make_shared<const placement_report>(
          explain(of_, devices_, how_, made_.chosen, first_worker, grounds));
    return std::move(made_);
  }

private:
  status add(const node_set& set) {
    TROUPE_ASSIGN(auto answer, feasible_.of(set));
    for (auto* node : set.members)
      made_.chosen[node->index()] = answer.open->front();
    if (answer.moved)
      made_.moved.insert(made_.moved.end(), set.members.begin(), set.members.end());
    else
      for (auto* node : set.members)
        if (answer.softened || !gets_preferred(*node))
          made_.softened.push_back(node);
    answers_.push_back(answer);
    return {};
  }

  // Of sets that contradict each other only in what they prefer, some do not get it.
  bool gets_preferred(const node& at) const {
    if (at.device().find('?') == std::string::npos)
      return true;
    auto asked = device_name::parse(at.device());
    return asked && asked->matches(devices_[static_cast<size_t>(made_.chosen[at.index()])]);
  }

  // Never worse than without, as far as the model knows.
  void choose_greedily(placement_grounds& grounds) {
    std::vector<free_choice> free(of_.nodes().size());
    choices narrowed{devices_};
    for (size_t i = 0; i < sets_.all().size(); ++i) {
      const auto& set = sets_.all()[i];
      const auto& open = narrowed.among(*answers_[i].open);
      if (open.size() > 1 && !is_tied(set, devices_))
        for (auto* node : set.members)
          free[node->index()] = {&open, static_cast<int>(i)};
    }
    auto as_before = simulate(of_, devices_, how_, made_.chosen);
    auto greedy = simulate(of_, devices_, how_, made_.chosen, free);
    if (greedy.total_ns > as_before.total_ns) {
      grounds.greedy_was_worse = true;
      return;
    }
    made_.chosen = std::move(greedy.chosen);
    grounds.decisions = std::move(greedy.decisions);
  }

  void divide_tasks() {
    if (!how_.by_cost)
      return;
    std::vector<bool> may_choose(of_.nodes().size());
    std::set<rivals> contests;
    for (size_t i = 0; i < sets_.all().size(); ++i) {
      const auto& set = sets_.all()[i];
      auto id = set.members.front()->index();
      if (auto between = find_rivals(set, made_.chosen[id], *answers_[i].open, devices_)) {
        may_choose[id] = true;
        contests.insert(*between);
      }
    }
    for (const auto& between : contests)
      divide(of_, between, how_, made_.chosen, may_choose);
  }

  const graph& of_;
  const device_list& devices_;
  const placing& how_;
  feasible_devices feasible_;
  node_sets sets_;
  std::vector<feasible_devices::choice> answers_; // by set
  placement made_;
};

} // namespace

device_kind kind_of(const device_name& where) {
  return where.kind == to_string(device_kind::gpu) ? device_kind::gpu : device_kind::cpu;
}

bool is_local(const device_list& devices) noexcept {
  return std::ranges::all_of(devices,
                             [](const auto& one) { return one.job == local_job && one.task == 0; });
}

result<placement> place(const graph& of, const device_list& devices, const placing& how) {
  if (devices.empty())
    return failure(error_kind::failed_precondition, "there is no device to place nodes on");
  return placer{of, devices, how}.run();
}

} // namespace troupe
