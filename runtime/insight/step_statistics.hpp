// Timings and memory of one step, for people, traces and cost models.
#pragma once
#include "troupe/runtime/device/copy_stream.hpp"
#include "troupe/runtime/insight/message_counts.hpp"
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

enum class span_kind : uint8_t {
  node,   ///< ran a kernel
  read,   ///< read a variable's value for the node that it is named after
  send,   ///< handed a tensor to another device
  wait,   ///< for a tensor of another device, or for a queue; occupies no thread
  region, ///< straight-line code: encloses the nodes, reads and sends that it ran
  inner,  ///< all runs of a node in the bodies of calls, branches and loops, joined end to end
};
inline constexpr int span_kinds = 6;

/// The subject of a span. All steps of a program share the subjects.
struct span_subject {
  span_kind kind = span_kind::node;
  std::string name = {}; ///< the node's; "region 3"; "loop [body] rnn [body] tanh" of an inner one
  std::string op = {};   ///< empty for a region
  std::string device = {};
  std::string peer = {}; ///< the other device of a send, or of a wait for a tensor
  uint32_t key = 0;      ///< equal for a send and for the wait that it ends
  uint32_t region = 0;   ///< the region that ran it, or that a wait's end enables; its own number
  uint32_t messages = 0; ///< of a region: the number of messages after which it runs
  bool operator==(const span_subject&) const = default;
};

/// The thread number of work on a GPU. A node that ran there has another span for its launch.
constexpr uint32_t device_tracks = 1u << 31;
constexpr uint32_t device_track(int ordinal) noexcept {
  return device_tracks + static_cast<uint32_t>(ordinal);
}

/// The thread number of copies to or from the host, which run beside kernels.
constexpr uint32_t copy_track(int ordinal, copy_stream stream) noexcept {
  return device_track(ordinal) + ((stream == copy_stream::to_host ? 1u : 2u) << 16);
}

struct step_span {
  uint32_t subject = 0; ///< in task_statistics::subjects
  uint32_t thread = 0;  ///< a number within the task, or a device_track; unused for a wait
  int64_t begin_ns = 0; ///< steady clock of the process that received the statistics
  int64_t end_ns = 0;
  uint64_t bytes = 0; ///< new memory for outputs; the received bytes of a wait
  uint64_t runs = 1;  ///< of an inner node: begin_ns is that of the first, the length is their sum
  bool operator==(const step_span&) const = default;
};

/// Bytes of a device's memory that were in use by all steps and variables, read whenever a tensor
/// of the step was allocated or freed. For a GPU, the memory of the kernels launched by then.
struct memory_timeline {
  std::string device = {};
  std::vector<int64_t> at_ns = {}; ///< rising; one for each entry of `bytes`
  std::vector<uint64_t> bytes = {};
  bool operator==(const memory_timeline&) const = default;
};

/// One task's part of a step.
struct task_statistics {
  std::string task = {}; ///< "/job:worker/task:1"
  std::shared_ptr<const std::vector<span_subject>> subjects = {};
  std::vector<step_span> spans = {}; ///< spans that ended, ordered by their begin
  int64_t begin_ns = 0, end_ns = 0;
  uint64_t allocated_bytes = 0; ///< of all tensors that the task allocated
  uint64_t peak_bytes = 0;      ///< the maximum in use at one time
  std::vector<memory_timeline> memory = {};
  /// The messages that were delivered, and those that the programs of the step need to succeed. A
  /// step that succeeds has equal numbers.
  message_counts messages = {}, expected_messages = {};

  /// Throws troupe::error for a span that names no subject of this task.
  const span_subject& subject_of(const step_span& span) const {
    auto count = subjects ? subjects->size() : 0;
    return (*subjects)[detail::checked_index(task, "subject", span.subject, count)];
  }
};

/// The measurements of a step. For a failed step, those up to its failure.
struct step_statistics {
  uint64_t step = 0;                ///< the step's number, as in errors
  int64_t begin_ns = 0, end_ns = 0; ///< from the request to its answer
  std::vector<task_statistics> tasks = {};
};

/// Adds `by_ns` to all times of a task.
inline void shift(task_statistics& task, int64_t by_ns) noexcept {
  task.begin_ns += by_ns;
  task.end_ns += by_ns;
  for (auto& span : task.spans) {
    span.begin_ns += by_ns;
    span.end_ns += by_ns;
  }
  for (auto& timeline : task.memory)
    for (auto& at : timeline.at_ns)
      at += by_ns;
}

} // namespace troupe
