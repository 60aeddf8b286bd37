#include "troupe/serialization/wire/input_order.hpp"

namespace troupe {

result<std::vector<uint32_t>>
order_after_inputs(const std::vector<std::vector<uint32_t>>& inputs_of_nodes,
                   const std::function<std::string(uint32_t)>& describe) {
  enum class mark : uint8_t { unvisited, on_path, done };
  std::vector<mark> marks(inputs_of_nodes.size(), mark::unvisited);
  std::vector<uint32_t> order;
  order.reserve(inputs_of_nodes.size());
  std::vector<std::pair<uint32_t, size_t>> path; // a node, and the number of its visited inputs
  for (uint32_t start = 0; start < inputs_of_nodes.size(); ++start) {
    if (marks[start] != mark::unvisited)
      continue;
    marks[start] = mark::on_path;
    path.emplace_back(start, 0);
    while (!path.empty()) {
      auto& [current, next] = path.back();
      if (next == inputs_of_nodes[current].size()) {
        marks[current] = mark::done;
        order.push_back(current);
        path.pop_back();
        continue;
      }
      auto input = inputs_of_nodes[current][next++];
      if (marks[input] == mark::on_path)
        return invalid(describe(input), ": its inputs lead back to it, through ",
                       describe(current));
      if (marks[input] == mark::unvisited) {
        marks[input] = mark::on_path;
        path.emplace_back(input, 0);
      }
    }
  }
  return order;
}

} // namespace troupe
