// How an actor learns that whoever asked it for something wants that stopped (run_options::stop).
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

/// Whoever wants a run stopped -> the actor that runs it. No answer; the actor calls act().
struct stop_wanted {
  std::weak_ptr<stop_request> what;
  void act() const;
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::stop_wanted)

namespace troupe {

/// While it lives, `act` is called once on the actor's thread, in a turn after the one in which the
/// token was asked to stop. What `act` keeps may keep this: it is to be let go of when the run
/// ends.
class stop_request {
public:
  /// Nothing where the token can never be asked.
  template <class Self>
  static std::shared_ptr<stop_request> watch(Self* self, const std::stop_token& token,
                                             std::function<void()> act) {
    if (!token.stop_possible())
      return nullptr;
    auto made = std::make_shared<stop_request>(std::move(act));
    made->asked_.emplace(token, tell{self->address(), made});
    return made;
  }
  explicit stop_request(std::function<void()> act) : act_(std::move(act)) {}
  stop_request(const stop_request&) = delete;
  stop_request& operator=(const stop_request&) = delete;

private:
  friend struct stop_wanted;
  // On whatever thread asks: it may be another actor's, or the caller's.
  struct tell {
    caf::actor_addr whom;
    std::weak_ptr<stop_request> what;
    void operator()() const {
      if (auto to = caf::actor_cast<caf::actor>(whom))
        caf::anon_send(to, stop_wanted{what});
    }
  };

  std::function<void()> act_;
  std::optional<std::stop_callback<tell>> asked_;
};

inline void stop_wanted::act() const {
  if (auto one = what.lock())
    if (auto act = std::exchange(one->act_, nullptr))
      act();
}

} // namespace troupe
