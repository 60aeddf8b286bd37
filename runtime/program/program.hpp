// A compiled partition: immutable, flat, shared by all steps that run it at once (OSDI 5).
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

/// Straight-line code that runs without a choice or a wait once all its tokens have come.
struct region {
  uint32_t first = 0; // instruction
  uint32_t count = 0;
  uint32_t required_tokens = 0; // tokens it needs, the start or the answer to its wait included
  double nanoseconds = 0;       // what it is expected to take
  bool heavy = false;           // worth another thread
  bool loops = false;           // its nodes run functions as often as a condition says
};

/// What answers a wait.
enum class answered_by : uint8_t {
  channel, ///< a tensor of another device or task: a Recv
  group,   ///< the other members of a collective operation
  state,   ///< a responder: a queue, an accumulator, whatever an op makes
  work,    ///< the thread that does long work for the task, such as files (long_work.hpp)
  frame,   ///< functions that run as steps within the step
  caller,  ///< of a step within a step: the step around it
};

/// The end of one region and a token to the next: a Recv, or a question to state that answers.
struct wait_point {
  const node* origin = nullptr;
  answered_by by = answered_by::channel;
  const node* state = nullptr;      // the node that stands for the responder, if one answers
  const node* source = nullptr;     // the same for what that may ask in turn
  uint32_t region = 0;              // which region the answer starts
  std::vector<uint32_t> slots = {}; // where the answer's tensors go; UINT32_MAX: nobody wants it
  bool on_device = false;           // whoever uses what a Recv brings wants it on the device
  std::vector<bool> on_host = {};   // outputs of state's answer that somebody reads on the host
};

/// A feed that this partition uses.
struct feed_point {
  uint32_t index = 0; // among the step's feeds
  uint32_t slot = 0;
  const node* origin = nullptr;
};

/// A constant: its tensor stands in its slot before the step begins, and stays.
struct constant_point {
  uint32_t slot = 0;
  tensor value;
  const node* origin = nullptr;
};

/// Where a tensor leaves for another device.
struct export_point {
  uint32_t key = 0;
  std::string to; // device
  const node* origin = nullptr;
};

/// Finds the state that a node stands for; called while compiling.
using state_finder = std::function<result<std::shared_ptr<named_state>>(const node&)>;

/// Finds what the kernel of a stateful node keeps between its runs, or makes it at first sight, so
/// that all programs that run the node share it; called while compiling.
using kernel_state_maker = std::function<result<std::shared_ptr<void>>()>;
using kernel_state_finder = std::function<result<std::shared_ptr<void>>(
    const node&, const kernel_state_maker& make, const kernel_position* position)>;

class region_replay; // replay.hpp

class program {
public:
  /// Compiles a partition's graph, whose nodes must be ordered by dependence (as cut() makes them).
  /// Fails, naming the node, where the device has no kernel. Without `find_kernel_state`, stateful
  /// kernels share nothing with other programs.
  static result<std::shared_ptr<const program>>
  compile(std::unique_ptr<graph> of, device& on, const state_finder& find_state,
          const region_options& options = {}, const kernel_state_finder& find_kernel_state = {});

  const graph& of() const noexcept { return *graph_; }
  troupe::device& device() const noexcept { return *device_; }
  std::span<const region> regions() const noexcept {
    return regions_;
  } ///< region 0 starts the step
  std::span<const instruction> code() const noexcept { return code_; }
  std::span<const wait_point> waits() const noexcept { return waits_; }
  /// What functions have become that instructions call.
  const std::deque<block>& blocks() const noexcept { return blocks_; }
  std::span<const feed_point> feeds() const noexcept { return feeds_; }
  /// By slot. Only of programs that the host runs.
  std::span<const constant_point> constants() const noexcept { return constants_; }
  std::span<const export_point> exports() const noexcept { return exports_; }
  std::span<const uint32_t> fetches() const noexcept {
    return fetches_;
  } ///< among the step's fetches
  uint32_t slots() const noexcept { return slots_; }
  /// Variables that each step has of its own, in the order of their index_in_step(): these are only
  /// what they are like.
  std::span<const std::shared_ptr<variable>> temporaries() const noexcept { return temporaries_; }
  /// Slots of the region whose tensors may still be on their way when it begins: what exchanges
  /// bring. Only where launches run in line.
  std::span<const uint32_t> pending_inputs(uint32_t region) const noexcept {
    return pending_inputs_.empty() ? std::span<const uint32_t>{} : pending_inputs_[region];
  }
  /// Repeats what the region launches; null where it cannot be repeated.
  region_replay* replay_of(uint32_t region) const noexcept { return replays_[region].get(); }

  /// Fails where state that it uses has retired (named_state::retire): it must be compiled anew.
  status check_state() const;

  /// Prints the regions and their code, for people.
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
  // What the instructions point to.
  std::vector<uint32_t> slot_pool_;
  std::vector<named_state*> state_pool_;
  std::vector<dtype> type_pool_;
  std::vector<std::shared_ptr<void>> states_;
  std::vector<std::shared_ptr<named_state>> named_;
  std::vector<std::shared_ptr<variable>> temporaries_;
  std::vector<std::vector<uint32_t>> pending_inputs_;   // by region, or none at all
  std::vector<std::shared_ptr<region_replay>> replays_; // goes first: uses all that
};

} // namespace troupe
