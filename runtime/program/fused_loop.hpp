// The fastest of the three ways in which a loop runs: one that only computes, element by element,
// with few numbers.
#pragma once
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <mutex>
#include <span>
#include <vector>

namespace troupe {

/// A While whose values are cells of one piece of memory instead of tensors, and whose code is
/// inner loops of element-wise ops, copies and jumps. Branches, cases, calls and loops within are
/// parts of the same code. Immutable; any thread may run it.
class fused_loop {
public:
  /// A value may have so many bytes: with more, what a tensor costs beside them counts for little.
  static constexpr size_t max_value_bytes = 4096;

  /// For variables of these types and shapes; those that only pass may be anything. Null for a loop
  /// that needs more than arithmetic: other ops, effects, larger values, shapes that change.
  static std::shared_ptr<const fused_loop> of(const function& condition, const function& body,
                                              std::span<const tensor> initial);
  bool takes(std::span<const tensor> variables) const noexcept;

  enum class outcome : uint8_t {
    ended,
    failed,  ///< this turn has an error, which a run of its functions will find
    stopped, ///< the step was told to stop
  };

  /// Runs the loop over variables that it takes, and adds the turns to `turn`.
  result<outcome> run(std::span<tensor> variables, allocator& memory, stop_signal& stop,
                      int64_t& turn) const;

private:
  friend class fused_loop_writer;
  fused_loop() = default;

  enum class opcode : uint8_t {
    compute,
    check,  // that the second input is one that the op takes
    copy,   // `count` bytes
    branch, // to the target, unless the truth value holds
    choose, // one of `count` targets by number, the last where there is no such number
    jump,   // to the target
    turn,   // the same, to the begin of another turn
    end,
  };

  struct instruction {
    opcode what = opcode::end;
    bool outermost = false; // the turn is one of the loop itself
    uint32_t from[3] = {};  // offsets of cells
    uint32_t to = 0;
    uint32_t count = 0;  // of elements, if not said otherwise; of a turn, nanoseconds
    uint32_t target = 0; // an instruction, or the first of `targets_`
    inner_loop_fn run = nullptr;
    takes_second_fn takes = nullptr;
    int64_t steps[3] = {};
  };

  struct variable_cell {
    bool used = false;    // or else it only passes
    bool changes = false; // or else its tensor is as good at the end as it was
    uint32_t offset = 0;
    dtype type = dtype::none;
    shape dims = {};
  };

  outcome run_cells(std::byte* cells, stop_signal& stop, int64_t& turn) const;

  std::vector<instruction> code_;
  std::vector<uint32_t> targets_;
  std::vector<variable_cell> variables_;
  std::vector<std::byte> initial_; // of all cells: the constants are there
};

/// What a While becomes for the shapes that it meets. Any thread may call.
class fused_loops {
public:
  /// The node outlives it.
  explicit fused_loops(const node& loop) : loop_(loop) {}

  /// Null where the functions have to run as they are.
  std::shared_ptr<const fused_loop> find(std::span<const tensor> variables);

private:
  static constexpr size_t most_kept = 4;
  static constexpr int most_written = 64; // shapes that are new each time are not worth it
  static constexpr int most_failures = 30;

  const node& loop_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const fused_loop>> known_; // what ran last is last
  int failures_ = 0, written_ = 0;
  uint64_t skipped_ = 0; // runs since the last failure, which are not looked at
};

} // namespace troupe
