#include "troupe/runtime/state/variable_address_guard.hpp"

#include "tests/support/catch.hpp"

#include <thread>

namespace troupe::test::variable_address_guard_test {

namespace {

status add_one(tensor& value) {
  ++value.values<float>()[0];
  return {};
}

float value_of(const variable& of) {
  auto now = of.read();
  REQUIRE(now);
  return now->values<float>()[0];
}

} // namespace

TEST_CASE("variables stay where they are while their thread says so") {
  variable v{"v", dtype::f32, {}}, w{"w", dtype::f32, {}};
  REQUIRE(v.assign(tensor::scalar(1.f)));
  REQUIRE(w.assign(tensor::scalar(1.f)));
  {
    variable_address_guard steady;
    CHECK(v.update(add_one));
    CHECK(v.update_unlocked(add_one));
    {
      auto held = w.read();
      REQUIRE(held);
      CHECK(w.update(add_one).kind() == error_kind::aborted);
      CHECK(held->values<float>()[0] == 1);
    }
    CHECK(w.assign(tensor::scalar(5.f)).kind() == error_kind::aborted);
    CHECK(value_of(w) == 1);
    REQUIRE(steady.places().size() == 2);
    for (const auto& one : steady.places()) {
      CHECK(one.memory == one.which->read()->raw());
      CHECK(one.changed);
      CHECK(one.locked);
    }
    CHECK_FALSE(steady.moved());
    std::jthread{[&] { CHECK(v.assign(tensor::scalar(7.f))); }}.join(); // others go on
    CHECK_FALSE(steady.moved());
    CHECK(value_of(v) == 7);
    CHECK(steady.moved());
  }
  CHECK(v.assign(tensor::scalar(8.f)));
  auto held = v.read();
  CHECK(v.update(add_one));
  CHECK(value_of(v) == 9);
}

TEST_CASE("a variable that is changed without its lock only is known as that") {
  variable v{"v", dtype::f32, {}};
  REQUIRE(v.assign(tensor::scalar(1.f)));
  REQUIRE(v.update(add_one)); // the memory is its own now
  auto held = v.read();
  variable_address_guard steady;
  CHECK(v.update_unlocked(add_one)); // over the eyes of readers
  REQUIRE(steady.places().size() == 1);
  CHECK(steady.places()[0].changed);
  CHECK_FALSE(steady.places()[0].locked);
  CHECK(value_of(v) == 3);
}

} // namespace troupe::test::variable_address_guard_test
