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

// What a node's launches need: they may run when the node's program is gone.
struct simulated_state : std::enable_shared_from_this<simulated_state> {
  explicit simulated_state(const registry& ops) : own(ops) {}
  graph own;
  node* like = nullptr; // a copy
  kernel_fn run = nullptr;
  std::shared_ptr<void> state;
};

// A graph of one node, whose inputs come from nowhere.
status copy_node(const node& of, simulated_state& to) {
  std::vector<edge> inputs;
  for (int i = 0; i < static_cast<int>(of.inputs().size()); ++i) {
    const auto& from = of.inputs()[static_cast<size_t>(i)];
    if (of.input_is_ref(i)) {
      auto* maker = resource_behind(from);
      if (!maker)
        return invalid("input ", i, " refers to nothing");
      inputs.push_back({to.own.add_copy(*maker, {}, {}), 0});
      continue;
    }
    TROUPE_ASSIGN(auto* placeholder_for,
                  to.own.add({.op = "Placeholder",
                              .attrs = {{"dtype", from.type()}, {"shape", from.dims()}}}));
    inputs.push_back({placeholder_for, 0});
  }
  to.like = to.own.add_copy(of, std::move(inputs), {});
  return {};
}

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& ops = setup.of.graph().ops();
  auto* kernel = ops.find_kernel(setup.of.op().name, device_kind::cpu);
  auto made = std::make_shared<simulated_state>(ops);
  TROUPE_TRY(copy_node(setup.of, *made));
  made->run = kernel ? kernel->find(setup.of) : nullptr;
  if (!made->run)
    return failure(error_kind::unimplemented, "there is no kernel to simulate");
  if (kernel->prepare) {
    TROUPE_ASSIGN(made->state, kernel->prepare({*made->like, gpu_of(setup.on).host()}));
  }
  return std::shared_ptr<void>{std::move(made)};
}

// A tensor over memory that somebody else owns.
tensor alias(void* memory, dtype type, const shape& dims) {
  auto bytes = static_cast<size_t>(dims.elements()) * size_of(type);
  return tensor::over(new buffer{memory, bytes, [](buffer* one) { delete one; }, nullptr}, type,
                      dims);
}

// Memory as a launch knows it: its elements are looked at later.
struct operand {
  tensor on_host; // kept, where it is small and the launch's own
  void* memory = nullptr;
  dtype type = dtype::none;
  shape dims;

  operand() = default;
  explicit operand(const tensor& of) : memory(of.raw()), type(of.type()), dims(of.dims()) {
    if (of.on_host())
      on_host = of;
  }
  tensor view() const { return on_host.empty() ? alias(memory, type, dims) : on_host; }
};

// One launch: everything that the stream's thread needs, and nothing that it shares with others.
struct simulated_launch {
  std::shared_ptr<simulated_state> code;
  device* host;
  std::vector<operand> inputs;
  std::vector<bool> refs;
  std::vector<dtype> output_types;
  std::vector<operand> outputs; // without memory where a ref leaves

  // Runs the processor's kernel; returns what it made.
  result<std::vector<tensor>> run() const {
    auto count = inputs.size();
    std::vector<tensor> slots(count + output_types.size());
    std::vector<uint32_t> places;
    std::vector<std::unique_ptr<variable>> held(count);
    std::vector<named_state*> states(count);
    for (size_t i = 0; i < count; ++i) {
      places.push_back(static_cast<uint32_t>(i));
      if (refs[i]) {
        held[i] = std::make_unique<variable>("simulated", inputs[i].type, partial_shape{});
        TROUPE_TRY(held[i]->assign(inputs[i].view()));
        states[i] = held[i].get();
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
                     .origin = code->like};
    kernel_context context{slots.data(), *host};
    context.step_to(next);
    TROUPE_TRY(run_kernel(next, context));
    for (size_t i = 0; i < count; ++i)
      if (refs[i]) {
        TROUPE_ASSIGN(auto after, held[i]->read());
        if (after.raw() != inputs[i].memory && after.bytes() > 0)
          std::memcpy(inputs[i].memory, after.raw(), after.bytes());
      }
    return std::vector<tensor>(
        std::make_move_iterator(slots.begin() + static_cast<std::ptrdiff_t>(count)),
        std::make_move_iterator(slots.end()));
  }

  status operator()() const {
    auto outcome = run();
    if (!outcome)
      return outcome.status().within(code->like->description());
    auto& made = *outcome;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].memory)
        continue;
      if (!(made[i].dims() == outputs[i].dims))
        return failure(error_kind::internal, code->like->description(), ": output ", i, " is ",
                       made[i].dims(), ", inferred was ", outputs[i].dims);
      if (made[i].bytes() > 0)
        std::memcpy(outputs[i].memory, made[i].raw(), made[i].bytes());
    }
    return {};
  }
};

