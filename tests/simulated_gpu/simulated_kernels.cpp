#include "tests/simulated_gpu/simulated_kernels.hpp"

#include "tests/simulated_gpu/simulated_driver.hpp"
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace troupe::gpu {
namespace {

using namespace std::chrono_literals;

// The data of a node's launches, which may run after the node's program is destroyed.
struct simulated_state : std::enable_shared_from_this<simulated_state> {
  explicit simulated_state(const registry& ops) : own_graph(ops) {}
  graph own_graph;
  node* copied_node = nullptr; // a copy of the node
  kernel_fn run = nullptr;
  std::shared_ptr<void> state;
};

// A graph of one node, whose inputs are placeholders.
status copy_node(const node& original, simulated_state& to) {
  std::vector<edge> inputs;
  for (int i = 0; i < static_cast<int>(original.inputs().size()); ++i) {
    const auto& from = original.inputs()[static_cast<size_t>(i)];
    if (original.input_is_ref(i)) {
      auto* maker = resource_behind(from);
      if (!maker)
        return invalid("input ", i, " refers to nothing");
      inputs.push_back({to.own_graph.add_copy(*maker, {}, {}), 0});
      continue;
    }
    TROUPE_ASSIGN(auto* placeholder_for,
                  to.own_graph.add({.op = "Placeholder",
                                    .attrs = {{"dtype", from.type()}, {"shape", from.dims()}}}));
    inputs.push_back({placeholder_for, 0});
  }
  to.copied_node = to.own_graph.add_copy(original, std::move(inputs), {});
  return {};
}

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& ops = setup.origin.graph().ops();
  auto* kernel = ops.find_kernel(setup.origin.op().name, device_kind::cpu);
  auto new_state = std::make_shared<simulated_state>(ops);
  TROUPE_TRY(copy_node(setup.origin, *new_state));
  new_state->run = kernel ? kernel->find(setup.origin) : nullptr;
  if (!new_state->run)
    return failure(error_kind::unimplemented, "there is no kernel to simulate");
  if (kernel->prepare) {
    TROUPE_ASSIGN(new_state->state,
                  kernel->prepare({*new_state->copied_node, gpu_of(setup.device).host()}));
  }
  return std::shared_ptr<void>{std::move(new_state)};
}

// A tensor over memory with another owner.
tensor alias(void* memory, dtype type, const shape& dims) {
  auto bytes = static_cast<size_t>(dims.elements()) * size_of(type);
  return tensor::from_buffer(
      new buffer{memory, bytes, [](buffer* alias_buffer) { delete alias_buffer; }, nullptr}, type,
      dims);
}

// The memory of an operand: a launch reads its elements later.
struct operand {
  tensor on_host; // only for small operands of the launch itself
  void* memory = nullptr;
  dtype type = dtype::none;
  shape dims;

  operand() = default;
  explicit operand(const tensor& source)
      : memory(source.raw()), type(source.type()), dims(source.dims()) {
    if (source.on_host())
      on_host = source;
  }
  tensor view() const { return on_host.empty() ? alias(memory, type, dims) : on_host; }
};

// One launch: all data that the stream's thread needs, and none that it shares with others.
struct simulated_launch {
  std::shared_ptr<simulated_state> code;
  device* host;
  std::vector<operand> inputs;
  std::vector<bool> refs;
  std::vector<dtype> output_types;
  std::vector<operand> outputs; // without memory if a ref is the output

  // Runs the processor's kernel and returns its outputs.
  result<std::vector<tensor>> run() const {
    auto count = inputs.size();
    std::vector<tensor> slots(count + output_types.size());
    std::vector<uint32_t> places;
    std::vector<std::unique_ptr<variable>> variables(count);
    std::vector<named_state*> states(count);
    for (size_t i = 0; i < count; ++i) {
      places.push_back(static_cast<uint32_t>(i));
      if (refs[i]) {
        variables[i] = std::make_unique<variable>("simulated", inputs[i].type, partial_shape{});
        TROUPE_TRY(variables[i]->assign(inputs[i].view()));
        states[i] = variables[i].get();
      } else {
        slots[i] = inputs[i].view();
      }
    }
    instruction next{.run = code->run,
                     .state = code->state.get(),
                     .inputs = places.data(),
                     .states = states.data(),
                     .output_types = output_types.data(),
                     .first_output = static_cast<uint32_t>(count),
                     .input_count = static_cast<uint16_t>(count),
                     .output_count = static_cast<uint16_t>(output_types.size()),
                     .origin = code->copied_node};
    kernel_context context{slots.data(), *host};
    context.step_to(next);
    TROUPE_TRY(run_kernel(next, context));
    for (size_t i = 0; i < count; ++i)
      if (refs[i]) {
        TROUPE_ASSIGN(auto new_value, variables[i]->read());
        if (new_value.raw() != inputs[i].memory && new_value.bytes() > 0)
          std::memcpy(inputs[i].memory, new_value.raw(), new_value.bytes());
      }
    return std::vector<tensor>(
        std::make_move_iterator(slots.begin() + static_cast<std::ptrdiff_t>(count)),
        std::make_move_iterator(slots.end()));
  }

  status operator()() const {
    auto outcome = run();
    if (!outcome)
      return outcome.status().with_context(code->copied_node->description());
    auto& kernel_outputs = *outcome;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].memory)
        continue;
      if (!(kernel_outputs[i].dims() == outputs[i].dims))
        return failure(error_kind::internal, code->copied_node->description(), ": output ", i,
                       " is ", kernel_outputs[i].dims(), ", inferred was ", outputs[i].dims);
      if (kernel_outputs[i].bytes() > 0)
        std::memcpy(outputs[i].memory, kernel_outputs[i].raw(), kernel_outputs[i].bytes());
    }
    return {};
  }
};

