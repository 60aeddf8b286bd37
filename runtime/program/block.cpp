#include "troupe/runtime/program/block.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/platform/stack.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"
#include "troupe/runtime/program/fused_loop.hpp"
#include "troupe/runtime/program/numerics_watch.hpp"

#include <array>

namespace troupe {
namespace {

// The limit of nested calls. Nested calls use the stack: beyond a few, a call needs `min_stack`
// bytes, which leaves enough for kernels.
constexpr int max_depth = 500, always_allowed_depth = 8;
constexpr size_t min_stack = 512 * 1024;

// An error names the calls and iterations around its node only down to this depth. This bounds its
// text: each call adds some 50 bytes to it, and recursion may nest hundreds of calls.
constexpr int max_named_depth = 8;

// The tensors of one run of a block. Small counts need no heap memory.
class tensors {
public:
  explicit tensors(size_t count)
      : size_(count), on_heap_(count > in_place_.size() ? new tensor[count] : nullptr) {}
  tensor* data() noexcept { return on_heap_ ? on_heap_.get() : in_place_.data(); }
  tensor& operator[](size_t i) noexcept { return data()[i]; }
  std::span<tensor> all() noexcept { return {data(), size_}; }

private:
  size_t size_;
  std::array<tensor, 12> in_place_;
  std::unique_ptr<tensor[]> on_heap_;
};

status run_checked(const instruction& code, kernel_context& context, const tensor* slots,
                   const call_frame& frame) {
  numerics_watch watch;
  watch.record_inputs(code, slots);
  auto outcome = run_kernel(code, context);
  if (outcome && !frame.stop.raised())
    outcome = watch.check_outputs(code, slots);
  return frame.stop.raised() ? stop_error(frame.stop)
                             : with_node_context(*code.origin, std::move(outcome));
}

status run_code(const block& code_block, tensor* slots, std::span<tensor> results,
                const call_frame& frame) {
  kernel_context context{slots, frame.device, frame.memory, &frame.stop};
  context.set_temporaries(frame.temporaries);
  const auto* code = code_block.code.data();
  const auto* next_look = code + instructions_per_look;
  try { // one try block around all kernels, as in an instance
    for (const auto* end = code + code_block.code.size(); code != end; ++code) {
      if (code == next_look) {
        next_look += instructions_per_look;
        frame.stop.is_due(); // raises it
      }
      if (frame.stop.raised()) [[unlikely]]
        return stop_error(frame.stop);
      auto began = frame.records ? ticks_now() : 0;
      switch (code->kind) {
        case action::run: {
          context.step_to(*code);
          if (frame.check_numerics) [[unlikely]] {
            TROUPE_TRY(run_checked(*code, context, slots, frame));
            break;
          }
          if (auto outcome = code->run(context); !outcome) [[unlikely]]
            return frame.stop.raised() ? stop_error(frame.stop)
                                       : with_node_context(*code->origin, std::move(outcome));
          break;
        }
        case action::call: TROUPE_TRY(run_call(*code, slots, frame)); break;
        case action::read: {
          auto& slot = slots[code->first_output];
          TROUPE_ASSIGN(slot, read_variable(*code, frame.temporaries));
          if (slot.space() != frame.device.memory().space()) [[unlikely]]
            return wrong_memory_error(*code, slot);
          break;
        }
        case action::fetch: {
          auto& value = slots[code->inputs[0]];
          results[code->target] = code->last_uses & 1 ? std::move(value) : value;
          break;
        }
        default: return failure(error_kind::internal, "an instruction that no function has");
      }
      if (frame.records) [[unlikely]]
        frame.records[code_block.first_record + (code - code_block.code.data())].add(began,
                                                                                     ticks_now());
      for (uint16_t i = 0; i < code->release_count; ++i)
        slots[code->releases[i]].reset();
    }
  } catch (...) {
    return frame.stop.raised() ? stop_error(frame.stop)
                               : with_node_context(*code->origin, explain_exception());
  }
  return frame.stop.raised() ? stop_error(frame.stop)
                             : status{}; // the last kernel may have stopped
}

// Records the tensors that a block holds, with the nodes that made them; `caller` made its
// arguments.
void note_held(const block& called, const tensor* slots, std::span<const tensor> results,
               const node& caller, const call_frame& frame) {
  std::vector<const node*> makers(called.slots, &caller);
  for (const auto& code : called.code)
    for (uint16_t i = 0; i < code.output_count; ++i)
      makers[code.first_output + i] = code.origin;
  for (uint32_t slot = 0; slot < called.slots; ++slot)
    if (!slots[slot].empty())
      frame.held_tensors->push_back({makers[slot], slots[slot]});
  for (const auto& code : called.code)
    if (code.kind == action::fetch && !results[code.target].empty())
      frame.held_tensors->push_back({makers[code.inputs[0]], results[code.target]});
}

// Runs a block. All slots must be empty before, and are empty after an error.
status run_block(const block& called, tensor* slots, std::span<tensor> results, const node& caller,
                 const call_frame& frame) {
  auto outcome = run_code(called, slots, results, frame);
  if (outcome.kind() == error_kind::resource_exhausted && frame.held_tensors) [[unlikely]]
    note_held(called, slots, results, caller, frame);
  if (!outcome) [[unlikely]]
    for (uint32_t i = 0; i < called.slots; ++i)
      slots[i].reset();
  return outcome;
}

// Puts the arguments into the slots of the block. Keeps arguments that are results as well.
void enter(const block& called, std::span<tensor> arguments, bool keep_all, tensor* slots) {
  for (size_t i = 0; i < called.arguments.size(); ++i)
    if (auto slot = called.arguments[i]; slot != block::no_slot)
      slots[slot] = keep_all || called.is_also_result[i] ? arguments[i] : std::move(arguments[i]);
}

status check(const call_site& site, std::span<const tensor> arguments) {
  for (const auto& required : site.required_shapes)
    if (!required.dims.compatible(arguments[required.argument].dims()))
      return invalid("argument ", required.argument, " of function '", site.blocks.back()->name,
                     "' must have shape ", required.dims, ", got ",
                     arguments[required.argument].dims());
  return {};
}

template <class T>
bool is_not_zero(const tensor& scalar) {
  return *scalar.data<T>() != T{};
}

} // namespace

bool is_true(const tensor& condition) {
  if (condition.rank() != 0)
    return condition.elements() > 0;
  switch (condition.type()) {
    case dtype::boolean: return *condition.data<bool>();
    case dtype::u8: return is_not_zero<uint8_t>(condition);
    case dtype::u16: return is_not_zero<uint16_t>(condition);
    case dtype::u32: return is_not_zero<uint32_t>(condition);
    case dtype::u64: return is_not_zero<uint64_t>(condition);
    case dtype::i8: return is_not_zero<int8_t>(condition);
    case dtype::i16: return is_not_zero<int16_t>(condition);
    case dtype::i32: return is_not_zero<int32_t>(condition);
    case dtype::i64: return is_not_zero<int64_t>(condition);
    case dtype::f16: return float{*condition.data<float16>()} != 0;
    case dtype::bf16: return float{*condition.data<bfloat16>()} != 0;
    case dtype::f32: return is_not_zero<float>(condition);
    case dtype::f64: return is_not_zero<double>(condition);
    case dtype::c64: return is_not_zero<std::complex<float>>(condition);
    case dtype::c128: return is_not_zero<std::complex<double>>(condition);
    case dtype::string: return !condition.data<std::string>()->empty();
    case dtype::variant:
    case dtype::none: break;
  }
  return false;
}

namespace {

status call(const block& called, std::span<tensor> arguments, tensor* outputs, const node& caller,
            const call_frame& frame) {
  tensors slots{called.slots}, results{called.passed_arguments.size()};
  enter(called, arguments, false, slots.data());
  TROUPE_TRY(run_block(called, slots.data(), results.all(), caller, frame));
  for (size_t i = 0; i < called.passed_arguments.size(); ++i)
    outputs[i] = called.passed_arguments[i] < 0
                     ? std::move(results[i])
                     : arguments[static_cast<size_t>(called.passed_arguments[i])];
  return {};
}

// Returns whether a variable takes the old value of another one.
bool permutes_variables(const block& body) {
  for (size_t i = 0; i < body.passed_arguments.size(); ++i)
    if (body.passed_arguments[i] >= 0 && static_cast<size_t>(body.passed_arguments[i]) != i)
      return true;
  return false;
}

// Copies the values that other variables take to the places of those variables.
void copy_permuted(const block& body, std::span<const tensor> variables, tensor* copies) {
  for (size_t i = 0; i < body.passed_arguments.size(); ++i)
    if (auto from = body.passed_arguments[i]; from >= 0 && static_cast<size_t>(from) != i)
      copies[i] = variables[static_cast<size_t>(from)];
}

status loop(const instruction& code, const call_site& site, std::span<tensor> variables,
            tensor* outputs, const call_frame& frame) {
  const auto &condition = *site.blocks[0], &body = *site.blocks[1];
  tensors condition_slots{condition.slots}, body_slots{body.slots};
  tensors condition_results{1}, results{body.passed_arguments.size()}, before{variables.size()};
  const auto swaps = permutes_variables(body);
  int64_t iteration = 0;
  const auto held_before = frame.held_tensors ? frame.held_tensors->size() : 0;
  auto with_iteration = [&](status reason) {
    if (reason.ok() || reason.kind() == error_kind::deadline_exceeded)
      return reason;
    auto place = concat("[", code.origin->description(), " iteration ", iteration, "]");
    if (reason.kind() == error_kind::resource_exhausted && frame.held_tensors) {
      for (const auto& variable_value : variables) // variables that the body did not read
        if (!variable_value.empty())
          frame.held_tensors->push_back({code.origin, variable_value});
      if (frame.depth <= max_named_depth)
        add_enclosing_call(*frame.held_tensors, held_before, place);
    }
    return frame.depth > max_named_depth ? std::move(reason)
                                         : std::move(reason).with_context(place);
  };
  auto ended = false;
  auto fused = site.fused && !frame.check_numerics ? site.fused->find(variables) : nullptr;
  if (fused) {
    auto outcome = fused->run(variables, frame.memory, frame.stop, iteration);
    if (!outcome || *outcome == fused_loop::outcome::stopped)
      return with_iteration(outcome ? stop_error(frame.stop) : outcome.status());
    ended = *outcome == fused_loop::outcome::ended;
  }
  for (; !ended; ++iteration) {
    enter(condition, variables, true, condition_slots.data());
    TROUPE_TRY(with_iteration(run_block(condition, condition_slots.data(), condition_results.all(),
                                        *code.origin, frame)));
    const auto& condition_value =
        condition.passed_arguments[0] < 0
            ? condition_results[0]
            : variables[static_cast<size_t>(condition.passed_arguments[0])];
    if (!is_true(condition_value))
      break;
    if (iteration % instructions_per_look == 0)
      frame.stop.is_due();
    if (swaps)
      copy_permuted(body, variables, before.data());
    enter(body, variables, false, body_slots.data());
    TROUPE_TRY(
        with_iteration(run_block(body, body_slots.data(), results.all(), *code.origin, frame)));
    for (size_t i = 0; i < body.passed_arguments.size(); ++i)
      if (body.passed_arguments[i] < 0)
        variables[i] = std::move(results[i]);
      else if (static_cast<size_t>(body.passed_arguments[i]) != i)
        variables[i] = std::move(before[i]);
    if (!site.required_shapes.empty()) [[unlikely]]
      TROUPE_TRY(with_iteration(check(site, variables)));
  }
  for (size_t i = 0; i < variables.size(); ++i)
    outputs[i] = std::move(variables[i]);
  return {};
}

result<tensor> read_state(const instruction& code, named_state& state,
                          const std::unique_ptr<variable>* temporaries) {
  auto in_step = state.index_in_step();
  auto value = in_step < 0 ? state.read() : temporaries[static_cast<size_t>(in_step)]->read();
  if (value)
    return value;
  auto reason = value.status();
  if (code.origin->op().name.starts_with('_')) // users do not know internal nodes
    reason = std::move(reason).with_origin({}, state.name());
  return with_node_context(*code.origin, std::move(reason));
}

// Sets the outputs for which a function returns a variable and the caller expects its value.
status read_returned_variables(const instruction& code, const call_site& site, const block& called,
                               const call_frame& frame, tensor* outputs) {
  for (size_t i = 0; i < called.passed_arguments.size(); ++i) {
    auto from = called.passed_arguments[i];
    if (from < 0 || code.origin->output_is_ref(static_cast<int>(i)))
      continue;
    auto* state = code.states[site.first_argument + static_cast<size_t>(from)];
    if (!state)
      continue;
    TROUPE_ASSIGN(outputs[i], read_state(code, *state, frame.temporaries));
    if (outputs[i].space() != frame.device.memory().space())
      return wrong_memory_error(code, outputs[i]);
  }
  return {};
}

} // namespace

status run_call(const instruction& code, tensor* slots, const call_frame& around) {
  const auto& site = *static_cast<const call_site*>(code.state);
  if (around.depth == max_depth)
    return failure(error_kind::resource_exhausted, code.origin->description(),
                   ": calls are nested more than ", max_depth, " deep");
  if (around.depth > always_allowed_depth && stack_left() < min_stack) [[unlikely]]
    return failure(error_kind::resource_exhausted, code.origin->description(),
                   ": calls are nested ", around.depth,
                   " deep, and the stack of the thread that runs them is used up: call run() on a "
                   "thread with a larger stack");
  auto frame = around;
  ++frame.depth;
  tensors inputs{code.input_count};
  for (uint16_t i = 0; i < code.input_count; ++i) {
    if (code.states && code.states[i])
      continue; // the blocks refer to the variable themselves
    auto& slot = slots[code.inputs[i]];
    inputs[i] = i < 64 && (code.last_uses >> i & 1) ? std::move(slot) : slot;
  }
  auto arguments = inputs.all().subspan(site.first_argument);
  auto* outputs = slots + code.first_output;
  if (!site.required_shapes.empty()) [[unlikely]]
    if (auto outcome = check(site, arguments); !outcome)
      return with_node_context(*code.origin, std::move(outcome));
  const auto* chosen = site.blocks.front();
  switch (site.kind) {
    case call_kind::while_true: return loop(code, site, arguments, outputs, frame);
    case call_kind::if_true: chosen = site.blocks[is_true(inputs[0]) ? 0 : 1]; break;
    case call_kind::by_number: {
      if (inputs[0].rank() != 0)
        return with_node_context(*code.origin,
                                 invalid("branch_index must be a scalar, got ", inputs[0]));
      auto branch = *inputs[0].data<int32_t>();
      auto last = static_cast<int32_t>(site.blocks.size()) - 1;
      chosen = site.blocks[static_cast<size_t>(branch < 0 || branch > last ? last : branch)];
      break;
    }
    case call_kind::once:
    case call_kind::never: break;
  }
  const auto held_before = frame.held_tensors ? frame.held_tensors->size() : 0;
  auto outcome = call(*chosen, arguments, outputs, *code.origin, frame);
  if (outcome && code.states)
    outcome = read_returned_variables(code, site, *chosen, frame, outputs);
  if (outcome || frame.stop.raised() || frame.depth > max_named_depth)
    return outcome;
  auto place = concat("[", code.origin->description(), "]");
  if (frame.held_tensors)
    add_enclosing_call(*frame.held_tensors, held_before, place);
  return std::move(outcome).with_context(place);
}

result<tensor> read_variable(const instruction& code,
                             const std::unique_ptr<variable>* temporaries) {
  return read_state(code, **code.states, temporaries);
}

status wrong_memory_error(const instruction& reader, const tensor& value) {
  return failure(error_kind::failed_precondition, reader.origin->description(),
                 ": reads a variable that lies in the memory of ",
                 value.on_host() ? "the host" : value.space()->name(),
                 ": place the variable and its readers on one device");
}

status stop_error(const stop_signal& stop) {
  return stop.is_late() ? failure(error_kind::deadline_exceeded, "the step was not done in time")
                        : failure(error_kind::cancelled, "the step was stopped");
}

} // namespace troupe
