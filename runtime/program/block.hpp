// What functions become in a program: straight-line code with slots of its own for each run, so
// that a function may run while it runs.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/program/held_tensors.hpp"

#include <atomic>
#include <span>
#include <string>
#include <vector>

namespace troupe {

class fused_loops; // fused_loop.hpp

struct block {
  std::string name; // of the function
  std::vector<instruction> code;
  uint32_t slots = 0;
  std::vector<uint32_t> arguments; // the slot of each, or no_slot where nobody reads it
  std::vector<int> handed_on;      // for each result the argument that it is, or -1
  std::vector<bool> kept;          // for each argument whether it is a result, too
  uint32_t first_record = 0;       // of its code, among those of all blocks of the program

  static constexpr uint32_t no_slot = UINT32_MAX;
};

/// What an instruction calls: the blocks of its node's functions, in their order.
struct call_site {
  calling how = calling::once;
  uint32_t first_argument = 0; // among the inputs
  std::vector<const block*> blocks;
  /// What the functions say of the shape of an argument, where the graph does not: checked in each
  /// call, and in each turn of a loop.
  struct promise {
    size_t argument;
    partial_shape dims;
  };
  std::vector<promise> promises = {};
  /// Of a loop that may need no blocks.
  std::shared_ptr<fused_loops> fused = {};
};

/// How often an instruction of a block ran in a step, and how long that took in all. Regions that
/// run at once may call the same block.
struct block_record {
  std::atomic<int64_t> first{0}, ticks{0}; // first: when it began for the first time
  std::atomic<uint64_t> runs{0};

  void add(int64_t began, int64_t ended) noexcept {
    if (runs.fetch_add(1, std::memory_order_relaxed) == 0)
      first.store(began, std::memory_order_relaxed);
    ticks.fetch_add(ended - began, std::memory_order_relaxed);
  }
};

/// Where blocks run: what is the step's.
struct call_frame {
  troupe::device& device;
  allocator& memory;
  const std::unique_ptr<variable>* temporaries;
  stop_signal& stop;
  bool check_numerics = false;
  block_record* records = nullptr; // of a step whose times are taken
  /// Takes what the blocks hold when memory runs out.
  std::vector<held_tensor>* held = nullptr;
  int depth = 0; // of calls within calls
};

/// Runs an instruction that calls functions, whose inputs and outputs are slots. The error names
/// the node within the function, and the calls and iterations around it.
status run_call(const instruction& code, tensor* slots, const call_frame& at);

/// Whether a condition holds, as TensorFlow has it: a scalar if it is not 0 or empty, anything else
/// if it has elements.
bool holds(const tensor& what);

/// Takes the value of the variable that the instruction reads.
result<tensor> read_variable(const instruction& code, const std::unique_ptr<variable>* temporaries);

/// The error that a variable's value does not lie where its reader runs.
status lies_elsewhere(const instruction& reader, const tensor& value);

/// How many instructions, or turns of a loop, may pass until one looks at the clock: kernels that
/// take more than 0.1 ms look themselves.
constexpr std::ptrdiff_t instructions_per_look = 64;

/// What ends a step that was told to stop.
status stopped(const stop_signal& stop);

} // namespace troupe
