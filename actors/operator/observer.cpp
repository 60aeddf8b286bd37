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
                                             .same_host_reads = false,
                                             .view = view_,
                                             .join = {.seeds = cluster.seeds}});
  }
  ~cluster_observer() override {
    caf::anon_send_exit(membership_, caf::exit_reason::user_shutdown);
    membership_ = nullptr;
  }

  result<inspection> inspect(const inspection_ref& ref, const inspection_scope& scope,
                             std::chrono::milliseconds patience) override {
    auto tasks_depth = depth_of_tasks(ref, scope.depth);
    tasks_question question{.tasks = {}, .ref = {}, .scope = scope, .patience = patience};
    if (tasks_depth) {
      auto deadline = std::chrono::steady_clock::now() + patience;
      auto cluster = wait_for_tasks(deadline);
      question.patience = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(
                                       deadline - std::chrono::steady_clock::now()),
                                   std::chrono::milliseconds{1});
      question.scope.depth = *tasks_depth;
      if (*tasks_depth >= 0)
        question.tasks = tasks_below(cluster, ref);
      auto members = view_->members();
      return inspect_cluster(cluster, *members, ref, scope.depth, ask(std::move(question)));
    }
    auto task = ref.task();
    if (!task)
      return failure(error_kind::not_found, to_string(ref), " is not there");
    TROUPE_TRY(check_task(*task));
    question.tasks = {*task};
    question.ref = to_string(ref);
    auto inspections = ask(std::move(question));
    if (inspections.empty())
      return no_answer(*task);
    return inspections.begin()->second;
  }

  status drain(const task_name& task, std::chrono::milliseconds patience) override {
    TROUPE_TRY(check_task(task));
    auto promise = std::make_shared<std::promise<status>>();
    auto answer = promise->get_future();
    ask_to_drain(system_, membership_, task, patience,
                 [=](status outcome) { promise->set_value(std::move(outcome)); });
    try {
      return answer.get();
    } catch (const std::future_error&) { // the actor has ended without an answer
      return no_answer(task);
    }
  }

private:
  // Waits for the first task: in a cluster that tasks join, a member sends the list.
  task_addresses wait_for_tasks(std::chrono::steady_clock::time_point deadline) const {
    constexpr std::chrono::milliseconds period{10};
    for (;;) {
      auto cluster = view_->now();
      if (!cluster.tasks.empty() || !may_change_ || std::chrono::steady_clock::now() >= deadline)
        return cluster;
      std::this_thread::sleep_for(period);
    }
  }

  // Fails for a task that cannot join the cluster.
  status check_task(const task_name& task) const {
    auto known = view_->now();
    auto is_known = [&](const auto& entry) { return entry.first.job == task.job; };
    if (may_change_ && (!jobs_are_final_ || std::ranges::any_of(known.tasks, is_known)))
      return {};
    return address_of(known, task).status();
  }

  static status no_answer(const task_name& task) {
    return failure(error_kind::unavailable, task, " could not be queried");
  }

  // Each request has a timeout, so there is always an answer.
  task_inspections ask(tasks_question question) {
    auto promise = std::make_shared<std::promise<task_inspections>>();
    auto answer = promise->get_future();
    inspect_tasks(system_, membership_, std::move(question), [=](task_inspections inspections) {
      promise->set_value(std::move(inspections));
    });
    try {
      return answer.get();
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

result<std::unique_ptr<observer>> observer::connect(const cluster_access& cluster,
                                                    const observer_options& options) {
  TROUPE_TRY(check_names_tasks(cluster));
  connection_trust trust{.tls = {}, .insecure = options.insecure};
  if (!options.tls.empty()) {
    TROUPE_ASSIGN(trust.tls, tls_identity::load({.files = options.tls,
                                                 .cluster = cluster.known.cluster,
                                                 .self = {},
                                                 .on_warning = {}}));
  }
  return std::unique_ptr<observer>{std::make_unique<cluster_observer>(cluster, std::move(trust))};
}

} // namespace troupe
