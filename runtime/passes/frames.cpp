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

bool is_loop(const node& of) { return of.op().calls == calling::while_true; }

class frame_writer {
public:
  frame_writer(const node& of, const frame_places& places)
      : of_(of), places_(places), first_(static_cast<size_t>(first_argument(of.op()))),
        made_{std::make_unique<graph>(of.graph().ops()), {}}, uses_(order_of_turns(of)) {}

  result<step_graph> run(size_t which) {
    TROUPE_TRY(add_arguments());
    auto functions = functions_of(of_);
    std::vector<edge> results;
    if (!is_loop(of_) || which > 0) {
      TROUPE_ASSIGN(results, add_nodes(*functions[which], arguments_, of_.name() + '/'));
      const auto outputs = frame_outputs(of_);
      const auto unchanged = unchanged_outputs(of_);
      for (size_t place = 0; place < outputs.size(); ++place)
        if (std::ranges::find(unchanged, static_cast<int64_t>(place)) != unchanged.end())
          ++next_result_;
        else
          TROUPE_TRY(add_result(results[static_cast<size_t>(outputs[place])]));
    } else {
      results = arguments_;
    }
    if (!is_loop(of_)) {
      TROUPE_TRY(add_orders());
    } else {
      TROUPE_TRY(end_body());
      TROUPE_ASSIGN(auto verdict, add_nodes(*functions[0], results, of_.name() + "/cond/"));
      TROUPE_TRY(add_orders());
      TROUPE_TRY(add_result(verdict[0], true));
    }
    for (const auto& one : made_.nodes->nodes())
      if (!outlives_steps(one->op()) && !is_pure(*one))
        made_.targets.push_back(one.get());
    return std::move(made_);
  }

private:
  graph& nodes() { return *made_.nodes; }

  result<edge> add_argument(dtype type, const partial_shape& dims) {
    auto index = next_argument_++;
    TROUPE_ASSIGN(auto* made, nodes().add({.op = "_FrameArgument",
                                           .name = concat(of_.name(), "/_argument_", index),
                                           .attrs = {{"index", static_cast<int64_t>(index)},
                                                     {"dtype", type},
                                                     {"shape", dims}},
                                           .device = places_.here,
                                           .where = of_.where()}));
    return made->output(0);
  }

  status add_arguments() {
    const auto& inputs = of_.inputs();
    for (size_t i = first_; i < inputs.size(); ++i) {
      if (of_.input_is_ref(static_cast<int>(i))) {
        TROUPE_ASSIGN(auto* state, state_for(inputs[i]));
        arguments_.push_back(state->output(0));
        continue;
      }
      // What a body takes may vary more than what the first turn is given.
      const auto& taken = functions_of(of_).back()->body->argument(i - first_).output_shape(0);
      auto dims = is_loop(of_) ? widened(inputs[i].dims(), taken) : inputs[i].dims();
      auto made = add_argument(inputs[i].type(), dims);
      if (!made)
        return made.status();
      arguments_.push_back(*made);
    }
    for (const auto* state : uses_.states) {
      auto order = add_argument(dtype::boolean, shape{});
      if (!order)
        return order.status();
      orders_.push_back({states_.at(state), order->node, {}});
    }
    if (uses_.others) {
      auto order = add_argument(dtype::boolean, shape{});
      if (!order)
        return order.status();
      orders_.push_back({nullptr, order->node, {}});
    }
    return {};
  }

  result<node*> state_for(edge from) {
    const auto* state = resource_behind(from);
    if (!state)
      return invalid("input '", from, "' refers to nothing");
    if (state->op().per_step)
      return failure(error_kind::unimplemented, state->description(),
                     ": lives within one step, and ", of_.description(),
                     " runs others: use a variable");
    if (is_argument(*state))
      return failure(error_kind::unimplemented, of_.description(),
                     ": waits within a function that calls itself, which cannot be: let a node "
                     "outside wait");
    auto& made = states_[state];
    if (!made) {
      made = nodes().add_copy(*state, {}, {});
      rewriter::set_device(*made, places_.device_of(*state));
    }
    return made;
  }

  result<std::vector<edge>> add_nodes(const function_value& what, const std::vector<edge>& given,
                                      const std::string& prefix) {
    if (!what.body)
      return failure(error_kind::unimplemented, of_.description(), ": function '", what.name,
                     "' calls itself, and waits or spans devices: let a node outside do that");
    const auto& body = *what.body;
    std::vector<edge> results(body.results());
    for (size_t i = 0; i < body.results(); ++i)
      if (auto argument = body.handed_on(i); argument >= 0)
        results[i] = given[static_cast<size_t>(argument)];
    std::vector<node*> copies(body.body().nodes().size());
    auto copied = [&](edge from) {
      return is_argument(*from.node) ? given[static_cast<size_t>(from.node->attr<int64_t>("index"))]
                                     : edge{copies[from.node->index()], from.index};
    };
    TROUPE_ASSIGN(auto order, topological_order(body.body()));
    for (const auto* one : order) {
      if (!body.runs(*one))
        continue;
      if (is_argument(*one)) {
        copies[one->index()] = given[static_cast<size_t>(one->attr<int64_t>("index"))].node;
        continue;
      }
      if (&one->op() == &internal_ops::fetch) {
        results[static_cast<size_t>(one->attr<int64_t>("index"))] = copied(one->inputs()[0]);
        continue;
      }
      std::vector<edge> inputs;
      for (const auto& input : one->inputs())
        inputs.push_back(copied(input));
      std::vector<node*> controls;
      for (auto* before : one->controls())
        if (!outlives_steps(copies[before->index()]->op()))
          controls.push_back(copies[before->index()]);
      auto acts = acts_in_a_body(*one);
      auto* made =
          nodes().add_copy(*one, prefix + one->name(), std::move(inputs), std::move(controls));
      rewriter::set_default_device(*made, device_for(*made));
      note_uses(*made, acts);
      copies[one->index()] = made;
    }
    return results;
  }