// The shapes of the outputs for these inputs; nothing if they depend on elements.
std::optional<std::vector<shape>> infer_outputs(const kernel_context& at) {
  const auto& origin_node = at.origin();
  std::vector<shape> known;
  auto all_known = [&](const node& inferred_node) {
    known.clear();
    for (int i = 0; i < inferred_node.outputs(); ++i) {
      if (!inferred_node.output_shape(i).fully_known())
        return false;
      known.push_back(inferred_node.output_shape(i).known());
    }
    return true;
  };
  if (all_known(origin_node))
    return known;
  graph probe{origin_node.graph().ops()};
  std::vector<edge> inputs;
  for (int i = 0; i < at.inputs(); ++i) {
    if (origin_node.input_is_ref(i))
      return {};
    const auto& input = at.input(i);
    auto probe_input =
        input.on_host()
            ? probe.add({.op = "Const", .attrs = {{"value", input}, {"dtype", input.type()}}})
            : probe.add(
                  {.op = "Placeholder",
                   .attrs = {{"dtype", input.type()}, {"shape", partial_shape{input.dims()}}}});
    if (!probe_input)
      return {};
    inputs.push_back({*probe_input, 0});
  }
  auto inferred_node = probe.add(
      {.op = std::string{origin_node.op().name}, .inputs = inputs, .attrs = origin_node.attrs()});
  if (!inferred_node || !all_known(**inferred_node))
    return {};
  return known;
}

simulated_driver& simulation_of(kernel_context& at) {
  return static_cast<simulated_driver&>(gpu_of(at.device()).driver());
}

// Variables are changed in the order of launches: their locks are held until all kernels are
// launched. All launches lock in the same order.
status with_variables(kernel_context& at, simulated_launch& new_launch, std::span<const int> inputs,
                      const std::function<status()>& then) {
  if (inputs.empty())
    return then();
  return at.variable(inputs[0]).update(
      [&](tensor& value) {
        new_launch.inputs[static_cast<size_t>(inputs[0])] = operand{value};
        return with_variables(at, new_launch, inputs.subspan(1), then);
      },
      at.memory());
}

status with_variables(kernel_context& at, simulated_launch& new_launch,
                      const std::function<status()>& then) {
  std::vector<int> inputs;
  for (int i = 0; i < at.inputs(); ++i)
    if (new_launch.refs[static_cast<size_t>(i)])
      inputs.push_back(i);
  std::ranges::sort(inputs, std::less<>{}, [&](int i) { return &at.variable(i); });
  return with_variables(at, new_launch, inputs, then);
}

// The first value of a variable cannot overwrite an older one.
status launch_assign(kernel_context& at, simulated_launch& new_launch) {
  TROUPE_ASSIGN(auto fresh, tensor::make(at.input(1).type(), at.input(1).dims(), at.memory()));
  TROUPE_TRY(simulation_of(at).copy(fresh.raw(), at.input(1).raw(), fresh.bytes(),
                                    direction::within, gpu_of(at.device()).compute()));
  static_cast<void>(new_launch);
  return at.variable(0).assign(std::move(fresh));
}

