#include "troupe/runtime/cluster/rendezvous.hpp"

#include "tests/support/catch.hpp"

#include <map>
#include <random>

namespace troupe::test::rendezvous_test {

using namespace std::chrono_literals;

namespace {

using meeting = rendezvous<int>; // steps are numbers; 0 is none
using fate = arrival_fate;

const meeting::time_point start{};

status gone() { return failure(error_kind::unavailable, "gone"); }

arrival tensor_for(step_id step, uint32_t key, int64_t elements = 1) {
  return {.step = step, .key = key, .value = *tensor::make(dtype::u8, shape{elements})};
}

fate arrive(meeting& at, step_id step, uint32_t key, int64_t elements = 1,
            meeting::time_point now = start) {
  auto what = tensor_for(step, key, elements);
  return at.arrive(what, now).fate;
}

size_t attach(meeting& at, step_id step) {
  auto came = at.attach(step, 1, meeting::time_point::max());
  INFO(came.status());
  REQUIRE(came);
  return came->size();
}

} // namespace

TEST_CASE("a tensor waits for its step, and is handed over once") {
  meeting at;
  step_id step{7, 1};
  CHECK(arrive(at, step, 3) == fate::keep);
  CHECK(at.early_bytes() == 1);
  REQUIRE(at.announce(step, start));
  CHECK(arrive(at, step, 4) == fate::keep); // it has not begun
  CHECK(attach(at, step) == 2);
  CHECK(arrive(at, step, 5) == fate::deliver);
  CHECK(arrive(at, step, 5) == fate::twice);
  CHECK(at.end(step, start) == 1);
  CHECK(arrive(at, step, 6) == fate::drop);
  CHECK(at.idle());
}

TEST_CASE("tensors of one edge in several turns of a loop are several") {
  meeting at;
  step_id step{7, 1};
  REQUIRE(at.announce(step, start));
  attach(at, step);
  for (uint32_t key = 0; key < 50; ++key) {
    arrival one{.step = step, .key = key};
    CHECK(at.arrive(one, start).fate == fate::deliver);
    CHECK(at.arrive(one, start).fate == fate::twice);
  }
  for (uint64_t iteration = 1; iteration < 50; ++iteration) {
    arrival one{.step = step, .key = 3, .frame = 1, .iteration = iteration};
    CHECK(at.arrive(one, start).fate == fate::deliver); // whose turn it is counts
  }
}

TEST_CASE("an announced tensor is due when its step has begun, until that ends or fails") {
  meeting at;
  step_id step{7, 1};
  CHECK(at.expect(step, start) == demand::later);
  CHECK(at.early_steps() == 1);
  CHECK(at.awaits(step));
  REQUIRE(at.announce(step, start));
  CHECK(at.idle() == false);
  CHECK(at.early_steps() == 0);
  CHECK(at.expect(step, start) == demand::now);
  attach(at, step);
  CHECK(at.expect(step, start) == demand::now);
  CHECK(at.cancel(step, gone(), start) == 1);
  CHECK(at.expect(step, start) == demand::never); // though kernels of it may still run
  CHECK(at.runs(step));
  at.end(step, start);
  CHECK(at.expect(step, start) == demand::never);
  CHECK(at.idle());
}

TEST_CASE(
    "an announced tensor waits for its step no longer, and in no greater number, than others") {
  meeting at{{.session_steps = 2}};
  CHECK(at.expect({7, 1}, start) == demand::later);
  CHECK(at.expect({7, 1}, start) == demand::later);
  CHECK(arrive(at, {7, 2}, 0) == fate::keep);
  CHECK(at.expect({7, 2}, start) == demand::later);
  CHECK(at.expect({7, 3}, start) == demand::never); // no room
  CHECK(at.announce({7, 3}, start).kind() == error_kind::resource_exhausted);
  CHECK(!at.cancel(step_id{7, 1}, gone(), start));
  CHECK(at.expect({7, 1}, start) == demand::never);
  CHECK(!at.awaits({7, 1}));
  CHECK(at.expect({7, 4}, start) == demand::later); // in the place of the first
  at.age(start + 61s);
  CHECK(at.expect({7, 4}, start + 61s) == demand::never);
  CHECK(at.idle());
  at.close(gone());
  CHECK(at.expect({7, 5}, start) == demand::never);
}

TEST_CASE("sessions do not mix, whatever numbers their steps have") {
  meeting at;
  REQUIRE(at.announce({1, 5}, start));
  attach(at, {1, 5});
  CHECK(arrive(at, {2, 5}, 0) == fate::keep);
  CHECK(!at.cancel(step_id{2, 5}, gone(), start));
  CHECK(at.running() == 1);
  CHECK(at.announce({2, 5}, start).kind() == error_kind::unavailable);
  CHECK(at.end({1, 5}, start) == 1);
}

TEST_CASE("a step has one id, also after its end") {
  meeting at;
  step_id step{1, 1};
  REQUIRE(at.announce(step, start));
  CHECK(at.announce(step, start).message().find("runs already") != std::string::npos);
  at.end(step, start);
  CHECK(at.announce(step, start).message().find("has run already") != std::string::npos);
}

TEST_CASE("a step that was cancelled before it came is told so, by the first cause, once") {
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

TEST_CASE("a step that is cancelled while it begins is told when it is attached") {
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

TEST_CASE("a tensor that comes twice before its step fails the step") {
  meeting at;
  for (int i = 0; i < 2; ++i)
    CHECK(arrive(at, {1, 1}, 5) == fate::keep);
  CHECK(at.announce({1, 1}, start).message().find("twice for the key 5") != std::string::npos);
  CHECK(at.idle());
}

TEST_CASE("a session has a share of the room, and a step without room says so when it comes") {
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
  CHECK(at.announce({2, 3}, start).kind() == error_kind::resource_exhausted); // the sixth of all
  CHECK(at.announce({1, 1}, start).ok());
}

TEST_CASE("bytes that wait are bounded, and taken up again") {
  rendezvous_limits limits;
  limits.session_bytes = 1000;
  meeting at{limits};
  CHECK(arrive(at, {1, 1}, 0, 600) == fate::keep);
  CHECK(arrive(at, {1, 1}, 1, 600) == fate::keep); // the step is refused, and keeps nothing
  CHECK(at.early_bytes() == 0);
  CHECK(arrive(at, {1, 2}, 0, 1000) == fate::keep);
  REQUIRE(at.announce({1, 2}, start));
  CHECK(at.early_bytes() == 0);
  CHECK(at.announce({1, 1}, start).kind() == error_kind::resource_exhausted);
}

TEST_CASE("what waits for a step that never comes is forgotten after a while") {
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
  // Neither without the tensors that came for it, nor in spite of its cancellation.
  CHECK(!at.announce({1, 3}, start + 62s).ok());
  CHECK(!at.announce({2, 3}, start + 62s).ok());
}

TEST_CASE("when there is no room to note a refusal either, steps that come fail for a while") {
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

TEST_CASE("ends of very many steps take no memory, and old ones are forgotten, not mistaken") {
  meeting at;
  for (uint64_t step = 1; step <= 200'000; ++step) {
    REQUIRE(at.announce({1, step}, start));
    at.end({1, step}, start);
  }
  CHECK(arrive(at, {1, 199'000}, 0) == fate::drop);
  CHECK(arrive(at, {1, 5}, 0) == fate::keep); // as of a step that is late
  CHECK(at.announce({1, 300'000}, start).ok());
  CHECK(at.idle() == false);
}

TEST_CASE("sessions beyond the limit push out those of which nothing waits") {
  rendezvous_limits limits;
  limits.sessions = 10;
  meeting at{limits};
  arrive(at, {1, 1}, 0);
  for (uint64_t session = 2; session < 100; ++session)
    at.end({session, 1}, start + std::chrono::seconds{session});
  REQUIRE(at.announce({1, 1}, start));
  CHECK(attach(at, {1, 1}) == 1);
}

TEST_CASE("in any order of events each tensor is delivered once or its step fails") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937 dice{seed};
    rendezvous_limits limits;
    limits.session_steps = 4;
    limits.refused = 64;
    meeting at{limits};
    struct model {
      std::map<uint32_t, int> pushed, delivered;
      int state = 0; // to come, announced, attached, over
      bool cancelled = false, failed = false;
    };
    std::map<step_id, model> all;
    for (int event = 0; event < 400; ++event) {
      step_id step{1 + dice() % 2, 1 + dice() % 12};
      auto& known = all[step];
      auto key = static_cast<uint32_t>(dice() % 3);
      switch (dice() % 5) {
        case 0:
        case 1:
          if (known.pushed[key] == 0) {
            known.pushed[key] = 1;
            auto got = arrive(at, step, key);
            CHECK((got == fate::deliver) == (known.state == 2));
            CHECK((got == fate::drop) == (known.state == 3));
            known.delivered[key] += got == fate::deliver;
          }
          break;
        case 2:
          if (known.state == 0) {
            auto may = at.announce(step, start);
            CHECK((!known.cancelled || !may.ok()));
            known.failed = !may;
            known.state = may.ok() ? 1 : 3;
          } else if (known.state == 1) {
            auto came = at.attach(step, 1, {});
            CHECK(came.status().ok() == !known.cancelled);
            if (came) {
              for (const auto& one : *came)
                ++known.delivered[one.key];
              for (const auto& [which, times] : known.pushed)
                CHECK(known.delivered[which] == times);
              known.state = 2;
            } else {
              at.end(step, start);
              known.state = 3;
            }
          }
          break;
        case 3:
          if (known.state == 2 && dice() % 3 == 0) {
            at.end(step, start);
            known.state = 3;
          }
          break;
        case 4:
          if (dice() % 4 == 0) {
            auto runs = at.cancel(step, gone(), start);
            CHECK(runs.has_value() == (known.state == 2));
            known.cancelled = known.cancelled || known.state < 2;
          }
          break;
      }
      for (const auto& [which, times] : known.delivered)
        CHECK(times <= 1);
    }
  }
}

} // namespace troupe::test::rendezvous_test
