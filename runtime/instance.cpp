#include "troupe/runtime/instance.hpp"

#include "troupe/runtime/graph.hpp"

namespace troupe {
namespace {

// Nobody wants to know: calls of it are no code.
struct unwatched {
  void before(const instruction&) const {}
  status after(const instruction&) const { return {}; }
  void release(const tensor&) const {}
};

} // namespace

instance::instance(std::shared_ptr<const troupe::program> of)
    : program_(std::move(of)), slots_(new tensor[program_->slots()]),
      counters_(new counter[program_->regions().size()]) {
  reset();
}

void instance::reset() noexcept {
  auto regions = program_->regions();
  for (size_t r = 0; r < regions.size(); ++r) {
    counters_[r].missing.store(regions[r].arrivals, std::memory_order_relaxed);
    counters_[r].dead.store(false, std::memory_order_relaxed);
  }
  for (uint32_t slot = 0; slot < program_->slots(); ++slot)
    if (!slots_[slot].empty())
      slots_[slot].reset();
}

bool instance::arrive(token&& what) noexcept {
  if (what.slot != token::no_slot)
    slots_[what.slot] = std::move(what.value);
  return count_down(what.region, what.dead);
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

status instance::run(uint32_t which, emission_sink& out, const std::atomic<bool>& stop) {
  if (counters_[which].dead.load(std::memory_order_relaxed))
    return run_dead(which, out);
  if (watch_)
    return run_code(which, out, stop, region_watch{*watch_, which, slots_.get()});
  return run_code(which, out, stop, unwatched{});
}

template <class Watch>
status instance::run_code(uint32_t which, emission_sink& out, const std::atomic<bool>& stop,
                          Watch&& watch) {
  const auto& region = program_->regions()[which];
  auto* slots = slots_.get();
  kernel_context context{slots, program_->device()};
  const auto* code = program_->code().data() + region.first;
  for (const auto* end = code + region.count; code != end; ++code) {
    if (stop.load(std::memory_order_relaxed))
      return failure(error_kind::cancelled, "the step was stopped");
    // The last user of a tensor takes it; others share it.
    auto take = [&](uint16_t i) {
      auto& slot = slots[code->inputs[i]];
      return code->last_uses >> i & 1 ? std::move(slot) : slot;
    };
    watch.before(*code);
    switch (code->what) {
      case action::run: {
        context.step_to(*code);
        if (auto ran = code->run(context); !ran) [[unlikely]]
          return std::move(ran).within(code->origin->description());
        break;
      }
      case action::read: {
        auto value = (*code->variables)->read();
        if (!value)
          return value.status().within(code->origin->description());
        slots[code->first_output] = *std::move(value);
        break;
      }
      case action::token:
        out.send_token({.region = code->target,
                        .slot = code->input_count ? code->first_output : token::no_slot,
                        .value = code->input_count ? take(0) : tensor{},
                        .hurry = code->leaves_much});
        break;
      case action::send:
        out.send_export(code->target, code->input_count ? take(0) : tensor{}, false);
        break;
      case action::fetch:
        out.send_fetch(code->target, take(0), false);
        break;
      case action::wait: {
        std::vector<tensor> inputs;
        for (uint16_t i = 0; i < code->input_count; ++i)
          inputs.push_back(slots[code->inputs[i]]);
        out.start_wait(code->target, inputs);
        break;
      }
    }
    if (auto fine = watch.after(*code); !fine) [[unlikely]]
      return std::move(fine).within(code->origin->description());
    for (uint16_t i = 0; i < code->release_count; ++i) {
      auto& slot = slots[code->releases[i]];
      watch.release(slot);
      slot.reset();
    }
  }
  return {};
}

// Nothing runs, but everybody who waits hears that nothing comes.
status instance::run_dead(uint32_t which, emission_sink& out) {
  const auto& region = program_->regions()[which];
  for (uint32_t i = 0; i < region.count; ++i) {
    const auto& code = program_->code()[region.first + i];
    switch (code.what) {
      case action::run:
      case action::read:
        break;
      case action::token:
        out.send_token({.region = code.target, .dead = true});
        break;
      case action::send:
        out.send_export(code.target, {}, true);
        break;
      case action::fetch:
        out.send_fetch(code.target, {}, true);
        break;
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
