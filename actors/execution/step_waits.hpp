// Lists what a step waits for on this task, with targets and times, to find out why it does not
// end.
#pragma once
#include "troupe/actors/base/fwd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class program;

/// One wait of a step, or one of its running regions.
struct step_wait {
  enum class wait_kind : uint8_t {
    tensor,     ///< a tensor of another device or task
    collective, ///< peers on other devices
    state,      ///< a waitable resource of this task, such as a queue
    files,      ///< files that are read or written
    functions,  ///< functions that run within the step
    caller,     ///< an argument of such a function
    region      ///< no wait: a running region
  };
  wait_kind kind = wait_kind::tensor;
  std::string iterations = {}; ///< enclosing iterations of loops: "[While 'train' iteration 3]"
  std::string node = {};       ///< "QueueDequeue 'next' (train.cpp:17)"
  std::string target = {};     ///< "/job:ps/task:0/device:cpu:0", "queue 'next'", "group 3"
  std::string detail = {};     ///< of a collective operation, the missing members
  std::string state = {};      ///< the name in its container
  int64_t since_ns = 0;        ///< steady clock
};

std::string_view to_string(step_wait::wait_kind kind) noexcept;

/// Describes a wait: "[While 'train' iteration 3] QueueDequeue 'next' (train.cpp:17) on queue
/// 'examples'".
std::string describe(const step_wait& wait);

/// Returns a wait of a program of a step, whether or not it is active.
step_wait wait_of(const task_program& step, const program& part, uint32_t wait);
/// Describes a region: "region 0 of 3 instructions from MatMul 'y' (train.cpp:17)".
std::string describe_region(const program& part, uint32_t region);

/// Lists the active waits of an instance and then its running regions, at most `most`; without
/// those of steps within it. The instance must not end meanwhile.
std::vector<step_wait> list_waits(task_instance& instance, size_t most);

/// As list_waits(), for a step that may end meanwhile, and including the steps within it. Any
/// thread.
std::vector<step_wait> waits_of_step(task_instance& root, uint64_t sequence, size_t most);

} // namespace troupe
