#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"
#include "troupe/runtime/platform/flush_subnormals.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Constants are sent to tasks and stay in memory, so large values are better computed in each step.
constexpr size_t max_bytes = 1 << 18;

// Returns a tensor with type and shape of an edge, but without memory.
tensor shape_only(edge source) {
  static buffer empty_buffer{nullptr, 0, [](buffer*) {}, nullptr};
  empty_buffer.retain();
  return tensor::from_buffer_unchecked(&empty_buffer, source.type(), source.dims().known());
}

bool may_fold(const node& candidate) {
  if (!is_pure(candidate) || !candidate.controls().empty() || candidate.inputs().empty() ||
      candidate.outputs() == 0 || constant_value({const_cast<node*>(&candidate), 0}))
    return false;
  for (int i = 0; i < candidate.outputs(); ++i) {
    const auto& dims = candidate.output_shape(i);
    if (candidate.output_is_ref(i) ||
        (dims.fully_known() &&
         static_cast<size_t>(dims.elements()) > max_bytes / size_of(candidate.output_type(i))))
      return false;
  }
  for (int i = 0; i < candidate.outputs(); ++i)
    if (candidate.output_type(i) == dtype::variant)
      return false; // lists are changed in place and cannot be sent with the graph
  bool reads_only_shapes = has(candidate.op().effects, effect::reads_shapes_only);
  return std::ranges::all_of(candidate.inputs(), [&](edge input) {
    auto* value = constant_value(input);
    return (value && input.node->controls().empty()) ||
           (reads_only_shapes && input.dims().fully_known());
  });
}

// Runs each node separately instead of as a program, so that a failure does not affect other nodes.
result<std::vector<tensor>> run(const node& node, device& host, stop_signal* stop) {
  auto* kernel = node.graph().ops().find_kernel(node.op().name, host.kind());
  auto* function = kernel ? kernel->find(node) : nullptr;
  if (!function || node.inputs().size() > UINT16_MAX)
    return failure(error_kind::unimplemented, "there is no kernel");
  std::shared_ptr<void> state;
  if (kernel->prepare) {
    TROUPE_ASSIGN(state, kernel->prepare({node, host}));
  }
  std::vector<tensor> slots;
  std::vector<uint32_t> inputs;
  std::vector<dtype> types;
  for (const auto& input : node.inputs()) {
    auto* value = constant_value(input);
    inputs.push_back(static_cast<uint32_t>(slots.size()));
    slots.push_back(value ? *value : shape_only(input));
  }
  for (int i = 0; i < node.outputs(); ++i)
    types.push_back(node.output_type(i));
  slots.resize(slots.size() + types.size());
  instruction code{.run = function,
                   .state = state.get(),
                   .inputs = inputs.data(),
                   .output_types = types.data(),
                   .first_output = static_cast<uint32_t>(inputs.size()),
                   .input_count = static_cast<uint16_t>(inputs.size()),
                   .output_count = static_cast<uint16_t>(types.size()),
                   .origin = &node};
  kernel_context context{slots.data(), host, host.memory(), stop};
  context.step_to(code);
  const flush_subnormals like_steps; // results must equal those of steps
  TROUPE_TRY(run_kernel(code, context));
  slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
  return slots;
}

} // namespace

void fold_constants(step_graph& step, device& host, stop_signal* stop) {
  rewriter graph_rewriter{step};
  for (auto* node : graph_rewriter.nodes()) {
    graph_rewriter.refresh(*node);
    if (!may_fold(*node) || (stop && stop->is_due()))
      continue;
    auto values = run(*node, host, stop);
    if (stop && stop->is_due())
      continue; // the results of a stopped kernel are undefined
    auto too_large = [](const tensor& value) { return value.empty() || value.bytes() > max_bytes; };
    if (!values || std::ranges::any_of(*values, too_large))
      continue;
    std::vector<edge> constants;
    for (auto& value : *values)
      if (auto added = graph_rewriter.add_constant(std::move(value), *node))
        constants.push_back({*added, 0});
    if (graph_rewriter.replace(*node, constants))
      graph_rewriter.take_name(*constants[0].node, *node);
  }
  graph_rewriter.finish();
}

} // namespace troupe
