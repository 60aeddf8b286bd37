// Updates exclude each other, or race, as use_locking says.
#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"

#include <thread>

namespace troupe::test::racy_updates_test {

namespace {

// Whether a second update writes over the memory that a reader of the first one's result holds.
result<bool> writes_over_readers(op_sample sample, bool use_locking) {
  sample.attrs["use_locking"] = use_locking;
  TROUPE_ASSIGN(auto built, rebuild(library(), sample, true));
  evaluator by{*built.in, small_device()};
  for (const auto& [variable, value] : built.variables)
    TROUPE_TRY(by.variable_of(*variable).assign(value));
  auto update = [&] { return by.run(built.feeds, {}, {built.at}).status(); };
  TROUPE_TRY(update()); // from now on, the memory is the variable's own
  std::vector<tensor> held;
  for (const auto& [variable, value] : built.variables)
    held.push_back(*by.variable_of(*variable).read());
  TROUPE_TRY(update());
  size_t same = 0;
  for (size_t i = 0; i < held.size(); ++i)
    same += by.variable_of(*built.variables[i].first).read()->raw() == held[i].raw();
  if (same != 0 && same != held.size())
    return failure(error_kind::internal, "some variables are locked, and others are not");
  return same != 0;
}

} // namespace

TEST_CASE("every update does as use_locking says") {
  int known = 0;
  check_every_op([&](const op_def& op) {
    device_errors found;
    // Assign hands a new value over, which is one step in any case.
    if (!op.find_attr("use_locking") || op.name == "Assign")
      return found;
    auto shown = run_example(library(), op, small_device(), placeholders::as_written);
    if (shown.samples.empty())
      return device_errors{"shows nothing"};
    ++known;
    for (bool use_locking : {false, true}) {
      auto outcome = writes_over_readers(shown.samples.front(), use_locking);
      if (!outcome)
        found.push_back(concat(outcome.status()));
      else if (*outcome == use_locking)
        found.push_back(concat("use_locking=", use_locking,
                               use_locking ? ", and it does not lock" : ", and it locks"));
    }
    return found;
  });
  CHECK(known > 60);
}

TEST_CASE("updates that do not lock run at once") {
  variable held{"v", dtype::f32, shape{2}};
  REQUIRE(held.assign(*tensor::vector<float>({1, 2}).clone()));
  REQUIRE(held.update([](tensor&) { return status{}; }));
  std::atomic<int> inside{0};
  auto run = [&](size_t element) {
    return held.update_unlocked([&](tensor& value) {
      ++inside;
      while (inside.load() < 2) // both at once
        std::this_thread::yield();
      value.data<float>()[element] += 1;
      return status{};
    });
  };
  std::thread other{[&] { CHECK(run(0)); }};
  CHECK(run(1));
  other.join();
  CHECK(inside == 2);
}

} // namespace troupe::test::racy_updates_test
