#include "troupe/actors/execution/responder.hpp"

#include "troupe/actors/base/deadlines.hpp"
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/base/system.hpp"
#include "troupe/actors/execution/input_threads.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <boost/container/small_vector.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>
#include <caf/system_messages.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>

namespace troupe {
namespace {

void fill_in(state_info& about, const responder& of) {
  about.holds = of.holds();
  about.content = of.describe();
  about.bytes = of.bytes();
}

// Forgets a list on the stack, however its function ends.
template <class List>
struct only_here {
  List** place;
  ~only_here() {
    if (place)
      *place = nullptr;
  }
};
template <class List>
only_here(List**) -> only_here<List>;

// Handles a message on its sender's thread, as regions do: who puts in an element brings it to who
// waits for it. The lock is held for the rules alone; answers leave behind it.
class responder_actor final : public inline_actor {
public:
  responder_actor(caf::actor_config& config, std::shared_ptr<responder> machine,
                  std::shared_ptr<input_threads> input)
      : inline_actor(config), machine_(std::move(machine)), input_(std::move(input)) {}

  const char* name() const override { return "troupe.responder"; }

  // As deadlines wants them:
  caf::actor_clock& clock() { return home_system().clock(); }
  // The clock's thread must never run what is here: it would wait for itself.
  void delayed_send(responder_actor* self, caf::timespan left, wake_atom wake) {
    if (!timer_)
      timer_ =
          home_system().spawn([to = self->address()](caf::event_based_actor*) -> caf::behavior {
            return {[to](wake_atom woken) {
              if (auto responder = caf::actor_cast<caf::actor>(to))
                caf::anon_send(responder, woken);
            }};
          });
    clock().schedule_message(clock().now() + left, caf::actor_cast<caf::strong_actor_ptr>(timer_),
                             caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, wake));
  }

private:
  struct asker {
    uint32_t wait = 0;
    const troupe::node* origin = nullptr;
    caf::actor region; // or a responder, for an errand
    caf::actor source; // what it may ask in turn
    caf::actor keep;   // `origin` lives as long
    usage_meter::side side = usage_meter::neither;
  };
  struct waiter {
    asker from;
    std::optional<deadlines::key> due;
  };
  struct delivery {
    caf::actor region;
    wait_answer what;
  };
  // What is asked of another responder, or has files read.
  struct outing {
    errand what;
    asker from;
  };
  // Most requests have one answer.
  struct deliveries {
    boost::container::small_vector<delivery, 2> answers;
    std::vector<outing> errands;
  };

