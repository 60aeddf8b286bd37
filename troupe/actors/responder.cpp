#include "troupe/actors/responder.hpp"

#include "troupe/actors/deadlines.hpp"
#include "troupe/actors/inline_actor.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/actors/system.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <caf/send.hpp>
#include <caf/system_messages.hpp>

#include <optional>
#include <unordered_map>

namespace troupe {
namespace {

// Handles a message on its sender's thread, as regions do: who puts in an element brings it to who
// waits for it. The lock is held for the rules alone; answers leave behind it.
class responder_actor final : public inline_actor {
public:
  responder_actor(caf::actor_config& config, std::shared_ptr<responder> machine)
      : inline_actor(config), machine_(std::move(machine)) {}

  const char* name() const override { return "troupe.responder"; }

  // As deadlines wants them:
  caf::actor_clock& clock() { return home_system().clock(); }
  void delayed_send(responder_actor* self, caf::timespan left, wake_atom wake) {
    auto me = caf::strong_actor_ptr{self->ctrl()};
    clock().schedule_message(clock().now() + left, me,
                             caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, wake));
  }

private:
  struct asker {
    uint32_t wait = 0;
    const troupe::node* origin = nullptr;
    caf::actor region;
    std::optional<deadlines::key> due = {};
  };
  struct delivery {
    caf::actor region;
    wait_answer what;
  };
  using deliveries = std::vector<delivery>;

  bool receive(caf::mailbox_element& message, caf::execution_unit* unit) override {
    deliveries out;
    step_id of;
    if (auto* one = content_if<ask>(message)) {
      of = one->step;
      put(*one, out);
    } else if (auto* end = content_if<step_ended>(message)) {
      std::lock_guard guard{mutex_};
      answers done;
      if (end->failed)
        machine_->cancel(end->step, failure(error_kind::cancelled, "the step has failed"), done);
      machine_->settle(end->step, end->failed, done);
      collect(done, out);
    } else if (content_if<responder_reset>(message)) {
      std::lock_guard guard{mutex_};
      reset(failure(error_kind::cancelled, machine_->kind(), " '", machine_->name(), "' was reset"),
            out);
    } else if (content_if<wake_atom>(message)) {
      std::lock_guard guard{mutex_};
      overdue_ = &out;
      due_.wake(this);
      overdue_ = nullptr;
    } else if (content_if<caf::exit_msg>(message)) {
      std::lock_guard guard{mutex_};
      closed_ = true;
      reset(shuts_down(), out);
    } else {
      return false;
    }
    // This thread goes on with its own step; others wake theirs.
    for (auto& one : out) {
      auto own = one.what.step == of;
      deliver(static_cast<inline_actor&>(*caf::actor_cast<caf::abstract_actor*>(one.region)),
              std::move(one.what), own ? unit : nullptr);
    }
    return true;
  }

  status shuts_down() const {
    return failure(error_kind::cancelled, machine_->kind(), " '", machine_->name(),
                   "' ends: its task shuts down");
  }

  void put(ask& what, deliveries& out) {
    std::lock_guard guard{mutex_};
    answers done;
    request_id who{what.step, next_request_++};
    const auto& origin = *what.origin;
    auto& from = waiting_[who.number];
    from = {what.wait, &origin, std::move(what.region)};
    if (closed_)
      done.push_back({who, shuts_down()});
    else
      origin.op().ask(*machine_, {who, &origin, std::move(what.inputs)}, done);
    collect(done, out);
    auto limit = origin.attrs().find("timeout_ms");
    auto patience = limit == origin.attrs().end() ? 0 : *limit->second.get_if<int64_t>();
    if (auto it = waiting_.find(who.number); it != waiting_.end() && patience > 0)
      it->second.due = due_.add(this, clock().now() + std::chrono::milliseconds{patience},
                                [=, this] { give_up_late(who, patience); });
  }

  void give_up_late(request_id who, int64_t after_ms) {
    answers done;
    machine_->cancel(who,
                     failure(error_kind::deadline_exceeded, machine_->kind(), " '",
                             machine_->name(), "' gave no answer within ", after_ms, " ms"),
                     done);
    collect(done, *overdue_);
  }

  void reset(const status& why, deliveries& out) {
    answers done;
    machine_->reset(why, done);
    collect(done, out);
  }

  // Errors name the node that asked; the responder names itself.
  void collect(answers& done, deliveries& out) {
    for (auto& one : done) {
      auto it = waiting_.find(one.who.number);
      if (it == waiting_.end())
        continue;
      auto& to = it->second;
      if (to.due)
        due_.remove(*to.due);
      out.push_back({std::move(to.region),
                     {to.wait, within(*to.origin, std::move(one.outcome)), std::move(one.tensors),
                      one.who.step}});
      waiting_.erase(it);
    }
  }

  std::mutex mutex_;
  const std::shared_ptr<responder> machine_;
  std::unordered_map<uint64_t, asker> waiting_; // by request
  uint64_t next_request_ = 1;
  deadlines due_;
  deliveries* overdue_ = nullptr; // of wake()
  bool closed_ = false;
};

} // namespace

responder_state::responder_state(std::unique_ptr<responder> machine)
    : named_state(machine->name()), machine_(std::move(machine)) {}

responder_state::~responder_state() {
  if (actor_)
    caf::anon_send_exit(actor_, caf::exit_reason::user_shutdown);
}

result<std::shared_ptr<responder_state>> responder_state::declare(const node& maker,
                                                                  std::string name) {
  auto machine = maker.op().make_responder(maker, std::move(name));
  if (!machine)
    return within(maker, machine.status());
  return std::shared_ptr<responder_state>{new responder_state{*std::move(machine)}};
}

status responder_state::declare_again(const named_state& other) {
  return machine_->declare_again(*static_cast<const responder_state&>(other).machine_);
}

result<tensor> responder_state::read() const {
  return invalid(kind(), " '", name(), "' is no tensor: ask it by an op");
}

void responder_state::clear() {
  caf::actor to;
  {
    std::lock_guard guard{mutex_};
    to = actor_;
  }
  if (to)
    caf::anon_send(to, responder_reset{});
}

caf::actor responder_state::actor(caf::actor_system& system) {
  std::lock_guard guard{mutex_};
  if (!actor_)
    actor_ = spawn_inline<responder_actor>(system, machine_).first;
  return actor_;
}

} // namespace troupe
