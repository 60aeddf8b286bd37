// What an actor asks a peer by its exchange, and the answer that comes over the wire.
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

/// A request of another actor, which is answered once.
struct pending_request {
  caf::strong_actor_ptr from;
  caf::message_id id;

  template <class Answer>
  void answer(Answer&& what, caf::execution_unit* unit = nullptr) const {
    if (from)
      from->enqueue(nullptr, id.response_id(), caf::make_message(std::forward<Answer>(what)), unit);
  }
};

/// Says whether it is an answer: then `settle` is called with the number of the request, and what
/// is to be done with it.
template <class Settle>
bool give_answer(message& what, caf::execution_unit* unit, const Settle& settle) {
  if (auto* done = std::get_if<register_reply>(&what)) {
    settle(done->request, [&](const pending_request& from) {
      if (done->outcome)
        from.answer(registered{done->handle, nullptr});
      else
        from.answer(to_caf(done->outcome));
    });
  } else if (auto* step = std::get_if<step_done>(&what)) {
    settle(step->request, [&](const pending_request& from) {
      step_result result{
          std::move(step->outcome), std::move(step->fetches), {}, step->holds, step->fill};
      if (!step->statistics.empty())
        if (auto read = read_statistics(bytes_of(step->statistics)))
          result.statistics = *std::move(read);
      from.answer(std::move(result), unit);
    });
  } else if (auto* answer = std::get_if<reply>(&what)) {
    settle(answer->request, [&](const pending_request& from) { from.answer(answer->outcome); });
  } else if (auto* list = std::get_if<device_list_reply>(&what)) {
    settle(list->request,
           [&](const pending_request& from) { from.answer(std::move(list->devices)); });
  } else if (auto* state = std::get_if<state_list_reply>(&what)) {
    settle(state->request, [&](const pending_request& from) {
      if (state->outcome)
        from.answer(std::move(state->list));
      else
        from.answer(to_caf(state->outcome));
    });
  } else if (auto* seen = std::get_if<inspect_reply>(&what)) {
    settle(seen->request, [&](const pending_request& from) {
      auto tree =
          seen->outcome.ok() ? parse_inspection(seen->tree) : result<inspection>{seen->outcome};
      if (tree)
        from.answer(*std::move(tree));
      else
        from.answer(to_caf(tree.status()));
    });
  } else if (auto* where = std::get_if<positions_reply>(&what)) {
    settle(where->request, [&](const pending_request& from) {
      if (where->outcome)
        from.answer(task_positions{{}, where->incarnation, std::move(where->at)});
      else
        from.answer(to_caf(where->outcome));
    });
  } else {
    return false;
  }
  return true;
}

} // namespace troupe