// The shapes of the outputs for these inputs; nothing where they depend on elements.
std::optional<std::vector<shape>> infer_outputs(const kernel_context& at) {
  const auto& of = at.origin();
  std::vector<shape> known;
  auto all_known = [&](const node& like) {
    known.clear();
    for (int i = 0; i < like.outputs(); ++i) {
      if (!like.output_shape(i).fully_known())
        return false;
      known.push_back(like.output_shape(i).known());
    }
    return true;
  };
  if (all_known(of))
    return known;
  graph probe{of.graph().ops()};
  std::vector<edge> inputs;
  for (int i = 0; i < at.inputs(); ++i) {
    if (of.input_is_ref(i))
      return {};
    const auto& given = at.input(i);
    auto made =
        given.on_host()
            ? probe.add({.op = "Const", .attrs = {{"value", given}, {"dtype", given.type()}}})
            : probe.add(
                  {.op = "Placeholder",
                   .attrs = {{"dtype", given.type()}, {"shape", partial_shape{given.dims()}}}});
    if (!made)
      return {};
    inputs.push_back({*made, 0});
  }
  auto like = probe.add({.op = std::string{of.op().name}, .inputs = inputs, .attrs = of.attrs()});
  if (!like || !all_known(**like))
    return {};
  return known;
}

simulated_driver& simulation_of(kernel_context& at) {
  return static_cast<simulated_driver&>(gpu_of(at.device()).driver());
}

// Variables are changed in the order of launches: their locks are held until all is launched. All
// lock in the same order.
status with_variables(kernel_context& at, simulated_launch& what, std::span<const int> inputs,
                      const std::function<status()>& then) {
  if (inputs.empty())
    return then();
  return at.variable(inputs[0]).update(
      [&](tensor& value) {
        what.inputs[static_cast<size_t>(inputs[0])] = operand{value};
        return with_variables(at, what, inputs.subspan(1), then);
      },
      at.memory());
}

status with_variables(kernel_context& at, simulated_launch& what,
                      const std::function<status()>& then) {
  std::vector<int> inputs;
  for (int i = 0; i < at.inputs(); ++i)
    if (what.refs[static_cast<size_t>(i)])
      inputs.push_back(i);
  std::ranges::sort(inputs, std::less<>{}, [&](int i) { return &at.variable(i); });
  return with_variables(at, what, inputs, then);
}

// The first value of a variable cannot be written over an older one.
status launch_assign(kernel_context& at, simulated_launch& what) {
  TROUPE_ASSIGN(auto fresh, tensor::make(at.input(1).type(), at.input(1).dims(), at.memory()));
  TROUPE_TRY(simulation_of(at).copy(fresh.raw(), at.input(1).raw(), fresh.bytes(),
                                    direction::within, gpu_of(at.device()).compute()));
  static_cast<void>(what);
  return at.variable(0).assign(std::move(fresh));
}

