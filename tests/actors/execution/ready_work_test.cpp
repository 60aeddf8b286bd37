// Queues of threads for ready work, with work that is no region.
#include "troupe/actors/execution/ready_work.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/execution/caller_unit.hpp"
#include "troupe/actors/execution/inline_unit.hpp"
#include "troupe/actors/execution/kernel_threads.hpp"
#include "troupe/actors/execution/launch_thread.hpp"
#include "troupe/actors/execution/low_priority_threads.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe::test::ready_work_test {

using namespace std::chrono_literals;

namespace {

// The numbers of fake work, in the order in which it ran.
class diary {
public:
  void note(int number) {
    std::lock_guard guard{mutex_};
    numbers_.push_back(number);
    changed_.notify_all();
  }
  std::vector<int> wait_for(size_t count) {
    std::unique_lock guard{mutex_};
    changed_.wait(guard, [&] { return numbers_.size() >= count; });
    return numbers_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> numbers_;
};

struct traits {
  step_queue_state* step = nullptr;
  bool is_light = false, is_brief = false, is_quick = false, has_stopped = false;
};

// Counts its references like an actor, and the objects that live.
class fake_work final : public ready_work {
public:
  using code = std::function<void(caf::execution_unit*)>;
  static ready_work* make(diary& runs, int number, const traits& about, code act = {}) {
    return new fake_work{runs, number, about, std::move(act)};
  }
  static inline std::atomic<int> alive = 0, passed_on = 0, measured = 0;

  resume_result resume(caf::execution_unit* unit, size_t) override {
    if (act_)
      act_(unit);
    runs_.note(number_);
    return done;
  }
  void intrusive_ptr_add_ref_impl() override { ++references_; }
  void intrusive_ptr_release_impl() override {
    if (--references_ == 0)
      delete this;
  }
  step_queue_state* step_queue() const noexcept override { return about_.step; }
  bool is_light() const noexcept override { return about_.is_light; }
  bool is_brief() const noexcept override { return about_.is_brief; }
  bool is_quick() const noexcept override { return about_.is_quick; }
  bool has_stopped() const noexcept override { return about_.has_stopped; }
  bool measures_itself() const noexcept override { return false; }
  void took(std::chrono::nanoseconds) noexcept override { ++measured; }
  void run_elsewhere() noexcept override {
    ++passed_on;
    intrusive_ptr_release_impl();
  }

private:
  fake_work(diary& runs, int number, const traits& about, code act)
      : runs_(runs), number_(number), about_(about), act_(std::move(act)) {
    ++alive;
  }
  ~fake_work() override { --alive; }

  diary& runs_;
  const int number_;
  const traits about_;
  const code act_;
  std::atomic<int> references_{1};
};

struct world {
  test::watchdog watch;
  caf::actor_system_config config;
  caf::actor_system system{config};
  diary runs;

