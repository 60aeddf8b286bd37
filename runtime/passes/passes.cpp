#include "troupe/runtime/passes/passes.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/passes/epilogues.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Each round can open the way for the next; real graphs settle after two.
constexpr int max_rounds = 3;

// Nobody outside reads a partition's nodes, but all of them were meant to run.
step_graph with_all_ends_kept(std::unique_ptr<graph> nodes) {
  std::vector<bool> read(nodes->nodes().size(), false);
  for (const auto& node : nodes->nodes()) {
    for (const auto& input : node->inputs())
      read[static_cast<size_t>(input.node->id())] = true;
    for (auto* before : node->controls())
      read[static_cast<size_t>(before->id())] = true;
  }
  step_graph made{std::move(nodes), {}};
  for (const auto& node : made.nodes->nodes())
    if (!read[static_cast<size_t>(node->id())])
      made.targets.push_back(node.get());
  return made;
}

// What passes throw is a defect of theirs, or of an op's function: an error of the step.
constexpr std::string_view compiling = "compiling the step";

void run_device_passes(step_graph& of, device_kind on, const pass_options& options) {
  if (options.fuse && on == device_kind::gpu)
    fuse_bias_activation(of, device_kind::gpu);
  if (options.fuse && on == device_kind::cpu) // whose products are no faster with a bias
    fuse_bias_activation(of, device_kind::cpu, effect::is_convolution);
  if (options.fuse)
    fuse_elementwise(of, on);
  if (options.schedule)
    schedule_for_memory(of);
}

void run_step_passes(step_graph& of, const pass_options& options, device* host, stop_signal* stop) {
  for (int round = 0; round < max_rounds; ++round) {
    auto before = of.nodes->version();
    if (options.fold && host)
      fold_constants(of, *host, stop);
    if (options.simplify)
      simplify(of);
    if (options.merge)
      merge_equal_nodes(of);
    if (of.nodes->version() == before)
      break;
  }
  if (options.dead)
    remove_dead_nodes(of);
}

// Readers of a variable that stand behind an update which they do not depend on get a _Read.
status order_reads(step_graph& body) {
  auto makes_variable = [](const auto& one) { return one->op().makes == resource::variable; };
  if (std::ranges::none_of(body.nodes->nodes(), makes_variable))
    return {};
  std::vector<int> chosen;
  for (const auto& one : body.nodes->nodes())
    chosen.push_back(internal_ops::is_boundary(*one) ? -1 : 0);
  TROUPE_ASSIGN(auto parts, cut(*body.nodes, chosen, {device_name{"worker", 0, "cpu", 0}}));
  if (parts.size() != 1)
    return failure(error_kind::internal, "a function was cut into ", parts.size(), " parts");
  auto made = with_all_ends_kept(std::move(parts.front().nodes));
  for (const auto& one : body.nodes->nodes()) // arguments that nobody reads
    if (!made.nodes->find(one->name()) && one->attrs().contains("index") && one->inputs().empty())
      made.targets.push_back(made.nodes->add_copy(*one, {}, {}));
  body = std::move(made);
  return {};
}

bool no_frames(const node&) { return false; }

// Inner functions come first: what leaves a loop may leave the one around it, too.
status run_passes(step_graph& of, const pass_options& options, device* host, stop_signal* stop,
                  const frame_rule& is_frame) {
  TROUPE_TRY(inline_calls(of));
  if (options.mixed_precision != dtype::none)
    mix_precision(of, options.mixed_precision);
  run_step_passes(of, options, host, stop);
  TROUPE_TRY(change_functions(of, is_frame, [&](step_graph& body) {
    return run_passes(body, options, host, stop, no_frames);
  }));
  if (!options.hoist_invariants)
    return {};
  TROUPE_ASSIGN(auto moved, hoist_invariants(of, is_frame, host, stop));
  if (!moved)
    return {};
  TROUPE_TRY(inline_calls(of));
  run_step_passes(of, options, host, stop);
  return {};
}

// Blocks run on processors.
status finish_functions(step_graph& of, const pass_options& options, const frame_rule& is_frame) {
  return change_functions(of, is_frame, [&](step_graph& body) -> status {
    TROUPE_TRY(finish_functions(body, options, no_frames));
    TROUPE_TRY(order_reads(body));
    run_device_passes(body, device_kind::cpu, options);
    return {};
  });
}

void run_passes(partition& part, const pass_options& options) {
  auto of = with_all_ends_kept(std::move(part.nodes));
  run_device_passes(of, part.device.kind == "gpu" ? device_kind::gpu : device_kind::cpu, options);
  if (options.hoist_collectives)
    hoist_collectives(of);
  if (options.swap.mode != swap_mode::off && part.device.kind == "gpu")
    swap_long_lived(of, options.swap);
  part.nodes = std::move(of.nodes);
}

} // namespace

status optimize(step_graph& of, const pass_options& options, device* host, stop_signal* stop,
                const device_list& devices) {
  auto is_frame = [&](const node& one) { return needs_frame(one, devices); };
  return guarded(compiling, [&]() -> status {
    TROUPE_TRY(run_passes(of, options, host, stop, is_frame));
    return finish_functions(of, options, is_frame);
  });
}

status optimize(partition& part, const pass_options& options) {
  return guarded(compiling, [&] { run_passes(part, options); });
}

} // namespace troupe
