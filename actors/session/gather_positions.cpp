#include "troupe/actors/session/gather_positions.hpp"

#include "troupe/actors/base/errors.hpp"

#include <memory>

namespace troupe {

void gather_positions(caf::event_based_actor* self, const std::map<task_name, caf::actor>& workers,
                      const ask_positions& question,
                      std::function<void(result<std::vector<task_positions>>)> then) {
  constexpr std::chrono::seconds patience{2}; // the training loop waits for it
  if (workers.empty())
    return then(std::vector<task_positions>{});
  struct progress {
    std::vector<task_positions> positions;
    status failed;
    size_t missing;
  };
  auto gathered = std::make_shared<progress>(progress{{}, {}, workers.size()});
  auto record_answer = [=](const task_name& task, result<task_positions> answer) {
    if (answer) {
      answer->task = to_string(task);
      gathered->positions.push_back(*std::move(answer));
    } else if (answer.status().kind() != error_kind::unavailable &&
               answer.status().kind() != error_kind::deadline_exceeded) {
      gathered->failed = answer.status().with_task(to_string(task)).with_context(to_string(task));
    }
    if (--gathered->missing > 0)
      return;
    if (gathered->failed.ok())
      then(std::move(gathered->positions));
    else
      then(gathered->failed);
  };
  for (const auto& [task, worker] : workers)
    self->request(worker, patience, question)
        .then([=, task = task](const task_positions& answer) { record_answer(task, answer); },
              [=, task = task](const caf::error& why) { record_answer(task, from_caf(why)); });
}

} // namespace troupe
