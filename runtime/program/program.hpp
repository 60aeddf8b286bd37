// A compiled partition: immutable, flat, shared by all steps that run it concurrently (OSDI 5).
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"
#include "troupe/runtime/program/block.hpp"
#include "troupe/runtime/program/regions.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace troupe {

/// Straight-line code that runs without choices or waits once all its tokens have arrived.
struct region {
  uint32_t first = 0; // instruction
  uint32_t count = 0;
  uint32_t required_tokens = 0; // including the start, and the answer to its wait
  double nanoseconds = 0;       // estimated run time
  bool is_heavy = false;        // worth another thread
  bool has_loops = false;       // runs functions a number of times that depends on data
};

/// The source of the answer to a wait.
enum class answer_source : uint8_t {
  channel, ///< a tensor of another device or task: a Recv
  group,   ///< the other members of a collective operation
  state,   ///< a waitable resource: a queue, an accumulator, or another resource that an op makes
  work,    ///< the thread that does long work for the task, such as files (long_work.hpp)
  frame,   ///< functions that run as steps within the step
  caller,  ///< the enclosing step of a step within a step
};

/// The end of a region until an answer arrives: a Recv, or a question to a resource.
struct wait_point {
  const node* origin = nullptr;
  answer_source answered_by = answer_source::channel;
  const node* state = nullptr;  // the node that stands for the waitable resource, if any
  const node* source = nullptr; // the node of another waitable resource that the first one may ask
  uint32_t region = 0;          // the region that the answer starts
  std::vector<uint32_t> slots = {}; // slots of the answer's tensors; UINT32_MAX: never read
  bool on_device = false;           // the users of a Recv's tensor need it on the device
  std::vector<bool> on_host = {};   // outputs of a state's answer that are read on the host
};

/// A feed that the partition uses.
struct feed_point {
  uint32_t index = 0; // among the step's feeds
  uint32_t slot = 0;
  const node* origin = nullptr;
};

/// A constant. Its tensor is in its slot before the step begins, and stays there.
struct constant_point {
  uint32_t slot = 0;
  tensor value;
  const node* origin = nullptr;
};

/// A tensor that is sent to another device.
struct export_point {
  uint32_t key = 0;
  std::string to; // device
  const node* origin = nullptr;
};

/// Finds the state that a node stands for; called while compiling.
using state_finder = std::function<result<std::shared_ptr<named_state>>(const node&)>;

/// Finds the state of a stateful node's kernel, or makes it at the first call, so that all programs
/// that run the node share it; called while compiling.
using kernel_state_maker = std::function<result<std::shared_ptr<void>>()>;
using kernel_state_finder = std::function<result<std::shared_ptr<void>>(
    const node&, const kernel_state_maker& make, const kernel_state_format* position)>;

class region_replay; // replay.hpp

class program {
public:
  /// Compiles a partition's graph, whose nodes must be in topological order (as cut() makes them).
  /// Fails, naming the node, if the device has no kernel. Without `find_kernel_state`, stateful
  /// kernels share nothing with other programs.
  static result<std::shared_ptr<const program>>
  compile(std::unique_ptr<graph> partition, troupe::device& device, const state_finder& find_state,
          const region_options& options = {}, const kernel_state_finder& find_kernel_state = {});

  const graph& partition_graph() const noexcept { return *graph_; }
  troupe::device& device() const noexcept { return *device_; }
  /// Region 0 starts the step.
  std::span<const region> regions() const noexcept { return regions_; }
  std::span<const instruction> code() const noexcept { return code_; }
  std::span<const wait_point> waits() const noexcept { return waits_; }
  /// The code of the functions that instructions call.
  const std::deque<block>& blocks() const noexcept { return blocks_; }
  std::span<const feed_point> feeds() const noexcept { return feeds_; }
  /// By slot. Empty for programs of accelerators.
  std::span<const constant_point> constants() const noexcept { return constants_; }
  std::span<const export_point> exports() const noexcept { return exports_; }
  /// Indices among the step's fetches.
  std::span<const uint32_t> fetches() const noexcept { return fetches_; }
  uint32_t slots() const noexcept { return slots_; }
  /// Prototypes of the variables that each step has of its own, in the order of index_in_step().
  std::span<const std::shared_ptr<variable>> temporaries() const noexcept { return temporaries_; }
  /// Slots of the region whose tensors may still be arriving when it begins: results of collective
  /// operations. Empty unless the device queues launches.
  std::span<const uint32_t> pending_inputs(uint32_t region) const noexcept {
    return pending_inputs_.empty() ? std::span<const uint32_t>{} : pending_inputs_[region];
  }
  /// The recorded launches of the region; null if it cannot be replayed.
  region_replay* replay_of(uint32_t region) const noexcept { return replays_[region].get(); }

  /// Fails if a state that the program uses has retired (named_state::retire): compile it again.
  status check_state() const;

  /// Formats the regions and their code, for people.
  std::string describe() const;

private:
  friend class compiler;
  friend class code_writer;
  friend struct program_writer;
  program() = default;

  std::unique_ptr<graph> graph_;
  troupe::device* device_ = nullptr;
  std::vector<region> regions_;
  std::vector<instruction> code_;
  std::vector<wait_point> waits_;
  std::vector<feed_point> feeds_;
  std::vector<constant_point> constants_;
  std::vector<export_point> exports_;
  std::vector<uint32_t> fetches_;
  std::deque<block> blocks_; // of functions
  uint32_t slots_ = 0;
  // Operands to which the instructions point.
  std::vector<uint32_t> slot_pool_;
  std::vector<named_state*> state_pool_;
  std::vector<dtype> type_pool_;
  std::vector<std::shared_ptr<void>> states_;
  std::vector<std::shared_ptr<named_state>> named_;
  std::vector<std::shared_ptr<variable>> temporaries_;
  std::vector<std::vector<uint32_t>> pending_inputs_;   // by region; empty if there are none
  std::vector<std::shared_ptr<region_replay>> replays_; // destroyed first: refers to the others
};

} // namespace troupe
