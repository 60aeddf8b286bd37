// Moves tensors of a GPU's partition to the host and back (decision 021).
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/passes/estimated_bytes.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"
#include "troupe/runtime/placement/cost.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace troupe {
namespace {

// The time before a copy starts to move bytes. Estimated times determine when a copy starts. They
// do not affect the correctness of results.
constexpr double nanoseconds_per_copy = 10'000;
// The factor by which a copy starts earlier than necessary, as far as memory allows.
constexpr double lead = 1.3;
// The part of the memory that estimates may fill. Allocated blocks are slightly larger than
// tensors.
constexpr double usable = 0.9;
// The room for tensors that are copied back before they are needed: a number of tensors, and at
// most a part of the memory.
constexpr int64_t max_early_tensors = 2;
constexpr double max_early_part = 0.25;
// Unknown extents make times unknown. The minimum number of nodes between two uses in this case.
constexpr size_t min_distance = 8;

struct value_size {
  int64_t bytes = 0;
  bool is_known = true; // unknown extents count as 1
};

value_size size_of_value(edge source) {
  return {estimated_bytes(source.type(), source.dims()), source.dims().fully_known()};
}

// An output, together with its views, which share its memory. The memory is free when none of them
// has further readers.
struct value {
  edge source;
  value_size size;
  struct read {
    size_t reader; // the reading node
    int input;
    edge view; // the output itself or a view of it
  };
  std::vector<read> reads = {}; // in the order of the nodes
  std::vector<node*> views = {};
  size_t last = 0; // the node that uses it last
  bool is_movable = true;
  bool uploaded = false; // directly before its first reader
};

// The value is not on the device between two uses: from the node `after` to the node `trigger`.
// After the trigger, the copy back starts, for the node `before`.
struct gap {
  value* moved;
  size_t after, before;
  size_t latest = 0;                // the latest possible trigger
  std::vector<uint64_t> waits = {}; // blocking nodes on which all later readers depend
  size_t trigger = 0;
};

class swapper {
public:
  swapper(step_graph& step, const swap_options& options)
      : graph_(*step.nodes), options_(options), sites_(*step.nodes, device_kind::gpu),
        rewriter_(step), count_(graph_.nodes().size()) {
    collect_values();
    estimate_live_bytes();
  }

  swap_report run() {
    swap_report report;
    report.peak = report.reduced_peak = peak();
    auto budget = static_cast<int64_t>(usable * static_cast<double>(options_.memory));
    auto automatic = options_.mode == swap_mode::automatic;
    if (automatic && (options_.memory == 0 || report.peak <= budget))
      return report;
    collect_gaps();
    if (automatic)
      choose_within(budget - room_for_early_copies(budget));
    else
      chosen_ = choose_worthwhile();
    for (const auto& chosen : chosen_) {
      ++report.tensors;
      report.bytes += chosen->moved->size.bytes;
    }
    report.late = start_in_time(options_.memory > 0 ? budget : INT64_MAX);
    report.reduced_peak = peak();
    insert();
    return report;
  }

private:
  const node& node_at(size_t id) const { return *graph_.nodes()[id]; }
  node& node_at(size_t id) { return *graph_.nodes()[id]; }

  // -- values and live memory ------------------------------------------------------------------

  bool is_view(const node& candidate) const {
    auto* kernel = graph_.ops().find_kernel(candidate.op().name, device_kind::gpu);
    return kernel && kernel->on_any_device && is_pure(candidate) && candidate.outputs() == 1 &&
           !candidate.inputs().empty() && !uses_state(candidate) &&
           candidate.inputs()[0].type() == candidate.output_type(0) &&
           size_of_value(candidate.inputs()[0]).bytes ==
               size_of_value(edge{const_cast<node*>(&candidate)}).bytes;
  }

  static bool leaves_partition(const node& candidate) {
    return &candidate.op() == &internal_ops::fetch || &candidate.op() == &internal_ops::send;
  }

  // Returns whether the node allocates memory on the device that only this partition references.
  bool makes_memory(edge source) const {
    const auto& maker = *source.node;
    auto* kernel = graph_.ops().find_kernel(maker.op().name, device_kind::gpu);
    if (!kernel || maker.output_is_ref(source.index) || sites_.lies_on_host(source) ||
        (is_pure(maker) && maker.inputs().empty()) || internal_ops::is_boundary(maker) ||
        maker.op().state_kind != resource::none || has(maker.op().effects, effect::blocking))
      return false;
    return !kernel->on_any_device || !uses_state(maker); // it may output a variable's memory
  }

