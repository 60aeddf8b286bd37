#include "troupe/runtime/placement/simulation.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/placement/cost.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"
#include "troupe/runtime/placement/link_costs.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <queue>

namespace troupe {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// A message between two threads of a process.
constexpr double message_ns = 2000;

class simulator {
public:
  simulator(const graph& step_graph, const device_list& devices, const place_options& options,
            std::vector<int> chosen, const std::vector<free_choice>& free)
      : graph_(step_graph), devices_(devices), options_(options), free_(free),
        node_count_(step_graph.nodes().size()), sent_(node_count_), idle_at_(devices.size()),
        marked_(devices.size(), 0) {
    run_.chosen = std::move(chosen);
    run_.begin_ns.resize(node_count_);
    run_.end_ns.resize(node_count_);
    if (!free.empty())
      run_.decisions.resize(node_count_);
    index_devices();
    estimate_costs();
    find_order();
  }

  simulated_run run() {
    struct ready_node {
      double at, rank;
      size_t id;
      bool operator<(const ready_node& other) const { // a priority queue takes the last first
        return std::tie(other.at, rank, other.id) < std::tie(at, other.rank, id);
      }
    };
    std::priority_queue<ready_node> ready;
    std::vector<double> ready_at(node_count_, 0);
    auto missing = predecessors_;
    for (size_t i = 0; i < node_count_; ++i)
      if (missing[i] == 0)
        ready.push({0, rank_[i], i});
    while (!ready.empty()) {
      auto id = ready.top().id;
      ready.pop();
      visit(*graph_.nodes()[id]);
      for (auto later : successors_[id]) {
        ready_at[later] = std::max(ready_at[later], run_.end_ns[id]);
        if (--missing[later] == 0)
          ready.push({ready_at[later], rank_[later], later});
      }
    }
    for (auto end : run_.end_ns)
      run_.total_ns = std::max(run_.total_ns, end);
    for (const auto& [pair, use] : traffic_)
      run_.links.push_back(
          {to_string(tasks_[pair.first]), to_string(tasks_[pair.second]), use.tensors, use.bytes});
    return std::move(run_);
  }

private:
  struct sent {
    int output, device; // output -1: a control edge
    double at;
  };

  // An input that a node waits for.
  struct arrival {
    size_t from;
    int output, device; // device -1: available on every device
    double end, bytes;
  };

  static bool is_gpu(const device_name& device) { return kind_of(device) == device_kind::gpu; }

  void index_devices() {
    std::map<task_name, int> known;
    for (const auto& device : devices_) {
      auto [task, is_new] =
          known.try_emplace(device.name_of_task(), static_cast<int>(tasks_.size()));
      if (is_new) {
        tasks_.push_back(device.name_of_task());
        on_task_.emplace_back();
        links_.emplace_back();
      }
      on_task_[static_cast<size_t>(task->second)].push_back(static_cast<int>(task_of_.size()));
      task_of_.push_back(task->second);
      gpu_.push_back(is_gpu(device));
      any_gpu_ = any_gpu_ || gpu_.back();
    }
    if (!options_.links)
      return;
    usual_ = options_.links->default_cost();
    for (const auto& [pair, cost] : options_.links->known()) {
      auto from = known.find(pair.first), to = known.find(pair.second);
      if (from != known.end() && to != known.end())
        links_[static_cast<size_t>(from->second)].emplace_back(to->second, cost);
    }
    for (auto& links_of_task : links_)
      std::ranges::sort(links_of_task, {}, [](const auto& link) { return link.first; });
  }

  void estimate_costs() {
    for (const auto& node : graph_.nodes()) {
      auto& cost = costs_.emplace_back();
      if (is_replicated(*node) || internal_ops::is_boundary(*node))
        continue;
      auto cost_on = [&](device_kind kind) {
        auto site = site_of(*node, kind);
        if (site == kernel_site::boundary)
          return 0.0;
        auto site_kind = site == kernel_site::host ? device_kind::cpu : kind;
        return expected_nanoseconds(*node, site_kind, options_.measured);
      };
      cost = {cost_on(device_kind::cpu), any_gpu_ ? cost_on(device_kind::gpu) : 0};
    }
  }

