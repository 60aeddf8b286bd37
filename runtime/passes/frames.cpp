#include "troupe/runtime/passes/frames.hpp"

#include "troupe/runtime/device/preferred_device.hpp"
#include "troupe/runtime/functions/frame.hpp"
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/transfer_attr.hpp"
#include "troupe/runtime/passes/rewriter.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace troupe {
namespace {

bool is_loop(const node& candidate) { return candidate.op().calls == call_kind::while_true; }

class frame_writer {
public:
  frame_writer(const node& caller, const frame_places& places)
      : caller_(caller), places_(places),
        first_(static_cast<size_t>(first_argument(caller.op()))), built_{std::make_unique<graph>(
                                                                             caller.graph().ops()),
                                                                         {}},
        order_of_effects_(order_of_iterations(caller)) {}

  result<step_graph> run(size_t function_index) {
    TROUPE_TRY(add_arguments());
    auto functions = functions_of(caller_);
    std::vector<edge> results;
    if (!is_loop(caller_) || function_index > 0) {
      TROUPE_ASSIGN(results,
                    add_nodes(*functions[function_index], arguments_, caller_.name() + '/'));
      const auto outputs = frame_outputs(caller_);
      const auto unchanged = unchanged_outputs(caller_);
      for (size_t index = 0; index < outputs.size(); ++index)
        if (std::ranges::find(unchanged, static_cast<int64_t>(index)) != unchanged.end())
          ++next_result_;
        else
          TROUPE_TRY(add_result(results[static_cast<size_t>(outputs[index])]));
    } else {
      results = arguments_;
    }
    if (!is_loop(caller_)) {
      TROUPE_TRY(add_orders());
    } else {
      TROUPE_TRY(end_body());
      TROUPE_ASSIGN(auto condition_result,
                    add_nodes(*functions[0], results, caller_.name() + "/cond/"));
      TROUPE_TRY(add_orders());
      TROUPE_TRY(add_result(condition_result[0], true));
    }
    for (const auto& built_node : built_.nodes->nodes())
      if (!outlives_steps(built_node->op()) && !is_pure(*built_node))
        built_.targets.push_back(built_node.get());
    return std::move(built_);
  }

private:
  graph& nodes() { return *built_.nodes; }

  result<edge> add_argument(dtype type, const partial_shape& dims) {
    auto index = next_argument_++;
    TROUPE_ASSIGN(
        auto* argument_node,
        nodes().add(
            {.op = "_FrameArgument",
             .name = concat(caller_.name(), "/_argument_", index),
             .attrs = {{"index", static_cast<int64_t>(index)}, {"dtype", type}, {"shape", dims}},
             .device = places_.boundary_device,
             .where = caller_.where()}));
    return argument_node->output(0);
  }

  status add_arguments() {
    const auto& inputs = caller_.inputs();
    for (size_t i = first_; i < inputs.size(); ++i) {
      if (caller_.input_is_ref(static_cast<int>(i))) {
        TROUPE_ASSIGN(auto* state, state_for(inputs[i]));
        arguments_.push_back(state->output(0));
        continue;
      }
      // The body's argument may have a more general shape than the initial value.
      const auto& body_dims =
          functions_of(caller_).back()->body->argument(i - first_).output_shape(0);
      auto dims = is_loop(caller_) ? join_shapes(inputs[i].dims(), body_dims) : inputs[i].dims();
      auto argument_edge = add_argument(inputs[i].type(), dims);
      if (!argument_edge)
        return argument_edge.status();
      arguments_.push_back(*argument_edge);
    }
    for (const auto* state : order_of_effects_.states) {
      auto order = add_argument(dtype::boolean, shape{});
      if (!order)
        return order.status();
      orders_.push_back({states_.at(state), order->node, {}});
    }
    if (order_of_effects_.others) {
      auto order = add_argument(dtype::boolean, shape{});
      if (!order)
        return order.status();
      orders_.push_back({nullptr, order->node, {}});
    }
    return {};
  }