  void collect_values() {
    std::map<std::pair<const node*, int>, value*> values;
    for (size_t id = 0; id < count_; ++id) {
      auto& maker = node_at(id);
      auto* viewed =
          is_view(maker) ? values[{maker.inputs()[0].node, maker.inputs()[0].index}] : nullptr;
      for (int i = 0; i < static_cast<int>(maker.inputs().size()); ++i) {
        auto input = maker.inputs()[static_cast<size_t>(i)];
        if (auto* read = values[{input.node, input.index}]) {
          read->reads.push_back({id, i, input});
          read->last = id;
          // A tensor that leaves the partition is referenced until its copy has arrived.
          read->is_movable = read->is_movable && !leaves_partition(maker);
        }
      }
      if (viewed)
        viewed->views.push_back(&maker);
      for (int i = 0; i < maker.outputs(); ++i)
        if (viewed) {
          values[{&maker, i}] = viewed;
        } else if (edge output{&maker, i}; makes_memory(output)) {
          values_.push_back({.source = output, .size = size_of_value(output), .last = id});
          values[{&maker, i}] = &values_.back();
        } else if (&maker.op() == &internal_ops::feed || &maker.op() == &internal_ops::recv) {
          values_.push_back({.source = output,
                             .size = size_of_value(output),
                             .last = id,
                             .is_movable = false,
                             .uploaded = true});
          values[{&maker, i}] = &values_.back();
        }
    }
  }

  // Computes the live bytes while each node runs.
  void estimate_live_bytes() {
    live_.assign(count_, 0);
    int64_t always = 0;
    for (size_t id = 0; id < count_; ++id) {
      const auto& maker = node_at(id);
      auto is_state = maker.op().state_kind == resource::variable;
      for (int i = 0; i < maker.outputs(); ++i)
        if (is_state || (is_pure(maker) && maker.inputs().empty())) // constants stay in memory
          always += size_of_value({const_cast<node*>(&maker), i}).bytes;
    }
    for (const auto& stored : values_) {
      auto first = stored.source.node->index();
      if (stored.uploaded && !stored.reads.empty())
        first = stored.reads.front().reader;
      add_live(first, stored.last + (is_overwritten(stored) ? 0 : 1), stored.size.bytes);
    }
    for (auto& bytes : live_)
      bytes += always;
    began_.assign(count_ + 1, 0);
    for (size_t id = 0; id < count_; ++id)
      began_[id + 1] = began_[id] + expected_on_gpu(workload_of(node_at(id)));
  }

  // Returns whether the last reader certainly overwrites the value: no other input has its size.
  bool is_overwritten(const value& stored) const {
    const auto& last = node_at(stored.last);
    return !stored.reads.empty() && has(last.op().effects, effect::forwardable) &&
           last.outputs() == 1 &&
           size_of_value(edge{const_cast<node*>(&last)}).bytes == stored.size.bytes &&
           std::ranges::count_if(last.inputs(), [&](edge input) {
             return size_of_value(input).bytes == stored.size.bytes;
           }) == 1;
  }

  int64_t peak() const { return live_.empty() ? 0 : *std::ranges::max_element(live_); }

  // -- gaps ------------------------------------------------------------------------------------

  void collect_gaps() {
    collect_waits();
    for (auto& candidate : values_)
      if (candidate.is_movable && !candidate.reads.empty() &&
          (candidate.size.bytes >= static_cast<int64_t>(options_.min_bytes) ||
           !candidate.size.is_known))
        if (auto longest = longest_gap(candidate))
          gaps_.push_back(*std::move(longest));
  }

  std::optional<gap> longest_gap(value& candidate) {
    gap longest{.moved = &candidate, .after = 0, .before = 0};
    auto previous = candidate.source.node->index();
    for (const auto& read : candidate.reads) {
      if (began_[read.reader] - began_[previous] > began_[longest.before] - began_[longest.after])
        longest.after = previous, longest.before = read.reader;
      previous = read.reader;
    }
    if (longest.before < longest.after + 2)
      return {};
    longest.waits.assign(words_, ~uint64_t{0});
    for (const auto& read : candidate.reads)
      if (read.reader >= longest.before)
        for (size_t i = 0; i < words_; ++i)
          longest.waits[i] &= waits_of(read.reader)[i];
    for (const auto& read : candidate.reads)
      if (read.reader <= longest.after && !is_before(read.reader, longest))
        return {};
    for (auto id = longest.before - 1; id > longest.after && longest.latest == 0; --id)
      if (is_before(id, longest))
        longest.latest = id;
    if (longest.latest == 0)
      return {};
    return longest;
  }

