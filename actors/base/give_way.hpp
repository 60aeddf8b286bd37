// A lower priority for the thread that asks for it.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace troupe {

/// Steps go first where there are too few cores for both. Does nothing but on Linux, where a thread
/// has a priority of its own.
inline void give_way() {
#ifdef __linux__
  constexpr int nicer = 5;
  auto me = static_cast<id_t>(::syscall(SYS_gettid));
  (void)::setpriority(PRIO_PROCESS, me, ::getpriority(PRIO_PROCESS, me) + nicer);
#endif
}

} // namespace troupe
