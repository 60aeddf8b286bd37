// What an instance notes down while a step runs that somebody wants to know more about.
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

/// Has room for one step of one program, made once: each instruction, region and wait of a step
/// runs once and has its own place, which one thread writes. Nothing is locked, and nothing is
/// allocated while the step runs. Belongs to an instance and serves its steps one after the other.
class step_profiler {
public:
  explicit step_profiler(const program& of);

  /// Before each step.
  void begin(profile_options what) noexcept;

  bool takes_times() const noexcept { return what_.times; }
  bool marks_copies() const noexcept { return clock_ && clock_->marks_copies(); }

  /// Fails when the step wants to know of numbers that are not finite, and one of the program's
  /// constants is: no instruction makes those. Any thread.
  status check_constants();

  /// What a wait is for has come: so many bytes. Any thread.
  void end_wait(uint32_t wait, uint64_t bytes) noexcept;

  /// Appends what happened since begin(), with times on the steady clock. The step must have ended.
  /// `first_subject` is where the program's subjects begin in the task's list.
  void collect(uint32_t first_subject, task_statistics& to) const;

  /// What spans of a program are about, in the order that collect() counts by, and how many those
  /// are.
  static size_t subjects_of(const program& of) noexcept {
    return of.code().size() + of.regions().size() + of.waits().size() + inner_of(of);
  }
  static void append_subjects(const program& of, std::string_view device,
                              std::vector<span_subject>& to);

private:
  friend class region_profiler;

  // Instructions of all blocks.
  static size_t inner_of(const program& of) noexcept {
    return of.blocks().empty() ? 0
                               : of.blocks().back().first_record + of.blocks().back().code.size();
  }
  void collect_inner(uint32_t first_subject, task_statistics& to) const;

  struct instruction_record {
    int64_t end = 0; // ticks; it began when the one before ended
    uint64_t bytes = 0;
    uint64_t copies = 0; // bytes, beside the line of launches
  };
  struct region_record {
    moment begin, end;
    uint32_t thread = 0;
    uint32_t ran = 0; // instructions
  };
  // A tensor may come while a step that has failed is collected.
  struct wait_record {
    std::atomic<int64_t> begin_ns{0}, end_ns{0};
    std::atomic<uint64_t> bytes{0};
  };

  const program& of_;
  profile_options what_;
  std::unique_ptr<instruction_record[]> instructions_;
  std::unique_ptr<region_record[]> regions_;
  std::unique_ptr<wait_record[]> waits_;
  std::unique_ptr<block_record[]> inner_; // by block::first_record
  moment begun_;
  std::once_flag constants_seen_;
  status constants_;
  std::unique_ptr<device_clock> clock_; // of a device that runs later; two marks an instruction
};

/// One run of a region, as its watch sees it; on the stack of the thread that runs it.
class region_profiler {
public:
  region_profiler(step_profiler& in, uint32_t region, const tensor* slots) noexcept;
  ~region_profiler();
  region_profiler(const region_profiler&) = delete;
  region_profiler& operator=(const region_profiler&) = delete;

  // Inline, and in parts: an instruction may take 3 ns.
  void before(const instruction& code) {
    next_->copies = 0;
    if (in_.clock_) [[unlikely]]
      before_launch(code);
    if (code.what == action::wait)
      begin_wait(code);
    if (in_.what_.check_numerics && code.what == action::run) [[unlikely]]
      numerics_.before(code, slots_);
  }
  bool checks_numerics() const noexcept { return in_.what_.check_numerics; }
  block_record* block_records() const noexcept {
    return in_.what_.times ? in_.inner_.get() : nullptr;
  }
  /// Fails when a number that is not finite came out, and the step wants to know.
  status after(const instruction& code) {
    ++record_.ran;
    auto& record = *next_;
    if (in_.clock_) [[unlikely]]
      after_launch(code);
    record.bytes = 0;
    if (code.what == action::run)
      for (uint32_t i = 0; i < code.output_count; ++i)
        record.bytes += own_bytes(slots_[code.first_output + i]);
    ++next_;
    if (in_.what_.check_numerics && code.what == action::run) [[unlikely]] {
      auto outcome = numerics_.after(code, slots_);
      record.end = ticks_now();
      return outcome;
    }
    record.end = ticks_now();
    return {};
  }

private:
  static uint64_t own_bytes(const tensor& what) noexcept {
    return what.unique() ? what.bytes() : 0;
  }
  void before_launch(const instruction& code) const;
  void after_launch(const instruction& code) const;
  void begin_wait(const instruction& code) const noexcept;
  void mark(const instruction& code, uint32_t end) const noexcept;
  uint64_t bytes_to_copy(const instruction& code) const noexcept;

  step_profiler& in_;
  step_profiler::region_record& record_;
  step_profiler::instruction_record* next_;
  const tensor* slots_;
  numerics_watch numerics_;
};

} // namespace troupe