// The output's shape is not known before the kernel has run.
status run_now(kernel_context& at, simulated_launch& what) {
  auto& gpu = gpu_of(at.device());
  TROUPE_ASSIGN(auto here, gpu.driver().make_event());
  auto waited = [&]() -> status {
    TROUPE_TRY(gpu.driver().record(here, gpu.compute()));
    TROUPE_ASSIGN(auto done, gpu.driver().wait(here, 20s));
    return done ? status{} : failure(error_kind::deadline_exceeded, "the stream stands still");
  }();
  gpu.driver().destroy(here);
  TROUPE_TRY(std::move(waited));
  TROUPE_ASSIGN(auto made, what.run());
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i].empty())
      continue;
    TROUPE_ASSIGN(auto* out, at.allocate(static_cast<int>(i), made[i].dims()));
    // In line: what was launched since may still use the memory.
    TROUPE_TRY(simulation_of(at).launch(
        [to = out->raw(), from = made[i]]() -> status {
          if (from.bytes() > 0)
            std::memcpy(to, from.raw(), from.bytes());
          return {};
        },
        gpu.compute()));
  }
  return {};
}

status launch(kernel_context& at) {
  const auto& of = at.origin();
  simulated_launch what{.code = at.state<simulated_state>().shared_from_this(),
                        .host = &gpu_of(at.device()).host(),
                        .inputs = {},
                        .refs = {},
                        .output_types = {},
                        .outputs = {}};
  bool changes_state = false;
  for (int i = 0; i < at.inputs(); ++i) {
    what.refs.push_back(of.input_is_ref(i));
    changes_state |= of.input_is_ref(i);
    what.inputs.push_back(of.input_is_ref(i) ? operand{} : operand{at.input(i)});
  }
  bool gives_tensors = false;
  for (int i = 0; i < at.outputs(); ++i) {
    what.output_types.push_back(at.output_type(i));
    gives_tensors |= !of.output_is_ref(i);
  }
  what.outputs.resize(what.output_types.size());
  if (of.op().name == "Assign")
    return launch_assign(at, what);
  if (gives_tensors) {
    auto shapes = infer_outputs(at);
    if (!shapes)
      return changes_state ? with_variables(at, what, [&] { return run_now(at, what); })
                           : run_now(at, what);
    for (int i = 0; i < at.outputs(); ++i) {
      if (of.output_is_ref(i))
        continue;
      TROUPE_ASSIGN(auto* out, at.allocate(i, (*shapes)[static_cast<size_t>(i)]));
      what.outputs[static_cast<size_t>(i)] = operand{*out};
    }
  }
  return with_variables(
      at, what, [&] { return simulation_of(at).launch(what, gpu_of(at.device()).compute()); });
}

// Who talks to the world, or to state that is no variable, belongs to a processor; and who is sized
// by elements, where there is no kernel in two halves.
bool is_a_gpus(const op_def& op) {
  if (has(op.effects, effect::data_dependent_shape))
    return false;
  auto on_variables = false;
  for (const auto& one : op.inputs) {
    if (one.ref && one.to != resource::variable)
      return false;
    on_variables |= one.ref;
  }
  return on_variables || !has(op.effects, effect::stateful) || has(op.effects, effect::random);
}

} // namespace

std::deque<kernel_def> simulated_kernels(const registry& of) {
  std::deque<kernel_def> made;
  std::set<std::string_view> by_handle; // a registry gives them the kernels of others
  for (const auto* op : of.ops())
    if (!op->by_handle.name.empty() && !op->by_handle.defined)
      by_handle.insert(op->by_handle.name);
  for (const auto* op : of.ops())
    if (auto* kernel = of.find_kernel(op->name, device_kind::cpu);
        kernel && is_a_gpus(*op) && !by_handle.contains(op->name) &&
        !of.find_kernel(op->name, device_kind::gpu)) {
      auto& one = made.emplace_back(*kernel);
      one.device = device_kind::gpu;
      one.run = {};
      inplace_vector<typed_kernel, 18> types;
      for (const auto& typed : kernel->run)
        types.push_back({.type = typed.type, .run = launch});
      one.run = types;
      one.prepare = prepare;
    }
  return made;
}

} // namespace troupe::gpu