  result<node*> state_for(edge source) {
    const auto* state = resource_behind(source);
    if (!state)
      return invalid("input '", source, "' refers to no variable, queue or table");
    if (state->op().per_step)
      return failure(error_kind::unimplemented, state->description(),
                     ": exists only within one step, and ", caller_.description(),
                     " runs steps of its own: use a variable");
    if (is_argument(*state))
      return failure(
          error_kind::unimplemented, caller_.description(),
          ": a recursive function cannot contain a blocking node: move the node out of it");
    auto& copied_state = states_[state];
    if (!copied_state) {
      copied_state = nodes().add_copy(*state, {}, {});
      rewriter::set_device(*copied_state, places_.device_of(*state));
    }
    return copied_state;
  }

  result<std::vector<edge>> add_nodes(const function_value& called,
                                      const std::vector<edge>& arguments,
                                      const std::string& prefix) {
    if (!called.body)
      return failure(
          error_kind::unimplemented, caller_.description(), ": function '", called.name,
          "' is recursive, so it cannot block or span devices: move those nodes out of it");
    const auto& body = *called.body;
    std::vector<edge> results(body.results());
    for (size_t i = 0; i < body.results(); ++i)
      if (auto argument = body.passed_through(i); argument >= 0)
        results[i] = arguments[static_cast<size_t>(argument)];
    std::vector<node*> copies(body.body().nodes().size());
    auto copied_edge = [&](edge source) {
      return is_argument(*source.node)
                 ? arguments[static_cast<size_t>(source.node->attr<int64_t>("index"))]
                 : edge{copies[source.node->index()], source.index};
    };
    TROUPE_ASSIGN(auto order, topological_order(body.body()));
    for (const auto* source_node : order) {
      if (!body.runs(*source_node))
        continue;
      if (is_argument(*source_node)) {
        copies[source_node->index()] =
            arguments[static_cast<size_t>(source_node->attr<int64_t>("index"))].node;
        continue;
      }
      if (&source_node->op() == &internal_ops::fetch) {
        results[static_cast<size_t>(source_node->attr<int64_t>("index"))] =
            copied_edge(source_node->inputs()[0]);
        continue;
      }
      std::vector<edge> inputs;
      for (const auto& input : source_node->inputs())
        inputs.push_back(copied_edge(input));
      std::vector<node*> controls;
      for (auto* before : source_node->controls())
        if (!outlives_steps(copies[before->index()]->op()))
          controls.push_back(copies[before->index()]);
      auto has_effect = has_effects_in_function(*source_node);
      auto* copied_node = nodes().add_copy(*source_node, prefix + source_node->name(),
                                           std::move(inputs), std::move(controls));
      rewriter::set_default_device(*copied_node, device_for(*copied_node));
      note_uses(*copied_node, has_effect);
      copies[source_node->index()] = copied_node;
    }
    return results;
  }

  // Returns the device of the loop or branch. A node that no GPU can run is placed on the same
  // task.
  std::string device_for(const node& placed) const {
    auto requested = device_name::parse(caller_.device());
    if (!requested || kind_of(*requested) != device_kind::gpu ||
        site_of(placed, device_kind::gpu) != kernel_site::none)
      return caller_.device();
    return task_of_device(caller_.device());
  }

  // Orders the uses of state that iterations change.
  void note_uses(node& user, bool has_effect) {
    if (orders_.empty())
      return;
    auto accesses = accesses_of(user);
    for (auto& order : orders_) {
      auto uses_order_state = std::ranges::any_of(
          accesses, [&](const state_access& access) { return access.state == order.state; });
      auto has_other_effect =
          has_effect && (!iterations_overlap(caller_) || runs_functions(user.op()) ||
                         std::ranges::none_of(accesses, &state_access::updates));
      if (!(order.state ? uses_order_state : has_other_effect))
        continue;
      (void)nodes().add_control(*order.last, user); // cannot fail: both are nodes of this graph
      order.users.push_back(&user);
    }
  }

  // Orders the effects of the condition after all effects of the body.
  status end_body() {
    for (auto& order : orders_)
      if (!order.users.empty()) {
        TROUPE_ASSIGN(order.last, nodes().add({.op = "NoOp",
                                               .name = concat(caller_.name(), "/_after_body_",
                                                              &order - orders_.data()),
                                               .controls = std::move(order.users),
                                               .device = places_.boundary_device,
                                               .where = caller_.where()}));
        order.users.clear();
      }
    return {};
  }

