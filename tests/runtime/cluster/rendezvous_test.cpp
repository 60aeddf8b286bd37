#include "troupe/runtime/cluster/rendezvous.hpp"

#include "tests/support/catch.hpp"

#include <map>
#include <random>

namespace troupe::test::rendezvous_test {

using namespace std::chrono_literals;

namespace {

using meeting = rendezvous<int>; // steps are numbers; 0 is no step
using fate = arrival_fate;

const meeting::time_point start{};

status gone() { return failure(error_kind::unavailable, "gone"); }

arrival tensor_for(step_id step, uint32_t key, int64_t elements = 1) {
  return {.step = step, .key = key, .value = *tensor::make(dtype::u8, shape{elements})};
}

fate arrive(meeting& at, step_id step, uint32_t key, int64_t elements = 1,
            meeting::time_point now = start) {
  auto tensor_sent = tensor_for(step, key, elements);
  return at.arrive(tensor_sent, now).fate;
}

size_t attach(meeting& at, step_id step) {
  auto arrivals = at.attach(step, 1, meeting::time_point::max());
  INFO(arrivals.status());
  REQUIRE(arrivals);
  return arrivals->size();
}

} // namespace

TEST_CASE("a tensor waits for its step, and is delivered once") {
  meeting at;
  step_id step{7, 1};
  CHECK(arrive(at, step, 3) == fate::keep);
  CHECK(at.early_bytes() == 1);
  REQUIRE(at.announce(step, start));
  CHECK(arrive(at, step, 4) == fate::keep); // the step has not started
  CHECK(attach(at, step) == 2);
  CHECK(arrive(at, step, 5) == fate::deliver);
  CHECK(arrive(at, step, 5) == fate::duplicate);
  CHECK(at.end(step, start) == 1);
  CHECK(arrive(at, step, 6) == fate::drop);
  CHECK(at.idle());
}

TEST_CASE("tensors of one edge in several iterations of a loop are distinct") {
  meeting at;
  step_id step{7, 1};
  REQUIRE(at.announce(step, start));
  attach(at, step);
  for (uint32_t key = 0; key < 50; ++key) {
    arrival first_arrival{.step = step, .key = key};
    CHECK(at.arrive(first_arrival, start).fate == fate::deliver);
    CHECK(at.arrive(first_arrival, start).fate == fate::duplicate);
  }
  for (uint64_t iteration = 1; iteration < 50; ++iteration) {
    arrival next_arrival{.step = step, .key = 3, .frame = 1, .iteration = iteration};
    CHECK(at.arrive(next_arrival, start).fate == fate::deliver); // distinguished by the iteration
  }
}

TEST_CASE("an announced tensor is wanted from its step's start until the step ends or fails") {
  meeting at;
  step_id step{7, 1};
  CHECK(at.expect(step, start) == fetch_decision::later);
  CHECK(at.early_steps() == 1);
  CHECK(at.expects(step));
  REQUIRE(at.announce(step, start));
  CHECK(at.idle() == false);
  CHECK(at.early_steps() == 0);
  CHECK(at.expect(step, start) == fetch_decision::now);
  attach(at, step);
  CHECK(at.expect(step, start) == fetch_decision::now);
  CHECK(at.cancel(step, gone(), start) == 1);
  CHECK(at.expect(step, start) == fetch_decision::never); // although its kernels may still run
  CHECK(at.is_running(step));
  at.end(step, start);
  CHECK(at.expect(step, start) == fetch_decision::never);
  CHECK(at.idle());
}

TEST_CASE(
    "an announced tensor waits for its step no longer, and in no greater number, than others") {
  meeting at{{.session_steps = 2}};
  CHECK(at.expect({7, 1}, start) == fetch_decision::later);
  CHECK(at.expect({7, 1}, start) == fetch_decision::later);
  CHECK(arrive(at, {7, 2}, 0) == fate::keep);
  CHECK(at.expect({7, 2}, start) == fetch_decision::later);
  CHECK(at.expect({7, 3}, start) == fetch_decision::never); // the limit is reached
  CHECK(at.announce({7, 3}, start).kind() == error_kind::resource_exhausted);
  CHECK(!at.cancel(step_id{7, 1}, gone(), start));
  CHECK(at.expect({7, 1}, start) == fetch_decision::never);
  CHECK(!at.expects({7, 1}));
  CHECK(at.expect({7, 4}, start) == fetch_decision::later); // the first one has made room
  at.age(start + 61s);
  CHECK(at.expect({7, 4}, start + 61s) == fetch_decision::never);
  CHECK(at.idle());
  at.close(gone());
  CHECK(at.expect({7, 5}, start) == fetch_decision::never);
}

TEST_CASE("sessions are separate even if their steps have the same numbers") {
  meeting at;
  REQUIRE(at.announce({1, 5}, start));
  attach(at, {1, 5});
  CHECK(arrive(at, {2, 5}, 0) == fate::keep);
  CHECK(!at.cancel(step_id{2, 5}, gone(), start));
  CHECK(at.running() == 1);
  CHECK(at.announce({2, 5}, start).kind() == error_kind::unavailable);
  CHECK(at.end({1, 5}, start) == 1);
}

TEST_CASE("a step's id is not reused after its end") {
  meeting at;
  step_id step{1, 1};
  REQUIRE(at.announce(step, start));
  CHECK(at.announce(step, start).message().find("runs already") != std::string::npos);
  at.end(step, start);
  CHECK(at.announce(step, start).message().find("has run already") != std::string::npos);
}

TEST_CASE("a step that was cancelled before its arrival fails once, with the first cause") {
  meeting at;
  step_id step{1, 1};
  CHECK(arrive(at, step, 0, 100) == fate::keep);
  CHECK(!at.cancel(step, gone(), start));
  CHECK(!at.cancel(step, failure(error_kind::internal, "later"), start));
  CHECK(at.early_bytes() == 0);
  CHECK(at.announce(step, start).kind() == error_kind::unavailable);
  CHECK(at.announce(step, start).message().find("has run already") != std::string::npos);
  CHECK(at.idle());
}

TEST_CASE("a step that is cancelled while it starts fails when it is attached") {
  meeting at;
  step_id step{1, 1};
  REQUIRE(at.announce(step, start));
  CHECK(!at.cancel(step, gone(), start));
  CHECK(at.attach(step, 1, {}).status().kind() == error_kind::unavailable);
  at.end(step, start);
  CHECK(at.idle());
}

TEST_CASE("a step that ends before it is attached stays ended") {
  meeting at;
  step_id step{1, 1};
  REQUIRE(at.announce(step, start));
  at.end(step, start);
  CHECK(attach(at, step) == 0);
  CHECK(at.running() == 0);
}

TEST_CASE("a tensor that arrives twice before its step fails the step") {
  meeting at;
  for (int i = 0; i < 2; ++i)
    CHECK(arrive(at, {1, 1}, 5) == fate::keep);
  CHECK(at.announce({1, 1}, start).message().find("twice for the key 5") != std::string::npos);
  CHECK(at.idle());
}

TEST_CASE("a session has a share of the limit, and a step beyond it fails at its arrival") {
  rendezvous_limits limits;
  limits.session_steps = 3;
  limits.steps = 5;
  meeting at{limits};
  for (uint64_t step = 1; step <= 4; ++step)
    CHECK(arrive(at, {1, step}, 0) == fate::keep);
  auto refused = at.announce({1, 4}, start);
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK(refused.message().find("at most 3") != std::string::npos);
  for (uint64_t step = 1; step <= 3; ++step)
    CHECK(arrive(at, {2, step}, 0) == fate::keep);
  CHECK(at.announce({2, 2}, start).ok());
  CHECK(at.announce({2, 3}, start).kind() ==
        error_kind::resource_exhausted); // the sixth step of all sessions
  CHECK(at.announce({1, 1}, start).ok());
}

TEST_CASE("waiting bytes are limited, and released again") {
  rendezvous_limits limits;
  limits.session_bytes = 1000;
  meeting at{limits};
  CHECK(arrive(at, {1, 1}, 0, 600) == fate::keep);
  CHECK(arrive(at, {1, 1}, 1, 600) == fate::keep); // the step is refused, and stores nothing
  CHECK(at.early_bytes() == 0);
  CHECK(arrive(at, {1, 2}, 0, 1000) == fate::keep);
  REQUIRE(at.announce({1, 2}, start));
  CHECK(at.early_bytes() == 0);
  CHECK(at.announce({1, 1}, start).kind() == error_kind::resource_exhausted);
}

TEST_CASE("the characters of strings count for the limit of waiting bytes") {
  rendezvous_limits limits;
  limits.session_bytes = 1000;
  meeting at{limits};
  arrival text{.step = {1, 1}, .key = 0, .value = tensor::scalar(std::string(900, 'x'))};
  CHECK(at.arrive(text, start).fate == fate::keep);
  CHECK(at.early_bytes() == 900 + sizeof(std::string));
  CHECK(arrive(at, {1, 2}, 0, 600) == fate::keep); // the step is refused
  CHECK(at.announce({1, 2}, start).kind() == error_kind::resource_exhausted);
  REQUIRE(at.announce({1, 1}, start));
  CHECK(at.early_bytes() == 0);
}

TEST_CASE("tensors for a step that never arrives are dropped after a while") {
  meeting at;
  for (uint64_t step = 1; step <= 10; ++step) {
    arrive(at, {1, step}, 0, 50);
    at.cancel(step_id{2, step}, gone(), start);
  }
  at.age(start + 59s);
  CHECK(at.early_steps() == 20);
  at.age(start + 61s);
  CHECK(at.idle());
  CHECK(at.early_bytes() == 0);
  // It does not start without its tensors, nor in spite of its cancellation.
  CHECK(!at.announce({1, 3}, start + 62s).ok());
  CHECK(!at.announce({2, 3}, start + 62s).ok());
}

TEST_CASE("if even refusals cannot be recorded, arriving steps fail for a while") {
  rendezvous_limits limits;
  limits.refused = 10;
  meeting at{limits};
  for (uint64_t step = 1; step <= 20; ++step)
    at.cancel(step_id{1, step}, gone(), start);
  auto refused = at.announce({1, 15}, start);
  CHECK(refused.kind() == error_kind::resource_exhausted);
  CHECK(refused.message().find("may be one of them") != std::string::npos);
  CHECK(at.announce({1, 21}, start + 61s).ok());
}

TEST_CASE(
    "the ends of very many steps take no memory, and forgotten ones are not mistaken for others") {
  meeting at;
  for (uint64_t step = 1; step <= 200'000; ++step) {
    REQUIRE(at.announce({1, step}, start));
    at.end({1, step}, start);
  }
  CHECK(arrive(at, {1, 199'000}, 0) == fate::drop);
  CHECK(arrive(at, {1, 5}, 0) == fate::keep); // like a step that is late
  CHECK(at.announce({1, 300'000}, start).ok());
  CHECK(at.idle() == false);
}

TEST_CASE("sessions beyond the limit evict sessions without waiting tensors") {
  rendezvous_limits limits;
  limits.sessions = 10;
  meeting at{limits};
  arrive(at, {1, 1}, 0);
  for (uint64_t session = 2; session < 100; ++session)
    at.end({session, 1}, start + std::chrono::seconds{session});
  REQUIRE(at.announce({1, 1}, start));
  CHECK(attach(at, {1, 1}) == 1);
}

namespace {

// The expected fate of the messages of one step.
struct step_model {
  enum class phase { future, announced, attached, ended };

  std::map<uint32_t, int> pushed, delivered;
  phase state = phase::future;
  bool cancelled = false, failed = false;

  void push(meeting& at, step_id step, uint32_t key) {
    if (pushed[key] != 0)
      return;
    pushed[key] = 1;
    auto got = arrive(at, step, key);
    CHECK((got == fate::deliver) == (state == phase::attached));
    CHECK((got == fate::drop) == (state == phase::ended));
    delivered[key] += got == fate::deliver;
  }

  void announce(meeting& at, step_id step) {
    auto announced = at.announce(step, start);
    CHECK((!cancelled || !announced.ok()));
    failed = !announced;
    state = announced.ok() ? phase::announced : phase::ended;
  }

  void attach(meeting& at, step_id step) {
    auto arrivals = at.attach(step, 1, {});
    CHECK(arrivals.status().ok() == !cancelled);
    if (!arrivals)
      return end(at, step);
    for (const auto& arrived : *arrivals)
      ++delivered[arrived.key];
    for (const auto& [sent_key, times] : pushed)
      CHECK(delivered[sent_key] == times);
    state = phase::attached;
  }

  void end(meeting& at, step_id step) {
    at.end(step, start);
    state = phase::ended;
  }

  void cancel(meeting& at, step_id step) {
    auto runs = at.cancel(step, gone(), start);
    CHECK(runs.has_value() == (state == phase::attached));
    cancelled = cancelled || state == phase::future || state == phase::announced;
  }
};

} // namespace

TEST_CASE("each tensor is delivered once or its step fails, in any order of events") {
  using phase = step_model::phase;
  for (unsigned seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    rendezvous_limits limits;
    limits.session_steps = 4;
    limits.refused = 64;
    meeting at{limits};
    std::map<step_id, step_model> models;
    for (int event = 0; event < 400; ++event) {
      step_id step{1 + dice() % 2, 1 + dice() % 12};
      auto& model = models[step];
      auto key = static_cast<uint32_t>(dice() % 3);
      switch (dice() % 5) {
        case 0:
        case 1: model.push(at, step, key); break;
        case 2:
          if (model.state == phase::future)
            model.announce(at, step);
          else if (model.state == phase::announced)
            model.attach(at, step);
          break;
        case 3:
          if (model.state == phase::attached && dice() % 3 == 0)
            model.end(at, step);
          break;
        case 4:
          if (dice() % 4 == 0)
            model.cancel(at, step);
          break;
      }
      for (const auto& [sent_key, times] : model.delivered)
        CHECK(times <= 1);
    }
  }
}

} // namespace troupe::test::rendezvous_test
