#include "troupe/actors/system.hpp"

#include "troupe/actors/looking_scheduler.hpp"

#include <caf/atom.hpp>

#include <algorithm>
#include <thread>

namespace troupe {

system_config::system_config(size_t threads, bool networked) {
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  // Stealing leaves fan-outs serial for up to 10 ms and burns idle CPU; sharing does neither.
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", threads);
  set("scheduler.max-throughput", size_t{30});
  if (networked)
    load<looking_scheduler>();
}

} // namespace troupe
