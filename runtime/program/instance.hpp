// One step's state of a program, and the pure rules of its execution: given tokens, it says what to
// run, and running a region says what to send. Knows no threads and no actors.
#pragma once
#include "troupe/runtime/program/held_tensors.hpp"
#include "troupe/runtime/program/program.hpp"
#include "troupe/runtime/program/step_memory.hpp"
#include "troupe/runtime/program/step_profiler.hpp"

#include <atomic>
#include <memory>
#include <span>

namespace troupe {

/// Brings one tensor, or the news that all before has run (an empty tensor), to a region. A dead
/// token says that there will be no tensor, because of a branch not taken.
struct token {
  static constexpr uint32_t no_slot = UINT32_MAX;
  uint32_t region = 0;
  uint32_t slot = no_slot;
  tensor value = {};
  bool dead = false;
  bool prefer_other_thread =
      false; // its sender goes on for long: what it starts should run elsewhere
};

/// Receives what a region sends while it runs, in order, on the thread that runs it.
class emission_sink {
public:
  virtual void send_token(token&& to_region) = 0;
  virtual void send_export(uint32_t export_index, tensor&& value, bool dead) = 0;
  virtual void send_fetch(uint32_t fetch_index, tensor&& value, bool dead) = 0;
  virtual void start_wait(uint32_t wait_index, std::span<tensor> inputs) = 0;

protected:
  ~emission_sink() = default;
};

/// Regions of one instance may run on several threads at once; each is run by one.
class instance {
public:
  explicit instance(std::shared_ptr<const troupe::program> of);

  const troupe::program& program() const noexcept { return *program_; }

  /// Makes it ready for another step, and lets go of what a step that failed left behind. Nothing
  /// of it may be running.
  void reset() noexcept;

  /// Notes down what the next steps do, until told otherwise with nullptr. Between steps only.
  void watch(step_profiler* by);

  /// Has the next step take its memory from the account of another one's, on the same device, until
  /// the reset: it is a part of that step, which outlives it.
  void take_memory_of(step_memory& whole) noexcept { memory_ = &whole; }
  step_memory& account() noexcept { return *memory_; }

  /// Gives a feed its value, before the start.
  void set_feed(size_t feed, tensor value) noexcept {
    slots_[program_->feeds()[feed].slot] = std::move(value);
  }

  /// Takes a token in. Returns true when it was the last that its region waited for: then the
  /// caller must see to it that the region is run, once.
  bool receive(token&& what) noexcept;

  /// Takes the answer to a wait in; the same promise as arrive().
  bool answer(uint32_t wait_index, std::span<tensor> values, bool dead) noexcept;

  /// Runs a region's code. Leaves off, within a few milliseconds, when `stop` is due: then the
  /// result is `deadline_exceeded` or `cancelled`. Ends at the first error, which names the node.
  status run(uint32_t region, emission_sink& out, stop_signal& stop);

  /// What the tensors that this step makes take; kept until the reset. Where times are not taken,
  /// only the bytes in use. Any thread may call.
  step_memory_statistics memory() const noexcept { return memory_->statistics(); }

  /// How much of the device's memory was in use while the step ran, where it was watched for times;
  /// kept until the reset.
  void collect_memory(memory_timeline& to) const { memory_->collect_log(to); }

  /// Appends what the step holds. Nothing may be running.
  void list_tensors(std::vector<held_tensor>& to) const;

private:
  struct counter {
    std::atomic<uint32_t> missing{0};
    std::atomic<bool> dead{false};
  };

  bool count_down(uint32_t region, bool dead) noexcept;
  template <class Watch>
  status run_code(uint32_t region, emission_sink& out, stop_signal& stop, Watch&& watch);
  status run_again(uint32_t region, emission_sink& out, stop_signal& stop, bool& done);
  status run_dead(uint32_t region, emission_sink& out);
  status explain(status error, const instruction& at) const;
  status explain_memory(status error, std::vector<held_tensor> held = {}) const;
  status await(std::span<const uint32_t> slots) const;
  status bring_here(tensor& value, const instruction& at) const;
  void take_idle_memory();
  void keep_account() noexcept;

  std::shared_ptr<const troupe::program> program_;
  const memory_space* space_; // where its kernels work
  std::unique_ptr<tensor[]> slots_;
  std::unique_ptr<counter[]> counters_;
  std::vector<std::unique_ptr<variable>> temporaries_;
  step_profiler* watch_ = nullptr;
  // The step's, and those of former steps whose tensors may be in use yet.
  std::vector<step_memory::owner> memories_;
  step_memory* own_memory_ = nullptr;
  step_memory* memory_ = nullptr; // its own, or that of a step around it
};

} // namespace troupe
