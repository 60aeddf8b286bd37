#include "troupe/actors/network/question_to_wire.hpp"

#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"

#include <algorithm>

namespace troupe {

std::optional<message> question_to_wire(caf::mailbox_element& what) {
  if (auto* well = content_if<settle_request>(what))
    return settle_step{well->step};
  if (auto* graphs = content_if<wire_registration>(what))
    return register_graph{**graphs};
  if (auto* reset = content_if<reset_request>(what))
    return container_reset{.request = 0, .container = reset->container};
  if (content_if<list_state>(what))
    return state_list_request{};
  if (auto* where = content_if<ask_positions>(what))
    return positions_request{0, where->session, where->go_on_from};
  if (auto* part = content_if<inspect_task>(what))
    return inspect_request{0, part->ref, static_cast<uint32_t>(std::max(part->scope.depth, 0)),
                           part->scope.only};
  if (content_if<drain_atom>(what))
    return drain_request{};
  if (content_if<list_devices_atom>(what))
    return device_list_request{};
  if (auto* filled = content_if<end_fill>(what))
    return fill_end{0, filled->done};
  return std::nullopt;
}

} // namespace troupe