  bool receive(caf::mailbox_element& message, caf::execution_unit* unit) override {
    deliveries out;
    step_id of;
    if (auto* one = content_if<ask>(message)) {
      of = one->step;
      auto side = one->origin->op().goes_back ? usage_meter::takes
                  : one->inputs.empty()       ? usage_meter::neither
                                              : usage_meter::puts;
      put({one->wait, one->origin, std::move(one->region), std::move(one->source), {}, side}, of,
          one->origin->op().ask, std::move(one->inputs), out);
    } else if (auto* wish = content_if<troupe::ask_source>(message)) {
      of = wish->step;
      put({wish->errand,
           wish->origin,
           std::move(wish->asker),
           {},
           std::move(wish->region),
           usage_meter::takes},
          of, wish->how, {}, out);
    } else if (auto* back = content_if<withdraw_question>(message)) {
      of = back->step;
      under_lock(out, [&](answers& done) { withdraw(*back, done); });
    } else if (auto* found = content_if<wait_answer>(message)) {
      of = found->step;
      under_lock(out, [&](answers& done) {
        machine_->errand_ended(found->wait, std::move(found->outcome), std::move(found->values),
                               done);
      });
    } else if (auto* done_by = content_if<troupe::errand_ended>(message)) {
      under_lock(out, [&](answers& done) {
        machine_->errand_ended(done_by->number, std::move(done_by->outcome), {}, done);
      });
    } else if (auto* end = content_if<step_ended>(message)) {
      under_lock(out, [&](answers& done) {
        using how = step_ended::how;
        if (end->outcome == how::fails || end->outcome == how::failed)
          machine_->cancel(end->step, failure(error_kind::cancelled, "the step has failed"), done);
        if (end->outcome == how::well_here && machine_->holds_for(end->step))
          *end->holds = true;
        else if (end->outcome != how::fails)
          machine_->settle(end->step, end->outcome == how::failed, done);
      });
    } else if (content_if<responder_reset>(message)) {
      under_lock(out, [&](answers& done) {
        machine_->reset(
            failure(error_kind::cancelled, machine_->kind(), " '", machine_->name(), "' was reset"),
            done);
      });
    } else if (auto* look = content_if<responder_look>(message)) {
      std::lock_guard guard{mutex_};
      if (look->about)
        fill_in(*look->about, *machine_);
      if (look->numbers)
        *look->numbers = count();
    } else if (content_if<wake_atom>(message)) {
      under_lock(out, [&](answers& done) {
        overdue_ = &done;
        due_.wake(this);
        overdue_ = nullptr;
      });
    } else if (content_if<caf::exit_msg>(message)) {
      under_lock(out, [&](answers& done) {
        closed_ = true;
        machine_->reset(shuts_down(), done);
      });
    } else {
      return false;
    }
    pass_on(out, of, unit);
    return true;
  }

  responder_numbers count() {
    responder_numbers made{.size = machine_->size()};
    meter_.advance(made.size);
    made.usage = meter_.so_far();
    for (const auto& [number, one] : waiting_) {
      made.puts_waiting += one.from.side == usage_meter::puts;
      made.takes_waiting += one.from.side == usage_meter::takes;
    }
    return made;
  }

  void withdraw(const withdraw_question& what, answers& done) {
    for (const auto& [number, one] : waiting_)
      if (one.from.keep && one.from.wait == what.errand && one.from.region == what.asker)
        return machine_->cancel(request_id{what.step, number},
                                failure(error_kind::cancelled, "the step has failed"), done);
  }

  // A list of this thread's, for what is answered under a lock: its memory stays.
  static answers& no_answers() {
    static thread_local answers kept;
    kept.clear();
    return kept;
  }

  // What does not fit into memory ends no process. What was answered until then is answered.
  template <class Act>
  void under_lock(deliveries& out, Act act) {
    std::lock_guard guard{mutex_};
    meter_.advance(machine_->size());
    auto& done = no_answers();
    (void)guarded("answering", [&]() -> status {
      act(done);
      return {};
    });
    collect(done, out);
    look_around(out);
  }

  // Errands leave behind the lock, as answers do.
  void look_around(deliveries& out) {
    errands_.clear();
    machine_->take_errands(errands_);
    for (auto& one : errands_) {
      asker from;
      if (one.asks_for)
        if (auto it = waiting_.find(one.asks_for->number); it != waiting_.end())
          from = it->second.from;
      out.errands.push_back({std::move(one), std::move(from)});
    }
  }

  // The step of the request is the one that asks, so that its end ends this, too.
  void run_errand(outing& one, caf::execution_unit* unit) {
    auto me = caf::actor_cast<caf::actor>(this);
    if (one.what.work) {
      auto begun = input_->run([me = std::move(me), work = std::move(one.what.work),
                                number = one.what.number](file_access& files) {
        auto outcome = guarded("reading a file", [&] { return work(files); });
        deliver(actor_behind(me), troupe::errand_ended{number, std::move(outcome)}, nullptr);
      });
      if (!begun)
        deliver(*this,
                troupe::errand_ended{one.what.number,
                                     failure(error_kind::resource_exhausted,
                                             "the system gives no thread to read files")},
                unit);
      return;
    }
    auto step = one.what.asks_for->step;
    if (!one.from.source) {
      deliver(*this,
              wait_answer{one.what.number,
                          failure(error_kind::internal, machine_->kind(), " '", machine_->name(),
                                  "' has nobody to ask"),
                          {},
                          step},
              unit);
      return;
    }
    deliver(actor_behind(one.from.source),
            troupe::ask_source{step, one.from.origin, one.what.ask, one.what.number,
                               one.from.region, me},
            unit);
    // The step may have failed before the source heard of it.
    std::unique_lock lock{mutex_};
    auto wanted = waiting_.contains(one.what.asks_for->number);
    lock.unlock();
    if (!wanted)
      deliver(actor_behind(one.from.source),
              withdraw_question{step, one.what.number, std::move(me)}, unit);
  }

