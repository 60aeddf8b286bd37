// Where tensors of a GPU's partition may go to the host and back (decision 021).
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

// Until a copy begins to move bytes. Times decide when a copy begins, not whether results are
// right.
constexpr double nanoseconds_per_copy = 10'000;
// A copy begins earlier than it must, as far as memory allows.
constexpr double lead = 1.3;
// Part of the memory that estimates may fill: blocks are a little larger than tensors.
constexpr double usable = 0.9;
// Room for tensors that come back before they are needed, in tensors; a part of the memory at most.
constexpr int64_t coming_at_once = 2;
constexpr double coming_at_most = 0.25;
// Where extents are unknown, so are times: nodes that must lie between two uses.
constexpr size_t far_apart = 8;

struct value_size {
  int64_t bytes = 0;
  bool known = true; // unknown extents count as 1
};

value_size size_of_value(edge what) {
  return {estimated_bytes(what.type(), what.dims()), what.dims().fully_known()};
}

// One output, together with what only hands it on: its memory is free when nobody reads any of
// them.
struct value {
  edge made;
  value_size size;
  struct read {
    size_t by; // node
    int input;
    edge what; // itself, or what hands it on
  };
  std::vector<read> reads = {}; // in order
  std::vector<node*> views = {};
  size_t last = 0; // who uses it last
  bool may_go = true;
  bool uploaded = false; // for its first reader
};

// Between the two uses the value is away: from right behind the node `after` up to the node
// `trigger`, behind which it begins to come back for the node `before`.
struct gap {
  value* of;
  size_t after, before;
  size_t latest = 0;                // trigger
  std::vector<uint64_t> waits = {}; // that all later readers depend on
  size_t trigger = 0;
};

class swapper {
public:
  swapper(step_graph& of, const swap_options& options)
      : graph_(*of.nodes), options_(options), places_(*of.nodes, device_kind::gpu), change_(of),
        count_(graph_.nodes().size()) {
    find_values();
    find_live();
  }

  swap_report run() {
    swap_report report;
    report.peak = report.reduced = peak();
    auto budget = static_cast<int64_t>(usable * static_cast<double>(options_.memory));
    auto automatic = options_.mode == swap_mode::automatic;
    if (automatic && (options_.memory == 0 || report.peak <= budget))
      return report;
    find_gaps();
    if (automatic)
      choose_for(budget - room_to_come_back(budget));
    else
      chosen_ = worth_it();
    for (const auto& one : chosen_) {
      ++report.tensors;
      report.bytes += one->of->size.bytes;
    }
    report.late = begin_in_time(options_.memory > 0 ? budget : INT64_MAX);
    report.reduced = peak();
    insert();
    return report;
  }

private:
  const node& at(size_t id) const { return *graph_.nodes()[id]; }
  node& at(size_t id) { return *graph_.nodes()[id]; }

  // -- what there is ---------------------------------------------------------------------------

  bool hands_on(const node& of) const {
    auto* kernel = graph_.ops().find_kernel(of.op().name, device_kind::gpu);
    return kernel && kernel->on_any_device && is_pure(of) && of.outputs() == 1 &&
           !of.inputs().empty() && !uses_state(of) && of.inputs()[0].type() == of.output_type(0) &&
           size_of_value(of.inputs()[0]).bytes == size_of_value(edge{const_cast<node*>(&of)}).bytes;
  }

  static bool leaves(const node& of) {
    return &of.op() == &internal_ops::fetch || &of.op() == &internal_ops::send;
  }

  // Whether the node makes memory of its own on the device, where nobody outside holds it.
  bool makes_memory(edge what) const {
    const auto& by = *what.node;
    auto* kernel = graph_.ops().find_kernel(by.op().name, device_kind::gpu);
    if (!kernel || by.output_is_ref(what.index) || places_.lies_on_host(what) ||
        (is_pure(by) && by.inputs().empty()) || internal_ops::is_boundary(by) ||
        by.op().makes != resource::none || has(by.op().effects, effect::blocking))
      return false;
    return !kernel->on_any_device || !uses_state(by); // a variable's memory may be handed on
  }

