#include "troupe/actors/execution/long_worker.hpp"

#include "troupe/actors/base/background_executor.hpp"
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/registry.hpp"

#include <caf/send.hpp>
#include <caf/system_messages.hpp>

#include <atomic>
#include <mutex>

namespace troupe {
namespace {

// The work of one node, which the background executor's thread runs and answers.
struct pending_work {
  wait_request request;
  std::atomic<bool> stop = false;
  std::atomic<bool> taken = false; // by the thread that runs the work, or that drops it

  explicit pending_work(wait_request&& received) : request(std::move(received)) {}

  status shuts_down() const { return failure(error_kind::cancelled, "its task shuts down"); }

  void answer(status outcome, std::vector<tensor> values = {}) {
    wait_answer answer{request.wait, with_node_context(*request.origin, std::move(outcome)),
                       std::move(values), request.step};
    deliver(static_cast<inline_actor&>(*caf::actor_cast<caf::abstract_actor*>(request.region)),
            std::move(answer), nullptr);
  }

  void run() {
    if (taken.exchange(true) || stop)
      return; // the step has failed: no region waits
    auto values = guarded("reading or writing files", [&]() -> result<std::vector<tensor>> {
      const auto& op = request.origin->op();
      return request.origin->graph().ops().find_work(op.name)(
          {*request.origin, request.inputs,
           [this] { return stop.load(std::memory_order_relaxed); }});
    });
    request.inputs.clear(); // the step may overwrite a tensor that only it owns
    if (values)
      answer({}, *std::move(values));
    else
      answer(values.status());
  }
};

class long_worker final : public inline_actor {
public:
  explicit long_worker(caf::actor_config& config)
      : inline_actor(config), background_executor_(spawn_background_executor(home_system())) {}
  ~long_worker() override {
    caf::anon_send_exit(background_executor_, caf::exit_reason::user_shutdown);
  }

  const char* name() const override { return "troupe.long_worker"; }

private:
  bool receive(caf::mailbox_element& message, caf::execution_unit*) override {
    if (auto* request = content_if<wait_request>(message)) {
      begin(std::make_shared<pending_work>(std::move(*request)));
      return true;
    }
    if (auto* end = content_if<step_ended>(message)) {
      // The work of a failed step is stopped at `failed`, too, because requests may come after
      // `failing`.
      if (end->outcome == step_ended::outcome_kind::failing ||
          end->outcome == step_ended::outcome_kind::failed)
        stop([&](const pending_work& work) { return work.request.step == end->step; });
      return true;
    }
    if (content_if<caf::exit_msg>(message)) {
      stop([](const pending_work&) { return true; }, true);
      caf::anon_send_exit(background_executor_, caf::exit_reason::user_shutdown);
      return true;
    }
    return false;
  }

  void begin(std::shared_ptr<pending_work> work) {
    bool closed;
    {
      std::lock_guard guard{mutex_};
      closed = closed_;
      std::erase_if(pending_, [](const auto& pending) { return pending.expired(); });
      if (!closed)
        pending_.push_back(work);
    }
    if (closed)
      return work->answer(work->shuts_down());
    caf::anon_send(background_executor_, job{[work = std::move(work)]() mutable {
                     work->run();
                     work.reset(); // it owns the region, so release it while the system lives
                   }});
  }

  template <class Predicate>
  void stop(Predicate matches, bool closing = false) {
    std::vector<std::shared_ptr<pending_work>> stopped;
    {
      std::lock_guard guard{mutex_};
      closed_ |= closing;
      for (const auto& weak_work : pending_)
        if (auto work = weak_work.lock(); work && matches(*work))
          stopped.push_back(std::move(work));
    }
    for (const auto& work : stopped) {
      if (!work->stop.exchange(true) && closing)
        work->answer(work->shuts_down());
      if (work->taken.exchange(true))
        continue;
      // It has not begun, and may be queued behind long work: release its inputs now.
      work->request.inputs.clear();
      work->request.region = nullptr;
    }
  }

  const caf::actor background_executor_;
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::weak_ptr<pending_work>> pending_;
};

} // namespace

caf::actor spawn_long_worker(caf::actor_system& system) {
  return spawn_inline<long_worker>(system).first;
}

} // namespace troupe
