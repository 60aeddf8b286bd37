// What kinds of messages there are: their names, who takes them, and how they are delivered.
#include "troupe/serialization/wire/messages.hpp"

namespace troupe {
namespace {

// In the order of the variant.
constexpr std::array<std::string_view, std::variant_size_v<message>> names{
    "hello",
    "refusal",
    "register_graph",
    "register_reply",
    "deregister_graph",
    "run_step",
    "step_done",
    "cancel_step",
    "tensor_push",
    "pull",
    "ping",
    "pong",
    "goodbye",
    "container_reset",
    "reply",
    "device_list_request",
    "device_list_reply",
    "unwanted",
    "withdrawn",
    "borrow",
    "lent",
    "returned",
    "settle_step",
    "state_list_request",
    "state_list_reply",
    "positions_request",
    "positions_reply",
    "member_changes",
    "number_claim",
    "number_grant",
    "inspect_request",
    "inspect_reply",
    "drain_request",
    "probe_request",
    "probe_answer",
    "vote_request",
    "vote",
    "session_request",
    "session_reply",
    "fill_end",
    "program_lost",
    "client_waits",
};

} // namespace

std::string_view name_of(const message& what) noexcept { return names[what.index()]; }

bool is_for_membership(const message& what) noexcept {
  return std::holds_alternative<member_changes>(what) ||
         std::holds_alternative<number_claim>(what) || std::holds_alternative<number_grant>(what) ||
         std::holds_alternative<probe_request>(what) ||
         std::holds_alternative<probe_answer>(what) || std::holds_alternative<vote_request>(what) ||
         std::holds_alternative<vote>(what) || std::holds_alternative<program_lost>(what);
}

bool is_for_host(const message& what) noexcept {
  return std::holds_alternative<session_request>(what);
}

delivery delivery_of(const message& what) noexcept {
  if (const auto* asked = std::get_if<session_request>(&what))
    return std::holds_alternative<session_stop>(asked->what) ? delivery::urgent : delivery::free;
  if (std::holds_alternative<deregister_graph>(what) || std::holds_alternative<goodbye>(what) ||
      std::holds_alternative<container_reset>(what))
    return delivery::ordered;
  if (std::holds_alternative<cancel_step>(what) || std::holds_alternative<pull>(what) ||
      std::holds_alternative<unwanted>(what) || std::holds_alternative<withdrawn>(what) ||
      std::holds_alternative<borrow>(what) || std::holds_alternative<lent>(what) ||
      std::holds_alternative<returned>(what) || std::holds_alternative<ping>(what) ||
      std::holds_alternative<pong>(what) || std::holds_alternative<hello>(what) ||
      std::holds_alternative<refusal>(what))
    return delivery::urgent;
  return delivery::free;
}

} // namespace troupe