  void find_values() {
    std::map<std::pair<const node*, int>, value*> of;
    for (size_t id = 0; id < count_; ++id) {
      auto& by = at(id);
      auto* handed_on = hands_on(by) ? of[{by.inputs()[0].node, by.inputs()[0].index}] : nullptr;
      for (int i = 0; i < static_cast<int>(by.inputs().size()); ++i) {
        auto from = by.inputs()[static_cast<size_t>(i)];
        if (auto* read = of[{from.node, from.index}]) {
          read->reads.push_back({id, i, from});
          read->last = id;
          // A tensor that leaves is held until it is there.
          read->may_go = read->may_go && !leaves(by);
        }
      }
      if (handed_on)
        handed_on->views.push_back(&by);
      for (int i = 0; i < by.outputs(); ++i)
        if (handed_on) {
          of[{&by, i}] = handed_on;
        } else if (edge made{&by, i}; makes_memory(made)) {
          values_.push_back({.made = made, .size = size_of_value(made), .last = id});
          of[{&by, i}] = &values_.back();
        } else if (&by.op() == &internal_ops::feed || &by.op() == &internal_ops::recv) {
          values_.push_back({.made = made,
                             .size = size_of_value(made),
                             .last = id,
                             .may_go = false,
                             .uploaded = true});
          of[{&by, i}] = &values_.back();
        }
    }
  }

  // Bytes that are live while each node runs.
  void find_live() {
    live_.assign(count_, 0);
    int64_t always = 0;
    for (size_t id = 0; id < count_; ++id) {
      const auto& by = at(id);
      auto is_state = by.op().makes == resource::variable;
      for (int i = 0; i < by.outputs(); ++i)
        if (is_state || (is_pure(by) && by.inputs().empty())) // constants are kept
          always += size_of_value({const_cast<node*>(&by), i}).bytes;
    }
    for (const auto& one : values_) {
      auto first = one.made.node->index();
      if (one.uploaded && !one.reads.empty())
        first = one.reads.front().by;
      add_live(first, one.last + (dies_under(one) ? 0 : 1), one.size.bytes);
    }
    for (auto& bytes : live_)
      bytes += always;
    began_.assign(count_ + 1, 0);
    for (size_t id = 0; id < count_; ++id)
      began_[id + 1] = began_[id] + expected_on_gpu(workload_of(at(id)));
  }

  // Whether its last reader writes over it: for sure, because it could not over another.
  bool dies_under(const value& what) const {
    const auto& last = at(what.last);
    return !what.reads.empty() && has(last.op().effects, effect::forwardable) &&
           last.outputs() == 1 &&
           size_of_value(edge{const_cast<node*>(&last)}).bytes == what.size.bytes &&
           std::ranges::count_if(last.inputs(), [&](edge one) {
             return size_of_value(one).bytes == what.size.bytes;
           }) == 1;
  }

  int64_t peak() const { return live_.empty() ? 0 : *std::ranges::max_element(live_); }

  // -- where values may go ---------------------------------------------------------------------

  void find_gaps() {
    find_waits();
    for (auto& one : values_)
      if (one.may_go && !one.reads.empty() &&
          (one.size.bytes >= static_cast<int64_t>(options_.at_least) || !one.size.known))
        if (auto found = longest_gap(one))
          gaps_.push_back(*std::move(found));
  }

  std::optional<gap> longest_gap(value& of) {
    gap found{.of = &of, .after = 0, .before = 0};
    auto from = of.made.node->index();
    for (const auto& read : of.reads) {
      if (began_[read.by] - began_[from] > began_[found.before] - began_[found.after])
        found.after = from, found.before = read.by;
      from = read.by;
    }
    if (found.before < found.after + 2)
      return {};
    found.waits.assign(words_, ~uint64_t{0});
    for (const auto& read : of.reads)
      if (read.by >= found.before)
        for (size_t i = 0; i < words_; ++i)
          found.waits[i] &= waits_of(read.by)[i];
    for (const auto& read : of.reads)
      if (read.by <= found.after && !is_before(read.by, found))
        return {};
    for (auto id = found.before - 1; id > found.after && found.latest == 0; --id)
      if (is_before(id, found))
        found.latest = id;
    if (found.latest == 0)
      return {};
    return found;
  }

