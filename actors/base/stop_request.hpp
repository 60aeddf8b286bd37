// Sends an actor a message when the stop token of a request (run_options::stop) is requested to
// stop.
#pragma once
#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/send.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace troupe {

class stop_request;

/// The thread that requests the stop -> the actor that runs the request. The actor calls act(). No
/// answer.
struct stop_message {
  std::weak_ptr<stop_request> request;
  void act() const;
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::stop_message)

namespace troupe {

/// If the token is requested to stop while this object lives, `act` is called once, on the actor's
/// thread, when the actor handles the stop_message. `act` may own this object, so release it when
/// the run ends.
class stop_request {
public:
  /// Returns null if the token can never be requested to stop.
  template <class Self>
  static std::shared_ptr<stop_request> watch(Self* self, const std::stop_token& token,
                                             std::function<void()> act) {
    if (!token.stop_possible())
      return nullptr;
    auto request = std::make_shared<stop_request>(std::move(act));
    request->callback_.emplace(token, notify{self->address(), request});
    return request;
  }
  explicit stop_request(std::function<void()> act) : act_(std::move(act)) {}
  stop_request(const stop_request&) = delete;
  stop_request& operator=(const stop_request&) = delete;

private:
  friend struct stop_message;
  // Runs on the thread that requests the stop: another actor's, or the caller's.
  struct notify {
    caf::actor_addr receiver;
    std::weak_ptr<stop_request> request;
    void operator()() const {
      if (auto to = caf::actor_cast<caf::actor>(receiver))
        caf::anon_send(to, stop_message{request});
    }
  };

  std::function<void()> act_;
  std::optional<std::stop_callback<notify>> callback_;
};

inline void stop_message::act() const {
  if (auto held = request.lock())
    if (auto act = std::exchange(held->act_, nullptr))
      act();
}

} // namespace troupe
