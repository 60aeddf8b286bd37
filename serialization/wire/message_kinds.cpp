// The kinds of messages: names, recipients and delivery.
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
    "cancel_pull",
    "withdrawal",
    "borrow_request",
    "loan",
    "loan_return",
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
    "initialization_end",
    "program_lost",
    "client_waits",
};

} // namespace

std::string_view name_of(const message& value) noexcept { return names[value.index()]; }

bool is_for_membership(const message& value) noexcept {
  return std::holds_alternative<member_changes>(value) ||
         std::holds_alternative<number_claim>(value) ||
         std::holds_alternative<number_grant>(value) ||
         std::holds_alternative<probe_request>(value) ||
         std::holds_alternative<probe_answer>(value) ||
         std::holds_alternative<vote_request>(value) || std::holds_alternative<vote>(value) ||
         std::holds_alternative<program_lost>(value);
}

bool is_for_host(const message& value) noexcept {
  return std::holds_alternative<session_request>(value);
}

delivery delivery_of(const message& value) noexcept {
  if (const auto* request = std::get_if<session_request>(&value))
    return std::holds_alternative<session_stop>(request->content) ? delivery::urgent
                                                                  : delivery::free;
  if (std::holds_alternative<deregister_graph>(value) || std::holds_alternative<goodbye>(value) ||
      std::holds_alternative<container_reset>(value))
    return delivery::ordered;
  if (std::holds_alternative<cancel_step>(value) || std::holds_alternative<pull>(value) ||
      std::holds_alternative<cancel_pull>(value) || std::holds_alternative<withdrawal>(value) ||
      std::holds_alternative<borrow_request>(value) || std::holds_alternative<loan>(value) ||
      std::holds_alternative<loan_return>(value) || std::holds_alternative<ping>(value) ||
      std::holds_alternative<pong>(value) || std::holds_alternative<hello>(value) ||
      std::holds_alternative<refusal>(value))
    return delivery::urgent;
  return delivery::free;
}

} // namespace troupe
