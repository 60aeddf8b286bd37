#include "troupe/actors/operator/inspect_tasks.hpp"

#include "troupe/actors/base/errors.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/system.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/sec.hpp>

#include <algorithm>

namespace troupe {
namespace {

// Finds a task, by one attempt or several, and asks it, all until one deadline; the answer, or why
// there is none, goes to `then`. The actor stays until its last request is answered.
template <class Answer, class Question, class Then>
void ask_one(caf::event_based_actor* self, const caf::actor& membership, const task_name& task,
             std::chrono::milliseconds patience, bool once, const Question& what, Then then) {
  auto fail = [=](const caf::error& why) {
    then(why == caf::sec::request_timeout
             ? failure(error_kind::deadline_exceeded, task, " did not answer in time")
             : from_caf(why));
  };
  auto deadline = self->clock().now() + patience;
  self->request(membership, patience + std::chrono::seconds{1},
                connect_request{task, deadline, false, once})
      .then(
          [=](const peer_link& link) {
            auto left = std::max<caf::timespan>(deadline - self->clock().now(),
                                                std::chrono::milliseconds{1});
            self->request(link.exchange, left, what)
                .then([=](Answer& one) { then(std::move(one)); }, fail);
          },
          fail);
}

} // namespace

void inspect_tasks(caf::actor_system& system, const caf::actor& membership, tasks_question what,
                   std::function<void(task_inspections)> then) {
  if (what.tasks.empty())
    return then({});
  system.spawn([=, what = std::move(what), then = std::move(then)](caf::event_based_actor* self) {
    auto said = std::make_shared<task_inspections>();
    self->set_default_handler(caf::drop);
    end_with_exceptions(self);
    for (const auto& task : what.tasks)
      ask_one<inspection>(self, membership, task, what.patience, true,
                          inspect_task{what.ref.empty() ? to_string(task) : what.ref, what.scope},
                          [=, count = what.tasks.size()](result<inspection> answer) {
                            said->insert_or_assign(task, std::move(answer));
                            if (said->size() == count)
                              then(std::move(*said));
                          });
  });
}

void ask_to_drain(caf::actor_system& system, const caf::actor& membership, const task_name& task,
                  std::chrono::milliseconds patience, std::function<void(status)> then) {
  system.spawn([=, then = std::move(then)](caf::event_based_actor* self) {
    self->set_default_handler(caf::drop);
    end_with_exceptions(self);
    ask_one<status>(self, membership, task, patience, false, drain_atom::value,
                    [=](status outcome) { then(std::move(outcome)); });
  });
}

} // namespace troupe
