// The interface by which an exchange passes on requests of clients to the hosted sessions of a
// task.
#pragma once
#include "troupe/actors/base/messages.hpp"

namespace troupe {

/// Any thread may call.
class session_request_handler {
public:
  virtual ~session_request_handler() = default;
  /// Serves a session_request; `request.from` gets a session_reply for it. The sessions of a
  /// connection end with its exchange.
  virtual void serve(incoming request) = 0;
};

} // namespace troupe
