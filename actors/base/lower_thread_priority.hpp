// Lowers the priority of the calling thread.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace troupe {

/// Lets threads of steps run first where there are too few cores for both. Has an effect on Linux
/// only, where each thread has its own priority.
inline void lower_thread_priority() {
#ifdef __linux__
  constexpr int niceness = 5;
  auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  (void)::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + niceness);
#endif
}

} // namespace troupe
