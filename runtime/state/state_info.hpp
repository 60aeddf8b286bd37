// Summaries of named state for people and for other tasks.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

struct state_info {
  std::string task = {};      ///< "/job:ps/task:0"
  std::string container = {}; ///< "" for sessions without a container
  std::string kind = {};      ///< "variable", "queue", "table", ...
  std::string name = {};
  std::string holds = {};   ///< types and shapes: "f32[2,3]", "(f32[28,28], i64[])"
  std::string content = {}; ///< a summary: "3 of 10 elements, 2 dequeues wait"
  uint64_t bytes = 0;       ///< of its tensors
};

/// Ordered by container, kind and name. A task lists at most max_entries, and counts the others.
struct state_list {
  static constexpr size_t max_entries = 65'536;
  static constexpr size_t max_text = size_t{16} << 20; ///< bytes of all texts

  std::vector<state_info> entries = {};
  uint64_t omitted_entries = 0;
};

} // namespace troupe
