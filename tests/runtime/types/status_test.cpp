#include "tests/support/catch.hpp"
#include "troupe/runtime/types/status.hpp"

#include <set>

namespace troupe::test::status_test {

namespace {

result<int> half_of(int value) {
  if (value % 2 != 0)
    return invalid(value, " is odd");
  return value / 2;
}

result<int> quarter_of(int value) {
  TROUPE_ASSIGN(auto half, half_of(value));
  TROUPE_ASSIGN(auto quarter, half_of(half));
  return quarter;
}

status check(int value) {
  TROUPE_TRY(half_of(value));
  TROUPE_TRY(value > 10 ? failure(error_kind::out_of_range, "beyond 10") : status{});
  return {};
}

} // namespace

TEST_CASE("success is one pointer wide and has no text") {
  STATIC_REQUIRE(sizeof(status) == sizeof(void*));
  status fine;
  CHECK(fine.ok());
  CHECK(fine.kind() == error_kind::ok);
  CHECK(fine.message().empty());
  CHECK(concat(fine) == "ok");
  CHECK(concat(std::move(fine).with_context("never shown")) == "ok");
  CHECK(status{error_kind::ok, "text"}.ok());
}

TEST_CASE("each layer puts its name before an error") {
  auto outcome = failure(error_kind::not_found, "no node '", 'x', "'")
                     .with_context("prune")
                     .with_context("step 3");
  CHECK_FALSE(outcome.ok());
  CHECK(outcome.kind() == error_kind::not_found);
  CHECK(concat(outcome) == "not_found: step 3: prune: no node 'x'");
}

TEST_CASE("a status is copied with its text, and assigned over another") {
  auto first = invalid("first");
  auto copy = first;
  first = invalid("second");
  CHECK(copy.message() == "first");
  CHECK(first.message() == "second");
  auto& same = first;
  first = same;
  CHECK(first.message() == "second");
  first = status{};
  CHECK(first.ok());
}

TEST_CASE("a result holds a value or an error, which passes through the callers") {
  CHECK(*quarter_of(8) == 2);
  CHECK(quarter_of(6).status().message() == "3 is odd");
  CHECK(quarter_of(8).status().ok());
  CHECK(check(4).ok());
  CHECK(check(3).message() == "3 is odd");
  CHECK(check(12).kind() == error_kind::out_of_range);
}

TEST_CASE("a result without a value and without an error is detected as a defect") {
  result<int> empty{status{}};
  CHECK_FALSE(empty.ok());
  CHECK(empty.status().kind() == error_kind::internal);
}

TEST_CASE("a result moves its value out without a copy") {
  result<std::unique_ptr<int>> owner{std::make_unique<int>(3)};
  auto moved = *std::move(owner);
  CHECK(*moved == 3);
}

TEST_CASE("every kind of error has a name of its own") {
  std::set<std::string_view> names;
  int kinds = 0;
  for (int i = 0; i < 32; ++i)
    if (auto name = to_string(static_cast<error_kind>(i)); name != "unknown") {
      names.insert(name);
      ++kinds;
    }
  CHECK(kinds == 14);
  CHECK(names.size() == 14);
}

TEST_CASE("a source location is printed without folders") {
  auto location = std::source_location::current();
  CHECK(to_string(location) == concat("status_test.cpp:", location.line()));
}

} // namespace troupe::test::status_test