// The output's shape is unknown until the kernel has run.
status run_now(kernel_context& at, simulated_launch& new_launch) {
  auto& gpu = gpu_of(at.device());
  TROUPE_ASSIGN(auto stream_event, gpu.driver().make_event());
  auto waited = [&]() -> status {
    TROUPE_TRY(gpu.driver().record(stream_event, gpu.compute()));
    TROUPE_ASSIGN(auto done, gpu.driver().wait(stream_event, 20s));
    return done ? status{} : failure(error_kind::deadline_exceeded, "the stream stands still");
  }();
  gpu.driver().destroy(stream_event);
  TROUPE_TRY(std::move(waited));
  TROUPE_ASSIGN(auto kernel_outputs, new_launch.run());
  for (size_t i = 0; i < kernel_outputs.size(); ++i) {
    if (kernel_outputs[i].empty())
      continue;
    TROUPE_ASSIGN(auto* out, at.allocate(static_cast<int>(i), kernel_outputs[i].dims()));
    // In the order of the stream: earlier launches may still use the memory.
    TROUPE_TRY(simulation_of(at).launch(
        [to = out->raw(), from = kernel_outputs[i]]() -> status {
          if (from.bytes() > 0)
            std::memcpy(to, from.raw(), from.bytes());
          return {};
        },
        gpu.compute()));
  }
  return {};
}

status launch(kernel_context& at) {
  const auto& origin_node = at.origin();
  simulated_launch new_launch{.code = at.state<simulated_state>().shared_from_this(),
                              .host = &gpu_of(at.device()).host(),
                              .inputs = {},
                              .refs = {},
                              .output_types = {},
                              .outputs = {}};
  bool changes_state = false;
  for (int i = 0; i < at.inputs(); ++i) {
    new_launch.refs.push_back(origin_node.input_is_ref(i));
    changes_state |= origin_node.input_is_ref(i);
    new_launch.inputs.push_back(origin_node.input_is_ref(i) ? operand{} : operand{at.input(i)});
  }
  bool gives_tensors = false;
  for (int i = 0; i < at.outputs(); ++i) {
    new_launch.output_types.push_back(at.output_type(i));
    gives_tensors |= !origin_node.output_is_ref(i);
  }
  new_launch.outputs.resize(new_launch.output_types.size());
  if (origin_node.op().name == "Assign")
    return launch_assign(at, new_launch);
  if (gives_tensors) {
    auto shapes = infer_outputs(at);
    if (!shapes)
      return changes_state ? with_variables(at, new_launch, [&] { return run_now(at, new_launch); })
                           : run_now(at, new_launch);
    for (int i = 0; i < at.outputs(); ++i) {
      if (origin_node.output_is_ref(i))
        continue;
      TROUPE_ASSIGN(auto* out, at.allocate(i, (*shapes)[static_cast<size_t>(i)]));
      new_launch.outputs[static_cast<size_t>(i)] = operand{*out};
    }
  }
  return with_variables(at, new_launch, [&] {
    return simulation_of(at).launch(new_launch, gpu_of(at.device()).compute());
  });
}

// Ops with effects outside, or with state other than variables, run on the processor; so do ops
// sized by elements without a two-phase kernel.
bool is_a_gpus(const op_def& op) {
  if (has(op.effects, effect::data_dependent_shape))
    return false;
  auto on_variables = false;
  for (const auto& input_port : op.inputs) {
    if (input_port.ref && input_port.state_kind != resource::variable)
      return false;
    on_variables |= input_port.ref;
  }
  return on_variables || !has(op.effects, effect::stateful) || has(op.effects, effect::random);
}

} // namespace

std::deque<kernel_def> simulated_kernels(const registry& processor_ops) {
  std::deque<kernel_def> gpu_kernels;
  std::set<std::string_view> by_handle; // a registry gives these the kernels of others
  for (const auto* op : processor_ops.ops())
    if (!op->by_handle.name.empty() && !op->by_handle.defined)
      by_handle.insert(op->by_handle.name);
  for (const auto* op : processor_ops.ops())
    if (auto* kernel = processor_ops.find_kernel(op->name, device_kind::cpu);
        kernel && is_a_gpus(*op) && !by_handle.contains(op->name) &&
        !processor_ops.find_kernel(op->name, device_kind::gpu)) {
      auto& gpu_kernel = gpu_kernels.emplace_back(*kernel);
      gpu_kernel.device = device_kind::gpu;
      gpu_kernel.run = {};
      inplace_vector<typed_kernel, 18> types;
      for (const auto& typed : kernel->run)
        types.push_back({.type = typed.type, .run = launch});
      gpu_kernel.run = types;
      gpu_kernel.prepare = prepare;
    }
  return gpu_kernels;
}

} // namespace troupe::gpu
