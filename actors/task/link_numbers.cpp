#include "troupe/actors/task/link_numbers.hpp"

#include <caf/send.hpp>

namespace troupe {

link_look::numbers numbers_of(const peer_connection& which) {
  link_look::numbers found{.drained = true};
  if (auto exchange = caf::actor_cast<caf::actor>(which.exchange))
    caf::anon_send(exchange, link_look{&found}); // an inline actor
  return found;
}

} // namespace troupe
