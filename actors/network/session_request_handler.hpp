// The interface by which an exchange hands on what clients ask of the sessions that a task hosts.
#pragma once
#include "troupe/actors/base/messages.hpp"

namespace troupe {

/// Any thread may call.
class session_request_handler {
public:
  virtual ~session_request_handler() = default;
  /// Serves a session_request; `what.from` gets a session_reply for it. The sessions of a
  /// connection end with its exchange.
  virtual void serve(incoming what) = 0;
};

} // namespace troupe
