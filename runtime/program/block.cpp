#include "troupe/runtime/program/block.hpp"

#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/platform/stack.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"
#include "troupe/runtime/program/fused_loop.hpp"
#include "troupe/runtime/program/numerics_watch.hpp"

#include <array>

namespace troupe {
namespace {

// Calls within calls take stack, of which kernels need some, too. Few calls always have it.
constexpr int max_depth = 500, few_calls = 8;
constexpr size_t least_stack = 512 * 1024;

// Room for the tensors of one run of a block; few need no heap memory.
class tensors {
public:
  explicit tensors(size_t count)
      : size_(count), far_(count > near_.size() ? new tensor[count] : nullptr) {}
  tensor* data() noexcept { return far_ ? far_.get() : near_.data(); }
  tensor& operator[](size_t i) noexcept { return data()[i]; }
  std::span<tensor> all() noexcept { return {data(), size_}; }

private:
  size_t size_;
  std::array<tensor, 12> near_;
  std::unique_ptr<tensor[]> far_;
};

status run_watched(const instruction& code, kernel_context& context, const tensor* slots,
                   const call_frame& at) {
  numerics_watch watch;
  watch.before(code, slots);
  auto ran = run_kernel(code, context);
  if (ran && !at.stop.raised())
    ran = watch.after(code, slots);
  return at.stop.raised() ? stopped(at.stop) : within(*code.origin, std::move(ran));
}

status run_code(const block& what, tensor* slots, std::span<tensor> results, const call_frame& at) {
  kernel_context context{slots, at.device, at.memory, &at.stop};
  context.set_temporaries(at.temporaries);
  const auto* code = what.code.data();
  const auto* look = code + instructions_per_look;
  try { // around all kernels at once, as in an instance
    for (const auto* end = code + what.code.size(); code != end; ++code) {
      if (code == look) {
        look += instructions_per_look;
        at.stop.due(); // raises it
      }
      if (at.stop.raised()) [[unlikely]]
        return stopped(at.stop);
      auto began = at.records ? ticks_now() : 0;
      switch (code->what) {
        case action::run: {
          context.step_to(*code);
          if (at.check_numerics) [[unlikely]] {
            TROUPE_TRY(run_watched(*code, context, slots, at));
            break;
          }
          if (auto ran = code->run(context); !ran) [[unlikely]]
            return at.stop.raised() ? stopped(at.stop) : within(*code->origin, std::move(ran));
          break;
        }
        case action::call: TROUPE_TRY(run_call(*code, slots, at)); break;
        case action::read: {
          auto& slot = slots[code->first_output];
          TROUPE_ASSIGN(slot, read_variable(*code, at.temporaries));
          if (slot.space() != at.device.memory().space()) [[unlikely]]
            return lies_elsewhere(*code, slot);
          break;
        }
        case action::fetch: {
          auto& value = slots[code->inputs[0]];
          results[code->target] = code->last_uses & 1 ? std::move(value) : value;
          break;
        }
        default: return failure(error_kind::internal, "an instruction that no function has");
      }
      if (at.records) [[unlikely]]
        at.records[what.first_record + (code - what.code.data())].add(began, ticks_now());
      for (uint16_t i = 0; i < code->release_count; ++i)
        slots[code->releases[i]].reset();
    }
  } catch (...) {
    return at.stop.raised() ? stopped(at.stop) : within(*code->origin, explain_exception());
  }
  return at.stop.raised() ? stopped(at.stop) : status{}; // the last kernel may have left off
}

// What a block holds, by the nodes that made it; its arguments are those of `by`.
void note_held(const block& what, const tensor* slots, std::span<const tensor> results,
               const node& by, const call_frame& at) {
  std::vector<const node*> makers(what.slots, &by);
  for (const auto& code : what.code)
    for (uint16_t i = 0; i < code.output_count; ++i)
      makers[code.first_output + i] = code.origin;
  for (uint32_t slot = 0; slot < what.slots; ++slot)
    if (!slots[slot].empty())
      at.held->push_back({makers[slot], slots[slot]});
  for (const auto& code : what.code)
    if (code.what == action::fetch && !results[code.target].empty())
      at.held->push_back({makers[code.inputs[0]], results[code.target]});
}

// Runs a block in slots that are empty, and leaves them so.
status run_block(const block& what, tensor* slots, std::span<tensor> results, const node& by,
                 const call_frame& at) {
  auto ran = run_code(what, slots, results, at);
  if (ran.kind() == error_kind::resource_exhausted && at.held) [[unlikely]]
    note_held(what, slots, results, by, at);
  if (!ran) [[unlikely]]
    for (uint32_t i = 0; i < what.slots; ++i)
      slots[i].reset();
  return ran;
}

// The arguments go where the block looks for them; what is a result as well stays.
void enter(const block& what, std::span<tensor> arguments, bool keep_all, tensor* slots) {
  for (size_t i = 0; i < what.arguments.size(); ++i)
    if (auto to = what.arguments[i]; to != block::no_slot)
      slots[to] = keep_all || what.kept[i] ? arguments[i] : std::move(arguments[i]);
}

status check(const call_site& site, std::span<const tensor> arguments) {
  for (const auto& one : site.promises)
    if (!one.dims.compatible(arguments[one.argument].dims()))
      return invalid("argument ", one.argument, " of function '", site.blocks.back()->name,
                     "' must have shape ", one.dims, ", got ", arguments[one.argument].dims());
  return {};
}

template <class T>
bool is_not_zero(const tensor& what) {
  return *what.data<T>() != T{};
}

} // namespace

bool holds(const tensor& what) {
  if (what.rank() != 0)
    return what.elements() > 0;
  switch (what.type()) {
    case dtype::boolean: return *what.data<bool>();
    case dtype::u8: return is_not_zero<uint8_t>(what);
    case dtype::u16: return is_not_zero<uint16_t>(what);
    case dtype::u32: return is_not_zero<uint32_t>(what);
    case dtype::u64: return is_not_zero<uint64_t>(what);
    case dtype::i8: return is_not_zero<int8_t>(what);
    case dtype::i16: return is_not_zero<int16_t>(what);
    case dtype::i32: return is_not_zero<int32_t>(what);
    case dtype::i64: return is_not_zero<int64_t>(what);
    case dtype::f16: return float{*what.data<float16>()} != 0;
    case dtype::bf16: return float{*what.data<bfloat16>()} != 0;
    case dtype::f32: return is_not_zero<float>(what);
    case dtype::f64: return is_not_zero<double>(what);
    case dtype::c64: return is_not_zero<std::complex<float>>(what);
    case dtype::c128: return is_not_zero<std::complex<double>>(what);
    case dtype::string: return !what.data<std::string>()->empty();
    case dtype::variant:
    case dtype::none: break;
  }
  return false;
}

namespace {

status call(const block& what, std::span<tensor> arguments, tensor* outputs, const node& by,
            const call_frame& at) {
  tensors slots{what.slots}, results{what.handed_on.size()};
  enter(what, arguments, false, slots.data());
  TROUPE_TRY(run_block(what, slots.data(), results.all(), by, at));
  for (size_t i = 0; i < what.handed_on.size(); ++i)
    outputs[i] = what.handed_on[i] < 0 ? std::move(results[i])
                                       : arguments[static_cast<size_t>(what.handed_on[i])];
  return {};
}

status loop(const instruction& code, const call_site& site, std::span<tensor> variables,
            tensor* outputs, const call_frame& at) {
  const auto &condition = *site.blocks[0], &body = *site.blocks[1];
  tensors condition_slots{condition.slots}, body_slots{body.slots};
  tensors verdict{1}, results{body.handed_on.size()}, before{variables.size()};
  auto swaps = false; // whether a variable becomes another
  for (size_t i = 0; i < body.handed_on.size(); ++i)
    swaps = swaps || (body.handed_on[i] >= 0 && static_cast<size_t>(body.handed_on[i]) != i);
  int64_t turn = 0;
  const auto held_before = at.held ? at.held->size() : 0;
  auto told = [&](status why) {
    if (why.ok() || why.kind() == error_kind::deadline_exceeded)
      return why;
    auto place = concat("[", code.origin->description(), " iteration ", turn, "]");
    if (why.kind() == error_kind::resource_exhausted && at.held) {
      for (const auto& one : variables) // those that the body did not read
        if (!one.empty())
          at.held->push_back({code.origin, one});
      put_around(*at.held, held_before, place);
    }
    return std::move(why).within(place);
  };
  auto ended = false;
  auto fused = site.fused && !at.check_numerics ? site.fused->find(variables) : nullptr;
  if (fused) {
    auto how = fused->run(variables, at.memory, at.stop, turn);
    if (!how || *how == fused_loop::outcome::stopped)
      return told(how ? stopped(at.stop) : how.status());
    ended = *how == fused_loop::outcome::ended;
  }
  for (; !ended; ++turn) {
    enter(condition, variables, true, condition_slots.data());
    TROUPE_TRY(told(run_block(condition, condition_slots.data(), verdict.all(), *code.origin, at)));
    const auto& found = condition.handed_on[0] < 0
                            ? verdict[0]
                            : variables[static_cast<size_t>(condition.handed_on[0])];
    if (!holds(found))
      break;
    if (turn % instructions_per_look == 0)
      at.stop.due();
    if (swaps)
      for (size_t i = 0; i < body.handed_on.size(); ++i)
        if (auto from = body.handed_on[i]; from >= 0 && static_cast<size_t>(from) != i)
          before[i] = variables[static_cast<size_t>(from)];
    enter(body, variables, false, body_slots.data());
    TROUPE_TRY(told(run_block(body, body_slots.data(), results.all(), *code.origin, at)));
    for (size_t i = 0; i < body.handed_on.size(); ++i)
      if (body.handed_on[i] < 0)
        variables[i] = std::move(results[i]);
      else if (static_cast<size_t>(body.handed_on[i]) != i)
        variables[i] = std::move(before[i]);
    if (!site.promises.empty()) [[unlikely]]
      TROUPE_TRY(told(check(site, variables)));
  }
  for (size_t i = 0; i < variables.size(); ++i)
    outputs[i] = std::move(variables[i]);
  return {};
}

result<tensor> read_state(const instruction& code, named_state& of,
                          const std::unique_ptr<variable>* temporaries) {
  auto in_step = of.index_in_step();
  auto value = in_step < 0 ? of.read() : temporaries[static_cast<size_t>(in_step)]->read();
  if (value)
    return value;
  auto why = value.status();
  if (code.origin->op().name.starts_with('_')) // no node that the user knows
    why = std::move(why).about({}, of.name());
  return within(*code.origin, std::move(why));
}

// A function may hand a variable on where another one gives a value: then it gives its value.
status read_handed_on(const instruction& code, const call_site& site, const block& called,
                      const call_frame& at, tensor* outputs) {
  for (size_t i = 0; i < called.handed_on.size(); ++i) {
    auto from = called.handed_on[i];
    if (from < 0 || code.origin->output_is_ref(static_cast<int>(i)))
      continue;
    auto* state = code.states[site.first_argument + static_cast<size_t>(from)];
    if (!state)
      continue;
    TROUPE_ASSIGN(outputs[i], read_state(code, *state, at.temporaries));
    if (outputs[i].space() != at.device.memory().space())
      return lies_elsewhere(code, outputs[i]);
  }
  return {};
}

} // namespace

status run_call(const instruction& code, tensor* slots, const call_frame& around) {
  const auto& site = *static_cast<const call_site*>(code.state);
  if (around.depth == max_depth)
    return failure(error_kind::resource_exhausted, code.origin->description(),
                   ": calls lie more than ", max_depth, " deep within calls");
  if (around.depth > few_calls && stack_left() < least_stack) [[unlikely]]
    return failure(error_kind::resource_exhausted, code.origin->description(), ": calls lie ",
                   around.depth,
                   " deep within calls, and the stack of the thread that runs them is "
                   "used up: let a thread with a larger stack call run()");
  auto at = around;
  ++at.depth;
  tensors inputs{code.input_count};
  for (uint16_t i = 0; i < code.input_count; ++i) {
    if (code.states && code.states[i])
      continue; // the blocks know which variable it is
    auto& slot = slots[code.inputs[i]];
    inputs[i] = i < 64 && (code.last_uses >> i & 1) ? std::move(slot) : slot;
  }
  auto arguments = inputs.all().subspan(site.first_argument);
  auto* outputs = slots + code.first_output;
  if (!site.promises.empty()) [[unlikely]]
    if (auto kept = check(site, arguments); !kept)
      return within(*code.origin, std::move(kept));
  const auto* chosen = site.blocks.front();
  switch (site.how) {
    case calling::while_true: return loop(code, site, arguments, outputs, at);
    case calling::if_true: chosen = site.blocks[holds(inputs[0]) ? 0 : 1]; break;
    case calling::by_number: {
      if (inputs[0].rank() != 0)
        return within(*code.origin, invalid("branch_index must be a scalar, got ", inputs[0]));
      auto which = *inputs[0].data<int32_t>();
      auto last = static_cast<int32_t>(site.blocks.size()) - 1;
      chosen = site.blocks[static_cast<size_t>(which < 0 || which > last ? last : which)];
      break;
    }
    case calling::once:
    case calling::never: break;
  }
  const auto held_before = at.held ? at.held->size() : 0;
  auto ran = call(*chosen, arguments, outputs, *code.origin, at);
  if (ran && code.states)
    ran = read_handed_on(code, site, *chosen, at, outputs);
  // The deepest calls say where it was; a stack of a thousand lines helps nobody.
  if (ran || at.stop.raised() || at.depth > 8)
    return ran;
  auto place = concat("[", code.origin->description(), "]");
  if (at.held)
    put_around(*at.held, held_before, place);
  return std::move(ran).within(place);
}

result<tensor> read_variable(const instruction& code,
                             const std::unique_ptr<variable>* temporaries) {
  return read_state(code, **code.states, temporaries);
}

status lies_elsewhere(const instruction& reader, const tensor& value) {
  return failure(error_kind::failed_precondition, reader.origin->description(),
                 ": reads a variable that lies in the memory of ",
                 value.on_host() ? "the host" : value.space()->name(),
                 ": place the variable and who reads it on one device");
}

status stopped(const stop_signal& stop) {
  return stop.late() ? failure(error_kind::deadline_exceeded, "the step was not done in time")
                     : failure(error_kind::cancelled, "the step was stopped");
}

} // namespace troupe