  // Returns whether the later readers may depend on the node: only if it waits for no node for
  // which they do not wait anyway. Otherwise a cycle through another device would be possible.
  bool is_before(size_t id, const gap& candidate) const {
    for (size_t i = 0; i < words_; ++i)
      if (waits_of(id)[i] & ~candidate.waits[i])
        return false;
    return true;
  }

  const uint64_t* waits_of(size_t id) const { return waits_.data() + id * words_; }

  // Computes on which blocking nodes each node depends, as a bit set.
  void collect_waits() {
    size_t blocking_count = 0;
    for (size_t id = 0; id < count_; ++id)
      blocking_count += has(node_at(id).op().effects, effect::blocking);
    words_ = (blocking_count + 63) / 64;
    waits_.assign(count_ * words_, 0);
    size_t next = 0;
    for (size_t id = 0; id < count_; ++id) {
      const auto& current = node_at(id);
      auto* current_waits = waits_.data() + id * words_;
      auto add_waits = [&](const node& predecessor) {
        for (size_t i = 0; i < words_; ++i)
          current_waits[i] |= waits_of(predecessor.index())[i];
      };
      for (const auto& input : current.inputs())
        add_waits(*input.node);
      for (auto* predecessor : current.controls())
        add_waits(*predecessor);
      if (has(current.op().effects, effect::blocking)) {
        current_waits[next / 64] |= uint64_t{1} << next % 64;
        ++next;
      }
    }
  }

  static double time_to_copy(const gap& chosen) {
    return nanoseconds_per_copy + expected_on_bus(static_cast<double>(chosen.moved->size.bytes));
  }

  // -- choice ----------------------------------------------------------------------------------

  // Repeatedly chooses the gap that frees most byte-seconds among those that span the current
  // peak.
  void choose_within(int64_t budget) {
    std::vector<bool> is_hopeless(count_, false);
    for (;;) {
      size_t peak_node = SIZE_MAX;
      for (size_t id = 0; id < count_; ++id)
        if (!is_hopeless[id] && live_[id] > budget &&
            (peak_node == SIZE_MAX || live_[id] > live_[peak_node]))
          peak_node = id;
      if (peak_node == SIZE_MAX)
        return;
      gap* best_gap = nullptr;
      double best_benefit = 0;
      for (auto& candidate : gaps_) {
        auto spans_peak = candidate.after < peak_node && peak_node <= candidate.latest;
        auto benefit = static_cast<double>(candidate.moved->size.bytes) *
                       (began_[candidate.latest] - began_[candidate.after]);
        if (spans_peak && candidate.trigger == 0 && benefit > best_benefit) {
          best_gap = &candidate;
          best_benefit = benefit;
        }
      }
      if (best_gap)
        choose(*best_gap);
      else
        is_hopeless[peak_node] = true;
    }
  }

  int64_t room_for_early_copies(int64_t budget) const {
    int64_t largest = 0;
    for (const auto& candidate : gaps_)
      largest = std::max(largest, candidate.moved->size.bytes);
    return std::min(max_early_tensors * largest,
                    static_cast<int64_t>(max_early_part * static_cast<double>(budget)));
  }

  void choose(gap& chosen) {
    chosen.trigger = chosen.latest;
    add_live(chosen.after + 1, chosen.trigger + 1, -chosen.moved->size.bytes);
    chosen_.push_back(&chosen);
  }

  std::vector<gap*> choose_worthwhile() {
    for (auto& candidate : gaps_) {
      auto time = began_[candidate.latest] - began_[candidate.after];
      if (candidate.moved->size.is_known ? time > 2 * time_to_copy(candidate)
                                         : candidate.before - candidate.after > min_distance)
        choose(candidate);
    }
    return chosen_;
  }

  void add_live(size_t first, size_t end, int64_t bytes) {
    for (auto id = first; id < end; ++id)
      live_[id] += bytes;
  }

  // Starts copies back early enough to end before the value is needed, as far as there is room.
  // Returns the number of copies that end too late.
  size_t start_in_time(int64_t budget) {
    size_t late = 0;
    std::ranges::sort(chosen_, {}, [](const gap* candidate) { return candidate->before; });
    for (auto* chosen : chosen_) {
      for (auto id = chosen->trigger - 1; id > chosen->after; --id) {
        if (live_[id + 1] + chosen->moved->size.bytes > budget ||
            began_[chosen->before] - began_[chosen->trigger + 1] > lead * time_to_copy(*chosen))
          break;
        if (!is_before(id, *chosen))
          continue;
        add_live(id + 1, chosen->trigger + 1, chosen->moved->size.bytes);
        chosen->trigger = id;
      }
      late += began_[chosen->before] - began_[chosen->trigger + 1] < time_to_copy(*chosen);
    }
    return late;
  }

