#include "troupe/runtime/placement/partition.hpp"

#include "troupe/runtime/functions/frame.hpp"
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace troupe {
namespace {

class cutter {
public:
  cutter(const graph& of, const std::vector<int>& chosen, const device_list& devices,
         const placed_frames& frames, const further_order& order, f32_transfer between_tasks,
         const late_sends& late)
      : of_(of), chosen_(chosen), devices_(devices), frames_(frames), order_(order),
        between_tasks_(between_tasks), late_(late), residences_(of, chosen, devices),
        parts_(devices.size()), copies_(of.nodes().size()), used_(of.nodes().size()), updates_(of) {
    for (const auto& node : of.nodes()) {
      find_late_reads(*node);
      for (const auto& input : node->inputs())
        used_[static_cast<size_t>(input.node->id())] = true;
      for (auto* before : node->controls())
        used_[static_cast<size_t>(before->id())] = true;
    }
  }

  result<std::vector<partition>> run() {
    for (const auto& node : of_.nodes())
      if (!goes_along(*node))
        TROUPE_TRY(copy(*node));
    std::vector<partition> made;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i])
        made.push_back({devices_[i], std::move(parts_[i])});
    return made;
  }

private:
  status copy(node& n) {
    auto here = device_of(&n);
    auto frame = frames_.find(&n);
    // What a node waits for must come before it: a partition is ordered by dependence.
    std::vector<node*> controls;
    if (auto late = late_reads_.find(n.id()); late != late_reads_.end())
      for (const auto& one : late->second) {
        TROUPE_ASSIGN(read_ahead_[one], read(*one.first, one.second, n.id()));
        // A frame updates from elsewhere.
        if (frame != frames_.end()) {
          const auto& [made, there] = last_read_;
          TROUPE_ASSIGN(auto* local,
                        there == here ? result<node*>{made} : send_news(*made, there, here));
          controls.push_back(local);
        }
      }
    std::vector<edge> inputs;
    for (int i = 0; i < static_cast<int>(n.inputs().size()); ++i) {
      if (frame != frames_.end() && n.input_is_ref(i))
        continue; // its functions name the state themselves
      TROUPE_ASSIGN(auto local, input_of(n, i));
      inputs.push_back(local);
    }
    for (auto* before : n.controls()) {
      if (goes_along(*before))
        continue; // there from the start
      TROUPE_ASSIGN(auto* local, bring_control(before, here));
      controls.push_back(local);
    }
    if (auto further = order_.find(&n); further != order_.end())
      for (auto* before : further->second) {
        TROUPE_ASSIGN(auto* local, bring_control(before, here));
        controls.push_back(local);
      }
    // Several may come with one message.
    std::ranges::sort(controls, {}, &node::id);
    auto twice = std::ranges::unique(controls);
    controls.erase(twice.begin(), twice.end());
    auto& made = copies_[static_cast<size_t>(n.id())];
    if (frame != frames_.end()) {
      TROUPE_ASSIGN(made, add_frame(n, std::move(inputs), std::move(controls)));
      return {};
    }
    if (!counts_first(n, here)) {
      made = part(here).add_copy(n, std::move(inputs), std::move(controls));
      return {};
    }
    TROUPE_ASSIGN(made, add_halves(n, here, std::move(inputs), std::move(controls)));
    return {};
  }

  result<node*> add_frame(const node& n, std::vector<edge> inputs, std::vector<node*> controls) {
    std::vector<dtype> types;
    std::vector<partial_shape> shapes;
    for (int i = 0; i < n.outputs(); ++i)
      if (!n.output_is_ref(i)) {
        types.push_back(n.output_type(i));
        shapes.push_back(n.output_shape(i));
      }
    auto is_loop = n.op().calls == calling::while_true;
    auto here = device_of(&n);
    std::vector<std::string> tasks;
    for (auto device : frames_.at(&n).others)
      tasks.push_back(to_string(devices_[static_cast<size_t>(device)].on_task()));
    attr_map attrs{
        {"Tout", std::move(types)},
        {"shapes", std::move(shapes)},
        {"frame", frames_.at(&n).number},
        {"kind", n.op().name},
        {"orders", order_of_turns(n).size()},
        {"unchanged", unchanged_outputs(n)},
        {"parallel_iterations",
         is_loop ? std::max<int64_t>(1, n.attr<int64_t>("parallel_iterations")) : int64_t{1}},
        {"tasks", std::move(tasks)}};
    attrs.merge(transfer_attr_of(n));
    TROUPE_ASSIGN(auto* made, part(here).add({.op = "_Frame",
                                              .name = n.name(),
                                              .inputs = std::move(inputs),
                                              .attrs = std::move(attrs),
                                              .controls = std::move(controls),
                                              .where = n.where()}));
    made->graph().set_origin(*made, concat("for ", n.description()));
    // The step of a task that takes part does not end before the frame does.
    for (auto device : frames_.at(&n).others)
      TROUPE_TRY(send_news(*made, here, device).status());
    return made;
  }

  // Frames give no state.
  edge copied(edge what) const {
    auto index = what.index;
    if (frames_.contains(what.node))
      for (int i = 0; i < what.index; ++i)
        index -= what.node->output_is_ref(i) ? 1 : 0;
    return {copy_of(what.node), index};
  }

  result<edge> input_of(const node& n, int i) {
    if (auto it = read_ahead_.find({&n, i}); it != read_ahead_.end())
      return it->second;
    const auto& what = n.inputs()[static_cast<size_t>(i)];
    auto here = device_of(&n);
    auto on_host = wants_on_host(n, i);
    return what.node->output_is_ref(what.index) && !n.input_is_ref(i) &&
                   !is_at_hand(what, here, on_host)
               ? read(n, i, past_all)
               : bring(what, here, on_host);
  }

  // -- reads of variables ----------------------------------------------------------------------

  // A step reads a variable before it updates it, unless the graph says that the read depends on
  // the update. A node that stands behind an update that it does not depend on cannot read for
  // itself; only a fetch and who updates the variable mean what they find there.
  void find_late_reads(const node& n) {
    auto all = accesses_of(n);
    for (const auto& one : all) {
      auto changes_it = [&](const state_access& other) {
        return other.updates && other.state == one.state;
      };
      if (!one.as_value || internal_ops::is_boundary(n) || std::ranges::any_of(all, changes_it))
        continue;
      auto seen = updates_.seen_by(n, *one.state);
      if (seen != updates_.last_before(n, *one.state))
        late_reads_[updates_.first_after(seen, *one.state)].emplace_back(&n, one.input);
    }
  }

  // What a reader waits for by control edges, straight or through groups: effects that others may
  // count on. What it waits for by data alone it may have read before, like all that it reads.
  std::vector<node*> waits_of(const node& reader, const node& state, int until) const {
    std::vector<node*> found, open = reader.controls();
    while (!open.empty()) {
      auto* at = open.back();
      open.pop_back();
      auto effects = at->op().effects;
      auto updates = [&](const state_access& one) { return one.updates && one.state == &state; };
      if (at->inputs().empty() && at->outputs() == 0 && !has(effects, effect::stateful))
        open.insert(open.end(), at->controls().begin(), at->controls().end());
      else if (has(effects, effect::stateful | effect::blocking) && !has(effects, effect::random) &&
               at->op().makes == resource::none && at->id() < until &&
               std::ranges::none_of(accesses_of(*at), updates))
        found.push_back(at);
    }
    std::ranges::sort(found, {}, &node::id);
    auto twice = std::ranges::unique(found);
    found.erase(twice.begin(), twice.end());
    return found;
  }

  // The value of a variable for one reader and all that read it alike, taken where it lies: after
  // the last update that the reader depends on, and before node `until`.
  result<edge> read(const node& reader, int input, int until) {
    const auto& what = reader.inputs()[static_cast<size_t>(input)];
    const auto* state = resource_behind(what);
    if (!state)
      return invalid(reader.description(), ": input ", input, " refers to nothing");
    auto here = device_of(&reader), from = device_of(what.node);
    auto stays = is_at_hand(what, here, wants_on_host(reader, input));
    auto seen = updates_.seen_by(reader, *state);
    auto waits = waits_of(reader, *state, until);
    auto& known = reads_[{what.node, what.index, stays ? -1 : here, seen, waits}];
    if (known.value) {
      last_read_ = {known.by, from};
      return known.value;
    }
    std::vector<node*> controls;
    if (seen != update_order::none) {
      auto* update = of_.nodes()[static_cast<size_t>(seen)].get();
      TROUPE_ASSIGN(auto* local, bring_control(update, from));
      controls.push_back(local);
    }
    for (auto* before : waits) {
      TROUPE_ASSIGN(auto* local, bring_control(before, from));
      controls.push_back(local);
    }
    std::ranges::sort(controls, {}, &node::id);
    auto twice = std::ranges::unique(controls);
    controls.erase(twice.begin(), twice.end());
    const auto& name = what.node->name();
    TROUPE_ASSIGN(auto* made, part(from).add({.op = std::string{internal_ops::read.name},
                                              .name = concat("_read_", next_key_++, '/', name),
                                              .inputs = {edge{copy_of(what.node), what.index}},
                                              .attrs = transfer_attr_of(*what.node),
                                              .controls = std::move(controls),
                                              .where = what.node->where()}));
    known = {{made, 0}, made};
    last_read_ = {made, from};
    if (!stays) {
      TROUPE_ASSIGN(auto calls, calls_for(what, from, here));
      TROUPE_ASSIGN(known.value, send(known.value, from, here, name, std::move(calls)));
    }
    return known.value;
  }

  // -- ops in two halves -----------------------------------------------------------------------

  // Whether a GPU has to look at elements before it knows what comes out (two_phase_op.hpp).
  bool counts_first(const node& node, int here) const {
    return has(node.op().effects, effect::data_dependent_shape) &&
           kind_of(devices_[static_cast<size_t>(here)]) == device_kind::gpu &&
           !residences_.runs_on_host(node);
  }

  // The node as two, with what was counted on its way to the host between them. Returns the second.
  result<node*> add_halves(const node& n, int here, std::vector<edge> inputs,
                           std::vector<node*> controls) {
    TROUPE_TRY(share(n, here, inputs));
    auto& into = part(here);
    TROUPE_ASSIGN(auto* first, into.add({.op = two_phase_op::name_of_first(n.op().name),
                                         .name = concat("_count_/", n.name()),
                                         .inputs = inputs,
                                         .attrs = n.attrs(),
                                         .controls = std::move(controls),
                                         .where = n.where()}));
    into.set_origin(*first, concat("for ", n.description()));
    auto known = counts_from_shapes(n);
    auto counts =
        known ? add_constant(n, here, *known) : send({first, 0}, here, here, first->name());
    TROUPE_TRY(counts.status());
    inputs.push_back({first, 1});
    inputs.push_back(*counts);
    auto attrs = n.attrs();
    std::vector<partial_shape> shapes;
    for (int i = 0; i < n.outputs(); ++i)
      shapes.push_back(n.output_shape(i));
    attrs["output_shapes"] = std::move(shapes);
    TROUPE_ASSIGN(auto* second, into.add({.op = two_phase_op::name_of_second(n.op().name),
                                          .name = n.name(),
                                          .inputs = std::move(inputs),
                                          .attrs = std::move(attrs),
                                          .where = n.where()}));
    into.set_origin(*second, concat("for ", n.description()));
    return second;
  }

  // Both halves see the same value of a variable, whatever happens to it between them; and what
  // lies on the host goes to the device once for both.
  status share(const node& node, int here, std::vector<edge>& inputs) {
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
      auto& input = inputs[static_cast<size_t>(i)];
      if (node.input_is_ref(i) || internal_ops::is_constant(*input.node) ||
          !(input.node->output_is_ref(input.index) || is_uploaded(node, i, here)))
        continue;
      TROUPE_ASSIGN(auto* shared,
                    part(here).add({.op = "Identity",
                                    .name = concat("shared_", next_key_++, '/', input.node->name()),
                                    .inputs = {input},
                                    .where = node.where()}));
      input = {shared, 0};
    }
    return {};
  }

  bool is_uploaded(const node& node, int input, int here) const {
    const auto& from = node.inputs()[static_cast<size_t>(input)];
    return residences_.wants_on_device(node, input) &&
           (residences_.lies_on_host(from) || device_of(from.node) != here);
  }

  static std::optional<std::vector<int64_t>> counts_from_shapes(const node& node) {
    std::vector<int64_t> extents;
    for (int i = 0; i < node.outputs(); ++i) {
      const auto& dims = node.output_shape(i);
      if (!dims.fully_known() || dims.rank() == 0)
        return {};
      extents.push_back(dims[0]);
    }
    return extents;
  }

  result<edge> add_constant(const node& like, int here, const std::vector<int64_t>& values) {
    TROUPE_ASSIGN(auto* made,
                  part(here).add(
                      {.op = "Const",
                       .name = concat("counts_", next_key_++, '/', like.name()),
                       .attrs = {{"value", tensor::vector<int64_t>(values)}, {"dtype", dtype::i64}},
                       .where = like.where()}));
    return edge{made, 0};
  }

  // Feeds and constants are copied to wherever they are used, instead of being sent.
  bool goes_along(const node& node) const {
    return &node.op() == &internal_ops::feed ||
           (internal_ops::is_constant(node) && node.controls().empty() &&
            used_[static_cast<size_t>(node.id())]);
  }

  graph& part(int device) {
    auto& one = parts_[static_cast<size_t>(device)];
    if (!one)
      one = std::make_unique<graph>(of_.ops());
    return *one;
  }
  // A fetch goes where its value is made; what is fed and fetched, to the first device.
  int device_of(const node* node) const {
    if (&node->op() == &internal_ops::fetch)
      return std::max(0, chosen_[static_cast<size_t>(node->inputs()[0].node->id())]);
    return chosen_[static_cast<size_t>(node->id())];
  }
  std::string name_of(int device) const { return to_string(devices_[static_cast<size_t>(device)]); }
  node* copy_of(const node* node) const { return copies_[static_cast<size_t>(node->id())]; }

  // A fetch or a feed has no device of its own that would want anything.
  bool wants_on_host(const node& node, int input) const {
    return chosen_[static_cast<size_t>(node.id())] >= 0 && residences_.wants_on_host(node, input);
  }

  // Whether the device has the edge without a message.
  bool is_at_hand(edge what, int here, bool on_host) const {
    return device_of(what.node) == here && (!on_host || residences_.lies_on_host(what));
  }

  // The edge, as the device has it: its own, fed, or received. A device that is to look at what it
  // has made itself sends it to itself, by way of the host's memory.
  result<edge> bring(edge what, int here, bool on_host) {
    if (goes_along(*what.node)) {
      auto& known = brought_[{what.node, what.index, here}];
      if (!known)
        known = {part(here).add_copy(*what.node, {}, {}), what.index};
      return known;
    }
    if (is_at_hand(what, here, on_host))
      return copied(what);
    if (auto it = brought_.find({what.node, what.index, here}); it != brought_.end())
      return it->second;
    auto from = device_of(what.node);
    TROUPE_ASSIGN(auto waits, calls_for(what, from, here));
    TROUPE_ASSIGN(auto received,
                  send(copied(what), from, here, what.node->name(), std::move(waits)));
    brought_[{what.node, what.index, here}] = received;
    return received;
  }

  // What must have come from the receiver before the edge is sent to it.
  result<std::vector<node*>> calls_for(edge what, int from, int here) {
    auto it = late_.find({what.node, what.index, here});
    std::vector<node*> calls;
    if (it != late_.end() && copy_of(it->second) && !frames_.contains(it->second)) {
      TROUPE_ASSIGN(auto* call, bring_control(it->second, from));
      calls.push_back(call);
    }
    return calls;
  }

  // From one partition to another, or back to itself by way of the host's memory.
  result<edge> send(edge what, int from, int here, const std::string& name,
                    std::vector<node*> waits = {}) {
    auto how = transfer_of(*what.node).value_or(between_tasks_);
    auto shorter = how != f32_transfer::exact && what.type() == dtype::f32 &&
                   devices_[static_cast<size_t>(from)].on_task() !=
                       devices_[static_cast<size_t>(here)].on_task();
    if (!shorter)
      return send_as_it_is(what, from, here, name, std::move(waits));
    auto cuts_off = how == f32_transfer::truncated;
    TROUPE_ASSIGN(auto half, cast(what, dtype::bf16, cuts_off, from, name));
    TROUPE_ASSIGN(auto received, send_as_it_is(half, from, here, name, std::move(waits)));
    return cast(received, dtype::f32, false, here, name);
  }

  result<edge> cast(edge what, dtype to, bool cuts_off, int device, const std::string& name) {
    TROUPE_ASSIGN(auto* made,
                  part(device).add({.op = "Cast",
                                    .name = concat(to == dtype::bf16 ? "shorten_" : "lengthen_",
                                                   next_key_++, '/', name),
                                    .inputs = {what},
                                    .attrs = {{"DstT", to}, {"Truncate", cuts_off}},
                                    .where = what.node->where()}));
    return edge{made, 0};
  }

  result<edge> send_as_it_is(edge what, int from, int here, const std::string& name,
                             std::vector<node*> waits) {
    auto key = next_key_++;
    TROUPE_TRY(part(from).add({.op = "_Send",
                               .name = concat("_send_", key, '/', name),
                               .inputs = {what},
                               .attrs = {{"key", key}, {"to", name_of(here)}},
                               .controls = std::move(waits),
                               .where = what.node->where()}));
    TROUPE_ASSIGN(auto* received, part(here).add({.op = "_Recv",
                                                  .name = concat("_recv_", key, '/', name),
                                                  .attrs = {{"key", key},
                                                            {"from", name_of(from)},
                                                            {"dtype", what.type()},
                                                            {"shape", what.dims()}},
                                                  .where = what.node->where()}));
    return edge{received, 0};
  }

  result<node*> bring_control(node* before, int here) {
    auto from = device_of(before);
    auto* copy = copy_of(before);
    if (from == here)
      return copy;
    // A tensor that comes from that node anyway brings the news with it.
    for (int i = 0; i < before->outputs(); ++i)
      if (auto it = brought_.find({before, i, here}); it != brought_.end())
        return it->second.node;
    if (auto it = brought_.find({before, -1, here}); it != brought_.end())
      return it->second.node;
    TROUPE_ASSIGN(auto* news, send_news(*copy, from, here));
    brought_[{before, -1, here}] = {news, 0};
    return news;
  }

  // That a node of a partition has run.
  result<node*> send_news(node& before, int from, int here) {
    auto key = next_key_++;
    TROUPE_TRY(part(from).add({.op = "_SendControl",
                               .name = concat("_send_", key, '/', before.name()),
                               .attrs = {{"key", key}, {"to", name_of(here)}},
                               .controls = {&before},
                               .where = before.where()}));
    return part(here).add({.op = "_RecvControl",
                           .name = concat("_recv_", key, '/', before.name()),
                           .attrs = {{"key", key}, {"from", name_of(from)}},
                           .where = before.where()});
  }

  const graph& of_;
  const std::vector<int>& chosen_;
  const device_list& devices_;
  const placed_frames& frames_;
  const further_order& order_;
  const f32_transfer between_tasks_;
  const late_sends& late_;
  const kernel_sites residences_;
  std::vector<std::unique_ptr<graph>> parts_;
  std::vector<node*> copies_;                                 // by the id of the original
  std::vector<bool> used_;                                    // has successors
  std::map<std::tuple<const node*, int, int>, edge> brought_; // (node, output, device)
  int next_key_ = 0;

  static constexpr int past_all = std::numeric_limits<int>::max();
  const update_order updates_;
  // By the id of an update: who reads the variable behind it, and must not see it.
  std::map<int, std::vector<std::pair<const node*, int>>> late_reads_;
  std::map<std::pair<const node*, int>, edge> read_ahead_; // by reader and input
  // By ref, where it is wanted (-1: where it lies), the update that is seen, and what is waited
  // for.
  struct known_read {
    edge value; // where it is wanted
    node* by = nullptr;
  };
  std::map<std::tuple<const node*, int, int, int, std::vector<node*>>, known_read> reads_;
  std::pair<node*, int> last_read_; // what read() has made or found last, and where
};

} // namespace

result<std::vector<partition>> cut(const graph& of, const std::vector<int>& chosen,
                                   const device_list& devices, const placed_frames& frames,
                                   const further_order& order, f32_transfer between_tasks,
                                   const late_sends& late) {
  return cutter{of, chosen, devices, frames, order, between_tasks, late}.run();
}

} // namespace troupe
