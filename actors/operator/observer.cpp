#include "troupe/actors/operator/observer.hpp"

#include "troupe/actors/base/random_id.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/membership/membership.hpp"
#include "troupe/actors/operator/inspect_tasks.hpp"
#include "troupe/serialization/discovery/cluster_view.hpp"
#include "troupe/serialization/tls/tls.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <future>
#include <thread>

namespace troupe {
namespace {

class cluster_observer final : public observer {
public:
  cluster_observer(const cluster_access& cluster, connection_trust trust)
      : may_change_(cluster.may_change()), jobs_are_final_(cluster.jobs_are_final()),
        view_(std::make_shared<cluster_view>(cluster.known)), config_(1, true), system_(config_) {
    membership_ = spawn_membership(system_, {.cluster = cluster,
                                             .role = "client",
                                             .self = {},
                                             .incarnation = random_id(),
                                             .owner = {},
                                             .server = {},
                                             .trust = std::move(trust),
                                             .near_memory = false,
                                             .view = view_,
                                             .join = {.seeds = cluster.seeds}});
  }
  ~cluster_observer() override {
    caf::anon_send_exit(membership_, caf::exit_reason::user_shutdown);
    membership_ = nullptr;
  }

  result<inspection> inspect(const inspection_ref& ref, const inspection_scope& scope,
                             std::chrono::milliseconds patience) override {
    auto below = depth_of_tasks(ref, scope.depth);
    tasks_question what{.tasks = {}, .ref = {}, .scope = scope, .patience = patience};
    if (below) {
      auto deadline = std::chrono::steady_clock::now() + patience;
      auto cluster = known_by(deadline);
      what.patience = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(
                                   deadline - std::chrono::steady_clock::now()),
                               std::chrono::milliseconds{1});
      what.scope.depth = *below;
      if (*below >= 0)
        what.tasks = tasks_below(cluster, ref);
      auto members = view_->members();
      return inspect_cluster(cluster, *members, ref, scope.depth, ask(std::move(what)));
    }
    auto task = ref.task();
    if (!task)
      return failure(error_kind::not_found, to_string(ref), " is not there");
    TROUPE_TRY(may_be(*task));
    what.tasks = {*task};
    what.ref = to_string(ref);
    auto said = ask(std::move(what));
    if (said.empty())
      return no_answer(*task);
    return said.begin()->second;
  }

  status drain(const task_name& task, std::chrono::milliseconds patience) override {
    TROUPE_TRY(may_be(task));
    auto done = std::make_shared<std::promise<status>>();
    auto outcome = done->get_future();
    ask_to_drain(system_, membership_, task, patience,
                 [=](status what) { done->set_value(std::move(what)); });
    try {
      return outcome.get();
    } catch (const std::future_error&) { // what should have answered has failed
      return no_answer(task);
    }
  }

private:
  // A cluster that is joined is told by its members.
  task_addresses known_by(std::chrono::steady_clock::time_point deadline) const {
    constexpr std::chrono::milliseconds period{10};
    for (;;) {
      auto cluster = view_->now();
      if (!cluster.tasks.empty() || !may_change_ || std::chrono::steady_clock::now() >= deadline)
        return cluster;
      std::this_thread::sleep_for(period);
    }
  }

  // Fails for a task that there will never be.
  status may_be(const task_name& task) const {
    auto known = view_->now();
    auto is_known = [&](const auto& each) { return each.first.job == task.job; };
    if (may_change_ && (!jobs_are_final_ || std::ranges::any_of(known.tasks, is_known)))
      return {};
    return address_of(known, task).status();
  }

  static status no_answer(const task_name& task) {
    return failure(error_kind::unavailable, task, " could not be asked");
  }

  // Each request has a time-out, so that the answer comes.
  task_inspections ask(tasks_question what) {
    auto done = std::make_shared<std::promise<task_inspections>>();
    auto said = done->get_future();
    inspect_tasks(system_, membership_, std::move(what),
                  [=](task_inspections all) { done->set_value(std::move(all)); });
    try {
      return said.get();
    } catch (const std::future_error&) {
      return {};
    }
  }

  const bool may_change_, jobs_are_final_;
  const std::shared_ptr<cluster_view> view_;
  system_config config_;
  caf::actor_system system_;
  caf::actor membership_;
};

} // namespace

result<std::unique_ptr<observer>> observer::of(const cluster_access& cluster,
                                               const observer_options& how) {
  TROUPE_TRY(knows_tasks(cluster));
  connection_trust trust{.tls = {}, .insecure = how.insecure};
  if (!how.tls.none()) {
    TROUPE_ASSIGN(
        trust.tls,
        tls_identity::load(
            {.files = how.tls, .cluster = cluster.known.cluster, .self = {}, .on_warning = {}}));
  }
  return std::unique_ptr<observer>{std::make_unique<cluster_observer>(cluster, std::move(trust))};
}

} // namespace troupe
