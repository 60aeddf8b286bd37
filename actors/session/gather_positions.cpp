#include "troupe/actors/session/gather_positions.hpp"

#include "troupe/actors/base/errors.hpp"

#include <memory>

namespace troupe {

void gather_positions(caf::event_based_actor* self, const std::map<task_name, caf::actor>& workers,
                      const ask_positions& what,
                      std::function<void(result<std::vector<task_positions>>)> then) {
  constexpr std::chrono::seconds patience{2}; // who trains waits for it
  if (workers.empty())
    return then(std::vector<task_positions>{});
  struct progress {
    std::vector<task_positions> found;
    status failed;
    size_t missing;
  };
  auto all = std::make_shared<progress>(progress{{}, {}, workers.size()});
  auto settle = [=](const task_name& task, result<task_positions> one) {
    if (one) {
      one->task = to_string(task);
      all->found.push_back(*std::move(one));
    } else if (one.status().kind() != error_kind::unavailable &&
               one.status().kind() != error_kind::deadline_exceeded) {
      all->failed = one.status().on_task(to_string(task)).within(to_string(task));
    }
    if (--all->missing > 0)
      return;
    if (all->failed.ok())
      then(std::move(all->found));
    else
      then(all->failed);
  };
  for (const auto& [task, worker] : workers)
    self->request(worker, patience, what)
        .then([=, task = task](const task_positions& one) { settle(task, one); },
              [=, task = task](const caf::error& why) { settle(task, from_caf(why)); });
}

} // namespace troupe
