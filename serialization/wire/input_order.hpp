// The order in which the nodes of a file can be added to a graph.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Orders positions so that each comes after its inputs. Keeps their order where
/// it is valid already. Fails for a cycle; `describe` names its nodes in the error.
result<std::vector<uint32_t>>
order_after_inputs(const std::vector<std::vector<uint32_t>>& inputs_of_nodes,
                   const std::function<std::string(uint32_t)>& describe);

} // namespace troupe
