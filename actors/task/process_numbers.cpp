#include "troupe/actors/task/process_numbers.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace troupe {

process_numbers process_numbers::now() {
  process_numbers found;
  uint64_t all = 0, resident = 0;
  if (std::ifstream pages{"/proc/self/statm"}; pages >> all >> resident) {
    auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    found.virtual_bytes = all * page;
    found.resident_bytes = resident * page;
  }
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0) {
    auto seconds = [](const timeval& of) {
      return static_cast<double>(of.tv_sec) + static_cast<double>(of.tv_usec) * 1e-6;
    };
    found.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;)
    if (word == "Threads:")
      status >> found.threads;
  std::error_code problem;
  for (std::filesystem::directory_iterator one{"/proc/self/fd", problem}, end;
       !problem && one != end; one.increment(problem))
    ++found.descriptors;
  if (found.descriptors > 0)
    --found.descriptors; // that of the folder itself
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    found.max_descriptors = static_cast<int64_t>(limit.rlim_cur);
  return found;
}

} // namespace troupe