  status add_orders() {
    for (auto& order : orders_) {
      auto controls = std::move(order.users);
      controls.push_back(order.last);
      sort_controls(controls);
      TROUPE_ASSIGN(
          auto* order_node,
          nodes().add({.op = "Const",
                       .name = concat(caller_.name(), "/_order_", &order - orders_.data()),
                       .attrs = {{"value", tensor::scalar(true)}, {"dtype", dtype::boolean}},
                       .controls = std::move(controls),
                       .device = places_.boundary_device,
                       .where = caller_.where()}));
      TROUPE_TRY(add_result(order_node->output(0)));
    }
    return {};
  }

  // A variable as result is read in the iteration that returns it.
  status add_result(edge source, bool on_host = false) {
    auto index = next_result_++;
    if (source.node->output_is_ref(source.index)) {
      const auto* state = resource_behind(source);
      TROUPE_ASSIGN(auto* read_node, nodes().add({.op = std::string{internal_ops::read.name},
                                                  .name = concat(caller_.name(), "/_read_", index),
                                                  .inputs = {source},
                                                  .attrs = transfer_attr_of(*source.node),
                                                  .device = state ? state->device() : std::string{},
                                                  .where = caller_.where()}));
      note_uses(*read_node, false);
      source = read_node->output(0);
    }
    return nodes()
        .add({.op = "_FrameResult",
              .name = concat(caller_.name(), "/_result_", index),
              .inputs = {source},
              .attrs = {{"index", static_cast<int64_t>(index)}, {"on_host", on_host}},
              .device = places_.boundary_device,
              .where = caller_.where()})
        .status();
  }

  struct order {
    const node* state; // in this graph; nullptr for effects on other state
    node* last;        // the node after which all users run
    std::vector<node*> users;
  };

  const node& caller_;
  const frame_places& places_;
  const size_t first_;
  step_graph built_;
  const frame_order order_of_effects_;
  size_t next_argument_ = 0, next_result_ = 0;
  std::vector<edge> arguments_; // values and state
  std::map<const node*, node*> states_;
  std::vector<order> orders_;
};

} // namespace

void infer_devices_from_bodies(graph& target) {
  for (const auto& caller : target.nodes())
    if (runs_functions(caller->op()) && caller->device().empty())
      if (auto joint_device = device_of_functions(*caller);
          joint_device && *joint_device != device_name{})
        rewriter::set_device(*caller, to_string(*joint_device));
}

result<extra_order> order_around_frames(graph& target, const std::vector<node*>& frames) {
  extra_order orders;
  if (frames.empty())
    return orders;
  std::set<const node*> frame_set{frames.begin(), frames.end()};
  for (const auto& reader : target.nodes())
    for (int i = 0; i < static_cast<int>(reader->inputs().size()); ++i) {
      auto source = reader->inputs()[static_cast<size_t>(i)];
      if (!source.node->output_is_ref(source.index))
        continue;
      const auto* state = resource_behind(source);
      if (!state)
        return invalid(reader->description(), ": input ", i,
                       " refers to no variable, queue or table");
      if (frame_set.contains(source.node) ||
          (frame_set.contains(reader.get()) && source.node != state))
        TROUPE_TRY(target.add_control(*source.node, *reader));
      if (frame_set.contains(source.node))
        rewriter::redirect(*reader, i, {const_cast<node*>(state), 0});
    }
  // Orders earlier users of shared state before a frame, and later updates after it.
  for (auto* frame : frames) {
    std::set<const node*> shared;
    for (const auto& frame_access : accesses_of(*frame))
      if (outlives_steps(frame_access.state->op()) &&
          !has_operations(frame_access.state->op().state_kind))
        shared.insert(frame_access.state);
    if (shared.empty())
      continue;
    for (const auto& user : target.nodes())
      for (const auto& access : accesses_of(*user)) {
        if (user.get() == frame || !shared.contains(access.state))
          continue;
        auto is_changed = access.updates && changes_state(*user, *access.state);
        if (!is_changed && !changes_state(*frame, *access.state))
          continue;
        if (&user->op() == &internal_ops::fetch || (is_changed && user->id() > frame->id()))
          orders[user.get()].push_back(frame);
        else if (user->id() < frame->id())
          orders[frame].push_back(user.get());
      }
  }
  return orders;
}

result<step_graph> frame_graph(const node& caller, size_t function, const frame_places& places) {
  auto built = frame_writer{caller, places}.run(function);
  if (!built)
    return with_node_context(caller, built.status());
  return built;
}

} // namespace troupe