  // Whether the later readers may be made to depend on the node: not where it waits for something
  // that they do not wait for anyway. That might come from another device which waits for them.
  bool is_before(size_t id, const gap& in) const {
    for (size_t i = 0; i < words_; ++i)
      if (waits_of(id)[i] & ~in.waits[i])
        return false;
    return true;
  }

  const uint64_t* waits_of(size_t id) const { return waits_.data() + id * words_; }

  // On which of the nodes that wait each node depends, a bit for each of them.
  void find_waits() {
    size_t all = 0;
    for (size_t id = 0; id < count_; ++id)
      all += has(at(id).op().effects, effect::blocking);
    words_ = (all + 63) / 64;
    waits_.assign(count_ * words_, 0);
    size_t next = 0;
    for (size_t id = 0; id < count_; ++id) {
      const auto& one = at(id);
      auto* mine = waits_.data() + id * words_;
      auto add = [&](const node& before) {
        for (size_t i = 0; i < words_; ++i)
          mine[i] |= waits_of(before.index())[i];
      };
      for (const auto& input : one.inputs())
        add(*input.node);
      for (auto* before : one.controls())
        add(*before);
      if (has(one.op().effects, effect::blocking)) {
        mine[next / 64] |= uint64_t{1} << next % 64;
        ++next;
      }
    }
  }

  static double time_to_copy(const gap& what) {
    return nanoseconds_per_copy + expected_on_bus(static_cast<double>(what.of->size.bytes));
  }

  // -- which of them go ------------------------------------------------------------------------

  // Again and again the one that frees most for longest, of those that help where most is live.
  void choose_for(int64_t budget) {
    std::vector<bool> hopeless(count_, false);
    for (;;) {
      size_t worst = SIZE_MAX;
      for (size_t id = 0; id < count_; ++id)
        if (!hopeless[id] && live_[id] > budget && (worst == SIZE_MAX || live_[id] > live_[worst]))
          worst = id;
      if (worst == SIZE_MAX)
        return;
      gap* best = nullptr;
      double most = 0;
      for (auto& one : gaps_) {
        auto helps = one.after < worst && worst <= one.latest;
        auto worth =
            static_cast<double>(one.of->size.bytes) * (began_[one.latest] - began_[one.after]);
        if (helps && one.trigger == 0 && worth > most) {
          best = &one;
          most = worth;
        }
      }
      if (best)
        choose(*best);
      else
        hopeless[worst] = true;
    }
  }

  int64_t room_to_come_back(int64_t budget) const {
    int64_t largest = 0;
    for (const auto& one : gaps_)
      largest = std::max(largest, one.of->size.bytes);
    return std::min(coming_at_once * largest,
                    static_cast<int64_t>(coming_at_most * static_cast<double>(budget)));
  }

  void choose(gap& what) {
    what.trigger = what.latest;
    add_live(what.after + 1, what.trigger + 1, -what.of->size.bytes);
    chosen_.push_back(&what);
  }

  std::vector<gap*> worth_it() {
    for (auto& one : gaps_) {
      auto time = began_[one.latest] - began_[one.after];
      if (one.of->size.known ? time > 2 * time_to_copy(one) : one.before - one.after > far_apart)
        choose(one);
    }
    return chosen_;
  }

  void add_live(size_t from, size_t to, int64_t bytes) {
    for (auto id = from; id < to; ++id)
      live_[id] += bytes;
  }

  // Copies begin so early that they have ended when the value is needed, where there is room for
  // it. Returns how many are late all the same.
  size_t begin_in_time(int64_t budget) {
    size_t late = 0;
    std::ranges::sort(chosen_, {}, [](const gap* one) { return one->before; });
    for (auto* one : chosen_) {
      for (auto id = one->trigger - 1; id > one->after; --id) {
        if (live_[id + 1] + one->of->size.bytes > budget ||
            began_[one->before] - began_[one->trigger + 1] > lead * time_to_copy(*one))
          break;
        if (!is_before(id, *one))
          continue;
        add_live(id + 1, one->trigger + 1, one->of->size.bytes);
        one->trigger = id;
      }
      late += began_[one->before] - began_[one->trigger + 1] < time_to_copy(*one);
    }
    return late;
  }

