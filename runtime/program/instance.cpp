#include "troupe/runtime/program/instance.hpp"

#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/device/pending_inputs.hpp"
#include "troupe/runtime/device/upload.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/platform/flush_subnormals.hpp"
#include "troupe/runtime/program/replay.hpp"
#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>

namespace troupe {
namespace {

// The hooks of steps that are not profiled: every call compiles to nothing.
struct no_profiler {
  void before(const instruction&) const {}
  status after(const instruction&) const { return {}; }
  bool checks_numerics() const { return false; }
  block_record* block_records() const { return nullptr; }
};

// Readings of the memory log per instruction, which allocates and frees a tensor or two.
constexpr size_t moments_per_instruction = 4;

// Older memories are released when tensors live longer than this many steps.
constexpr size_t max_memories = 8;

// Handles of objects that live for one step must not be fetched.
status check_handles(const tensor& fetched, const instruction& fetch) {
  const auto* object = find_handle(fetched);
  return object ? with_node_context(
                      *fetch.origin->inputs()[0].node,
                      failure(error_kind::failed_precondition, object->description(),
                              " lives for one step, and its handle cannot be fetched: fetch "
                              "a value that is read from it"))
                : status{};
}

} // namespace

instance::instance(std::shared_ptr<const troupe::program> compiled)
    : program_(std::move(compiled)), space_(program_->device().memory().space()),
      slots_(new tensor[program_->slots()]), counters_(new counter[program_->regions().size()]) {
  for (const auto& declared : program_->temporaries())
    temporaries_.push_back(
        std::make_unique<variable>(declared->name(), declared->type(), declared->dims()));
  for (const auto& constant : program_->constants())
    slots_[constant.slot] = constant.value;
  reset();
}

void instance::reset() noexcept {
  auto regions = program_->regions();
  for (size_t r = 0; r < regions.size(); ++r) {
    counters_[r].missing.store(regions[r].required_tokens, std::memory_order_relaxed);
    counters_[r].dead.store(false, std::memory_order_relaxed);
  }
  auto constant = program_->constants().begin(); // in the order of slots
  for (uint32_t slot = 0; slot < program_->slots(); ++slot)
    if (constant != program_->constants().end() && constant->slot == slot)
      ++constant;
    else if (!slots_[slot].empty())
      slots_[slot].reset();
  for (const auto& temporary : temporaries_)
    temporary->clear();
  if (own_memory_)
    own_memory_->end_log();
  take_idle_memory();
}

void instance::set_profiler(step_profiler* profiler) {
  profiler_ = profiler;
  keep_account();
  if (profiler && profiler->records_times())
    own_memory_->begin_log(moments_per_instruction * program_->code().size() + 64);
}

void instance::take_idle_memory() {
  auto idle = std::ranges::find_if(memories_, [](const auto& memory) { return memory->idle(); });
  if (idle == memories_.end()) {
    if (memories_.size() == max_memories)
      memories_.erase(memories_.begin());
    memories_.push_back(step_memory::make(program_->device().memory()));
    idle = memories_.end() - 1;
  }
  memory_ = own_memory_ = idle->get();
  memory_->reset();
  keep_account();
}

// A full account is kept only for profiled steps, because it costs time.
void instance::keep_account() noexcept {
  own_memory_->set_full_account(profiler_ && profiler_->records_times());
}

bool instance::receive(token&& received) noexcept {
  if (received.slot != token::no_slot)
    slots_[received.slot] = std::move(received.value);
  return count_down(received.region, received.dead);
}

bool instance::answer(uint32_t wait_index, std::span<tensor> values, bool dead) noexcept {
  const auto& wait = program_->waits()[wait_index];
  for (size_t i = 0; i < wait.slots.size() && i < values.size(); ++i)
    if (wait.slots[i] != token::no_slot)
      slots_[wait.slots[i]] = std::move(values[i]);
  return count_down(wait.region, dead);
}

bool instance::count_down(uint32_t region, bool dead) noexcept {
  auto& counter = counters_[region];
  if (dead)
    counter.dead.store(true, std::memory_order_relaxed);
  return counter.missing.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

status instance::run(uint32_t region, emission_sink& out, stop_signal& stop) {
  if (counters_[region].dead.load(std::memory_order_relaxed))
    return run_dead(region, out);
  const flush_subnormals subnormals_off;
  if (auto pending = program_->pending_inputs(region); !pending.empty()) [[unlikely]]
    TROUPE_TRY(await_inputs(pending, stop));
  if (profiler_) {
    TROUPE_TRY(profiler_->check_constants());
    return run_code(region, out, stop, region_profiler{*profiler_, region, slots_.get()});
  }
  if (program_->replay_of(region)) [[unlikely]] {
    bool done = false;
    TROUPE_TRY(replay_launches(region, out, stop, done));
    if (done)
      return {};
  }
  return run_code(region, out, stop, no_profiler{});
}

template <class Hooks>
status instance::run_code(uint32_t region_index, emission_sink& out, stop_signal& stop,
                          Hooks&& hooks) {
  const auto& region = program_->regions()[region_index];
  auto* slots = slots_.get();
  kernel_context context{slots, program_->device(), *memory_, &stop};
  context.set_temporaries(temporaries_.data());
  const auto* code = program_->code().data() + region.first;
  const auto* next_look = code + instructions_per_look;
  try { // one try block around all kernels: one for each would take a third of a no-op's time
    for (const auto* end = code + region.count; code != end; ++code) {
      if (code == next_look) {
        next_look += instructions_per_look;
        stop.is_due(); // raises it
      }
      if (stop.raised()) [[unlikely]]
        return stop_error(stop);
      // The last use of a tensor moves it; earlier uses share it.
      auto take = [&](uint16_t i) {
        auto& slot = slots[code->inputs[i]];
        return code->last_uses >> i & 1 ? std::move(slot) : slot;
      };
      hooks.before(*code);
      switch (code->kind) {
        case action::run: {
          context.step_to(*code);
          if (auto outcome = code->run(context); !outcome) [[unlikely]]
            return stop.raised() ? stop_error(stop) : explain(std::move(outcome), *code);
          break;
        }
        case action::run_on_host:
          [[unlikely]] {
            auto& host = program_->device().as_accelerator()->host();
            kernel_context host_context{slots, host, host.memory(), &stop};
            host_context.set_temporaries(temporaries_.data());
            host_context.step_to(*code);
            if (auto outcome = run_kernel(*code, host_context); !outcome)
              return stop.raised() ? stop_error(stop) : explain(std::move(outcome), *code);
            break;
          }
        case action::upload:
          [[unlikely]] {
            auto& device = *program_->device().as_accelerator();
            auto value =
                upload(device, slots[code->inputs[0]], static_cast<cached_upload*>(code->state));
            if (!value)
              return explain(value.status(), *code);
            slots[code->first_output] = *std::move(value);
            break;
          }
        case action::call: {
          std::vector<held_tensor> held;
          call_frame frame{
              program_->device(),    *memory_, temporaries_.data(), stop, hooks.checks_numerics(),
              hooks.block_records(), &held};
          if (auto outcome = run_call(*code, slots, frame); !outcome) [[unlikely]]
            return stop.raised() ? stop_error(stop)
                                 : explain_memory(std::move(outcome), std::move(held));
          break;
        }
        case action::read: {
          auto& slot = slots[code->first_output];
          TROUPE_ASSIGN(slot, read_variable(*code, temporaries_.data()));
          if (slot.space() != space_) [[unlikely]]
            TROUPE_TRY(upload_variable(slot, *code));
          break;
        }
        case action::token:
          out.send_token({.region = code->target,
                          .slot = code->input_count ? code->first_output : token::no_slot,
                          .value = code->input_count ? take(0) : tensor{},
                          .prefer_other_thread = code->long_tail});
          break;
        case action::send:
          out.send_export(code->target, code->input_count ? take(0) : tensor{}, false);
          break;
        case action::fetch: {
          auto value = take(0);
          if (value.type() == dtype::variant) [[unlikely]]
            TROUPE_TRY(check_handles(value, *code));
          out.send_fetch(code->target, std::move(value), false);
          break;
        }
        case action::wait: {
          std::vector<tensor> inputs;
          inputs.reserve(code->input_count);
          for (uint16_t i = 0; i < code->input_count; ++i)
            inputs.push_back(slots[code->inputs[i]]); // a slot may occur twice
          out.start_wait(code->target, inputs);
          break;
        }
      }
      if (auto outcome = hooks.after(*code); !outcome) [[unlikely]]
        return with_node_context(*code->origin, std::move(outcome));
      for (uint16_t i = 0; i < code->release_count; ++i)
        slots[code->releases[i]].reset();
    }
  } catch (...) {
    return stop.raised() ? stop_error(stop) : explain(explain_exception(), *code);
  }
  return stop.raised() ? stop_error(stop) : status{}; // the last kernel may have stopped
}

// Replays the launches that earlier runs of the region recorded, if possible.
status instance::replay_launches(uint32_t region_index, emission_sink& out, stop_signal& stop,
                                 bool& done) {
  if (stop.is_due())
    return stop_error(stop);
  std::vector<tensor> leaving;
  TROUPE_ASSIGN(done, program_->replay_of(region_index)->run(slots_.get(), leaving));
  if (!done)
    return {};
  const auto& region = program_->regions()[region_index];
  auto code = program_->code().subspan(region.first, region.count);
  for (const auto& instruction : code)
    for (uint16_t i = 0; i < instruction.release_count; ++i)
      slots_[instruction.releases[i]].reset();
  auto next = leaving.begin();
  for (const auto& instruction : code)
    switch (instruction.kind) {
      case action::token:
        out.send_token({.region = instruction.target,
                        .slot = instruction.input_count ? instruction.first_output : token::no_slot,
                        .value = std::move(*next++),
                        .prefer_other_thread = instruction.long_tail});
        break;
      case action::send: out.send_export(instruction.target, std::move(*next++), false); break;
      case action::fetch: out.send_fetch(instruction.target, std::move(*next++), false); break;
      case action::wait: {
        tensor input = std::move(*next++);
        out.start_wait(instruction.target, {&input, instruction.input_count});
        break;
      }
      default: break;
    }
  return {};
}

// Waits for results of collective operations, since the region uses them from now on. Launches
// nothing for a step that has stopped, whose device may be lost.
status instance::await_inputs(std::span<const uint32_t> slots, stop_signal& stop) const {
  if (stop.is_due())
    return stop_error(stop);
  auto* device = program_->device().as_pending_inputs();
  if (!device)
    return {};
  for (auto slot : slots)
    if (!slots_[slot].empty())
      TROUPE_TRY(device->wait_for(slots_[slot]));
  return {};
}

// Uploads the value of a variable that was assigned on the host and is read on a GPU.
status instance::upload_variable(tensor& value, const instruction& reader) const {
  auto* device = program_->device().as_accelerator();
  if (!device || !value.on_host())
    return wrong_memory_error(reader, value);
  auto uploaded = device->upload(value);
  if (!uploaded)
    return explain(uploaded.status(), reader);
  value = *std::move(uploaded);
  return {};
}

status instance::explain(status error, const instruction& code) const {
  // A token that only signals the end of a region has no node.
  return explain_memory(code.origin ? with_node_context(*code.origin, std::move(error))
                                    : std::move(error));
}

// `held` lists the tensors of functions, which are not in the slots of the step.
status instance::explain_memory(status error, std::vector<held_tensor> held) const {
  if (error.kind() != error_kind::resource_exhausted)
    return error;
  const auto& device = program_->device();
  return std::move(error).with_suffix(
      concat("; ", to_string(device.kind()), ':', device.ordinal(), " has ",
             device.statistics().in_use, " bytes in use, its limit is ", device.memory_limit(),
             describe_largest(std::move(held), 10, "its functions' largest tensors")));
}

void instance::list_tensors(std::vector<held_tensor>& to) const {
  std::vector<const node*> makers(program_->slots());
  for (const auto& feed : program_->feeds())
    makers[feed.slot] = feed.origin;
  for (const auto& wait : program_->waits())
    for (auto slot : wait.slots)
      if (slot != token::no_slot)
        makers[slot] = wait.origin;
  for (const auto& code : program_->code())
    if (code.kind <= action::read)
      for (uint16_t i = 0; i < code.output_count; ++i)
        makers[code.first_output + i] = code.origin;
    else if (code.kind == action::token && code.input_count > 0)
      makers[code.first_output] = code.origin;
  for (uint32_t slot = 0; slot < program_->slots(); ++slot) {
    const auto& value = slots_[slot];
    if (!value.empty() && makers[slot])
      to.push_back({makers[slot], value});
  }
}

// Runs no kernel, but sends dead tokens to everything that waits for the region.
status instance::run_dead(uint32_t region_index, emission_sink& out) {
  const auto& region = program_->regions()[region_index];
  for (uint32_t i = 0; i < region.count; ++i) {
    const auto& code = program_->code()[region.first + i];
    switch (code.kind) {
      case action::run:
      case action::run_on_host:
      case action::upload:
      case action::call:
      case action::read: break;
      case action::token: out.send_token({.region = code.target, .dead = true}); break;
      case action::send: out.send_export(code.target, {}, true); break;
      case action::fetch: out.send_fetch(code.target, {}, true); break;
      case action::wait:
        out.send_token({.region = program_->waits()[code.target].region, .dead = true});
        break;
    }
    for (uint16_t k = 0; k < code.release_count; ++k)
      slots_[code.releases[k]].reset();
  }
  return {};
}

} // namespace troupe
