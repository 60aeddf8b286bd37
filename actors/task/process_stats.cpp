#include "troupe/actors/task/process_stats.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace troupe {

process_stats process_stats::now() {
  process_stats numbers;
  uint64_t total = 0, resident = 0;
  if (std::ifstream pages{"/proc/self/statm"}; pages >> total >> resident) {
    auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    numbers.virtual_bytes = total * page;
    numbers.resident_bytes = resident * page;
  }
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0) {
    auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    numbers.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;)
    if (word == "Threads:")
      status >> numbers.threads;
  std::error_code failure_code;
  for (std::filesystem::directory_iterator entry{"/proc/self/fd", failure_code}, end;
       !failure_code && entry != end; entry.increment(failure_code))
    ++numbers.descriptors;
  if (numbers.descriptors > 0)
    --numbers.descriptors; // not counting the descriptor of the directory
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    numbers.max_descriptors = static_cast<int64_t>(limit.rlim_cur);
  return numbers;
}

} // namespace troupe
