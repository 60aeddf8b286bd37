#include "troupe/actors/task/link_numbers.hpp"

#include <caf/send.hpp>

namespace troupe {

link_look::numbers numbers_of(const peer_connection& connection) {
  link_look::numbers numbers{.drained = true};
  if (auto exchange = caf::actor_cast<caf::actor>(connection.exchange))
    caf::anon_send(exchange, link_look{&numbers}); // an inline actor
  return numbers;
}

} // namespace troupe