  // That of the node around. What no GPU can run goes beside the one that is asked for.
  std::string device_for(const node& one) const {
    auto asked = device_name::parse(of_.device());
    if (!asked || kind_of(*asked) != device_kind::gpu ||
        site_of(one, device_kind::gpu) != kernel_site::none)
      return of_.device();
    return task_of_device(of_.device());
  }

  // Turns use what they change one after the other.
  void note_uses(node& one, bool acts) {
    if (orders_.empty())
      return;
    auto accesses = accesses_of(one);
    for (auto& order : orders_) {
      auto uses = std::ranges::any_of(
          accesses, [&](const state_access& access) { return access.state == order.state; });
      auto acts_otherwise = acts && (!iterations_overlap(of_) || runs_functions(one.op()) ||
                                     std::ranges::none_of(accesses, &state_access::updates));
      if (!(order.state ? uses : acts_otherwise))
        continue;
      (void)nodes().add_control(*order.last, one); // all are of this graph
      order.users.push_back(&one);
    }
  }

  // What the condition does comes after all that the body does.
  status end_body() {
    for (auto& order : orders_)
      if (!order.users.empty()) {
        TROUPE_ASSIGN(order.last, nodes().add({.op = "NoOp",
                                               .name = concat(of_.name(), "/_after_body_",
                                                              &order - orders_.data()),
                                               .controls = std::move(order.users),
                                               .device = places_.here,
                                               .where = of_.where()}));
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
          auto* made,
          nodes().add({.op = "Const",
                       .name = concat(of_.name(), "/_order_", &order - orders_.data()),
                       .attrs = {{"value", tensor::scalar(true)}, {"dtype", dtype::boolean}},
                       .controls = std::move(controls),
                       .device = places_.here,
                       .where = of_.where()}));
      TROUPE_TRY(add_result(made->output(0)));
    }
    return {};
  }

  // The value of a variable is read in the turn that gives it.
  status add_result(edge from, bool on_host = false) {
    auto index = next_result_++;
    if (from.node->output_is_ref(from.index)) {
      const auto* state = resource_behind(from);
      TROUPE_ASSIGN(auto* made, nodes().add({.op = std::string{internal_ops::read.name},
                                             .name = concat(of_.name(), "/_read_", index),
                                             .inputs = {from},
                                             .attrs = transfer_attr_of(*from.node),
                                             .device = state ? state->device() : std::string{},
                                             .where = of_.where()}));
      note_uses(*made, false);
      from = made->output(0);
    }
    return nodes()
        .add({.op = "_FrameResult",
              .name = concat(of_.name(), "/_result_", index),
              .inputs = {from},
              .attrs = {{"index", static_cast<int64_t>(index)}, {"on_host", on_host}},
              .device = places_.here,
              .where = of_.where()})
        .status();
  }

  struct order {
    const node* state; // in this graph; or nullptr for what uses none
    node* last;        // all users come after it
    std::vector<node*> users;
  };

  const node& of_;
  const frame_places& places_;
  const size_t first_;
  step_graph made_;
  const frame_order uses_;
  size_t next_argument_ = 0, next_result_ = 0;
  std::vector<edge> arguments_; // with states
  std::map<const node*, node*> states_;
  std::vector<order> orders_;
};

} // namespace

void take_devices_from_bodies(graph& of) {
  for (const auto& one : of.nodes())
    if (runs_functions(one->op()) && one->device().empty())
      if (auto joint = device_of_functions(*one); joint && *joint != device_name{})
        rewriter::set_device(*one, to_string(*joint));
}

result<further_order> order_around_frames(graph& of, const std::vector<node*>& frames) {
  further_order found;
  if (frames.empty())
    return found;
  std::set<const node*> all{frames.begin(), frames.end()};
  for (const auto& one : of.nodes())
    for (int i = 0; i < static_cast<int>(one->inputs().size()); ++i) {
      auto from = one->inputs()[static_cast<size_t>(i)];
      if (!from.node->output_is_ref(from.index))
        continue;
      const auto* state = resource_behind(from);
      if (!state)
        return invalid(one->description(), ": input ", i, " refers to nothing");
      if (all.contains(from.node) || (all.contains(one.get()) && from.node != state))
        TROUPE_TRY(of.add_control(*from.node, *one));
      if (all.contains(from.node))
        rewriter::redirect(*one, i, {const_cast<node*>(state), 0});
    }
  // What stands before a frame that uses the same comes before it, and updates behind it after it.
  for (auto* frame : frames) {
    std::set<const node*> shared;
    for (const auto& use : accesses_of(*frame))
      if (outlives_steps(use.state->op()) && !is_asked(use.state->op().makes))
        shared.insert(use.state);
    if (shared.empty())
      continue;
    for (const auto& other : of.nodes())
      for (const auto& access : accesses_of(*other)) {
        if (other.get() == frame || !shared.contains(access.state))
          continue;
        auto changed = access.updates && changes(*other, *access.state);
        if (!changed && !changes(*frame, *access.state))
          continue;
        if (&other->op() == &internal_ops::fetch || (changed && other->id() > frame->id()))
          found[other.get()].push_back(frame);
        else if (other->id() < frame->id())
          found[frame].push_back(other.get());
      }
  }
  return found;
}

result<step_graph> frame_graph(const node& of, size_t function, const frame_places& places) {
  auto made = frame_writer{of, places}.run(function);
  if (!made)
    return within(of, made.status());
  return made;
}

} // namespace troupe
