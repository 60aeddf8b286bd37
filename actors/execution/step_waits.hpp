// What a step waits for on this task, for what and since when: for people who wonder why it does
// not end.
#pragma once
#include "troupe/actors/base/fwd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

class program;

/// One wait of a step, or a region of it that runs.
struct step_wait {
  enum class on : uint8_t {
    tensor,     ///< of another device or task
    collective, ///< peers on other devices
    state,      ///< a queue or the like of this task
    files,      ///< that are read or written
    functions,  ///< that run within the step
    caller,     ///< an argument of such a function
    region      ///< nothing: it runs
  };
  on what = on::tensor;
  std::string nest = {};   ///< turns of loops that it is in: "[While 'train' iteration 3]"
  std::string node = {};   ///< "QueueDequeue 'next' (train.cpp:17)"
  std::string target = {}; ///< "/job:ps/task:0/device:cpu:0", "queue 'next'", "group 3"
  std::string detail = {}; ///< of a collective operation, who has not come
  std::string state = {};  ///< the name that a container has for it
  int64_t since_ns = 0;    ///< steady clock
};

std::string_view to_string(step_wait::on what) noexcept;

/// "[While 'train' iteration 3] QueueDequeue 'next' (train.cpp:17) on queue 'examples'".
std::string describe(const step_wait& what);

/// A wait of a program of a step, whether or not it waits now.
step_wait wait_of(const task_program& step, const program& of, uint32_t wait);
/// "region 0 of 3 instructions from MatMul 'y' (train.cpp:17)".
std::string describe_region(const program& of, uint32_t region);

/// What an instance waits for, and then what of it runs, at most so many; not what steps within it
/// do. It must not end meanwhile.
std::vector<step_wait> list_waits(task_instance& in, size_t most);

/// The same of a step that may end meanwhile, and of all that runs within it. Any thread.
std::vector<step_wait> waits_of_step(task_instance& root, uint64_t sequence, size_t most);

} // namespace troupe
