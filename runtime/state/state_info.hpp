// What people and peers are told of named state: who holds what, and how much of it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

struct state_info {
  std::string task = {};      ///< "/job:ps/task:0"
  std::string container = {}; ///< "" is that of sessions that name none
  std::string kind = {};      ///< "variable", "queue", "table", ...
  std::string name = {};
  std::string holds = {};   ///< types and shapes: "f32[2,3]", "(f32[28,28], i64[])"
  std::string content = {}; ///< in words: "3 of 10 elements, 2 dequeues wait"
  uint64_t bytes = 0;       ///< of the tensors that it holds now
};

/// In the order of containers, kinds and names. A task lists so many at most, and counts the rest.
struct state_list {
  static constexpr size_t max_entries = 65'536;
  static constexpr size_t max_text = size_t{16} << 20; ///< bytes of all texts

  std::vector<state_info> entries = {};
  uint64_t left_out = 0;
};

} // namespace troupe
