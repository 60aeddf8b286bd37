#include "troupe/runtime/state/variable_address_guard.hpp"

#include "tests/support/catch.hpp"

#include <thread>

namespace troupe::test::variable_address_guard_test {

namespace {

status add_one(tensor& value) {
  ++value.values<float>()[0];
  return {};
}

float value_of(const variable& source) {
  auto now = source.read();
  REQUIRE(now);
  return now->values<float>()[0];
}

} // namespace

TEST_CASE("a guard keeps the addresses of its thread's variables") {
  variable v{"v", dtype::f32, {}}, w{"w", dtype::f32, {}};
  REQUIRE(v.assign(tensor::scalar(1.f)));
  REQUIRE(w.assign(tensor::scalar(1.f)));
  {
    variable_address_guard steady;
    CHECK(v.update(add_one));
    CHECK(v.update_unlocked(add_one));
    {
      auto snapshot = w.read();
      REQUIRE(snapshot);
      CHECK(w.update(add_one).kind() == error_kind::aborted);
      CHECK(snapshot->values<float>()[0] == 1);
    }
    CHECK(w.assign(tensor::scalar(5.f)).kind() == error_kind::aborted);
    CHECK(value_of(w) == 1);
    REQUIRE(steady.places().size() == 2);
    for (const auto& location : steady.places()) {
      CHECK(location.memory == location.used_variable->read()->raw());
      CHECK(location.changed);
      CHECK(location.locked);
    }
    CHECK_FALSE(steady.moved());
    std::jthread{[&] { CHECK(v.assign(tensor::scalar(7.f))); }}.join(); // other threads proceed
    CHECK_FALSE(steady.moved());
    CHECK(value_of(v) == 7);
    CHECK(steady.moved());
  }
  CHECK(v.assign(tensor::scalar(8.f)));
  auto snapshot = v.read();
  CHECK(v.update(add_one));
  CHECK(value_of(v) == 9);
}

TEST_CASE("a variable that is only changed without its lock is recognized") {
  variable v{"v", dtype::f32, {}};
  REQUIRE(v.assign(tensor::scalar(1.f)));
  REQUIRE(v.update(add_one)); // the memory is not shared any more
  auto snapshot = v.read();
  variable_address_guard steady;
  CHECK(v.update_unlocked(add_one)); // in place, while a reader holds the value
  REQUIRE(steady.places().size() == 1);
  CHECK(steady.places()[0].changed);
  CHECK_FALSE(steady.places()[0].locked);
  CHECK(value_of(v) == 3);
}

} // namespace troupe::test::variable_address_guard_test
