// Runs long work for actors that must not be blocked by it: compiling and encoding of graphs.
#pragma once
#include "troupe/actors/base/errors.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <functional>
#include <memory>

namespace troupe {

/// Actor -> background executor: run this. Answered by job_done.
struct job {
  std::function<void()> work; ///< does not throw
};
struct job_done {};

/// Spawns an actor that runs one job after another. It has a thread of its own, if its system has
/// threads.
caf::actor spawn_background_executor(caf::actor_system& system);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::job_done)

namespace troupe {

/// Has a background executor run `work`, which returns a result and does not throw. Calls `then`
/// with that result in a later message of `self`, or with an error if the background executor has
/// ended.
template <class Self, class Work, class Then>
void run_in_background(Self* self, const caf::actor& background_executor, Work work, Then then) {
  using outcome = decltype(work());
  auto job_result = std::make_shared<std::unique_ptr<outcome>>();
  self->request(background_executor, caf::infinite, job{[=]() mutable {
                  *job_result = std::make_unique<outcome>(guarded("doing a job", work));
                }})
      .then([=](const job_done&) mutable { then(std::move(**job_result)); },
            [=](const caf::error&) mutable {
              then(outcome{
                  failure(error_kind::cancelled, "the thread for a task's long work shuts down")});
            });
}

} // namespace troupe