  // This thread goes on with its own step; others wake theirs. A step that fails for its answer can
  // bring an answer to the next: those come one after another, not one within another.
  // Errands come one after another, too: what answers at once makes room for the next.
  void pass_on(deliveries& out, step_id of, caf::execution_unit* unit) {
    bring_all({out.answers.data(), out.answers.size()}, of, unit);
    if (out.errands.empty())
      return;
    using errand_of = std::pair<caf::actor, outing>;
    static thread_local std::deque<errand_of>* under_way = nullptr;
    std::deque<errand_of> mine;
    auto outermost = !under_way;
    if (outermost)
      under_way = &mine;
    const only_here ends{outermost ? &under_way : nullptr};
    for (auto& one : out.errands)
      under_way->emplace_back(caf::actor_cast<caf::actor>(this), std::move(one));
    if (!outermost)
      return;
    for (; !mine.empty(); mine.pop_front()) {
      auto next = std::move(mine.front());
      actor_behind(next.first).run_errand(next.second, unit);
    }
  }

  static responder_actor& actor_behind(const caf::actor& handle) {
    return static_cast<responder_actor&>(*caf::actor_cast<caf::abstract_actor*>(handle));
  }

  // Deliveries that a thread brings after the step that it goes on with. The list is not on its
  // stack: GCC 13 warns of a thread_local pointer to a local variable.
  struct waiting_deliveries {
    std::vector<delivery> list;
    bool under_way = false; // a call further out brings them

    struct end {
      waiting_deliveries* of;
      ~end() {
        if (!of)
          return;
        of->under_way = false;
        if (!of->list.empty()) { // an exception has ended it
          auto left = std::exchange(of->list, {});
        }
      }
    };
  };

  static void bring_all(std::span<delivery> out, step_id of, caf::execution_unit* unit) {
    static thread_local waiting_deliveries waiting;
    auto outermost = !std::exchange(waiting.under_way, true);
    const waiting_deliveries::end ends{outermost ? &waiting : nullptr};
    auto& others = waiting.list;
    for (auto& one : out)
      if (one.what.step == of)
        bring(one, unit);
      else
        others.push_back(std::move(one));
    if (!outermost)
      return;
    for (size_t i = 0; i < others.size();) { // it may grow meanwhile
      auto next = std::move(others[i++]);
      if (i == others.size()) {
        others.clear();
        i = 0;
      }
      bring(next, nullptr);
    }
  }

  static void bring(delivery& what, caf::execution_unit* unit) {
    deliver(static_cast<inline_actor&>(*caf::actor_cast<caf::abstract_actor*>(what.region)),
            std::move(what.what), unit);
  }

  status shuts_down() const {
    return failure(error_kind::cancelled, machine_->kind(), " '", machine_->name(),
                   "' ends: its task shuts down");
  }