  // -- insertion -------------------------------------------------------------------------------

  void insert() {
    std::vector<std::vector<node*>> swap_outs(count_), swap_ins(count_), swapped_nodes(count_);
    for (auto* chosen : chosen_)
      insert(*chosen, swap_outs, swap_ins, swapped_nodes);
    std::vector<node*> order;
    for (size_t id = 0; id < count_; ++id) {
      order.insert(order.end(), swapped_nodes[id].begin(), swapped_nodes[id].end());
      order.push_back(&node_at(id));
      order.insert(order.end(), swap_outs[id].begin(),
                   swap_outs[id].end()); // first, because it frees memory
      order.insert(order.end(), swap_ins[id].begin(), swap_ins[id].end());
    }
    if (order.size() == graph_.nodes().size())
      rewriter::reorder(graph_, order);
  }

  using node_lists = std::vector<std::vector<node*>>; // by the id of the node next to the lists
  void insert(const gap& chosen, node_lists& swap_outs, node_lists& swap_ins,
              node_lists& swapped_nodes) {
    const auto& moved_value = *chosen.moved;
    auto& maker = *moved_value.source.node;
    auto add = [&](node_spec spec, std::vector<node*>& list) -> edge {
      auto added = rewriter_.add(std::move(spec), maker);
      if (!added)
        return {};
      list.push_back(*added);
      return {*added, 0};
    };
    std::vector<node*> earlier; // the copy out runs after these users
    for (const auto& read : moved_value.reads)
      if (read.reader <= chosen.after &&
          (earlier.empty() || earlier.back() != &node_at(read.reader)))
        earlier.push_back(&node_at(read.reader));
    auto saved = add({.op = std::string{internal_ops::swap_out.name},
                      .inputs = {moved_value.source},
                      .controls = std::move(earlier)},
                     swap_outs[chosen.after]);
    auto swapped_in = saved ? add({.op = std::string{internal_ops::swap_in.name},
                                   .inputs = {saved},
                                   .attrs = {{"shape", moved_value.source.dims()}},
                                   .controls = {&node_at(chosen.trigger)}},
                                  swap_ins[chosen.trigger])
                            : edge{};
    auto& arrivals = swapped_nodes[chosen.before];
    auto value_back =
        swapped_in
            ? add({.op = std::string{internal_ops::swapped.name}, .inputs = {swapped_in}}, arrivals)
            : edge{};
    if (!value_back)
      return;
    std::map<std::pair<const node*, int>, edge> replacements;
    replacements[{moved_value.source.node, moved_value.source.index}] = value_back;
    // Copies the views of the value that have later readers, in order: a view may depend on
    // another.
    for (auto* view : moved_value.views) {
      auto source = replacements.find({view->inputs()[0].node, view->inputs()[0].index});
      if (view->index() > chosen.after || source == replacements.end() ||
          !is_read_later(*view, moved_value, chosen))
        continue;
      auto inputs = view->inputs();
      inputs[0] = source->second;
      if (auto copied_view = add({.op = std::string{view->op().name},
                                  .inputs = std::move(inputs),
                                  .attrs = view->attrs()},
                                 arrivals))
        replacements[{view, 0}] = copied_view;
    }
    for (const auto& read : moved_value.reads)
      if (read.reader >= chosen.before)
        if (auto replacement = replacements.find({read.view.node, read.view.index});
            replacement != replacements.end())
          rewriter_.set_input(node_at(read.reader), read.input, replacement->second);
  }

  // Returns whether the view, or a view of it, is read after the gap.
  static bool is_read_later(const node& view, const value& stored, const gap& chosen) {
    return std::ranges::any_of(stored.reads, [&](const value::read& read) {
      if (read.view.node != &view)
        return false;
      auto next_view = std::ranges::find_if(
          stored.views, [&](const node* candidate) { return candidate->index() == read.reader; });
      return read.reader >= chosen.before ||
             (next_view != stored.views.end() && is_read_later(**next_view, stored, chosen));
    });
  }

  graph& graph_;
  const swap_options options_;
  const kernel_sites sites_;
  rewriter rewriter_;
  const size_t count_;
  size_t words_ = 0; // the number of words of each node in waits_
  std::vector<uint64_t> waits_;
  std::deque<value> values_;
  std::vector<gap> gaps_;
  std::vector<gap*> chosen_;
  std::vector<int64_t> live_;
  std::vector<double> began_;
};

} // namespace

swap_report swap_long_lived(step_graph& step, const swap_options& options) {
  return swapper{step, options}.run();
}

} // namespace troupe
