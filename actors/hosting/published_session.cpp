#include "troupe/actors/hosting/published_session.hpp"

#include "troupe/actors/base/system.hpp"
#include "troupe/actors/hosting/session_host.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/actors/session/remote_session.hpp"
#include "troupe/actors/task/step_server.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <map>

namespace troupe {
namespace {

// All of a message is in one piece. Half of it may be tensors.
constexpr size_t longest_piece = size_t{512} << 20;
// Clients that have said something, and have no session yet, beside those that have one.
constexpr size_t most_strangers = 64;

result<hosted_bytes> in_one_piece(const message& what) {
  TROUPE_ASSIGN(auto made,
                encode(what, {.inline_tensor = longest_piece / 2, .max_message = longest_piece}));
  if (!made.outside.empty())
    return failure(error_kind::resource_exhausted, name_of(what), " has tensors of more than ",
                   longest_piece / 2, " bytes, which do not travel between CAF nodes");
  const auto* begin = reinterpret_cast<const char*>(made.bytes.data());
  return hosted_bytes(begin, begin + made.bytes.size());
}

result<message> from_one_piece(const hosted_bytes& what) {
  return decode(std::as_bytes(std::span{what}));
}

// -- where the session is ------------------------------------------------------------------------

// A client on another node, in the place of an exchange: ends when that does.
caf::behavior relay_behavior(caf::event_based_actor* self, const caf::actor& client) {
  self->monitor(client);
  self->set_default_handler(caf::drop);
  self->set_down_handler([=](const caf::down_msg& what) { self->quit(what.reason); });
  return {[=](outgoing& what) {
    auto bytes = in_one_piece(what.content);
    auto* reply = std::get_if<session_reply>(&what.content);
    if (!bytes && reply)
      bytes = in_one_piece(session_reply{reply->request, bytes.status()});
    if (bytes)
      self->send(client, hosted_atom::value, *std::move(bytes));
    if (std::holds_alternative<refusal>(what.content))
      self->quit();
  }};
}

struct gateway_state {
  explicit gateway_state() {}
  static inline const char* name = "troupe.published_session";
  struct known_client {
    caf::actor relay;
    connection_ptr as = std::make_shared<peer_connection>();
  };
  caf::actor host;
  std::map<caf::actor_addr, known_client> clients;
  uint64_t met = 0;
};

using gateway_self = caf::stateful_actor<gateway_state>*;

gateway_state::known_client& client_of(gateway_self self, const caf::actor& who) {
  auto& known = self->state.clients[who.address()];
  if (!known.relay) {
    known.relay = self->spawn(relay_behavior, who);
    known.as->peer = concat("client ", ++self->state.met, " of another node");
    self->monitor(who);
  }
  return known;
}

void take(gateway_self self, const hosted_bytes& what, size_t most_clients) {
  auto who = caf::actor_cast<caf::actor>(self->current_sender());
  if (!who)
    return;
  auto& state = self->state;
  auto is_new = !state.clients.contains(who.address());
  if (is_new && state.clients.size() >= most_clients)
    return; // it gives up by its deadline
  auto& client = client_of(self, who);
  auto said = from_one_piece(what);
  if (said && is_for_host(*said))
    return self->send(state.host, incoming{*std::move(said), client.relay, client.as});
  auto why = said ? invalid("a client does not say ", name_of(*said)) : said.status();
  self->send(client.relay, outgoing{refusal{std::move(why)}});
  self->demonitor(who);
  state.clients.erase(who.address());
}

caf::behavior gateway_behavior(gateway_self self, const caf::actor& session,
                               const std::shared_ptr<const hosting_options>& options) {
  // Clients share the session: the end of one does not end it.
  auto share = [session](caf::actor_system& system, const client_options&) -> result<caf::actor> {
    return spawn_session_face(system, session, {});
  };
  self->state.host =
      spawn_session_host(self->system(), options, share, std::make_shared<std::atomic<size_t>>(0));
  self->monitor(session);
  self->set_default_handler(caf::drop);
  end_with_exceptions(self);
  auto end = [=](const caf::error& why) {
    self->send_exit(self->state.host, caf::exit_reason::user_shutdown);
    for (const auto& [address, client] : self->state.clients)
      self->send_exit(client.relay, caf::exit_reason::user_shutdown);
    self->quit(why);
  };
  self->set_exit_handler([=](const caf::exit_msg& what) { end(what.reason); });
  self->set_down_handler([=](const caf::down_msg& what) {
    if (what.source == session.address())
      return end(what.reason);
    self->state.clients.erase(what.source);
  });
  return {[=, most = options->limits.sessions + most_strangers](
              hosted_atom, const hosted_bytes& what) { take(self, what, most); }};
}

// -- where it is used ----------------------------------------------------------------------------

// In the place of the exchange of a remote session.
struct link_state {
  explicit link_state() {}
  static inline const char* name = "troupe.caf_link";
  connection_ptr via = std::make_shared<peer_connection>();
};

using link_self = caf::stateful_actor<link_state>*;

caf::behavior link_behavior(link_self self, const caf::actor& published, const caf::actor& owner,
                            const caf::actor_addr& opener) {
  const auto& via = self->state.via;
  via->peer = "the published session";
  via->exchange = self->address();
  auto lose = [=](status why) {
    if (auto to = caf::actor_cast<caf::actor>(opener))
      self->send(to, peer_gone{self->state.via->peer, std::move(why), self->state.via});
    self->quit();
  };
  self->set_default_handler(caf::drop);
  self->set_down_handler(
      [=](const caf::down_msg&) { lose(failure(error_kind::unavailable, "it has ended")); });
  self->monitor(published);
  hello who{.software = {}, .role = "task", .job = {}};
  if (auto to = caf::actor_cast<caf::actor>(opener))
    self->send(to, peer_ready{who, via});
  return {
      [=](outgoing& what) {
        auto bytes = in_one_piece(what.content);
        if (bytes)
          return self->send(published, hosted_atom::value, *std::move(bytes));
        if (auto* asked = std::get_if<session_request>(&what.content))
          self->send(owner, incoming{session_reply{asked->request, bytes.status()},
                                     caf::actor_cast<caf::actor>(self), self->state.via});
      },
      [=](hosted_atom, const hosted_bytes& what) {
        auto said = from_one_piece(what);
        if (!said)
          return lose(said.status());
        if (auto* no = std::get_if<refusal>(&*said))
          return lose(std::move(no->why));
        self->send(owner,
                   incoming{*std::move(said), caf::actor_cast<caf::actor>(self), self->state.via});
      },
  };
}

} // namespace

caf::actor spawn_published_session(caf::actor_system& system, const caf::actor& session,
                                   const registry& ops, const hosting_limits& limits) {
  hosting_options options{.limits = limits, .session = {}, .server = {}, .view = {}};
  options.session.ops = &ops;
  options.server = std::make_shared<step_server>(local_task, 0, clock_of(system));
  return system.spawn(gateway_behavior, session,
                      std::make_shared<const hosting_options>(std::move(options)));
}

caf::actor spawn_session_by(caf::actor_system& system, const caf::actor& published,
                            std::chrono::milliseconds timeout) {
  membership_ways ways;
  ways.dial = [](caf::actor_system&, dialed call, const std::string&,
                 const std::shared_ptr<std::atomic<bool>>&,
                 const caf::actor& reply) { caf::anon_send(reply, std::move(call)); };
  ways.open = [published](caf::actor_system& in, dialed&, exchange_options how) {
    return in.spawn(link_behavior, published, how.owner, how.opener);
  };
  client_options options;
  options.timeout = timeout;
  auto made = spawn_remote_session(system, {"another CAF node"}, options, nullptr, &ways);
  return *std::move(made); // without files to read there is nothing that could fail
}

} // namespace troupe
