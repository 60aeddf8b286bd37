// What a step did, when and where: for people, for traces and for cost models.
#pragma once
#include "troupe/runtime/device/copy_stream.hpp"
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

enum class span_kind : uint8_t {
  node,   ///< ran a kernel
  read,   ///< took a variable's value, for the node that it is named after
  send,   ///< handed a tensor to another device
  wait,   ///< for a tensor of another device, or for a queue; runs beside everything else
  region, ///< straight-line code: encloses the nodes, reads and sends that it ran
  inner,  ///< all runs of a node in the bodies of calls, branches and loops, one after the other
};
inline constexpr int span_kinds = 6;

/// What a span is about. All steps of a program share these.
struct span_subject {
  span_kind kind = span_kind::node;
  std::string name = {}; ///< the node's; "region 3"; "loop [body] rnn [body] tanh" of an inner one
  std::string op = {};   ///< none for a region
  std::string device = {};
  std::string peer = {}; ///< the other device of a send, or of a wait for a tensor
  uint32_t key = 0;      ///< the same for a send and for the wait that it ends
  uint32_t region = 0;   ///< that ran it, or that a wait's end lets run; a region's own number
  bool operator==(const span_subject&) const = default;
};

/// What a GPU ran, as a thread's number: such a node has another span, for its launch.
constexpr uint32_t device_tracks = 1u << 31;
constexpr uint32_t device_track(int ordinal) noexcept {
  return device_tracks + static_cast<uint32_t>(ordinal);
}

/// What it copied to the host, and from it, beside that.
constexpr uint32_t copy_track(int ordinal, copy_stream in) noexcept {
  return device_track(ordinal) + ((in == copy_stream::to_host ? 1u : 2u) << 16);
}

struct step_span {
  uint32_t subject = 0; ///< in task_statistics::subjects
  uint32_t thread = 0;  ///< a number within the task, or a device_track; a wait has none
  int64_t begin_ns = 0; ///< steady clock of the process that got the statistics
  int64_t end_ns = 0;
  uint64_t bytes = 0; ///< of new memory for outputs; of what a wait brought
  uint64_t runs = 1;  ///< of an inner node: the span begins with the first, and is as long as all
  bool operator==(const step_span&) const = default;
};

/// How many bytes of a device's memory were in use, all steps and variables counted: looked at when
/// tensors of the step came and went. A GPU's are those that were launched by then.
struct memory_timeline {
  std::string device = {};
  std::vector<int64_t> at_ns = {}; ///< rising; as many as `bytes`
  std::vector<uint64_t> bytes = {};
  bool operator==(const memory_timeline&) const = default;
};

/// One task's part of a step.
struct task_statistics {
  std::string task = {}; ///< "/job:worker/task:1"
  std::shared_ptr<const std::vector<span_subject>> subjects = {};
  std::vector<step_span> spans = {}; ///< of whatever ended; by their begin
  int64_t begin_ns = 0, end_ns = 0;
  uint64_t allocated_bytes = 0; ///< for all tensors that it made
  uint64_t peak_bytes = 0;      ///< the most that these took at once
  std::vector<memory_timeline> memory = {};

  /// Throws troupe::error for a span that names no subject of this task.
  const span_subject& subject_of(const step_span& span) const {
    auto count = subjects ? subjects->size() : 0;
    return (*subjects)[detail::checked_index(task, "subject", span.subject, count)];
  }
};

/// What a step did. A step that failed tells how far it came.
struct step_statistics {
  uint64_t step = 0;                ///< its number, as in errors
  int64_t begin_ns = 0, end_ns = 0; ///< from the request to its answer
  std::vector<task_statistics> tasks = {};
};

/// Moves all times of a task by as much.
inline void shift(task_statistics& what, int64_t by_ns) noexcept {
  what.begin_ns += by_ns;
  what.end_ns += by_ns;
  for (auto& one : what.spans) {
    one.begin_ns += by_ns;
    one.end_ns += by_ns;
  }
  for (auto& one : what.memory)
    for (auto& at : one.at_ns)
      at += by_ns;
}

} // namespace troupe
