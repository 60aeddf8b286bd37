#include "troupe/actors/network/link_log.hpp"

#include "troupe/actors/task/step_server.hpp"

namespace troupe {

void log_link_opened(step_server& server, const std::string& peer, bool called) {
  server.log().write(log_level::info, "link_opened", {{"peer", peer}, {"called", called}});
}

void log_link_lost(step_server& server, const peer_connection& connection, const std::string& peer,
                   bool called, const status& why, bool orderly) {
  if (!server.log())
    return;
  auto received = static_cast<int64_t>(connection.received.load(std::memory_order_relaxed));
  auto sent = static_cast<int64_t>(connection.sent.load(std::memory_order_relaxed));
  if (connection.exchange)
    server.log().write(orderly ? log_level::info : log_level::warning, "link_lost",
                       {{"peer", peer},
                        {"called", called},
                        {"why", why.message()},
                        {"received", received},
                        {"sent", sent}});
  else
    server.log().write(received > 0 ? log_level::warning : log_level::debug, "peer_refused",
                       {{"peer", peer}, {"called", called}, {"why", why.message()}});
}

} // namespace troupe
