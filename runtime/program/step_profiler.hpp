// Records times and checks numbers of an instance while a profiled step runs.
#pragma once
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/insight/profile_options.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"
#include "troupe/runtime/platform/tsc_clock.hpp"
#include "troupe/runtime/program/numerics_watch.hpp"
#include "troupe/runtime/program/program.hpp"

#include <atomic>
#include <mutex>
#include <optional>

namespace troupe {

/// Has storage for one step of one program, allocated once: each instruction, region and wait of a
/// step runs once and has its own record, written by one thread. Takes no locks, and allocates
/// nothing while the step runs. Belongs to an instance and serves its steps one after the other.
class step_profiler {
public:
  explicit step_profiler(const program& compiled);

  /// Call before each step.
  void begin(profile_options options) noexcept;

  bool records_times() const noexcept { return options_.times; }
  bool marks_copies() const noexcept { return clock_ && clock_->marks_copies(); }

  /// Fails if the step checks numerics and a constant of the program is not finite, since no
  /// instruction makes constants. Any thread.
  status check_constants();

  /// The answer to a wait has arrived with so many bytes. Any thread.
  void end_wait(uint32_t wait, uint64_t bytes) noexcept;

  /// Appends the events since begin(), with times on the steady clock. The step must have ended.
  /// `first_subject` is the index of the program's first subject in the task's list.
  void collect(uint32_t first_subject, task_statistics& task) const;

  /// Number of subjects of a program. append_subjects() appends them in the order that collect()
  /// uses.
  static size_t subjects_of(const program& compiled) noexcept {
    return compiled.code().size() + compiled.regions().size() + compiled.waits().size() +
           inner_of(compiled);
  }
  static void append_subjects(const program& compiled, std::string_view device,
                              std::vector<span_subject>& subjects);

private:
  friend class region_profiler;

  // Number of instructions of all blocks.
  static size_t inner_of(const program& compiled) noexcept {
    return compiled.blocks().empty()
               ? 0
               : compiled.blocks().back().first_record + compiled.blocks().back().code.size();
  }
  void collect_inner(uint32_t first_subject, task_statistics& task) const;

  struct instruction_record {
    int64_t end = 0; // ticks; the instruction began when the one before ended
    uint64_t bytes = 0;
    uint64_t copies = 0; // bytes on a copy stream
  };
  struct region_record {
    moment begin, end;
    uint32_t thread = 0;
    uint32_t ran = 0; // number of instructions that ran
  };
  // A tensor may arrive while the records of a failed step are collected.
  struct wait_record {
    std::atomic<int64_t> begin_ns{0}, end_ns{0};
    std::atomic<uint64_t> bytes{0};
  };

  const program& program_;
  profile_options options_;
  std::unique_ptr<instruction_record[]> instructions_;
  std::unique_ptr<region_record[]> regions_;
  std::unique_ptr<wait_record[]> waits_;
  std::unique_ptr<block_record[]> inner_; // by block::first_record
  moment begun_;
  std::once_flag constants_seen_;
  status constants_;
  std::unique_ptr<device_clock> clock_; // of an accelerator; two marks per instruction
};

/// Profiles one run of a region; lives on the stack of the thread that runs it.
class region_profiler {
public:
  region_profiler(step_profiler& step, uint32_t region, const tensor* slots) noexcept;
  ~region_profiler();
  region_profiler(const region_profiler&) = delete;
  region_profiler& operator=(const region_profiler&) = delete;

  // Inline and split, since an instruction may take only 3 ns.
  void before(const instruction& code) {
    next_->copies = 0;
    if (step_.clock_) [[unlikely]]
      before_launch(code);
    if (code.kind == action::wait)
      begin_wait(code);
    if (step_.options_.check_numerics && code.kind == action::run) [[unlikely]]
      numerics_.record_inputs(code, slots_);
  }
  bool checks_numerics() const noexcept { return step_.options_.check_numerics; }
  block_record* block_records() const noexcept {
    return step_.options_.times ? step_.inner_.get() : nullptr;
  }
  /// Fails if an output is not finite and the step checks numerics.
  status after(const instruction& code) {
    ++record_.ran;
    auto& record = *next_;
    if (step_.clock_) [[unlikely]]
      after_launch(code);
    record.bytes = 0;
    if (code.kind == action::run)
      for (uint32_t i = 0; i < code.output_count; ++i)
        record.bytes += own_bytes(slots_[code.first_output + i]);
    ++next_;
    if (step_.options_.check_numerics && code.kind == action::run) [[unlikely]] {
      auto outcome = numerics_.check_outputs(code, slots_);
      record.end = ticks_now();
      return outcome;
    }
    record.end = ticks_now();
    return {};
  }

private:
  // Returns the bytes of an output that the node allocated. Memory that it took over from an input,
  // a constant or a variable is shared at that moment.
  static uint64_t own_bytes(const tensor& value) noexcept {
    return value.unique() ? value.bytes() : 0;
  }
  void before_launch(const instruction& code) const;
  void after_launch(const instruction& code) const;
  void begin_wait(const instruction& code) const noexcept;
  void mark(const instruction& code, uint32_t end) const noexcept;
  uint64_t bytes_to_copy(const instruction& code) const noexcept;

  step_profiler& step_;
  step_profiler::region_record& record_;
  step_profiler::instruction_record* next_;
  const tensor* slots_;
  numerics_watch numerics_;
};

} // namespace troupe
