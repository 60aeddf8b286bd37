// Does long work for actors that must not be held up by it: compiling and encoding of graphs.
#pragma once
#include "troupe/actors/base/errors.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <functional>
#include <memory>

namespace troupe {

/// Actor -> its clerk: do this. Answered by job_done.
struct job {
  std::function<void()> work; ///< throws nothing
};
struct job_done {};

/// Spawns a clerk, which does one job after the other, on a thread of its own where its system has
/// threads.
caf::actor spawn_clerk(caf::actor_system& system);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::job_done)

namespace troupe {

/// Has a clerk do `work`, which returns a result and throws nothing, and gives what it returns to
/// `then`, in a later turn of `self`; an error where the clerk is gone.
template <class Self, class Work, class Then>
void leave_to(Self* self, const caf::actor& clerk, Work work, Then then) {
  using outcome = decltype(work());
  auto made = std::make_shared<std::unique_ptr<outcome>>();
  self->request(clerk, caf::infinite, job{[=]() mutable {
                  *made = std::make_unique<outcome>(guarded("doing a job", work));
                }})
      .then([=](const job_done&) mutable { then(std::move(**made)); },
            [=](const caf::error&) mutable {
              then(outcome{failure(error_kind::cancelled,
                                   "the thread that does a task's long work shuts down")});
            });
}

} // namespace troupe
