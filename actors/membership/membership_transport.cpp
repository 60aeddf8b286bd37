#include "troupe/actors/membership/membership.hpp"

#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/byte_stream.hpp"
#include "troupe/actors/execution/io_loop.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/exchange.hpp"
#include "troupe/actors/network/tls_stream.hpp"
#include "troupe/runtime/types/guarded.hpp"
#include "troupe/serialization/tls/tls.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

namespace troupe {
namespace {

status no_thread() {
  return failure(error_kind::unavailable, "this process cannot start another thread");
}

// Connects to an address and puts the socket or the TLS stream into `call`. Blocks: runs on a
// thread of its own.
status dial_peer(dial_result& call, const std::string& text, const connection_trust& trust,
                 const std::atomic<bool>& stop, std::atomic<bool>& warned) {
  TROUPE_ASSIGN(auto parsed, address::parse(text));
  if (trust.tls) {
    TROUPE_ASSIGN(call.access_token, trust.tls->token());
    auto expected = call.to.job.empty() ? std::nullopt : std::optional{call.to}; // none: a seed
    TROUPE_ASSIGN(auto stream, dial_over_tls(parsed, trust.tls, expected, call.deadline, stop,
                                             call.single_attempt));
    call.stream = std::make_shared<std::unique_ptr<byte_stream>>(std::move(stream));
    return {};
  }
  if (!trust.insecure && !is_loopback(parsed.host))
    return failure(error_kind::failed_precondition, text,
                   " is another machine, and there is no encryption; give a certificate, a key and "
                   "an authority, or allow it with insecure");
  TROUPE_ASSIGN(auto socket, dial(parsed, call.deadline, stop, call.single_attempt));
  call.socket = std::make_shared<socket_handle>(std::move(socket));
  if (!is_loopback(parsed.host) && trust.on_warning && !warned.exchange(true))
    trust.on_warning(concat("the connection to ", text,
                            ", another machine, is without encryption: others on the network can "
                            "read and change its data (said once)"));
  return {};
}

} // namespace

void read_on_new_thread(caf::actor_system& system, const std::shared_ptr<address_source>& source,
                        const caf::actor& reply) {
  auto started = run_on_new_thread(system, [=] {
    auto addresses = guarded("reading where the tasks are", [&] { return source->read(); });
    caf::anon_send(reply, address_update{std::move(addresses)});
  });
  if (!started)
    caf::anon_send(reply, address_update{no_thread()});
}

membership_transport socket_transport(std::shared_ptr<io_loop> loop, connection_trust trust) {
  return {.dial =
              [trust = std::move(trust), warned = std::make_shared<std::atomic<bool>>(false)](
                  caf::actor_system& system, dial_result call, const std::string& text,
                  const std::shared_ptr<std::atomic<bool>>& stop, const caf::actor& reply) {
                auto send_result = [=](dial_result result_of_call, status outcome) {
                  if (!outcome)
                    result_of_call.outcome = std::move(outcome).with_context(
                        result_of_call.to.job.empty() ? text : to_string(result_of_call.to));
                  caf::anon_send(reply, std::move(result_of_call));
                };
                auto started = run_on_new_thread(system, [=] {
                  auto result_of_call = call;
                  auto outcome = guarded("connecting", [&] {
                    return dial_peer(result_of_call, text, trust, *stop, *warned);
                  });
                  send_result(std::move(result_of_call), std::move(outcome));
                });
                if (!started)
                  send_result(std::move(call), no_thread());
              },
          .open =
              [loop = std::move(loop)](caf::actor_system& system, dial_result& call,
                                       exchange_options options) {
                options.loop = loop;
                return call.stream
                           ? spawn_exchange(system, std::move(*call.stream), std::move(options))
                           : spawn_exchange(system, call.socket->release(), std::move(options));
              },
          .read = read_on_new_thread};
}

} // namespace troupe
