// The state of a program in one step, and the pure rules of its execution: tokens enable regions,
// and running a region emits tokens. Knows no threads and no actors.
#pragma once
#include "troupe/runtime/program/held_tensors.hpp"
#include "troupe/runtime/program/program.hpp"
#include "troupe/runtime/program/step_memory.hpp"
#include "troupe/runtime/program/step_profiler.hpp"

#include <atomic>
#include <memory>
#include <span>

namespace troupe {

/// Carries a tensor to a region, or the signal that another region has ended (an empty tensor). A
/// dead token means that no tensor will come, because a branch was not taken.
struct token {
  static constexpr uint32_t no_slot = UINT32_MAX;
  uint32_t region = 0;
  uint32_t slot = no_slot;
  tensor value = {};
  bool dead = false;
  /// The sender runs on for long: the receiving region should run on another thread.
  bool prefer_other_thread = false;
};

/// Receives the emissions of a region while it runs, in order, on the thread that runs it.
class emission_sink {
public:
  virtual void send_token(token&& to_region) = 0;
  virtual void send_export(uint32_t export_index, tensor&& value, bool dead) = 0;
  virtual void send_fetch(uint32_t fetch_index, tensor&& value, bool dead) = 0;
  virtual void start_wait(uint32_t wait_index, std::span<tensor> inputs) = 0;

protected:
  ~emission_sink() = default;
};

/// Several threads may run different regions of one instance at the same time.
class instance {
public:
  explicit instance(std::shared_ptr<const troupe::program> compiled);

  const troupe::program& program() const noexcept { return *program_; }

  /// Prepares for another step, and releases the tensors that a failed step has left. No region may
  /// be running.
  void reset() noexcept;

  /// Profiles the next steps with `profiler`, until a call with nullptr. Between steps only.
  void set_profiler(step_profiler* profiler);

  /// Makes the next step, until reset(), take its memory from the account of an enclosing step on
  /// the same device, which must outlive it.
  void share_memory_of(step_memory& enclosing) noexcept { memory_ = &enclosing; }
  step_memory& account() noexcept { return *memory_; }

  /// Sets the value of a feed, before the start.
  void set_feed(size_t feed, tensor value) noexcept {
    slots_[program_->feeds()[feed].slot] = std::move(value);
  }

  /// Delivers a token. Returns true if it was the last token that its region waited for: then the
  /// caller must run the region, once.
  bool receive(token&& received) noexcept;

  /// Delivers the answer to a wait; returns the same as receive().
  bool answer(uint32_t wait_index, std::span<tensor> values, bool dead) noexcept;

  /// Runs a region's code. Stops within a few milliseconds once `stop` is due, with
  /// `deadline_exceeded` or `cancelled`. Stops at the first error, which names the node.
  status run(uint32_t region, emission_sink& out, stop_signal& stop);

  /// Memory of the tensors that this step has made, until reset(). Unless the step is profiled,
  /// only the bytes in use are counted. Any thread may call.
  step_memory_statistics memory() const noexcept { return memory_->statistics(); }

  /// Appends the device's memory in use during the step, if the step was profiled with times; valid
  /// until reset().
  void collect_memory(memory_timeline& to) const { memory_->collect_log(to); }

  /// Appends the tensors that the step holds. No region may be running.
  void list_tensors(std::vector<held_tensor>& to) const;

private:
  struct counter {
    std::atomic<uint32_t> missing{0};
    std::atomic<bool> dead{false};
  };

  bool count_down(uint32_t region, bool dead) noexcept;
  template <class Hooks>
  status run_code(uint32_t region, emission_sink& out, stop_signal& stop, Hooks&& hooks);
  status replay_launches(uint32_t region, emission_sink& out, stop_signal& stop, bool& done);
  status run_dead(uint32_t region, emission_sink& out);
  status explain(status error, const instruction& code) const;
  status explain_memory(status error, std::vector<held_tensor> held = {}) const;
  status await_inputs(std::span<const uint32_t> slots, stop_signal& stop) const;
  status upload_variable(tensor& value, const instruction& reader) const;
  void take_idle_memory();
  void keep_account() noexcept;

  std::shared_ptr<const troupe::program> program_;
  const memory_space* space_; // the memory space of its kernels
  std::unique_ptr<tensor[]> slots_;
  std::unique_ptr<counter[]> counters_;
  std::vector<std::unique_ptr<variable>> temporaries_;
  step_profiler* profiler_ = nullptr;
  // The memory of this step, and of earlier steps whose tensors may still be in use.
  std::vector<step_memory::owner> memories_;
  step_memory* own_memory_ = nullptr;
  step_memory* memory_ = nullptr; // own_memory_, or that of an enclosing step
};

} // namespace troupe
