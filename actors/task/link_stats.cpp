#include "troupe/actors/task/link_stats.hpp"

#include <caf/send.hpp>

namespace troupe {

link_stats_query::stats link_stats_of(const peer_connection& connection) {
  link_stats_query::stats numbers{.drained = true};
  if (auto exchange = caf::actor_cast<caf::actor>(connection.exchange))
    caf::anon_send(exchange, link_stats_query{&numbers}); // an inline actor
  return numbers;
}

} // namespace troupe
