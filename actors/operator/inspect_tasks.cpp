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

// Finds a task, by one attempt or several, and asks it, until one deadline. `then` gets the answer
// or the error. The actor stays alive until its last request is answered.
template <class Answer, class Question, class Then>
void ask_task(caf::event_based_actor* self, const caf::actor& membership, const task_name& task,
              std::chrono::milliseconds patience, bool single_attempt, const Question& question,
              Then then) {
  auto fail = [=](const caf::error& why) {
    then(why == caf::sec::request_timeout
             ? failure(error_kind::deadline_exceeded, task, " did not answer in time")
             : from_caf(why));
  };
  auto deadline = self->clock().now() + patience;
  self->request(membership, patience + std::chrono::seconds{1},
                connect_request{task, deadline, false, single_attempt})
      .then(
          [=](const peer_link& link) {
            auto left = std::max<caf::timespan>(deadline - self->clock().now(),
                                                std::chrono::milliseconds{1});
            self->request(link.exchange, left, question)
                .then([=](Answer& answer) { then(std::move(answer)); }, fail);
          },
          fail);
}

} // namespace

void inspect_tasks(caf::actor_system& system, const caf::actor& membership, tasks_question question,
                   std::function<void(task_inspections)> then) {
  if (question.tasks.empty())
    return then({});
  system.spawn(
      [=, question = std::move(question), then = std::move(then)](caf::event_based_actor* self) {
        auto inspections = std::make_shared<task_inspections>();
        self->set_default_handler(caf::drop);
        end_on_exceptions(self);
        for (const auto& task : question.tasks)
          ask_task<inspection>(
              self, membership, task, question.patience, true,
              inspect_task{question.ref.empty() ? to_string(task) : question.ref, question.scope},
              [=, count = question.tasks.size()](result<inspection> answer) {
                inspections->insert_or_assign(task, std::move(answer));
                if (inspections->size() == count)
                  then(std::move(*inspections));
              });
      });
}

void ask_to_drain(caf::actor_system& system, const caf::actor& membership, const task_name& task,
                  std::chrono::milliseconds patience, std::function<void(status)> then) {
  system.spawn([=, then = std::move(then)](caf::event_based_actor* self) {
    self->set_default_handler(caf::drop);
    end_on_exceptions(self);
    ask_task<status>(self, membership, task, patience, false, drain_atom::value,
                     [=](status outcome) { then(std::move(outcome)); });
  });
}

} // namespace troupe
