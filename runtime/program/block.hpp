// The code of functions in a program: straight-line code. Each run has its own slots, so that a
// function may run several times at once, also recursively.
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
  std::vector<uint32_t> arguments;   // the slot of each argument, or no_slot if it is never read
  std::vector<int> passed_arguments; // for each result, the argument that it is, or -1
  std::vector<bool> is_also_result;  // for each argument, whether it is a result, too
  uint32_t first_record = 0;         // index of the first instruction among the program's records

  static constexpr uint32_t no_slot = UINT32_MAX;
};

/// The target of a call instruction: the blocks of its node's functions, in their order.
struct call_site {
  call_kind kind = call_kind::once;
  uint32_t first_argument = 0; // among the inputs
  std::vector<const block*> blocks;
  /// The shape that a function requires of an argument where the graph does not guarantee it:
  /// checked in each call, and in each iteration of a loop.
  struct required_shape {
    size_t argument;
    partial_shape dims;
  };
  std::vector<required_shape> required_shapes = {};
  /// Set for a loop that may run as a fused loop, without blocks.
  std::shared_ptr<fused_loops> fused = {};
};

/// The number of runs of a block's instruction in a step, and their total time. Regions that run at
/// the same time may call the same block.
struct block_record {
  std::atomic<int64_t> first{0}, ticks{0}; // first: the begin of the first run
  std::atomic<uint64_t> runs{0};

  void add(int64_t began, int64_t ended) noexcept {
    if (runs.fetch_add(1, std::memory_order_relaxed) == 0)
      first.store(began, std::memory_order_relaxed);
    ticks.fetch_add(ended - began, std::memory_order_relaxed);
  }
};

/// The part of a step that blocks need to run.
struct call_frame {
  troupe::device& device;
  allocator& memory;
  const std::unique_ptr<variable>* temporaries;
  stop_signal& stop;
  bool check_numerics = false;
  block_record* records = nullptr; // set if the step is profiled
  /// Receives the tensors that the blocks hold when memory runs out.
  std::vector<held_tensor>* held_tensors = nullptr;
  int depth = 0; // of nested calls
};

/// Runs an instruction that calls functions, whose inputs and outputs are slots. The error names
/// the node within the function, and the outermost eight calls and iterations around it.
status run_call(const instruction& code, tensor* slots, const call_frame& frame);

/// Evaluates a condition with TensorFlow's rules: a scalar is true if it is not 0 or empty, any
/// other tensor if it has elements.
bool is_true(const tensor& condition);

/// Reads the variable of a read instruction.
result<tensor> read_variable(const instruction& code, const std::unique_ptr<variable>* temporaries);

/// The error for a variable whose value is in the memory of another device than its reader.
status wrong_memory_error(const instruction& reader, const tensor& value);

/// The number of instructions, or of iterations of a loop, between two checks of the deadline. A
/// kernel that takes more than 0.1 ms checks the deadline itself.
constexpr std::ptrdiff_t instructions_per_look = 64;

/// The error of a step that was stopped.
status stop_error(const stop_signal& stop);

} // namespace troupe