  // Finds the successors of each node, and the longest path from each node to the end.
  void find_order() {
    successors_.resize(node_count_);
    predecessors_.resize(node_count_);
    for (const auto& node : graph_.nodes()) {
      auto add = [&](const troupe::node& before) {
        successors_[before.index()].push_back(node->index());
        ++predecessors_[node->index()];
      };
      for (const auto& input : node->inputs())
        add(*input.node);
      for (const auto* before : node->controls())
        add(*before);
    }
    std::vector<size_t> order;
    order.reserve(node_count_);
    auto missing = predecessors_;
    for (size_t i = 0; i < node_count_; ++i)
      if (missing[i] == 0)
        order.push_back(i);
    for (size_t i = 0; i < order.size(); ++i)
      for (auto successor : successors_[order[i]])
        if (--missing[successor] == 0)
          order.push_back(successor);
    rank_.resize(node_count_);
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      for (auto successor : successors_[*id])
        rank_[*id] = std::max(rank_[*id], rank_[successor]);
      rank_[*id] += costs_[*id][0];
    }
  }

  static bool is_replicated(const node& candidate) {
    return &candidate.op() == &internal_ops::feed ||
           (internal_ops::is_constant(candidate) && candidate.controls().empty());
  }

  // -- links -------------------------------------------------------------------------------------

  double between_tasks(int from, int to, double bytes) const {
    const auto& known = links_[static_cast<size_t>(from)];
    auto link =
        std::ranges::lower_bound(known, to, {}, [](const auto& entry) { return entry.first; });
    return (link != known.end() && link->first == to ? link->second : usual_).transfer_ns(bytes);
  }

  bool on_gpu(int device) const { return gpu_[static_cast<size_t>(device)]; }
  int task_of(int device) const { return task_of_[static_cast<size_t>(device)]; }

  double link(int from, int to, double bytes) const {
    auto bus = expected_bus_copy(on_gpu(from), on_gpu(to), bytes);
    if (task_of(from) == task_of(to))
      return bus > 0 ? bus : message_ns;
    return between_tasks(task_of(from), task_of(to), bytes) + bus;
  }

  double arrival_time(const arrival& input, int device) const {
    if (input.device < 0 || input.device == device)
      return input.end;
    for (const auto& copy : sent_[input.from])
      if (copy.device == device && copy.output == input.output)
        return copy.at;
    return input.end + link(input.device, device, input.bytes);
  }

  // -- nodes -------------------------------------------------------------------------------------

  int device_of(const node& placed) const { return run_.chosen[placed.index()]; }

  void find_arrivals(const node& waiting) {
    arrivals_.clear();
    for (const auto& input : waiting.inputs())
      if (!is_replicated(*input.node)) {
        auto bytes = expected_bytes(input.type(), input.dims());
        arrivals_.push_back({input.node->index(), input.index, device_of(*input.node),
                             run_.end_ns[input.node->index()], bytes});
      }
    for (const auto* before : waiting.controls())
      if (!is_replicated(*before))
        arrivals_.push_back(
            {before->index(), -1, device_of(*before), run_.end_ns[before->index()], 0});
  }

  void visit(const node& visited) {
    find_arrivals(visited);
    auto id = visited.index();
    if (internal_ops::is_boundary(visited)) {
      for (const auto& input : arrivals_)
        run_.end_ns[id] = std::max(run_.end_ns[id], input.end);
      run_.begin_ns[id] = run_.end_ns[id];
      return;
    }
    if (!free_.empty() && free_[id].candidates)
      choose(visited, free_[id]);
    auto device = run_.chosen[id];
    if (device < 0 || is_replicated(visited))
      return;
    double begin = 0;
    for (const auto& input : arrivals_)
      begin = std::max(begin, bring(input, device));
    auto cost = costs_[id][on_gpu(device)];
    if (cost > 0) {
      auto& idle = idle_at_[static_cast<size_t>(device)];
      begin = std::max(begin, idle);
      idle = begin + cost;
    }
    run_.begin_ns[id] = begin;
    run_.end_ns[id] = begin + cost;
  }

