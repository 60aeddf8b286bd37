#include "troupe/actors/network/link_log.hpp"

#include "troupe/actors/task/step_server.hpp"

namespace troupe {

void log_link_opened(step_server& of, const std::string& peer, bool called) {
  of.log().write(log_level::info, "link_opened", {{"peer", peer}, {"called", called}});
}

void log_link_lost(step_server& of, const peer_connection& which, const std::string& peer,
                   bool called, const status& why, bool orderly) {
  if (!of.log())
    return;
  auto received = static_cast<int64_t>(which.received.load(std::memory_order_relaxed));
  auto sent = static_cast<int64_t>(which.sent.load(std::memory_order_relaxed));
  if (which.exchange)
    of.log().write(orderly ? log_level::info : log_level::warning, "link_lost",
                   {{"peer", peer},
                    {"called", called},
                    {"why", why.message()},
                    {"received", received},
                    {"sent", sent}});
  else
    of.log().write(received > 0 ? log_level::warning : log_level::debug, "peer_refused",
                   {{"peer", peer}, {"called", called}, {"why", why.message()}});
}

} // namespace troupe
