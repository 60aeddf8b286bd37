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

using retry_atom = caf::atom_constant<caf::atom("again")>;
using check_wanted_atom = caf::atom_constant<caf::atom("stillwant")>;
// Claimant -> itself: end the call of that number if its peer has not introduced itself as a task.
struct check_introduced {
  uint64_t number;
};
using time_out_atom = caf::atom_constant<caf::atom("toolate")>;

constexpr std::chrono::milliseconds pause{200}, longest_call{1'000};
// The claimant ends at its deadline. This longer timeout is for a claimant that does not.
constexpr std::chrono::milliseconds grace{5'000};

} // namespace
} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::check_introduced)

namespace troupe {
namespace {

struct claimant_state {
  explicit claimant_state() {}
  ~claimant_state() { *stop = true; }
  static inline const char* name = "troupe.claimant";
  claim_options options;
  step_clock::time_point deadline;
  caf::actor exchange; // null without a connection
  bool calling = false, introduced = false;
  std::string called_address;
  std::string referred_address; // of the coordinator, as a member has said
  size_t next_call = 0;         // selects the seed
  uint64_t calls = 0;
  status last_error; // why there is no number yet
  std::optional<result<number_grant>> outcome;
  std::vector<caf::typed_response_promise<number_grant>> waiting;
  std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
};

using claimant_self = caf::stateful_actor<claimant_state>*;

std::string list_of(const std::vector<std::string>& addresses) {
  std::string text;
  for (const auto& address : addresses)
    text += concat(text.empty() ? "" : ", ", address);
  return text;
}

void answer(caf::typed_response_promise<number_grant>& promise,
            const result<number_grant>& outcome) {
  if (outcome)
    promise.deliver(*outcome);
  else
    promise.deliver(to_caf(outcome.status()));
}

void finish(claimant_self self, result<number_grant> outcome) {
  auto& state = self->state;
  if (state.outcome)
    return;
  state.outcome = std::move(outcome);
  for (auto& promise : state.waiting)
    answer(promise, *state.outcome);
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
  // The first seed is usually the coordinator. If it is gone, the others know the coordinator, but
  // they know none before the cluster has begun. So every second call goes to the first seed.
  auto number = state.next_call++;
  state.called_address =
      number % 2 == 0 || seeds.size() == 1 ? seeds[0] : seeds[1 + number / 2 % (seeds.size() - 1)];
  if (!state.referred_address.empty())
    state.called_address = std::exchange(state.referred_address, {});
  dial_result call{
      .to = {}, .deadline = until, .outcome = {}, .socket = {}, .address = state.called_address};
  state.options.transport.dial(self->system(), std::move(call), state.called_address, state.stop,
                               caf::actor_cast<caf::actor>(self));
}

void connected(claimant_self self, dial_result& call) {
  auto& state = self->state;
  state.calling = false;
  if (state.outcome)
    return;
  if (!call.outcome) {
    state.last_error = call.outcome;
    self->delayed_send(self, pause, retry_atom::value);
    return;
  }
  exchange_options exchange;
  exchange.self.software = library_version;
  exchange.self.role = "client";
  exchange.self.incarnation = state.options.claim.incarnation;
  exchange.self.cluster = state.options.cluster;
  exchange.address = state.called_address;
  exchange.opener = self->address();
  exchange.peer_timeout = state.options.peer_timeout;
  exchange.same_host_reads = false;
  state.exchange = state.options.transport.open(self->system(), call, std::move(exchange));
  self->delayed_send(self, longest_call, check_introduced{++state.calls});
}

// Ends the connection. The handler of its end calls the next address.
void disconnect(claimant_self self) {
  if (self->state.exchange)
    self->send_exit(self->state.exchange, caf::exit_reason::user_shutdown);
}

void take_answer(claimant_self self, const number_grant& grant) {
  auto& state = self->state;
  if (grant.outcome)
    return finish(self, grant);
  if (grant.outcome.kind() != error_kind::unavailable)
    return finish(self, grant.outcome);
  state.last_error = grant.outcome;
  if (!grant.coordinator_address.empty() && grant.coordinator_address != state.called_address &&
      grant.coordinator_address != state.options.claim.address) {
    state.referred_address = grant.coordinator_address;
    return disconnect(self);
  }
  self->delayed_send(self, pause, retry_atom::value);
}

void introduced(claimant_self self, const peer_ready& ready) {
  if (ready.peer_hello.role != "task")
    return;
  self->state.introduced = true;
  self->send(self->state.exchange, outgoing{self->state.options.claim});
}

void disconnected(claimant_self self, const peer_gone& gone) {
  auto& state = self->state;
  state.exchange = nullptr;
  if (gone.reason.kind() != error_kind::cancelled)
    state.last_error = gone.reason;
  if (gone.reason.kind() == error_kind::failed_precondition)
    return finish(self, gone.reason);
  if (!state.outcome)
    self->delayed_send(self, pause, retry_atom::value);
}

// Ends the current call, if it has that number, its peer has not introduced itself as a task, and
// another address can be called.
void disconnect_unless_introduced(claimant_self self, uint64_t number) {
  auto& state = self->state;
  const auto& seeds = state.options.seeds;
  auto has_others = seeds.size() > 1 || state.called_address != seeds[0];
  if (number != state.calls || state.introduced || !has_others)
    return;
  state.last_error =
      failure(error_kind::unavailable, state.called_address, " has not introduced itself");
  disconnect(self);
}

status timeout_error(const claimant_state& state) {
  return failure(error_kind::unavailable, "no number was assigned by ",
                 list_of(state.options.seeds), " within ", state.options.patience.count(), " ms",
                 state.last_error.ok() ? "" : concat(": ", state.last_error.message()));
}

caf::behavior claimant_behavior(claimant_self self, claim_options options) {
  auto& state = self->state;
  state.options = std::move(options);
  state.deadline = self->clock().now() + state.options.patience;
  self->delayed_send(self, state.options.patience, time_out_atom::value);
  if (state.options.give_up)
    self->delayed_send(self, pause, check_wanted_atom::value);
  self->set_default_handler(caf::drop);
  self->set_exit_handler([=](const caf::exit_msg& message) {
    disconnect(self);
    self->quit(message.reason);
  });
  end_on_exceptions(self);
  call(self);
  return {
      [=](dial_result& call) { connected(self, call); },
      [=](const peer_ready& ready) { introduced(self, ready); },
      [=](const incoming& received) {
        if (const auto* grant = std::get_if<number_grant>(&received.content))
          take_answer(self, *grant);
      },
      [=](const peer_gone& gone) { disconnected(self, gone); },
      [=](retry_atom) {
        if (self->state.outcome)
          return;
        if (!self->state.exchange)
          call(self);
        else if (self->state.introduced)
          self->send(self->state.exchange, outgoing{self->state.options.claim});
      },
      [=](const check_introduced& call) { disconnect_unless_introduced(self, call.number); },
      [=](check_wanted_atom) {
        if (self->state.options.give_up())
          finish(self, failure(error_kind::cancelled, "the request for a number was cancelled"));
        else if (!self->state.outcome)
          self->delayed_send(self, pause, check_wanted_atom::value);
      },
      [=](time_out_atom) { finish(self, timeout_error(self->state)); },
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
    return invalid("a task that requests its number needs the address of a seed");
  auto patience = options.patience + grace;
  auto claimant = spawn_claimant(system, std::move(options));
  caf::scoped_actor self{system, true};
  result<number_grant> outcome = failure(error_kind::internal, "no answer");
  self->request(claimant, patience, await_number_atom::value)
      .receive([&](const number_grant& grant) { outcome = grant; },
               [&](const caf::error& why) {
                 outcome = from_caf(why).with_context("asking for a number");
               });
  self->send_exit(claimant, caf::exit_reason::user_shutdown);
  return outcome;
}

} // namespace troupe
