#include "troupe/runtime/passes/passes.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/epilogues.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Each round can enable further changes in the next. Real graphs are stable after two.
constexpr int max_rounds = 3;

// Makes the unread nodes of a partition targets, because all nodes of a partition must run.
step_graph with_unread_nodes_as_targets(std::unique_ptr<graph> nodes) {
  std::vector<bool> read(nodes->nodes().size(), false);
  for (const auto& node : nodes->nodes()) {
    for (const auto& input : node->inputs())
      read[static_cast<size_t>(input.node->id())] = true;
    for (auto* before : node->controls())
      read[static_cast<size_t>(before->id())] = true;
  }
  step_graph step{std::move(nodes), {}};
  for (const auto& node : step.nodes->nodes())
    if (!read[static_cast<size_t>(node->id())])
      step.targets.push_back(node.get());
  return step;
}

// An exception in a pass or in an op's function is a defect and becomes an error of the step.
constexpr std::string_view activity = "compiling the step";

void run_device_passes(step_graph& step, device_kind kind, const pass_options& options) {
  if (options.fuse && kind == device_kind::gpu)
    fuse_bias_activation(step, device_kind::gpu);
  if (options.fuse && kind == device_kind::cpu) // its products gain nothing from a bias
    fuse_bias_activation(step, device_kind::cpu, effect::is_convolution);
  if (options.fuse)
    fuse_elementwise(step, kind);
  if (options.schedule)
    schedule_for_memory(step);
}

void run_step_passes(step_graph& step, const pass_options& options, device* host,
                     stop_signal* stop) {
  for (int round = 0; round < max_rounds; ++round) {
    auto before = step.nodes->version();
    if (options.fold && host)
      fold_constants(step, *host, stop);
    if (options.simplify)
      simplify(step);
    if (options.merge)
      merge_equal_nodes(step);
    if (step.nodes->version() == before)
      break;
  }
  if (options.remove_dead)
    remove_dead_nodes(step);
}

// Gives a _Read node to readers of a variable that come after an update on which they do not
// depend.
status order_reads(step_graph& body) {
  auto makes_variable = [](const auto& body_node) {
    return body_node->op().state_kind == resource::variable;
  };
  if (std::ranges::none_of(body.nodes->nodes(), makes_variable))
    return {};
  std::vector<int> chosen_devices;
  for (const auto& body_node : body.nodes->nodes())
    chosen_devices.push_back(internal_ops::is_boundary(*body_node) ? -1 : 0);
  TROUPE_ASSIGN(auto parts, cut(*body.nodes, chosen_devices, {device_name{"worker", 0, "cpu", 0}}));
  if (parts.size() != 1)
    return failure(error_kind::internal, "a function was cut into ", parts.size(), " parts");
  auto ordered = with_unread_nodes_as_targets(std::move(parts.front().nodes));
  for (const auto& body_node : body.nodes->nodes()) // keeps unread arguments
    if (!ordered.nodes->find(body_node->name()) && body_node->attrs().contains("index") &&
        body_node->inputs().empty())
      ordered.targets.push_back(ordered.nodes->add_copy(*body_node, {}, {}));
  body = std::move(ordered);
  return {};
}

bool no_frames(const node&) { return false; }

// Runs the passes on inner functions first, because an invariant of an inner loop may be one of the
// outer loop, too.
status run_passes(step_graph& step, const pass_options& options, device* host, stop_signal* stop,
                  const frame_rule& is_frame) {
  TROUPE_TRY(inline_calls(step));
  if (options.mixed_precision != dtype::none)
    mix_precision(step, options.mixed_precision);
  run_step_passes(step, options, host, stop);
  TROUPE_TRY(change_functions(step, is_frame, [&](step_graph& body) {
    return run_passes(body, options, host, stop, no_frames);
  }));
  if (!options.hoist_invariants)
    return {};
  TROUPE_ASSIGN(auto moved, hoist_invariants(step, is_frame, host, stop));
  if (!moved)
    return {};
  TROUPE_TRY(inline_calls(step));
  run_step_passes(step, options, host, stop);
  return {};
}

// Functions that are not frames run on CPUs.
status finish_functions(step_graph& step, const pass_options& options, const frame_rule& is_frame) {
  return change_functions(step, is_frame, [&](step_graph& body) -> status {
    TROUPE_TRY(finish_functions(body, options, no_frames));
    TROUPE_TRY(order_reads(body));
    run_device_passes(body, device_kind::cpu, options);
    return {};
  });
}

void run_passes(partition& part, const pass_options& options) {
  auto step = with_unread_nodes_as_targets(std::move(part.nodes));
  run_device_passes(step, part.device.kind == "gpu" ? device_kind::gpu : device_kind::cpu, options);
  if (options.hoist_collectives)
    hoist_collectives(step);
  if (options.swap.mode != swap_mode::off && part.device.kind == "gpu")
    swap_long_lived(step, options.swap);
  part.nodes = std::move(step.nodes);
}

} // namespace

status optimize(step_graph& step, const pass_options& options, device* host, stop_signal* stop,
                const device_list& devices) {
  auto is_frame = [&](const node& candidate) { return needs_frame(candidate, devices); };
  return guarded(activity, [&]() -> status {
    TROUPE_TRY(run_passes(step, options, host, stop, is_frame));
    return finish_functions(step, options, is_frame);
  });
}

status optimize(partition& part, const pass_options& options) {
  return guarded(activity, [&] { run_passes(part, options); });
}

} // namespace troupe
