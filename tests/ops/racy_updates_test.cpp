// Updates exclude each other, or race, as use_locking specifies.
#include "tests/ops/every_op.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"

#include <thread>

namespace troupe::test::racy_updates_test {

namespace {

// Whether a second update writes over memory that a reader of the first one's result holds.
result<bool> writes_over_readers(op_sample sample, bool use_locking) {
  sample.attrs["use_locking"] = use_locking;
  TROUPE_ASSIGN(auto built, rebuild(library(), sample, true));
  evaluator graph_evaluator{*built.owned_graph, small_device()};
  for (const auto& [variable, value] : built.variables)
    TROUPE_TRY(graph_evaluator.variable_of(*variable).assign(value));
  auto update = [&] { return graph_evaluator.run(built.feeds, {}, {built.sample_node}).status(); };
  TROUPE_TRY(update()); // now the variable owns its memory
  std::vector<tensor> old_values;
  for (const auto& [variable, value] : built.variables)
    old_values.push_back(*graph_evaluator.variable_of(*variable).read());
  TROUPE_TRY(update());
  size_t same = 0;
  for (size_t i = 0; i < old_values.size(); ++i)
    same +=
        graph_evaluator.variable_of(*built.variables[i].first).read()->raw() == old_values[i].raw();
  if (same != 0 && same != old_values.size())
    return failure(error_kind::internal, "some variables are locked, and others are not");
  return same != 0;
}

} // namespace

TEST_CASE("every update locks its variables if and only if use_locking is set") {
  int checked_ops = 0;
  check_every_op([&](const op_def& op) {
    failure_list errors;
    // Assign replaces the value, which is always one step.
    if (!op.find_attr("use_locking") || op.name == "Assign")
      return errors;
    auto shown = run_example(library(), op, small_device(), placeholders::as_written);
    if (shown.samples.empty())
      return failure_list{"shows nothing"};
    ++checked_ops;
    for (bool use_locking : {false, true}) {
      auto outcome = writes_over_readers(shown.samples.front(), use_locking);
      if (!outcome)
        errors.push_back(concat(outcome.status()));
      else if (*outcome == use_locking)
        errors.push_back(concat("use_locking=", use_locking,
                                use_locking ? ", and it does not lock" : ", and it locks"));
    }
    return errors;
  });
  CHECK(checked_ops > 60);
}

TEST_CASE("updates that do not lock run at once") {
  variable shared{"v", dtype::f32, shape{2}};
  REQUIRE(shared.assign(*tensor::vector<float>({1, 2}).clone()));
  REQUIRE(shared.update([](tensor&) { return status{}; }));
  std::atomic<int> inside{0};
  auto run = [&](size_t element) {
    return shared.update_unlocked([&](tensor& value) {
      ++inside;
      while (inside.load() < 2) // wait for the other
        std::this_thread::yield();
      value.data<float>()[element] += 1;
      return status{};
    });
  };
  std::thread parallel{[&] { CHECK(run(0)); }};
  CHECK(run(1));
  parallel.join();
  CHECK(inside == 2);
}

} // namespace troupe::test::racy_updates_test
