#include "troupe/actors/execution/long_worker.hpp"

#include "troupe/actors/base/clerk.hpp"
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

// One question, which the clerk's thread answers.
struct asked_work {
  ask what;
  std::atomic<bool> stop = false;
  std::atomic<bool> taken = false; // by the thread that does it, or by who drops it

  explicit asked_work(ask&& given) : what(std::move(given)) {}

  status shuts_down() const { return failure(error_kind::cancelled, "its task shuts down"); }

  void answer(status outcome, std::vector<tensor> values = {}) {
    wait_answer made{what.wait, within(*what.origin, std::move(outcome)), std::move(values),
                     what.step};
    deliver(static_cast<inline_actor&>(*caf::actor_cast<caf::abstract_actor*>(what.region)),
            std::move(made), nullptr);
  }

  void run() {
    if (taken.exchange(true) || stop)
      return; // the step has failed: nobody waits
    auto values = guarded("reading or writing files", [&]() -> result<std::vector<tensor>> {
      const auto& op = what.origin->op();
      return what.origin->graph().ops().find_work(op.name)(
          {*what.origin, what.inputs, [this] { return stop.load(std::memory_order_relaxed); }});
    });
    what.inputs.clear(); // the step may go on to change what it holds alone
    if (values)
      answer({}, *std::move(values));
    else
      answer(values.status());
  }
};

class long_worker final : public inline_actor {
public:
  explicit long_worker(caf::actor_config& config)
      : inline_actor(config), clerk_(spawn_clerk(home_system())) {}
  ~long_worker() override { caf::anon_send_exit(clerk_, caf::exit_reason::user_shutdown); }

  const char* name() const override { return "troupe.long_worker"; }

private:
  bool receive(caf::mailbox_element& message, caf::execution_unit*) override {
    if (auto* one = content_if<ask>(message)) {
      begin(std::make_shared<asked_work>(std::move(*one)));
      return true;
    }
    if (auto* end = content_if<step_ended>(message)) {
      // What was asked for while the step failed comes after `fails`.
      if (end->outcome == step_ended::how::fails || end->outcome == step_ended::how::failed)
        stop([&](const asked_work& one) { return one.what.step == end->step; });
      return true;
    }
    if (content_if<caf::exit_msg>(message)) {
      stop([](const asked_work&) { return true; }, true);
      caf::anon_send_exit(clerk_, caf::exit_reason::user_shutdown);
      return true;
    }
    return false;
  }

  void begin(std::shared_ptr<asked_work> work) {
    bool closed;
    {
      std::lock_guard guard{mutex_};
      closed = closed_;
      std::erase_if(under_way_, [](const auto& one) { return one.expired(); });
      if (!closed)
        under_way_.push_back(work);
    }
    if (closed)
      return work->answer(work->shuts_down());
    caf::anon_send(clerk_, job{[work = std::move(work)]() mutable {
                     work->run();
                     work.reset(); // with the region, while its system is there
                   }});
  }

  template <class Which>
  void stop(Which which, bool for_good = false) {
    std::vector<std::shared_ptr<asked_work>> stopped;
    {
      std::lock_guard guard{mutex_};
      closed_ |= for_good;
      for (const auto& one : under_way_)
        if (auto work = one.lock(); work && which(*work))
          stopped.push_back(std::move(work));
    }
    for (const auto& one : stopped) {
      if (!one->stop.exchange(true) && for_good)
        one->answer(one->shuts_down());
      if (one->taken.exchange(true))
        continue;
      // It has not begun, and may stand behind work that takes long: it holds nothing meanwhile.
      one->what.inputs.clear();
      one->what.region = nullptr;
    }
  }

  const caf::actor clerk_;
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::weak_ptr<asked_work>> under_way_;
};

} // namespace

caf::actor spawn_long_worker(caf::actor_system& system) {
  return spawn_inline<long_worker>(system).first;
}

} // namespace troupe