  // -- the change ------------------------------------------------------------------------------

  void insert() {
    std::vector<std::vector<node*>> out(count_), in(count_), ahead(count_);
    for (auto* one : chosen_)
      insert(*one, out, in, ahead);
    std::vector<node*> order;
    for (size_t id = 0; id < count_; ++id) {
      order.insert(order.end(), ahead[id].begin(), ahead[id].end());
      order.push_back(&at(id));
      order.insert(order.end(), out[id].begin(), out[id].end()); // makes room
      order.insert(order.end(), in[id].begin(), in[id].end());
    }
    if (order.size() == graph_.nodes().size())
      rewriter::reorder(graph_, order);
  }

  using node_lists = std::vector<std::vector<node*>>; // by the node that they stand beside
  void insert(const gap& what, node_lists& out, node_lists& in, node_lists& ahead) {
    const auto& value = *what.of;
    auto& maker = *value.made.node;
    auto add = [&](node_spec spec, std::vector<node*>& to) -> edge {
      auto made = change_.add(std::move(spec), maker);
      if (!made)
        return {};
      to.push_back(*made);
      return {*made, 0};
    };
    std::vector<node*> earlier; // the swap is the last to use it
    for (const auto& read : value.reads)
      if (read.by <= what.after && (earlier.empty() || earlier.back() != &at(read.by)))
        earlier.push_back(&at(read.by));
    auto saved = add({.op = std::string{internal_ops::swap_out.name},
                      .inputs = {value.made},
                      .controls = std::move(earlier)},
                     out[what.after]);
    auto swapped_in = saved ? add({.op = std::string{internal_ops::swap_in.name},
                                   .inputs = {saved},
                                   .attrs = {{"shape", value.made.dims()}},
                                   .controls = {&at(what.trigger)}},
                                  in[what.trigger])
                            : edge{};
    auto& swap_ins = ahead[what.before];
    auto back =
        swapped_in
            ? add({.op = std::string{internal_ops::swapped.name}, .inputs = {swapped_in}}, swap_ins)
            : edge{};
    if (!back)
      return;
    std::map<std::pair<const node*, int>, edge> now;
    now[{value.made.node, value.made.index}] = back;
    // What handed the value on before does so again, in order: each hands on one before it.
    for (auto* view : value.views) {
      auto from = now.find({view->inputs()[0].node, view->inputs()[0].index});
      if (view->index() > what.after || from == now.end() || !is_read_later(*view, value, what))
        continue;
      auto inputs = view->inputs();
      inputs[0] = from->second;
      if (auto again = add({.op = std::string{view->op().name},
                            .inputs = std::move(inputs),
                            .attrs = view->attrs()},
                           swap_ins))
        now[{view, 0}] = again;
    }
    for (const auto& read : value.reads)
      if (read.by >= what.before)
        if (auto it = now.find({read.what.node, read.what.index}); it != now.end())
          change_.set_input(at(read.by), read.input, it->second);
  }

  // Itself, or what hands it on in turn.
  static bool is_read_later(const node& view, const value& of, const gap& in) {
    return std::ranges::any_of(of.reads, [&](const value::read& one) {
      if (one.what.node != &view)
        return false;
      auto onwards =
          std::ranges::find_if(of.views, [&](const node* next) { return next->index() == one.by; });
      return one.by >= in.before || (onwards != of.views.end() && is_read_later(**onwards, of, in));
    });
  }

  graph& graph_;
  const swap_options options_;
  const kernel_sites places_;
  rewriter change_;
  const size_t count_;
  size_t words_ = 0; // for each node, in waits_
  std::vector<uint64_t> waits_;
  std::deque<value> values_;
  std::vector<gap> gaps_;
  std::vector<gap*> chosen_;
  std::vector<int64_t> live_;
  std::vector<double> began_;
};

} // namespace

swap_report swap_long_lived(step_graph& of, const swap_options& options) {
  return swapper{of, options}.run();
}

} // namespace troupe
