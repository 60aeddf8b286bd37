#include "troupe/serialization/wire/input_order.hpp"

namespace troupe {

result<std::vector<uint32_t>>
order_after_inputs(const std::vector<std::vector<uint32_t>>& before,
                   const std::function<std::string(uint32_t)>& describe) {
  enum class mark : uint8_t { fresh, open, done };
  std::vector<mark> marks(before.size(), mark::fresh);
  std::vector<uint32_t> order;
  order.reserve(before.size());
  std::vector<std::pair<uint32_t, size_t>> path; // a node, and how many before it were visited
  for (uint32_t start = 0; start < before.size(); ++start) {
    if (marks[start] != mark::fresh)
      continue;
    marks[start] = mark::open;
    path.emplace_back(start, 0);
    while (!path.empty()) {
      auto& [at, next] = path.back();
      if (next == before[at].size()) {
        marks[at] = mark::done;
        order.push_back(at);
        path.pop_back();
        continue;
      }
      auto input = before[at][next++];
      if (marks[input] == mark::open)
        return invalid(describe(input), ": its inputs lead back to it, through ", describe(at));
      if (marks[input] == mark::fresh) {
        marks[input] = mark::open;
        path.emplace_back(input, 0);
      }
    }
  }
  return order;
}

} // namespace troupe
