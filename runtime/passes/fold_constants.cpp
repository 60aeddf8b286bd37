#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/passes/passes.hpp"
#include "troupe/runtime/passes/rewriter.hpp"
#include "troupe/runtime/platform/flush_subnormals.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Constants travel to tasks and stay in memory: large ones are better computed anew.
constexpr size_t max_bytes = 1 << 18;

// A tensor of which only type and shape are known; there is no memory behind it.
tensor shape_only(edge of) {
  static buffer nothing{nullptr, 0, [](buffer*) {}, nullptr};
  nothing.retain();
  return tensor::raw_over(&nothing, of.type(), of.dims().known());
}

bool may_fold(const node& n) {
  if (!is_pure(n) || !n.controls().empty() || n.inputs().empty() || n.outputs() == 0 ||
      constant_value({const_cast<node*>(&n), 0}))
    return false;
  for (int i = 0; i < n.outputs(); ++i) {
    const auto& dims = n.output_shape(i);
    if (n.output_is_ref(i) || (dims.fully_known() && static_cast<size_t>(dims.elements()) >
                                                         max_bytes / size_of(n.output_type(i))))
      return false;
  }
  for (int i = 0; i < n.outputs(); ++i)
    if (n.output_type(i) == dtype::variant)
      return false; // lists are changed in place, and do not travel with the graph
  bool of_shape = has(n.op().effects, effect::of_shape);
  return std::ranges::all_of(n.inputs(), [&](edge input) {
    auto* value = constant_value(input);
    return (value && input.node->controls().empty()) || (of_shape && input.dims().fully_known());
  });
}

// One node at a time, not as a program: what fails leaves all others folded.
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
  const flush_subnormals as_steps_do;
  TROUPE_TRY(run_kernel(code, context));
  slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
  return slots;
}

} // namespace

void fold_constants(step_graph& of, device& host, stop_signal* stop) {
  rewriter change{of};
  for (auto* node : change.nodes()) {
    change.refresh(*node);
    if (!may_fold(*node) || (stop && stop->due()))
      continue;
    auto values = run(*node, host, stop);
    if (stop && stop->due())
      continue; // a kernel that was stopped gives anything
    auto too_large = [](const tensor& one) { return one.empty() || one.bytes() > max_bytes; };
    if (!values || std::ranges::any_of(*values, too_large))
      continue;
    std::vector<edge> by;
    for (auto& value : *values)
      if (auto made = change.add_constant(std::move(value), *node))
        by.push_back({*made, 0});
    if (change.replace(*node, by))
      change.take_name(*by[0].node, *node);
  }
  change.finish();
}

} // namespace troupe
