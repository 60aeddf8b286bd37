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
  cutter(const graph& step_graph, const std::vector<int>& chosen, const device_list& devices,
         const placed_frames& frames, const extra_order& order, f32_transfer between_tasks,
         const late_requests& late)
      : graph_(step_graph), chosen_(chosen), devices_(devices), frames_(frames), order_(order),
        between_tasks_(between_tasks), late_(late), kernel_sites_(step_graph, chosen, devices),
        parts_(devices.size()), copies_(step_graph.nodes().size()),
        used_(step_graph.nodes().size()), updates_(step_graph) {
    for (const auto& node : step_graph.nodes()) {
      find_late_reads(*node);
      for (const auto& input : node->inputs())
        used_[static_cast<size_t>(input.node->id())] = true;
      for (auto* before : node->controls())
        used_[static_cast<size_t>(before->id())] = true;
    }
  }

  result<std::vector<partition>> run() {
    for (const auto& node : graph_.nodes())
      if (!is_replicated(*node))
        TROUPE_TRY(copy(*node));
    std::vector<partition> partitions;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i])
        partitions.push_back({devices_[i], std::move(parts_[i])});
    return partitions;
  }

private:
  status copy(node& n) {
    auto device = device_of(&n);
    auto frame = frames_.find(&n);
    // The nodes that a node waits for must precede it: a partition is in topological order.
    std::vector<node*> controls;
    if (auto late = late_reads_.find(n.id()); late != late_reads_.end())
      for (const auto& late_read : late->second) {
        TROUPE_ASSIGN(read_ahead_[late_read], read(*late_read.first, late_read.second, n.id()));
        // The functions of a frame may update the variable on another device.
        if (frame != frames_.end()) {
          const auto& [read_node, read_device] = last_read_;
          TROUPE_ASSIGN(auto* local, read_device == device
                                         ? result<node*>{read_node}
                                         : send_control(*read_node, read_device, device));
          controls.push_back(local);
        }
      }
    std::vector<edge> inputs;
    for (int i = 0; i < static_cast<int>(n.inputs().size()); ++i) {
      if (frame != frames_.end() && n.input_is_ref(i))
        continue; // its functions refer to the state themselves
      TROUPE_ASSIGN(auto local, input_of(n, i));
      inputs.push_back(local);
    }
    for (auto* before : n.controls()) {
      if (is_replicated(*before))
        continue; // exists from the start
      TROUPE_ASSIGN(auto* local, bring_control(before, device));
      controls.push_back(local);
    }
    if (auto further = order_.find(&n); further != order_.end())
      for (auto* before : further->second) {
        TROUPE_ASSIGN(auto* local, bring_control(before, device));
        controls.push_back(local);
      }
    // One message may stand for several control edges.
    std::ranges::sort(controls, {}, &node::id);
    auto duplicates = std::ranges::unique(controls);
    controls.erase(duplicates.begin(), duplicates.end());
    auto& copied_node = copies_[static_cast<size_t>(n.id())];
    if (frame != frames_.end()) {
      TROUPE_ASSIGN(copied_node, add_frame(n, std::move(inputs), std::move(controls)));
      return {};
    }
    if (!needs_two_phases(n, device)) {
      copied_node = part(device).add_copy(n, std::move(inputs), std::move(controls));
      return {};
    }
    TROUPE_ASSIGN(copied_node, add_phases(n, device, std::move(inputs), std::move(controls)));
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
    auto is_loop = n.op().calls == call_kind::while_true;
    auto frame_device = device_of(&n);
    std::vector<std::string> tasks;
    for (auto other_device : frames_.at(&n).others)
      tasks.push_back(to_string(devices_[static_cast<size_t>(other_device)].name_of_task()));
    attr_map attrs{
        {"Tout", std::move(types)},
        {"shapes", std::move(shapes)},
        {"frame", frames_.at(&n).number},
        {"kind", n.op().name},
        {"orders", order_of_iterations(n).size()},
        {"unchanged", unchanged_outputs(n)},
        {"parallel_iterations",
         is_loop ? std::max<int64_t>(1, n.attr<int64_t>("parallel_iterations")) : int64_t{1}},
        {"tasks", std::move(tasks)}};
    attrs.merge(transfer_attr_of(n));
    TROUPE_ASSIGN(auto* frame_node, part(frame_device)
                                        .add({.op = "_Frame",
                                              .name = n.name(),
                                              .inputs = std::move(inputs),
                                              .attrs = std::move(attrs),
                                              .controls = std::move(controls),
                                              .where = n.where()}));
    frame_node->graph().set_origin(*frame_node, concat("for ", n.description()));
    // The step of another task that runs a part of the frame must not end before the frame does.
    for (auto other_device : frames_.at(&n).others)
      TROUPE_TRY(send_control(*frame_node, frame_device, other_device).status());
    return frame_node;
  }

  // Returns the copy of an edge. Indices may differ: a _Frame has no outputs for state.
  edge copied(edge original) const {
    auto index = original.index;
    if (frames_.contains(original.node))
      for (int i = 0; i < original.index; ++i)
        index -= original.node->output_is_ref(i) ? 1 : 0;
    return {copy_of(original.node), index};
  }

  result<edge> input_of(const node& n, int i) {
    if (auto value = read_ahead_.find({&n, i}); value != read_ahead_.end())
      return value->second;
    const auto& original = n.inputs()[static_cast<size_t>(i)];
    auto device = device_of(&n);
    auto on_host = wants_on_host(n, i);
    return original.node->output_is_ref(original.index) && !n.input_is_ref(i) &&
                   !is_at_hand(original, device, on_host)
               ? read(n, i, no_limit)
               : bring(original, device, on_host);
  }

  // -- reads of variables ----------------------------------------------------------------------

  // A step reads a variable before it updates it, unless the read depends on the update by the
  // graph. A node that follows an update on which it does not depend gets its value from an earlier
  // read. Fetches, and nodes that update the variable, take the current value instead.
  void find_late_reads(const node& n) {
    auto accesses = accesses_of(n);
    for (const auto& access : accesses) {
      auto updates_state = [&](const state_access& other) {
        return other.updates && other.state == access.state;
      };
      if (!access.is_read || internal_ops::is_boundary(n) ||
          std::ranges::any_of(accesses, updates_state))
        continue;
      auto seen = updates_.last_seen_by(n, *access.state);
      if (seen != updates_.last_before(n, *access.state))
        late_reads_[updates_.first_after(seen, *access.state)].emplace_back(&n, access.input);
    }
  }

  // The nodes that a reader waits for by control edges, directly or through groups: their effects
  // may matter to the reader. Nodes that it waits for only by data do not order its reads.
  std::vector<node*> waits_of(const node& reader, const node& state, int until) const {
    std::vector<node*> waits, open = reader.controls();
    while (!open.empty()) {
      auto* before = open.back();
      open.pop_back();
      auto effects = before->op().effects;
      auto updates = [&](const state_access& access) {
        return access.updates && access.state == &state;
      };
      if (before->inputs().empty() && before->outputs() == 0 && !has(effects, effect::stateful))
        open.insert(open.end(), before->controls().begin(), before->controls().end());
      else if (has(effects, effect::stateful | effect::blocking) && !has(effects, effect::random) &&
               before->op().state_kind == resource::none && before->id() < until &&
               std::ranges::none_of(accesses_of(*before), updates))
        waits.push_back(before);
    }
    std::ranges::sort(waits, {}, &node::id);
    auto duplicates = std::ranges::unique(waits);
    waits.erase(duplicates.begin(), duplicates.end());
    return waits;
  }

  // Returns the value of a variable for a reader, and for all readers that see the same updates.
  // Reads it on the variable's device after the last update that the reader depends on, and before
  // node `until`.
  result<edge> read(const node& reader, int input, int until) {
    const auto& ref = reader.inputs()[static_cast<size_t>(input)];
    const auto* state = resource_behind(ref);
    if (!state)
      return invalid(reader.description(), ": input ", input, " refers to no state");
    auto device = device_of(&reader), read_device = device_of(ref.node);
    auto stays = is_at_hand(ref, device, wants_on_host(reader, input));
    auto seen = updates_.last_seen_by(reader, *state);
    auto waits = waits_of(reader, *state, until);
    auto& shared_read = reads_[{ref.node, ref.index, stays ? -1 : device, seen, waits}];
    if (shared_read.value) {
      last_read_ = {shared_read.read_node, read_device};
      return shared_read.value;
    }
    std::vector<node*> controls;
    if (seen != update_order::none) {
      auto* update = graph_.nodes()[static_cast<size_t>(seen)].get();
      TROUPE_ASSIGN(auto* local, bring_control(update, read_device));
      controls.push_back(local);
    }
    for (auto* before : waits) {
      TROUPE_ASSIGN(auto* local, bring_control(before, read_device));
      controls.push_back(local);
    }
    std::ranges::sort(controls, {}, &node::id);
    auto duplicates = std::ranges::unique(controls);
    controls.erase(duplicates.begin(), duplicates.end());
    const auto& name = ref.node->name();
    TROUPE_ASSIGN(auto* read_node, part(read_device)
                                       .add({.op = std::string{internal_ops::read.name},
                                             .name = concat("_read_", next_key_++, '/', name),
                                             .inputs = {edge{copy_of(ref.node), ref.index}},
                                             .attrs = transfer_attr_of(*ref.node),
                                             .controls = std::move(controls),
                                             .where = ref.node->where()}));
    shared_read = {{read_node, 0}, read_node};
    last_read_ = {read_node, read_device};
    if (!stays) {
      TROUPE_ASSIGN(auto calls, calls_for(ref, read_device, device));
      TROUPE_ASSIGN(shared_read.value,
                    send(shared_read.value, read_device, device, name, std::move(calls)));
    }
    return shared_read.value;
  }

  // -- ops in two phases -----------------------------------------------------------------------

  // Returns whether a GPU must count elements before the shapes of the outputs are known
  // (two_phase_op.hpp).
  bool needs_two_phases(const node& node, int device) const {
    return has(node.op().effects, effect::data_dependent_shape) &&
           kind_of(devices_[static_cast<size_t>(device)]) == device_kind::gpu &&
           !kernel_sites_.runs_on_host(node);
  }

  // Adds both phases of a node, with the counts sent to the host in between. Returns the second.
  result<node*> add_phases(const node& n, int device, std::vector<edge> inputs,
                           std::vector<node*> controls) {
    TROUPE_TRY(share(n, device, inputs));
    auto& partition_graph = part(device);
    TROUPE_ASSIGN(auto* first, partition_graph.add({.op = two_phase_op::name_of_first(n.op().name),
                                                    .name = concat("_count_/", n.name()),
                                                    .inputs = inputs,
                                                    .attrs = n.attrs(),
                                                    .controls = std::move(controls),
                                                    .where = n.where()}));
    partition_graph.set_origin(*first, concat("for ", n.description()));
    auto known = counts_from_shapes(n);
    auto counts =
        known ? add_constant(n, device, *known) : send({first, 0}, device, device, first->name());
    TROUPE_TRY(counts.status());
    inputs.push_back({first, 1});
    inputs.push_back(*counts);
    auto attrs = n.attrs();
    std::vector<partial_shape> shapes;
    for (int i = 0; i < n.outputs(); ++i)
      shapes.push_back(n.output_shape(i));
    attrs["output_shapes"] = std::move(shapes);
    TROUPE_ASSIGN(auto* second,
                  partition_graph.add({.op = two_phase_op::name_of_second(n.op().name),
                                       .name = n.name(),
                                       .inputs = std::move(inputs),
                                       .attrs = std::move(attrs),
                                       .where = n.where()}));
    partition_graph.set_origin(*second, concat("for ", n.description()));
    return second;
  }

  // Makes both phases read the same value of a variable, even if it is updated between them, and
  // uploads a tensor of the host only once for both.
  status share(const node& node, int device, std::vector<edge>& inputs) {
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
      auto& input = inputs[static_cast<size_t>(i)];
      if (node.input_is_ref(i) || internal_ops::is_constant(*input.node) ||
          !(input.node->output_is_ref(input.index) || is_uploaded(node, i, device)))
        continue;
      TROUPE_ASSIGN(auto* shared, part(device).add({.op = "Identity",
                                                    .name = concat("shared_", next_key_++, '/',
                                                                   input.node->name()),
                                                    .inputs = {input},
                                                    .where = node.where()}));
      input = {shared, 0};
    }
    return {};
  }

  bool is_uploaded(const node& node, int input, int device) const {
    const auto& from = node.inputs()[static_cast<size_t>(input)];
    return kernel_sites_.wants_on_device(node, input) &&
           (kernel_sites_.lies_on_host(from) || device_of(from.node) != device);
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

  result<edge> add_constant(const node& original, int device, const std::vector<int64_t>& values) {
    TROUPE_ASSIGN(auto* constant,
                  part(device).add(
                      {.op = "Const",
                       .name = concat("counts_", next_key_++, '/', original.name()),
                       .attrs = {{"value", tensor::vector<int64_t>(values)}, {"dtype", dtype::i64}},
                       .where = original.where()}));
    return edge{constant, 0};
  }

  // Feeds and constants are copied to each device that uses them, instead of being sent.
  bool is_replicated(const node& node) const {
    return &node.op() == &internal_ops::feed ||
           (internal_ops::is_constant(node) && node.controls().empty() &&
            used_[static_cast<size_t>(node.id())]);
  }

  graph& part(int device) {
    auto& part_of_device = parts_[static_cast<size_t>(device)];
    if (!part_of_device)
      part_of_device = std::make_unique<graph>(graph_.ops());
    return *part_of_device;
  }
  // A fetch goes to the device of its value; a feed that is fetched, to the first device.
  int device_of(const node* node) const {
    if (&node->op() == &internal_ops::fetch)
      return std::max(0, chosen_[static_cast<size_t>(node->inputs()[0].node->id())]);
    return chosen_[static_cast<size_t>(node->id())];
  }
  std::string name_of(int device) const { return to_string(devices_[static_cast<size_t>(device)]); }
  node* copy_of(const node* node) const { return copies_[static_cast<size_t>(node->id())]; }

  // A fetch or a feed has no device of its own, and so needs its input nowhere else.
  bool wants_on_host(const node& node, int input) const {
    return chosen_[static_cast<size_t>(node.id())] >= 0 && kernel_sites_.wants_on_host(node, input);
  }

  // Returns whether the device has the edge without a message.
  bool is_at_hand(edge value, int device, bool on_host) const {
    return device_of(value.node) == device && (!on_host || kernel_sites_.lies_on_host(value));
  }

  // Returns the edge in the partition of a device: local, fed, or received. If the host of a device
  // must read a tensor that the device has made, the device sends it to itself through the host.
  result<edge> bring(edge value, int device, bool on_host) {
    if (is_replicated(*value.node)) {
      auto& known = brought_[{value.node, value.index, device}];
      if (!known)
        known = {part(device).add_copy(*value.node, {}, {}), value.index};
      return known;
    }
    if (is_at_hand(value, device, on_host))
      return copied(value);
    if (auto known = brought_.find({value.node, value.index, device}); known != brought_.end())
      return known->second;
    auto from = device_of(value.node);
    TROUPE_ASSIGN(auto waits, calls_for(value, from, device));
    TROUPE_ASSIGN(auto received,
                  send(copied(value), from, device, value.node->name(), std::move(waits)));
    brought_[{value.node, value.index, device}] = received;
    return received;
  }

  // Returns the messages of the receiver that must arrive before the edge is sent to it.
  result<std::vector<node*>> calls_for(edge value, int from, int to) {
    auto late = late_.find({value.node, value.index, to});
    std::vector<node*> calls;
    if (late != late_.end() && copy_of(late->second) && !frames_.contains(late->second)) {
      TROUPE_ASSIGN(auto* call, bring_control(late->second, from));
      calls.push_back(call);
    }
    return calls;
  }

  // Sends a tensor to another partition, or back to the same one through the host's memory.
  result<edge> send(edge value, int from, int to, const std::string& name,
                    std::vector<node*> waits = {}) {
    auto transfer = transfer_of(*value.node).value_or(between_tasks_);
    auto is_shortened = transfer != f32_transfer::exact && value.type() == dtype::f32 &&
                        devices_[static_cast<size_t>(from)].name_of_task() !=
                            devices_[static_cast<size_t>(to)].name_of_task();
    if (!is_shortened)
      return send_unchanged(value, from, to, name, std::move(waits));
    auto truncates = transfer == f32_transfer::truncated;
    TROUPE_ASSIGN(auto half, cast(value, dtype::bf16, truncates, from, name));
    TROUPE_ASSIGN(auto received, send_unchanged(half, from, to, name, std::move(waits)));
    return cast(received, dtype::f32, false, to, name);
  }

  result<edge> cast(edge value, dtype type, bool truncates, int device, const std::string& name) {
    TROUPE_ASSIGN(auto* cast_node,
                  part(device).add({.op = "Cast",
                                    .name = concat(type == dtype::bf16 ? "shorten_" : "lengthen_",
                                                   next_key_++, '/', name),
                                    .inputs = {value},
                                    .attrs = {{"DstT", type}, {"Truncate", truncates}},
                                    .where = value.node->where()}));
    return edge{cast_node, 0};
  }

  result<edge> send_unchanged(edge value, int from, int to, const std::string& name,
                              std::vector<node*> waits) {
    auto key = next_key_++;
    TROUPE_TRY(part(from).add({.op = "_Send",
                               .name = concat("_send_", key, '/', name),
                               .inputs = {value},
                               .attrs = {{"key", key}, {"to", name_of(to)}},
                               .controls = std::move(waits),
                               .where = value.node->where()}));
    TROUPE_ASSIGN(auto* received, part(to).add({.op = "_Recv",
                                                .name = concat("_recv_", key, '/', name),
                                                .attrs = {{"key", key},
                                                          {"from", name_of(from)},
                                                          {"dtype", value.type()},
                                                          {"shape", value.dims()}},
                                                .where = value.node->where()}));
    return edge{received, 0};
  }

  result<node*> bring_control(node* before, int to) {
    auto from = device_of(before);
    auto* copy = copy_of(before);
    if (from == to)
      return copy;
    // If a tensor of that node arrives anyway, it also stands for the control edge.
    for (int i = 0; i < before->outputs(); ++i)
      if (auto received = brought_.find({before, i, to}); received != brought_.end())
        return received->second.node;
    if (auto received = brought_.find({before, -1, to}); received != brought_.end())
      return received->second.node;
    TROUPE_ASSIGN(auto* control, send_control(*copy, from, to));
    brought_[{before, -1, to}] = {control, 0};
    return control;
  }

  // Sends the signal that a node of a partition has run.
  result<node*> send_control(node& before, int from, int to) {
    auto key = next_key_++;
    TROUPE_TRY(part(from).add({.op = "_SendControl",
                               .name = concat("_send_", key, '/', before.name()),
                               .attrs = {{"key", key}, {"to", name_of(to)}},
                               .controls = {&before},
                               .where = before.where()}));
    return part(to).add({.op = "_RecvControl",
                         .name = concat("_recv_", key, '/', before.name()),
                         .attrs = {{"key", key}, {"from", name_of(from)}},
                         .where = before.where()});
  }

  const graph& graph_;
  const std::vector<int>& chosen_;
  const device_list& devices_;
  const placed_frames& frames_;
  const extra_order& order_;
  const f32_transfer between_tasks_;
  const late_requests& late_;
  const kernel_sites kernel_sites_;
  std::vector<std::unique_ptr<graph>> parts_;
  std::vector<node*> copies_;                                 // by the id of the original
  std::vector<bool> used_;                                    // whether a node has successors
  std::map<std::tuple<const node*, int, int>, edge> brought_; // (node, output, device)
  int next_key_ = 0;

  static constexpr int no_limit = std::numeric_limits<int>::max();
  const update_order updates_;
  // By the id of an update: readers that follow it and must not see it, with their inputs.
  std::map<int, std::vector<std::pair<const node*, int>>> late_reads_;
  std::map<std::pair<const node*, int>, edge> read_ahead_; // by reader and input
  // By ref, the device that needs the value (-1: that of the variable), the last update that the
  // reader sees, and the nodes that it waits for.
  struct known_read {
    edge value; // on the device that needs it
    node* read_node = nullptr;
  };
  std::map<std::tuple<const node*, int, int, int, std::vector<node*>>, known_read> reads_;
  std::pair<node*, int> last_read_; // the last result of read(), and its device
};

} // namespace

result<std::vector<partition>> cut(const graph& placed, const std::vector<int>& chosen,
                                   const device_list& devices, const placed_frames& frames,
                                   const extra_order& order, f32_transfer between_tasks,
                                   const late_requests& late) {
  return cutter{placed, chosen, devices, frames, order, between_tasks, late}.run();
}

} // namespace troupe
