#include "troupe/actors/claim_number.hpp"

#include "troupe/actors/dial.hpp"
#include "troupe/actors/errors.hpp"
#include "troupe/actors/exchange.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/actors/system.hpp"
#include "troupe/runtime/version.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace troupe {
namespace {

using again_atom = caf::atom_constant<caf::atom("again")>;
using still_wanted_atom = caf::atom_constant<caf::atom("stillwant")>;
using too_late_atom = caf::atom_constant<caf::atom("toolate")>;

constexpr std::chrono::milliseconds pause{200}, longest_call{1'000};

struct claimant_state {
  explicit claimant_state() {}
  ~claimant_state() { *stop = true; }
  static inline const char* name = "troupe.claimant";
  claim_options options;
  step_clock::time_point deadline;
  caf::actor exchange; // none while there is no connection
  bool introduced = false;
  status last; // why there is no number yet
  std::optional<result<number_grant>> outcome;
  std::vector<caf::typed_response_promise<number_grant>> waiting;
  std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
};

using claimant_self = caf::stateful_actor<claimant_state>*;

void answer(caf::typed_response_promise<number_grant>& to, const result<number_grant>& what) {
  if (what)
    to.deliver(*what);
  else
    to.deliver(to_caf(what.status()));
}

void settle(claimant_self self, result<number_grant> what) {
  auto& state = self->state;
  if (state.outcome)
    return;
  state.outcome = std::move(what);
  for (auto& one : state.waiting)
    answer(one, *state.outcome);
  state.waiting.clear();
  *state.stop = true;
  if (state.exchange)
    self->send_exit(state.exchange, caf::exit_reason::user_shutdown);
}

void call(claimant_self self) {
  auto& state = self->state;
  state.introduced = false;
  auto until = std::min(state.deadline, self->clock().now() + longest_call);
  const auto& first = state.options.first;
  dialed call{.to = {}, .deadline = until, .outcome = {}, .socket = {}, .address = first};
  state.options.ways.dial(self->system(), std::move(call), first, state.stop,
                          caf::actor_cast<caf::actor>(self));
}

void connected(claimant_self self, dialed& what) {
  auto& state = self->state;
  if (state.outcome)
    return;
  if (!what.outcome) {
    state.last = what.outcome;
    self->delayed_send(self, pause, again_atom::value);
    return;
  }
  exchange_options exchange;
  exchange.self.software = library_version;
  exchange.self.role = "client";
  exchange.self.incarnation = state.options.what.incarnation;
  exchange.self.cluster = state.options.cluster;
  exchange.address = state.options.first;
  exchange.opener = self->address();
  exchange.peer_timeout = state.options.peer_timeout;
  exchange.near_memory = false;
  state.exchange = state.options.ways.open(self->system(), what, std::move(exchange));
}

void take_answer(claimant_self self, const number_grant& what) {
  auto& state = self->state;
  if (what.outcome)
    return settle(self, what);
  if (what.outcome.kind() != error_kind::unavailable)
    return settle(self, what.outcome);
  state.last = what.outcome;
  self->delayed_send(self, pause, again_atom::value);
}

caf::behavior claimant_behavior(claimant_self self, claim_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  state.deadline = self->clock().now() + state.options.patience;
  self->delayed_send(self, state.options.patience, too_late_atom::value);
  if (state.options.give_up)
    self->delayed_send(self, pause, still_wanted_atom::value);
  self->set_default_handler(caf::drop);
  end_with_exceptions(self);
  call(self);
  return {
      [=](dialed& what) { connected(self, what); },
      [=](const peer_ready& what) {
        if (what.who.role != "task")
          return;
        self->state.introduced = true;
        self->send(self->state.exchange, outgoing{self->state.options.what});
      },
      [=](const incoming& what) {
        if (const auto* grant = std::get_if<number_grant>(&what.content))
          take_answer(self, *grant);
      },
      [=](const peer_gone& what) {
        auto& lost = self->state;
        lost.exchange = nullptr;
        lost.last = what.why;
        if (what.why.kind() == error_kind::failed_precondition)
          return settle(self, what.why);
        if (!lost.outcome)
          self->delayed_send(self, pause, again_atom::value);
      },
      [=](again_atom) {
        if (self->state.outcome)
          return;
        if (!self->state.exchange)
          call(self);
        else if (self->state.introduced)
          self->send(self->state.exchange, outgoing{self->state.options.what});
      },
      [=](still_wanted_atom) {
        if (self->state.options.give_up())
          settle(self, failure(error_kind::cancelled, "no number is wanted any more"));
        else if (!self->state.outcome)
          self->delayed_send(self, pause, still_wanted_atom::value);
      },
      [=](too_late_atom) {
        const auto& late = self->state;
        settle(self, failure(error_kind::unavailable, "no number was given at ",
                             late.options.first, " in time",
                             late.last.ok() ? "" : concat(": ", late.last.message())));
      },
      [=](await_number_atom) -> caf::result<number_grant> {
        auto promise = self->make_response_promise<number_grant>();
        if (self->state.outcome)
          answer(promise, *self->state.outcome);
        else
          self->state.waiting.push_back(promise);
        return promise;
      },
  };
}

} // namespace

caf::actor spawn_claimant(caf::actor_system& system, claim_options options) {
  return spawn_control(system, claimant_behavior, std::move(options));
}

result<number_grant> claim_number(caf::actor_system& system, claim_options options) {
  auto claimant = spawn_claimant(system, std::move(options));
  caf::scoped_actor self{system, true};
  result<number_grant> outcome = failure(error_kind::internal, "nothing was asked");
  self->request(claimant, caf::infinite, await_number_atom::value)
      .receive([&](const number_grant& what) { outcome = what; },
               [&](const caf::error& why) { outcome = from_caf(why); });
  self->send_exit(claimant, caf::exit_reason::user_shutdown);
  return outcome;
}

} // namespace troupe
