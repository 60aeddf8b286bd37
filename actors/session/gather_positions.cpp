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
  auto joined = std::make_shared<progress>(progress{{}, {}, workers.size()});
  auto settle = [=](const task_name& task, result<task_positions> answer) {
    if (answer) {
      answer->task = to_string(task);
      joined->positions.push_back(*std::move(answer));
    } else if (answer.status().kind() != error_kind::unavailable &&
               answer.status().kind() != error_kind::deadline_exceeded) {
      joined->failed = answer.status().with_task(to_string(task)).with_context(to_string(task));
    }
    if (--joined->missing > 0)
      return;
    if (joined->failed.ok())
      then(std::move(joined->positions));
    else
      then(joined->failed);
  };
  for (const auto& [task, worker] : workers)
    self->request(worker, patience, question)
        .then([=, task = task](const task_positions& answer) { settle(task, answer); },
              [=, task = task](const caf::error& why) { settle(task, from_caf(why)); });
}

} // namespace troupe