  world() { fake_work::passed_on = fake_work::measured = 0; }
  // Waits until threads have released what they have run.
  static void require_no_work() {
    while (fake_work::alive > 0)
      std::this_thread::sleep_for(1ms);
  }
  ready_work* work(int number, const traits& about = {}, fake_work::code act = {}) {
    return fake_work::make(runs, number, about, std::move(act));
  }
};

// Occupies the only thread of kernel_threads until it is opened.
struct gate {
  std::promise<void> begun, opened;
  ready_work* work(world& in) {
    return in.work(0, {}, [this](caf::execution_unit*) {
      begun.set_value();
      opened.get_future().wait();
    });
  }
};

// Of an actor with a name as Troupe's have.
struct own_state {
  own_state() {}
  static inline const char* name = "troupe.test";
};

struct counting_caller final : waiting_caller {
  void work_waits() noexcept override { ++calls; }
  std::atomic<int> calls = 0;
};

} // namespace

TEST_CASE("execution units tell work from CAF's actors and functions") {
  world w;
  auto* work = w.work(1);
  CHECK(ready_work::from(work) == work);
  work->intrusive_ptr_release_impl();
  auto actor = w.system.spawn([](caf::event_based_actor*) { return caf::behavior{[](int) {}}; });
  auto* scheduled =
      dynamic_cast<caf::scheduled_actor*>(caf::actor_cast<caf::abstract_actor*>(actor));
  REQUIRE(scheduled);
  CHECK(ready_work::from(scheduled) == nullptr);
  struct function final : caf::resumable {
    subtype_t subtype() const override { return function_object; }
    resume_result resume(caf::execution_unit*, size_t) override { return done; }
    void intrusive_ptr_add_ref_impl() override {}
    void intrusive_ptr_release_impl() override {}
  } callback;
  CHECK(ready_work::from(&callback) == nullptr);
}

TEST_CASE("kernel threads run work in order, and first that of steps that have stopped") {
  world w;
  {
    kernel_threads threads{w.system, {.max_threads = 1}};
    gate block;
    threads.run_later(block.work(w));
    block.begun.get_future().wait();
    step_queue_state step, stopped;
    threads.run_later(w.work(1, {.step = &step}));
    threads.run_later(w.work(2));
    threads.run_later(w.work(3, {.step = &stopped, .has_stopped = true}));
    threads.run_later(w.work(4, {.step = &step}));
    block.opened.set_value();
    auto order = w.runs.wait_for(5);
    // A spare thread may run the work of the stopped step while the gate is closed.
    std::erase(order, 0);
    std::erase(order, 3);
    CHECK(order == std::vector<int>{1, 2, 4});
    CHECK(step.queued_work == 0);
    CHECK(stopped.queued_work == 0);
  }
  w.require_no_work();
}

TEST_CASE(
    "a spare thread runs quick work while kernels occupy all threads, with or without a step") {
  world w;
  {
    kernel_threads threads{w.system, {.max_threads = 1}};
    gate block;
    threads.run_later(block.work(w));
    block.begun.get_future().wait();
    step_queue_state step;
    threads.run_later(w.work(1));
    threads.run_later(w.work(2, {.is_quick = true}));
    threads.run_later(w.work(3, {.step = &step, .is_quick = true}));
    auto numbers = w.runs.wait_for(2);
    std::ranges::sort(numbers); // two spare threads may run them
    CHECK(numbers == std::vector<int>{2, 3});
    block.opened.set_value();
    CHECK(w.runs.wait_for(4).size() == 4);
  }
  w.require_no_work();
}

TEST_CASE("a caller gets back the work of its step only, and hears of no other") {
  world w;
  {
    kernel_threads threads{w.system, {.max_threads = 1}};
    gate block;
    threads.run_later(block.work(w));
    block.begun.get_future().wait();
    step_queue_state step, other_step;
    counting_caller caller;
    {
      const kernel_threads::registered_caller registered{threads, step, caller};
      threads.run_later(w.work(1));
      threads.run_later(w.work(2, {.step = &other_step}));
      CHECK(caller.calls == 0);
      threads.run_later(w.work(3, {.step = &step}));
      CHECK(caller.calls == 1);
    }
    threads.run_later(w.work(4, {.step = &step}));
    CHECK(caller.calls == 1); // not registered any more
    CHECK(step.queued_work == 2);
    for (int i = 0; i < 2; ++i) {
      auto* taken = threads.take_back(step);
      REQUIRE(taken);
      CHECK(taken->step_queue() == &step);
      taken->intrusive_ptr_release_impl();
    }
    CHECK(threads.take_back(step) == nullptr);
    CHECK(step.queued_work == 0);
    CHECK(other_step.queued_work == 1);
    block.opened.set_value();
    CHECK(w.runs.wait_for(3) == std::vector<int>{0, 1, 2});
  }
  w.require_no_work();
}

TEST_CASE("a caller runs light work first, and passes on all other work but one") {
  world w;
  caller_unit unit{w.system};
  stop_signal stop;
  for (int number : {1, 2, 3})
    unit.exec_later(w.work(number));
  unit.exec_later(w.work(4, {.is_light = true}));
  unit.drain(stop);
  CHECK(fake_work::passed_on == 2);
  auto order = w.runs.wait_for(2);
  REQUIRE(order.size() == 2);
  CHECK(order.front() == 4);
  for (int number = 0; number < 70; ++number) // more than it has places for
    unit.exec_later(w.work(number, {.is_light = true}));
  CHECK(fake_work::passed_on == 2 + 6);
  unit.drain(stop);
  CHECK(w.runs.wait_for(2 + 64).size() == 2 + 64);
  CHECK(fake_work::alive == 0);
}

TEST_CASE("a thread of a connection runs brief work, and measures it") {
  world w;
  {
    inline_unit unit{w.system};
    unit.exec_later(w.work(1, {.is_brief = true}));
    unit.exec_later(w.work(2));
    CHECK(fake_work::passed_on == 1);
  }
  CHECK(w.runs.wait_for(1) == std::vector<int>{1});
  CHECK(fake_work::measured == 1);
  {
    inline_unit unit{w.system, inline_unit::kinds::actors};
    unit.exec_later(w.work(3, {.is_brief = true}));
    CHECK(fake_work::passed_on == 2);
  }
  CHECK(fake_work::alive == 0);
}

TEST_CASE("a thread that the application's actors may wait for runs Troupe's actors only") {
  world w;
  std::promise<std::thread::id> own_thread, application_thread;
  auto own = w.system.spawn<caf::lazy_init>([&](caf::stateful_actor<own_state>*) {
    return caf::behavior{[&](int) { own_thread.set_value(std::this_thread::get_id()); }};
  });
  auto application = w.system.spawn<caf::lazy_init>([&](caf::event_based_actor*) {
    return caf::behavior{[&](int) { application_thread.set_value(std::this_thread::get_id()); }};
  });
  {
    inline_unit unit{w.system, inline_unit::kinds::own_actors_and_brief_work};
    for (const auto& actor : {own, application})
      caf::actor_cast<caf::abstract_actor*>(actor)->eq_impl(caf::make_message_id(), nullptr, &unit,
                                                            1);
    unit.exec_later(w.work(1, {.is_brief = true}));
    unit.exec_later(w.work(2));
    CHECK(fake_work::passed_on == 1);
  }
  CHECK(own_thread.get_future().get() == std::this_thread::get_id());
  CHECK(application_thread.get_future().get() != std::this_thread::get_id());
  CHECK(w.runs.wait_for(1) == std::vector<int>{1});
  CHECK(fake_work::alive == 0);
}

TEST_CASE("messages of a thread wait while it runs work, unless the step of that ends") {
  world w;
  step_queue_state step, other_step;
  int checks = 0;
  auto check_without_step = [&](caf::execution_unit*) {
    CHECK(inline_unit::current(w.system) == nullptr);
    const inline_unit::ending_step ending{step}; // of another step
    CHECK(inline_unit::current(w.system) == nullptr);
    ++checks;
  };
  auto check_with_step = [&](caf::execution_unit* unit) {
    CHECK(inline_unit::current(w.system) == nullptr);
    {
      const inline_unit::ending_step ending{other_step};
      CHECK(inline_unit::current(w.system) == nullptr);
    }
    const inline_unit::ending_step ending{step};
    CHECK(inline_unit::current(w.system) == unit);
    ++checks;
  };
  inline_unit unit{w.system};
  CHECK(inline_unit::current(w.system) == &unit);
  unit.run(w.work(1, {}, check_without_step));
  unit.run(w.work(2, {.step = &step}, check_with_step));
  CHECK(inline_unit::current(w.system) == &unit);
  CHECK(checks == 2);
}

TEST_CASE("threads of a device and threads of low priority run work in order, then end") {
  world w;
  {
    launch_thread thread{w.system};
    for (int number = 0; number < 50; ++number)
      thread.run_later(w.work(number));
  }
  auto order = w.runs.wait_for(50);
  CHECK(std::ranges::is_sorted(order));
  {
    low_priority_threads threads{w.system, 1};
    for (int number = 50; number < 100; ++number)
      threads.run_later(w.work(number));
  }
  order = w.runs.wait_for(100);
  CHECK(std::ranges::is_sorted(order));
  CHECK(fake_work::alive == 0);
}

} // namespace troupe::test::ready_work_test
