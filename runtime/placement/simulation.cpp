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

constexpr double endless = std::numeric_limits<double>::infinity();

// Between two threads of a process.
constexpr double message_ns = 2000;

class simulator {
public:
  simulator(const graph& of, const device_list& devices, const placing& how,
            std::vector<int> chosen, const std::vector<free_choice>& free)
      : of_(of), devices_(devices), how_(how), free_(free), nodes_(of.nodes().size()),
        sent_(nodes_), idle_at_(devices.size()), marked_(devices.size(), 0) {
    run_.chosen = std::move(chosen);
    run_.begin_ns.resize(nodes_);
    run_.end_ns.resize(nodes_);
    if (!free.empty())
      run_.decisions.resize(nodes_);
    learn_devices();
    learn_costs();
    learn_order();
  }

  simulated_run run() {
    struct ready_node {
      double at, rank;
      size_t id;
      bool operator<(const ready_node& other) const { // the last is taken first
        return std::tie(other.at, rank, other.id) < std::tie(at, other.rank, id);
      }
    };
    std::priority_queue<ready_node> ready;
    std::vector<double> ready_at(nodes_, 0);
    auto missing = predecessors_;
    for (size_t i = 0; i < nodes_; ++i)
      if (missing[i] == 0)
        ready.push({0, rank_[i], i});
    while (!ready.empty()) {
      auto id = ready.top().id;
      ready.pop();
      visit(*of_.nodes()[id]);
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
    int output, device; // output -1: an order
    double at;
  };

  // Something that a node waits for.
  struct arrival {
    size_t from;
    int output, device; // device -1: it is everywhere
    double end, bytes;
  };

  static bool is_gpu(const device_name& one) { return kind_of(one) == device_kind::gpu; }

  void learn_devices() {
    std::map<task_name, int> known;
    for (const auto& one : devices_) {
      auto [it, fresh] = known.try_emplace(one.on_task(), static_cast<int>(tasks_.size()));
      if (fresh) {
        tasks_.push_back(one.on_task());
        on_task_.emplace_back();
        links_.emplace_back();
      }
      on_task_[static_cast<size_t>(it->second)].push_back(static_cast<int>(task_of_.size()));
      task_of_.push_back(it->second);
      gpu_.push_back(is_gpu(one));
      any_gpu_ = any_gpu_ || gpu_.back();
    }
    if (!how_.links)
      return;
    usual_ = how_.links->usual();
    for (const auto& [pair, cost] : how_.links->known()) {
      auto from = known.find(pair.first), to = known.find(pair.second);
      if (from != known.end() && to != known.end())
        links_[static_cast<size_t>(from->second)].emplace_back(to->second, cost);
    }
    for (auto& one : links_)
      std::ranges::sort(one, {}, [](const auto& link) { return link.first; });
  }

  void learn_costs() {
    for (const auto& node : of_.nodes()) {
      auto& cost = costs_.emplace_back();
      if (goes_along(*node) || internal_ops::is_boundary(*node))
        continue;
      auto on = [&](device_kind kind) {
        auto site = site_of(*node, kind);
        if (site == kernel_site::boundary)
          return 0.0;
        auto kept = site == kernel_site::host ? device_kind::cpu : kind;
        return expected_nanoseconds(*node, kept, how_.measured);
      };
      cost = {on(device_kind::cpu), any_gpu_ ? on(device_kind::gpu) : 0};
    }
  }

  // Who comes after whom, and how long the longest way from a node to the end is.
  void learn_order() {
    successors_.resize(nodes_);
    predecessors_.resize(nodes_);
    for (const auto& node : of_.nodes()) {
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
    order.reserve(nodes_);
    auto missing = predecessors_;
    for (size_t i = 0; i < nodes_; ++i)
      if (missing[i] == 0)
        order.push_back(i);
    for (size_t i = 0; i < order.size(); ++i)
      for (auto later : successors_[order[i]])
        if (--missing[later] == 0)
          order.push_back(later);
    rank_.resize(nodes_);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      for (auto later : successors_[*it])
        rank_[*it] = std::max(rank_[*it], rank_[later]);
      rank_[*it] += costs_[*it][0];
    }
  }

  static bool goes_along(const node& one) {
    return &one.op() == &internal_ops::feed ||
           (internal_ops::is_constant(one) && one.controls().empty());
  }

  // -- links -------------------------------------------------------------------------------------

  double between_tasks(int from, int to, double bytes) const {
    const auto& known = links_[static_cast<size_t>(from)];
    auto it = std::ranges::lower_bound(known, to, {}, [](const auto& link) { return link.first; });
    return (it != known.end() && it->first == to ? it->second : usual_).of(bytes);
  }

  bool on_gpu(int device) const { return gpu_[static_cast<size_t>(device)]; }
  int task_of(int device) const { return task_of_[static_cast<size_t>(device)]; }

  double link(int from, int to, double bytes) const {
    auto bus = expected_over_bus(on_gpu(from), on_gpu(to), bytes);
    if (task_of(from) == task_of(to))
      return bus > 0 ? bus : message_ns;
    return between_tasks(task_of(from), task_of(to), bytes) + bus;
  }

  double when_on(const arrival& what, int device) const {
    if (what.device < 0 || what.device == device)
      return what.end;
    for (const auto& one : sent_[what.from])
      if (one.device == device && one.output == what.output)
        return one.at;
    return what.end + link(what.device, device, what.bytes);
  }

  // -- nodes -------------------------------------------------------------------------------------

  int device_of(const node& one) const { return run_.chosen[one.index()]; }

  void find_arrivals(const node& of) {
    arrivals_.clear();
    for (const auto& input : of.inputs())
      if (!goes_along(*input.node)) {
        auto bytes = expected_bytes(input.type(), input.dims());
        arrivals_.push_back({input.node->index(), input.index, device_of(*input.node),
                             run_.end_ns[input.node->index()], bytes});
      }
    for (const auto* before : of.controls())
      if (!goes_along(*before))
        arrivals_.push_back(
            {before->index(), -1, device_of(*before), run_.end_ns[before->index()], 0});
  }

  void visit(const node& one) {
    find_arrivals(one);
    auto id = one.index();
    if (internal_ops::is_boundary(one)) {
      for (const auto& what : arrivals_)
        run_.end_ns[id] = std::max(run_.end_ns[id], what.end);
      run_.begin_ns[id] = run_.end_ns[id];
      return;
    }
    if (!free_.empty() && free_[id].open)
      choose(one, free_[id]);
    auto device = run_.chosen[id];
    if (device < 0 || goes_along(one))
      return;
    double begin = 0;
    for (const auto& what : arrivals_)
      begin = std::max(begin, bring(what, device));
    auto cost = costs_[id][on_gpu(device)];
    if (cost > 0) {
      auto& idle = idle_at_[static_cast<size_t>(device)];
      begin = std::max(begin, idle);
      idle = begin + cost;
    }
    run_.begin_ns[id] = begin;
    run_.end_ns[id] = begin + cost;
  }

  // Once to each device.
  double bring(const arrival& what, int device) {
    auto at = when_on(what, device);
    if (what.device < 0 || what.device == device)
      return at;
    auto& known = sent_[what.from];
    if (std::ranges::any_of(known, [&](const sent& one) {
          return one.device == device && one.output == what.output;
        }))
      return at;
    known.push_back({what.output, device, at});
    auto from = task_of(what.device), to = task_of(device);
    if (from != to) {
      auto& use = traffic_[{from, to}];
      ++use.tensors;
      use.bytes += what.bytes;
    }
    return at;
  }

  // -- choices -----------------------------------------------------------------------------------

  void mark(int device) { marked_[static_cast<size_t>(device)] = marks_; }

  // Where something is nearer or farther than by a usual link.
  void mark_unusual() {
    ++marks_;
    for (const auto& what : arrivals_) {
      if (what.device < 0)
        continue;
      auto task = static_cast<size_t>(task_of(what.device));
      for (auto device : on_task_[task])
        mark(device);
      for (const auto& [to, cost] : links_[task])
        for (auto device : on_task_[static_cast<size_t>(to)])
          mark(device);
      for (const auto& one : sent_[what.from])
        mark(one.device);
    }
  }

  void choose(const node& one, const free_choice& from) {
    if (auto& taken = taken_by(from.set); taken >= 0) {
      run_.chosen[one.index()] = taken;
      return;
    }
    mark_unusual();
    std::array<double, 2> usual{}; // when all is there, by kind
    for (const auto& what : arrivals_)
      for (bool gpu : {false, true}) {
        auto way = what.device < 0 ? 0
                                   : usual_.of(what.bytes) +
                                         expected_over_bus(on_gpu(what.device), gpu, what.bytes);
        usual[gpu] = std::max(usual[gpu], what.end + way);
      }
    decision best{endless, endless, -1};
    int chosen = -1;
    const auto cost = costs_[one.index()];
    for (auto device : *from.open) {
      auto at = static_cast<size_t>(device);
      auto gpu = gpu_[at] != 0;
      auto begin = usual[gpu];
      if (marked_[at] == marks_) {
        begin = 0;
        for (const auto& what : arrivals_)
          begin = std::max(begin, when_on(what, device));
      }
      auto end = std::max(begin, idle_at_[at]) + cost[gpu];
      if (end < best.best_ns) {
        best = {end, best.best_ns, chosen};
        chosen = device;
      } else if (end < best.next_ns) {
        best.next_ns = end;
        best.next = device;
      }
    }
    run_.chosen[one.index()] = taken_by(from.set) = chosen;
    run_.decisions[one.index()] = best;
  }

  int& taken_by(int set) {
    auto at = static_cast<size_t>(set);
    if (at >= taken_.size())
      taken_.resize(at + 1, -1);
    return taken_[at];
  }

  const graph& of_;
  const device_list& devices_;
  const placing& how_;
  const std::vector<free_choice>& free_;
  const size_t nodes_;
  simulated_run run_;
  link_cost usual_ = usual_link;
  bool any_gpu_ = false;
  std::vector<task_name> tasks_;
  std::vector<int> task_of_;                                  // by device
  std::vector<char> gpu_;                                     // likewise
  std::vector<std::vector<int>> on_task_;                     // devices, by task
  std::vector<std::vector<std::pair<int, link_cost>>> links_; // that are known, by task; sorted
  std::vector<std::array<double, 2>> costs_;                  // by node id and kind of device
  std::vector<std::vector<size_t>> successors_;
  std::vector<int> predecessors_;
  std::vector<double> rank_;
  std::vector<std::vector<sent>> sent_; // by node id
  std::vector<double> idle_at_;         // by device
  std::vector<arrival> arrivals_;       // of the node that is looked at
  std::vector<unsigned> marked_;        // by device: when last
  unsigned marks_ = 0;
  std::vector<int> taken_; // by set: where its first node went
  struct traffic {
    uint64_t tensors = 0;
    double bytes = 0;
  };
  std::map<std::pair<int, int>, traffic> traffic_; // between tasks
};

} // namespace

simulated_run simulate(const graph& of, const device_list& devices, const placing& how,
                       std::vector<int> chosen, const std::vector<free_choice>& free) {
  return simulator{of, devices, how, std::move(chosen), free}.run();
}

} // namespace troupe
