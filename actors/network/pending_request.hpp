// Requests of actors to a peer, and the answers that come over the wire.
#pragma once
#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/serialization/reports/inspection_json.hpp"
#include "troupe/serialization/reports/statistics.hpp"
#include "troupe/serialization/wire/messages.hpp"
#include "troupe/serialization/wire/payload.hpp"

#include <caf/actor_control_block.hpp>
#include <caf/execution_unit.hpp>
#include <caf/message.hpp>
#include <caf/message_id.hpp>

namespace troupe {

/// A request of an actor, which is answered once.
struct pending_request {
  caf::strong_actor_ptr from;
  caf::message_id id;

  template <class Answer>
  void answer(Answer&& value, caf::execution_unit* unit = nullptr) const {
    if (from)
      from->enqueue(nullptr, id.response_id(), caf::make_message(std::forward<Answer>(value)),
                    unit);
  }
};

/// If the message is an answer, calls `settle` with the number of the request, and a function that
/// answers the request. Returns whether it is an answer.
template <class Settle>
bool dispatch_answer(message& received, caf::execution_unit* unit, const Settle& settle) {
  if (auto* registration = std::get_if<register_reply>(&received)) {
    settle(registration->request, [&](const pending_request& requester) {
      if (registration->outcome)
        requester.answer(registered{registration->handle, nullptr});
      else
        requester.answer(to_caf(registration->outcome));
    });
  } else if (auto* step = std::get_if<step_done>(&received)) {
    settle(step->request, [&](const pending_request& requester) {
      step_result result{std::move(step->outcome),
                         std::move(step->fetches),
                         {},
                         step->is_revocable,
                         step->initialization};
      if (!step->statistics.empty())
        if (auto read = read_statistics(bytes_of(step->statistics)))
          result.statistics = *std::move(read);
      requester.answer(std::move(result), unit);
    });
  } else if (auto* answer = std::get_if<reply>(&received)) {
    settle(answer->request,
           [&](const pending_request& requester) { requester.answer(answer->outcome); });
  } else if (auto* list = std::get_if<device_list_reply>(&received)) {
    settle(list->request,
           [&](const pending_request& requester) { requester.answer(std::move(list->devices)); });
  } else if (auto* state = std::get_if<state_list_reply>(&received)) {
    settle(state->request, [&](const pending_request& requester) {
      if (state->outcome)
        requester.answer(std::move(state->list));
      else
        requester.answer(to_caf(state->outcome));
    });
  } else if (auto* inspected = std::get_if<inspect_reply>(&received)) {
    settle(inspected->request, [&](const pending_request& requester) {
      auto tree = inspected->outcome.ok() ? parse_inspection(inspected->tree)
                                          : result<inspection>{inspected->outcome};
      if (tree)
        requester.answer(*std::move(tree));
      else
        requester.answer(to_caf(tree.status()));
    });
  } else if (auto* positions = std::get_if<positions_reply>(&received)) {
    settle(positions->request, [&](const pending_request& requester) {
      if (positions->outcome)
        requester.answer(
            task_positions{{}, positions->incarnation, std::move(positions->positions)});
      else
        requester.answer(to_caf(positions->outcome));
    });
  } else {
    return false;
  }
  return true;
}

} // namespace troupe
