// A worker that the test answers for, and the outcome of a master's steps.
#pragma once
#include "tests/support/actor_world.hpp"
#include "tests/support/catch.hpp"
#include "troupe/actors/base/messages.hpp"

#include <caf/event_based_actor.hpp>

namespace troupe::test {

// The requests that a worker has received, and the answers that it owes.
struct fake_worker {
  std::vector<caf::typed_response_promise<registered>> registering;
  std::vector<std::pair<run_request, caf::typed_response_promise<step_result>>> runs;
  std::vector<cancel_step> cancels;
  std::vector<caf::typed_response_promise<status>> settling;
  std::vector<uint64_t> dropped;
  std::vector<caf::typed_response_promise<std::vector<device_info>>> listing;
  uint64_t handles = 0;
  bool registers_at_once = true;
};

inline caf::behavior fake_behavior(caf::event_based_actor* self, fake_worker* log) {
  return {
      [=](const register_request&) -> caf::result<registered> {
        if (log->registers_at_once)
          return registered{++log->handles, nullptr};
        auto promise = self->make_response_promise<registered>();
        log->registering.push_back(promise);
        return promise;
      },
      [=](const wire_registration&) {
        return registered{++log->handles, nullptr};
      },
      [=](run_request& request) -> caf::result<step_result> {
        auto promise = self->make_response_promise<step_result>();
        log->runs.emplace_back(std::move(request), promise);
        return promise;
      },
      [=](const settle_request&) -> caf::result<status> {
        auto promise = self->make_response_promise<status>();
        log->settling.push_back(promise);
        return promise;
      },
      [](const actor_action& action) { action.act(); },
      [=](list_devices_atom) -> caf::result<std::vector<device_info>> {
        auto promise = self->make_response_promise<std::vector<device_info>>();
        log->listing.push_back(promise);
        return promise;
      },
      [=](const outgoing& outgoing_message) {
        if (auto* cancel = std::get_if<cancel_step>(&outgoing_message.content))
          log->cancels.push_back(*cancel);
      },
      [=](const forget_program& request) { log->dropped.push_back(request.handle); },
  };
}

inline status outcome_of(const awaited_answer<step_outcome>& answer) {
  REQUIRE(*answer);
  return **answer ? (**answer)->outcome : (**answer).status();
}

} // namespace troupe::test
