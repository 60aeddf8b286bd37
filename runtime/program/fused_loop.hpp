// The fastest of the three ways to run a loop: for loops that only compute element by element on
// small tensors.
#pragma once
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <mutex>
#include <span>
#include <vector>

namespace troupe {

/// A While loop whose values are cells of one block of memory instead of tensors, and whose code
/// consists of inner loops of element-wise ops, copies and jumps. Nested branches, cases, calls and
/// loops are parts of the same code. Immutable; any thread may run it.
class fused_loop {
public:
  /// The maximum size of a value: for larger values, the cost of a tensor hardly matters.
  static constexpr size_t max_value_bytes = 4096;

  /// Writes the loop for variables of these types and shapes; variables that the loop does not use
  /// may be anything. Returns null for a loop that needs other ops, effects, larger values, or
  /// shapes that change.
  static std::shared_ptr<const fused_loop> write(const function& condition, const function& body,
                                                 std::span<const tensor> initial);
  bool takes(std::span<const tensor> variables) const noexcept;

  enum class outcome : uint8_t {
    ended,
    failed,  ///< this iteration has an error, which a run of the functions will report
    stopped, ///< the step was stopped
  };

  /// Runs the loop on variables for which takes() is true, and adds the iterations to `iterations`.
  result<outcome> run(std::span<tensor> variables, allocator& memory, stop_signal& stop,
                      int64_t& iterations) const;

private:
  friend class fused_loop_writer;
  fused_loop() = default;

  enum class opcode : uint8_t {
    compute,
    check,   // fails unless the op accepts the second input
    copy,    // copies `count` bytes
    branch,  // jumps to the target if the condition is false
    choose,  // jumps to one of `count` targets by number, to the last if there is no such number
    jump,    // jumps to the target
    iterate, // jumps to the begin of the next iteration
    end,
  };

  struct instruction {
    opcode operation = opcode::end;
    bool outermost = false; // an iteration of the loop itself, not of a nested loop
    uint32_t from[3] = {};  // offsets of cells
    uint32_t to = 0;
    uint32_t count = 0;  // elements, if not stated otherwise; for an iteration, its nanoseconds
    uint32_t target = 0; // an instruction, or the first of `targets_`
    inner_loop_fn run = nullptr;
    accepts_second_input_fn takes = nullptr;
    int64_t steps[3] = {};
  };

  struct variable_cell {
    bool used = false;    // false if the loop does not use the variable
    bool changes = false; // false if the initial tensor is also the final one
    uint32_t offset = 0;
    dtype type = dtype::none;
    shape dims = {};
  };

  outcome run_cells(std::byte* cells, stop_signal& stop, int64_t& iterations) const;

  std::vector<instruction> code_;
  std::vector<uint32_t> targets_;
  std::vector<variable_cell> variables_;
  std::vector<std::byte> initial_; // all cells, with the values of the constants
};

/// The fused loops of a While node, by the types and shapes of its variables. Any thread may call.
class fused_loops {
public:
  /// The node must outlive this object.
  explicit fused_loops(const node& loop) : loop_(loop) {}

  /// Returns null if the functions must run without fusion.
  std::shared_ptr<const fused_loop> find(std::span<const tensor> variables);

private:
  static constexpr size_t max_kept = 4;
  static constexpr int max_written = 64; // bounds the cost for shapes that always change
  static constexpr int max_failures = 30;

  const node& loop_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const fused_loop>> known_; // the most recently used is last
  int failures_ = 0, written_ = 0;
  uint64_t skipped_ = 0; // runs since the last failure that were not tried
};

} // namespace troupe
