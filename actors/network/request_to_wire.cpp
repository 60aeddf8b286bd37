#include "troupe/actors/network/request_to_wire.hpp"

#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"

#include <algorithm>

namespace troupe {

std::optional<message> request_to_wire(caf::mailbox_element& request) {
  if (auto* settlement = content_if<settle_request>(request))
    return settle_step{settlement->step};
  if (auto* graphs = content_if<wire_registration>(request))
    return register_graph{**graphs};
  if (auto* reset = content_if<reset_request>(request))
    return container_reset{.request = 0, .container = reset->container};
  if (content_if<list_state>(request))
    return state_list_request{};
  if (auto* positions = content_if<ask_positions>(request))
    return positions_request{0, positions->session, positions->restore_from};
  if (auto* inspection_of_part = content_if<inspect_task>(request))
    return inspect_request{0, inspection_of_part->ref,
                           static_cast<uint32_t>(std::max(inspection_of_part->scope.depth, 0)),
                           inspection_of_part->scope.kinds};
  if (content_if<drain_atom>(request))
    return drain_request{};
  if (content_if<list_devices_atom>(request))
    return device_list_request{};
  if (auto* initialization = content_if<end_initialization>(request))
    return initialization_end{0, initialization->done};
  return std::nullopt;
}

} // namespace troupe
