#include "troupe/actors/client.hpp"

#include "troupe/actors/caller_unit.hpp"
#include "troupe/actors/errors.hpp"
#include "troupe/actors/master.hpp"
#include "troupe/actors/prepared_step.hpp"
#include "troupe/actors/session.hpp"
#include "troupe/actors/system.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <condition_variable>

namespace troupe {
namespace {

// Where a thread waits for the step that it drives.
class driver final : public step_observer {
public:
  void step_ended(caf::execution_unit*) noexcept override {
    std::lock_guard guard{mutex_};
    ended_ = true;
    changed_.notify_one(); // under the lock, because the waiter destroys this
  }
  bool wait_until(step_clock::time_point deadline) {
    std::unique_lock lock{mutex_};
    return changed_.wait_until(lock, deadline, [&] { return ended_; });
  }
  // After an abort: nothing new starts, and running kernels leave off within some 10 ms.
  void wait_for_stop() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return ended_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

class actor_client final : public client {
public:
  actor_client(client_options options, bool networked)
      : client(std::move(options)), config_(this->options().inter_op_threads, networked),
        system_(config_) {}

  ~actor_client() override {
    if (parts_.session)
      caf::anon_send_exit(parts_.session, caf::exit_reason::user_shutdown);
    parts_ = {};
  }

  status start_local() { return start(spawn_local_session(system_, options())); }
  status start_connected(const cluster_spec& cluster) {
    return start(spawn_cluster_session(system_, cluster, options()));
  }

  result<std::shared_ptr<prepared_step>> prepare(const graph& of, const step_signature& signature,
                                                 step_clock::time_point deadline) override {
    return ask_for<std::shared_ptr<prepared_step>>(deadline,
                                                   prepare_request{&of, signature, deadline});
  }

  result<std::vector<tensor>> run(prepared_step& step, std::span<const tensor> feeds,
                                  step_clock::time_point deadline) override {
    std::vector<tensor> fetches(step.signature.fetches.size());
    TROUPE_TRY(run_into(step, feeds, fetches, deadline));
    return fetches;
  }

  status run_into(prepared_step& step, std::span<const tensor> feeds, std::span<tensor> fetches,
                  step_clock::time_point deadline) override {
    if (fetches.size() != step.signature.fetches.size())
      return invalid("the step has ", step.signature.fetches.size(), " fetches, got room for ",
                     fetches.size());
    if (step.local) {
      TROUPE_TRY(check_feeds(step.signature, feeds));
      return drive(*step.local, feeds, fetches, deadline);
    }
    step_request request{step.shared_from_this(), {feeds.begin(), feeds.end()}, deadline};
    auto outcome = ask_for<step_outcome>(deadline, std::move(request));
    if (!outcome)
      return outcome.status();
    if (!outcome->outcome)
      return std::move(outcome->outcome);
    std::ranges::move(outcome->fetches, fetches.begin());
    return {};
  }

  result<std::vector<device_info>> devices(step_clock::time_point deadline) override {
    return ask_for<std::vector<device_info>>(deadline, list_devices_atom::value);
  }

  status reset(const std::string& container, step_clock::time_point deadline) override {
    status outcome;
    auto taken =
        ask(deadline, reset_request{container}, [&](const status& what) { outcome = what; });
    return taken ? outcome : taken;
  }

private:
  status start(result<session_parts> parts) {
    TROUPE_ASSIGN(parts_, std::move(parts));
    return {};
  }

  // Asks the session and waits for its answer. The master answers at the deadline itself, with the
  // name of the task that it waited for.
  template <class Question, class Take>
  status ask(step_clock::time_point deadline, Question question, Take take) {
    caf::scoped_actor self{system_, true};
    auto left =
        std::max<caf::timespan>(deadline - step_clock::now(), std::chrono::milliseconds{1}) +
        std::chrono::seconds{3};
    status outcome;
    self->request(parts_.session, left, std::move(question))
        .receive(take, [&](const caf::error& why) { outcome = from_caf(why); });
    return outcome;
  }

  template <class Answer, class Question>
  result<Answer> ask_for(step_clock::time_point deadline, Question question) {
    Answer answer;
    TROUPE_TRY(ask(deadline, std::move(question), [&](Answer& what) { answer = std::move(what); }));
    return answer;
  }

  status drive(task_program& program, std::span<const tensor> feeds, std::span<tensor> fetches,
               step_clock::time_point deadline) {
    auto in = program.check_out();
    in->set_feeds([&](uint32_t index) -> const tensor& { return feeds[index]; });
    auto& conductor = in->conductor();
    auto step = next_step_id(parts_.id);
    driver end;
    caller_unit unit{system_};
    conductor.begin(step, end, &unit, deadline);
    unit.drain(conductor.stop());
    if (!end.wait_until(deadline)) {
      conductor.abort(step, overdue(step), &unit);
      end.wait_for_stop();
    }
    if (!conductor.outcome()) {
      auto outcome = conductor.outcome();
      in->retire();
      return outcome;
    }
    std::ranges::move(conductor.fetches(), fetches.begin());
    program.check_in(std::move(in));
    return {};
  }

  system_config config_;
  caf::actor_system system_;
  session_parts parts_;
};

} // namespace

result<std::unique_ptr<client>> client::local(client_options options) {
  auto made = std::make_unique<actor_client>(std::move(options), false);
  TROUPE_TRY(made->start_local());
  return std::unique_ptr<client>{std::move(made)};
}

result<std::unique_ptr<client>> client::connect(cluster_spec cluster, client_options options) {
  auto made = std::make_unique<actor_client>(std::move(options), true);
  TROUPE_TRY(made->start_connected(cluster));
  return std::unique_ptr<client>{std::move(made)};
}

} // namespace troupe
