#include "troupe/runtime/state/kernel_positions.hpp"

namespace troupe {

status check_positions(const kernel_positions& positions) {
  size_t text = 0;
  for (const auto& [node, position] : positions)
    text += node.size() + position.size();
  if (positions.size() <= max_positions && text <= max_positions_text)
    return {};
  return failure(error_kind::resource_exhausted, positions.size(), " positions of nodes with ",
                 text, " bytes of text are given, and a task keeps up to ", max_positions, " with ",
                 max_positions_text);
}

} // namespace troupe
