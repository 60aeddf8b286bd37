#include "troupe/actors/membership/claim_number.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/runtime/version.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace troupe {
namespace {

using again_atom = caf::atom_constant<caf::atom("again")>;
using still_wanted_atom = caf::atom_constant<caf::atom("stillwant")>;
// Claimant -> itself: does that connection lead to a task?
struct look_at_call {
  uint64_t number;
};
using too_late_atom = caf::atom_constant<caf::atom("toolate")>;

constexpr std::chrono::milliseconds pause{200}, longest_call{1'000};
// The claimant itself ends in time; this is in case it does not.
constexpr std::chrono::milliseconds grace{5'000};

} // namespace
} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::look_at_call)

namespace troupe {
namespace {

struct claimant_state {
  explicit claimant_state() {}
  ~claimant_state() { *stop = true; }
  static inline const char* name = "troupe.claimant";
  claim_options options;
  step_clock::time_point deadline;
  caf::actor exchange; // none while there is no connection
  bool calling = false, introduced = false;
  std::string at;       // that is called
  std::string referred; // the address of the coordinator, as a member has said
  size_t next = 0;      // of the seeds
  uint64_t calls = 0;
  status last; // why there is no number yet
  std::optional<result<number_grant>> outcome;
  std::vector<caf::typed_response_promise<number_grant>> waiting;
  std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
};

using claimant_self = caf::stateful_actor<claimant_state>*;

std::string list_of(const std::vector<std::string>& addresses) {
  std::string text;
  for (const auto& one : addresses)
    text += concat(text.empty() ? "" : ", ", one);
  return text;
}

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
  if (std::exchange(state.calling, true))
    return;
  state.introduced = false;
  auto until = std::min(state.deadline, self->clock().now() + longest_call);
  const auto& seeds = state.options.seeds;
  // The others know who decides when the first is gone; until it has begun, they know nothing.
  auto number = state.next++;
  state.at =
      number % 2 == 0 || seeds.size() == 1 ? seeds[0] : seeds[1 + number / 2 % (seeds.size() - 1)];
  if (!state.referred.empty())
    state.at = std::exchange(state.referred, {});
  dialed call{.to = {}, .deadline = until, .outcome = {}, .socket = {}, .address = state.at};
  state.options.ways.dial(self->system(), std::move(call), state.at, state.stop,
                          caf::actor_cast<caf::actor>(self));
}

void connected(claimant_self self, dialed& what) {
  auto& state = self->state;
  state.calling = false;
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
  exchange.address = state.at;
  exchange.opener = self->address();
  exchange.peer_timeout = state.options.peer_timeout;
  exchange.near_memory = false;
  state.exchange = state.options.ways.open(self->system(), what, std::move(exchange));
  self->delayed_send(self, longest_call, look_at_call{++state.calls});
}

// Its end has another address called.
void hang_up(claimant_self self) {
  if (self->state.exchange)
    self->send_exit(self->state.exchange, caf::exit_reason::user_shutdown);
}

void take_answer(claimant_self self, const number_grant& what) {
  auto& state = self->state;
  if (what.outcome)
    return settle(self, what);
  if (what.outcome.kind() != error_kind::unavailable)
    return settle(self, what.outcome);
  state.last = what.outcome;
  if (!what.ask.empty() && what.ask != state.at && what.ask != state.options.what.address) {
    state.referred = what.ask;
    return hang_up(self);
  }
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
  self->set_exit_handler([=](const caf::exit_msg& what) {
    hang_up(self);
    self->quit(what.reason);
  });
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
        if (what.why.kind() != error_kind::cancelled)
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
      [=](const look_at_call& what) {
        auto& slow = self->state;
        auto others = slow.options.seeds.size() > 1 || slow.at != slow.options.seeds[0];
        if (what.number != slow.calls || slow.introduced || !others)
          return;
        slow.last = failure(error_kind::unavailable, slow.at, " does not say who it is");
        hang_up(self);
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
                             list_of(late.options.seeds), " within ", late.options.patience.count(),
                             " ms", late.last.ok() ? "" : concat(": ", late.last.message())));
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
  if (options.seeds.empty())
    return invalid("a task that asks for its number has to be told where");
  auto patience = options.patience + grace;
  auto claimant = spawn_claimant(system, std::move(options));
  caf::scoped_actor self{system, true};
  result<number_grant> outcome = failure(error_kind::internal, "nothing was asked");
  self->request(claimant, patience, await_number_atom::value)
      .receive(
          [&](const number_grant& what) { outcome = what; },
          [&](const caf::error& why) { outcome = from_caf(why).within("asking for a number"); });
  self->send_exit(claimant, caf::exit_reason::user_shutdown);
  return outcome;
}

} // namespace troupe
