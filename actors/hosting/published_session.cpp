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

// A message is sent as one CAF message. Half of it may be tensors.
constexpr size_t max_message_bytes = size_t{512} << 20;
// The limit of clients that have no session, in addition to those that have one.
constexpr size_t max_clients_without_session = 64;

result<hosted_bytes> to_bytes(const message& content) {
  TROUPE_ASSIGN(auto encoded, encode(content, {.inline_tensor = max_message_bytes / 2,
                                               .max_message = max_message_bytes}));
  if (!encoded.payloads.empty())
    return failure(error_kind::resource_exhausted, name_of(content), " has tensors of more than ",
                   max_message_bytes / 2, " bytes, which is the limit between CAF nodes");
  const auto* begin = reinterpret_cast<const char*>(encoded.bytes.data());
  return hosted_bytes(begin, begin + encoded.bytes.size());
}

result<message> from_bytes(const hosted_bytes& bytes) {
  return decode(std::as_bytes(std::span{bytes}));
}

// -- at the node of the session ------------------------------------------------------------------

// Represents a client on another node, in the place of an exchange. Ends with the client.
caf::behavior relay_behavior(caf::event_based_actor* self, const caf::actor& client) {
  self->monitor(client);
  self->set_default_handler(caf::drop);
  self->set_down_handler([=](const caf::down_msg& down) { self->quit(down.reason); });
  return {[=](outgoing& message) {
    auto bytes = to_bytes(message.content);
    auto* reply = std::get_if<session_reply>(&message.content);
    if (!bytes && reply)
      bytes = to_bytes(session_reply{reply->request, bytes.status()});
    if (bytes)
      self->send(client, hosted_atom::value, *std::move(bytes));
    if (std::holds_alternative<refusal>(message.content))
      self->quit();
  }};
}

struct gateway_state {
  explicit gateway_state() {}
  static inline const char* name = "troupe.published_session";
  struct known_client {
    caf::actor relay;
    connection_ptr connection = std::make_shared<peer_connection>();
  };
  caf::actor host;
  std::map<caf::actor_addr, known_client> clients;
  uint64_t client_count = 0;
};

using gateway_self = caf::stateful_actor<gateway_state>*;

gateway_state::known_client& client_of(gateway_self self, const caf::actor& sender) {
  auto& known = self->state.clients[sender.address()];
  if (!known.relay) {
    known.relay = self->spawn(relay_behavior, sender);
    known.connection->peer = concat("client ", ++self->state.client_count, " of another node");
    self->monitor(sender);
  }
  return known;
}

void take(gateway_self self, const hosted_bytes& bytes, size_t max_clients) {
  auto sender = caf::actor_cast<caf::actor>(self->current_sender());
  if (!sender)
    return;
  auto& state = self->state;
  auto is_new = !state.clients.contains(sender.address());
  if (is_new && state.clients.size() >= max_clients)
    return; // no answer: the request of the client fails at its deadline
  auto& client = client_of(self, sender);
  auto content = from_bytes(bytes);
  if (content && is_for_host(*content))
    return self->send(state.host, incoming{*std::move(content), client.relay, client.connection});
  auto why = content ? invalid("a client must not send ", name_of(*content)) : content.status();
  self->send(client.relay, outgoing{refusal{std::move(why)}});
  self->demonitor(sender);
  state.clients.erase(sender.address());
}

caf::behavior gateway_behavior(gateway_self self, const caf::actor& session,
                               const std::shared_ptr<const hosting_options>& options) {
  // Clients share the session: it does not end with one of them.
  auto share = [session](caf::actor_system& system, const client_options&) -> result<caf::actor> {
    return spawn_session_actor(system, session, {});
  };
  self->state.host =
      spawn_session_host(self->system(), options, share, std::make_shared<std::atomic<size_t>>(0));
  self->monitor(session);
  self->set_default_handler(caf::drop);
  end_on_exceptions(self);
  auto end = [=](const caf::error& why) {
    self->send_exit(self->state.host, caf::exit_reason::user_shutdown);
    for (const auto& [address, client] : self->state.clients)
      self->send_exit(client.relay, caf::exit_reason::user_shutdown);
    self->quit(why);
  };
  self->set_exit_handler([=](const caf::exit_msg& message) { end(message.reason); });
  self->set_down_handler([=](const caf::down_msg& down) {
    if (down.source == session.address())
      return end(down.reason);
    self->state.clients.erase(down.source);
  });
  return {[=, max_clients = options->limits.sessions + max_clients_without_session](
              hosted_atom, const hosted_bytes& bytes) { take(self, bytes, max_clients); }};
}

// -- at the node of a client ---------------------------------------------------------------------

// Takes the place of the exchange of a remote session.
struct link_state {
  explicit link_state() {}
  static inline const char* name = "troupe.caf_link";
  connection_ptr connection = std::make_shared<peer_connection>();
};

using link_self = caf::stateful_actor<link_state>*;

caf::behavior link_behavior(link_self self, const caf::actor& published, const caf::actor& owner,
                            const caf::actor_addr& opener) {
  const auto& connection = self->state.connection;
  connection->peer = "the published session";
  connection->exchange = self->address();
  auto lose = [=](status why) {
    if (auto receiver = caf::actor_cast<caf::actor>(opener))
      self->send(receiver,
                 peer_gone{self->state.connection->peer, std::move(why), self->state.connection});
    self->quit();
  };
  self->set_default_handler(caf::drop);
  self->set_down_handler(
      [=](const caf::down_msg&) { lose(failure(error_kind::unavailable, "it has ended")); });
  self->monitor(published);
  hello greeting{.software = {}, .role = "task", .job = {}};
  if (auto receiver = caf::actor_cast<caf::actor>(opener))
    self->send(receiver, peer_ready{greeting, connection});
  return {
      [=](outgoing& message) {
        auto bytes = to_bytes(message.content);
        if (bytes)
          return self->send(published, hosted_atom::value, *std::move(bytes));
        if (auto* request = std::get_if<session_request>(&message.content))
          self->send(owner, incoming{session_reply{request->request, bytes.status()},
                                     caf::actor_cast<caf::actor>(self), self->state.connection});
      },
      [=](hosted_atom, const hosted_bytes& bytes) {
        auto content = from_bytes(bytes);
        if (!content)
          return lose(content.status());
        if (auto* refused = std::get_if<refusal>(&*content))
          return lose(std::move(refused->reason));
        self->send(owner, incoming{*std::move(content), caf::actor_cast<caf::actor>(self),
                                   self->state.connection});
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

caf::actor spawn_published_client(caf::actor_system& system, const caf::actor& published,
                                  std::chrono::milliseconds timeout) {
  membership_transport transport;
  transport.dial = [](caf::actor_system&, dial_result call, const std::string&,
                      const std::shared_ptr<std::atomic<bool>>&,
                      const caf::actor& reply) { caf::anon_send(reply, std::move(call)); };
  transport.open = [published](caf::actor_system& client_system, dial_result&,
                               exchange_options exchange_of) {
    return client_system.spawn(link_behavior, published, exchange_of.owner, exchange_of.opener);
  };
  client_options options;
  options.timeout = timeout;
  auto session = spawn_remote_session(system, {"another CAF node"}, options, nullptr, &transport);
  return *std::move(session); // fails only if TLS files cannot be read
}

} // namespace troupe