  // Sends an input to a device, at most once; returns its arrival time.
  double bring(const arrival& input, int device) {
    auto at = arrival_time(input, device);
    if (input.device < 0 || input.device == device)
      return at;
    auto& known = sent_[input.from];
    if (std::ranges::any_of(known, [&](const sent& copy) {
          return copy.device == device && copy.output == input.output;
        }))
      return at;
    known.push_back({input.output, device, at});
    auto from = task_of(input.device), to = task_of(device);
    if (from != to) {
      auto& use = traffic_[{from, to}];
      ++use.tensors;
      use.bytes += input.bytes;
    }
    return at;
  }

  // -- choices -----------------------------------------------------------------------------------

  void mark(int device) { marked_[static_cast<size_t>(device)] = marks_; }

  // Marks the devices to which some input is nearer or farther than by a usual link.
  void mark_unusual_links() {
    ++marks_;
    for (const auto& input : arrivals_) {
      if (input.device < 0)
        continue;
      auto task = static_cast<size_t>(task_of(input.device));
      for (auto device : on_task_[task])
        mark(device);
      for (const auto& [to, cost] : links_[task])
        for (auto device : on_task_[static_cast<size_t>(to)])
          mark(device);
      for (const auto& copy : sent_[input.from])
        mark(copy.device);
    }
  }

  void choose(const node& placed, const free_choice& choice) {
    if (auto& taken = taken_by(choice.set); taken >= 0) {
      run_.chosen[placed.index()] = taken;
      return;
    }
    mark_unusual_links();
    std::array<double, 2> usual{}; // the arrival of all inputs by usual links, by kind
    for (const auto& input : arrivals_)
      for (bool gpu : {false, true}) {
        auto transfer_ns = input.device < 0
                               ? 0
                               : usual_.transfer_ns(input.bytes) +
                                     expected_bus_copy(on_gpu(input.device), gpu, input.bytes);
        usual[gpu] = std::max(usual[gpu], input.end + transfer_ns);
      }
    decision best{infinite, infinite, -1};
    int chosen = -1;
    const auto cost = costs_[placed.index()];
    for (auto device : *choice.candidates) {
      auto index = static_cast<size_t>(device);
      auto gpu = gpu_[index] != 0;
      auto begin = usual[gpu];
      if (marked_[index] == marks_) {
        begin = 0;
        for (const auto& input : arrivals_)
          begin = std::max(begin, arrival_time(input, device));
      }
      auto end = std::max(begin, idle_at_[index]) + cost[gpu];
      if (end < best.best_ns) {
        best = {end, best.best_ns, chosen};
        chosen = device;
      } else if (end < best.next_ns) {
        best.next_ns = end;
        best.next = device;
      }
    }
    run_.chosen[placed.index()] = taken_by(choice.set) = chosen;
    run_.decisions[placed.index()] = best;
  }

  int& taken_by(int set) {
    auto index = static_cast<size_t>(set);
    if (index >= taken_.size())
      taken_.resize(index + 1, -1);
    return taken_[index];
  }

  const graph& graph_;
  const device_list& devices_;
  const place_options& options_;
  const std::vector<free_choice>& free_;
  const size_t node_count_;
  simulated_run run_;
  link_cost usual_ = default_link;
  bool any_gpu_ = false;
  std::vector<task_name> tasks_;
  std::vector<int> task_of_;                                  // by device
  std::vector<char> gpu_;                                     // by device
  std::vector<std::vector<int>> on_task_;                     // devices, by task
  std::vector<std::vector<std::pair<int, link_cost>>> links_; // known links, by task; sorted
  std::vector<std::array<double, 2>> costs_;                  // by node id and kind of device
  std::vector<std::vector<size_t>> successors_;
  std::vector<int> predecessors_;
  std::vector<double> rank_;
  std::vector<std::vector<sent>> sent_; // by node id
  std::vector<double> idle_at_;         // by device
  std::vector<arrival> arrivals_;       // inputs of the current node
  std::vector<unsigned> marked_;        // by device: the last round that marked it
  unsigned marks_ = 0;
  std::vector<int> taken_; // by set: the device of its first node
  struct traffic {
    uint64_t tensors = 0;
    double bytes = 0;
  };
  std::map<std::pair<int, int>, traffic> traffic_; // between tasks
};

} // namespace

simulated_run simulate(const graph& placed, const device_list& devices,
                       const place_options& options, std::vector<int> chosen,
                       const std::vector<free_choice>& free) {
  return simulator{placed, devices, options, std::move(chosen), free}.run();
}

} // namespace troupe