  void put(asker from, step_id step, decltype(errand::ask) how, std::vector<tensor> inputs,
           deliveries& out) {
    std::lock_guard guard{mutex_};
    meter_.advance(machine_->size());
    meter_.came(from.side);
    auto& done = no_answers();
    request_id who{step, next_request_++};
    auto is_mine = [&](const auto& one) { return one.who == who; };
    if (closed_) {
      done.push_back({who, shuts_down()});
    } else {
      auto asked = guarded("asking", [&]() -> status {
        how(*machine_, {who, from.origin, std::move(inputs), &meter_}, done);
        return {};
      });
      if (!asked)
        machine_->cancel(who, asked, done);
      if (!asked && std::ranges::none_of(done, is_mine))
        done.push_back({who, std::move(asked)});
    }
    // What is answered at once never stands among those that wait.
    if (auto mine = std::ranges::find_if(done, is_mine); mine != done.end())
      out.answers.push_back(delivery_to(from, *mine));
    else
      wait(who, std::move(from));
    collect(done, out);
    look_around(out);
  }

  void wait(request_id who, asker from) {
    auto limit = from.origin->attrs().find("timeout_ms");
    auto patience = limit == from.origin->attrs().end() ? 0 : *limit->second.get_if<int64_t>();
    patience = std::min<int64_t>(patience, longest_patience_ms);
    meter_.waits(from.side);
    auto& waits = waiting_[who.number];
    waits.from = std::move(from);
    if (patience > 0)
      waits.due = due_.add(this, clock().now() + std::chrono::milliseconds{patience},
                           [=, this] { give_up_late(who, patience); });
  }

  void give_up_late(request_id who, int64_t after_ms) {
    machine_->cancel(who,
                     failure(error_kind::deadline_exceeded, machine_->kind(), " '",
                             machine_->name(), "' gave no answer within ", after_ms, " ms: it has ",
                             machine_->describe()),
                     *overdue_);
  }

  // Errors name the node that asked, when they come to it; the responder names itself.
  static delivery delivery_to(asker& to, answer& what) {
    auto outcome = to.keep ? std::move(what.outcome) : within(*to.origin, std::move(what.outcome));
    return {std::move(to.region),
            {to.wait, std::move(outcome), std::move(what.tensors), what.who.step}};
  }

  // To those that have waited.
  void collect(answers& done, deliveries& out) {
    for (auto& one : done) {
      auto it = waiting_.find(one.who.number);
      if (it == waiting_.end())
        continue;
      meter_.waited(it->second.from.side);
      if (it->second.due)
        due_.remove(*it->second.due);
      out.answers.push_back(delivery_to(it->second.from, one));
      waiting_.erase(it);
    }
  }

  std::mutex mutex_;
  const std::shared_ptr<responder> machine_;
  const std::shared_ptr<input_threads> input_;
  usage_meter meter_;
  std::vector<errand> errands_;                  // those being handed out
  std::unordered_map<uint64_t, waiter> waiting_; // by request
  uint64_t next_request_ = 1;
  deadlines due_;
  answers* overdue_ = nullptr; // of wake()
  caf::actor timer_;
  static constexpr int64_t longest_patience_ms = int64_t{1000} * 3600 * 24 * 365; // a year
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

state_info responder_state::describe() const {
  auto about = named_state::describe();
  std::lock_guard guard{mutex_};
  if (actor_)
    deliver(static_cast<inline_actor&>(*caf::actor_cast<caf::abstract_actor*>(actor_)),
            responder_look{&about, nullptr}, nullptr);
  else
    fill_in(about, *machine_);
  return about;
}

responder_numbers responder_state::numbers() const {
  responder_numbers found;
  std::lock_guard guard{mutex_};
  if (actor_)
    deliver(static_cast<inline_actor&>(*caf::actor_cast<caf::abstract_actor*>(actor_)),
            responder_look{nullptr, &found}, nullptr);
  else
    found.size = machine_->size();
  return found;
}

caf::actor responder_state::actor(caf::actor_system& system,
                                  const std::shared_ptr<input_threads>& input) {
  std::lock_guard guard{mutex_};
  if (!actor_)
    actor_ = spawn_inline<responder_actor>(system, machine_, input).first;
  return actor_;
}

} // namespace troupe
