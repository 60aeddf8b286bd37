// Random programs of branches, loops, calls, variables and queues on devices and tasks, compared
// with an interpreter that is independent of these. A third of the steps count their messages.
#include "tests/ops/every_op.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/processors.hpp"
#include "tests/support/program_drawer.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/watchdog.hpp"
#include "tests/support/wrong_messages.hpp"

#include <functional>
#include <sstream>

namespace troupe::test::frames_random_test {
namespace {

std::unique_ptr<client> three_processors(uint64_t seed) {
  return make_session(3, {.region_per_node = seed % 5 == 0, .deterministic = seed % 7 == 0},
                      seed % 4 == 0 ? pass_options::none() : pass_options{}, 1 + seed % 3);
}

// Returns the first difference of tensors, or "" if there is none.
std::string compare(const std::vector<tensor>& actual, const std::vector<tensor>& expected,
                    std::string_view kind) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (!identical(actual[i], expected[i])) {
      std::ostringstream text;
      text << kind << ' ' << i << " is " << actual[i] << ", must be " << expected[i];
      return std::move(text).str();
    }
  return {};
}

// Returns the difference, or "" if there is none.
std::string difference(uint64_t seed, int statements, client& session,
                       const std::vector<std::string>& devices, const registry& ops = library()) {
  graph_builder g{ops};
  auto program =
      program_drawer{g, seed, statements, {.devices = devices, .queues = seed % 2 == 0}}.draw();
  evaluator reference{g, small_device()};
  auto* init = g.initializer();
  if (program.fill)
    init = g.group({init, program.fill});
  if (auto begun = reference.run({}, {}, {init}); !begun)
    return "the interpreter fails: " + begun.status().message();
  auto deadline = [] { return step_clock::now() + std::chrono::seconds{60}; };
  auto run = [&](const step_signature& signature,
                 const std::vector<tensor>& feeds) -> result<std::vector<tensor>> {
    TROUPE_ASSIGN(auto step, session.prepare(g, signature, deadline()));
    if (seed % 3 != 0)
      return session.run(*step, feeds, deadline());
    step_statistics statistics;
    TROUPE_ASSIGN(auto fetched, session.run(*step, feeds, deadline(), {.statistics = &statistics}));
    if (auto report = wrong_messages(statistics); !report.empty())
      return failure(error_kind::internal, "other messages than the programs need:\n", report);
    return fetched;
  };
  if (auto begun = run({.targets = {init}}, {}); !begun)
    return "the initializer fails: " + begun.status().message();
  step_signature step_nodes{
      .feeds = {program.input}, .fetches = program.outputs, .targets = program.effects};
  step_signature variable_reads;
  for (const auto& drawn_variable : program.variables)
    variable_reads.fetches.push_back(drawn_variable.ref);
  for (int64_t turn = 0; turn < 3; ++turn) {
    auto fed = tensor::vector<int64_t>({turn + 1, static_cast<int64_t>(seed % 100)});
    auto expected = reference.run({{program.input, fed}}, program.outputs, program.effects);
    if (!expected)
      return "the interpreter fails: " + expected.status().message();
    auto actual = run(step_nodes, {fed});
    if (!actual)
      return concat("run ", turn, ": ", actual.status());
    if (auto mismatch = compare(*actual, *expected, "output"); !mismatch.empty())
      return concat("run ", turn, ": ", mismatch);
    std::vector<tensor> values;
    for (const auto& drawn_variable : program.variables)
      values.push_back(*reference.variable_of(*drawn_variable.ref.node).read());
    auto actual_values = run(variable_reads, {});
    if (!actual_values)
      return concat("run ", turn, ": ", actual_values.status());
    if (auto mismatch = compare(*actual_values, values, "variable"); !mismatch.empty())
      return concat("run ", turn, ": ", mismatch);
  }
  return {};
}

void check_programs(uint64_t first, uint64_t count,
                    const std::function<std::string(uint64_t, int)>& find_difference) {
  for (auto seed = first; seed < first + count; ++seed) {
    constexpr int size = 24;
    auto mismatch = find_difference(seed, size);
    if (mismatch.empty())
      continue;
    int smallest = size;
    // Finds the shortest program of this seed that fails.
    for (int fewer = 1; fewer < size; ++fewer)
      if (auto still = find_difference(seed, fewer); !still.empty()) {
        smallest = fewer;
        mismatch = still;
        break;
      }
    FAIL_CHECK("seed " << seed << " with " << smallest << " statements: " << mismatch);
  }
}

void check_on_devices(uint64_t first, uint64_t count) {
  check_programs(first, count, [](uint64_t seed, int statements) {
    return difference(seed, statements, *three_processors(seed), {"/cpu:0", "/cpu:1", "/cpu:2"});
  });
}

std::unique_ptr<client> with_two_gpus(uint64_t seed) {
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [=] {
    return make_simulated_devices(2, {.seed = static_cast<unsigned>(seed)});
  };
  options.inter_op_threads = 1 + seed % 3;
  options.programs = {.region_per_node = seed % 5 == 0, .deterministic = seed % 7 == 0};
  options.passes = seed % 4 == 0 ? pass_options::none() : pass_options{};
  auto started = client::local(options);
  REQUIRE(started);
  return *std::move(started);
}

// Some programs name only one GPU, so that whole loops run there.
void check_on_gpus(uint64_t first, uint64_t count) {
  check_programs(first, count, [](uint64_t seed, int statements) {
    auto devices = seed % 2 == 0 ? std::vector<std::string>{"/gpu:0"}
                                 : std::vector<std::string>{"/gpu:0", "/gpu:1", "/cpu:0"};
    return difference(seed, statements, *with_two_gpus(seed), devices, simulated_library());
  });
}

void check_on_tasks(uint64_t first, uint64_t count) {
  auto cluster = make_cluster(2, 1);
  auto ps = start_task(cluster, {"ps", 0});
  auto zero = start_task(cluster, {"worker", 0}), one = start_task(cluster, {"worker", 1});
  check_programs(first, count, [&](uint64_t seed, int statements) {
    auto client = connect_to(cluster);
    return difference(seed, statements, *client,
                      {"/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"});
  });
}

} // namespace

TEST_CASE("random programs on several devices compute the results of an interpreter") {
  watchdog watch;
  check_on_devices(1, 100);
}

TEST_CASE("random programs on several tasks compute the results of an interpreter") {
  watchdog watch;
  check_on_tasks(1, 30);
}

TEST_CASE("random programs on GPUs compute the results of an interpreter") {
  watchdog watch;
  check_on_gpus(1, 100);
}

TEST_CASE("many random programs on GPUs compute the results of an interpreter", "[slow]") {
  check_on_gpus(1000, 2000);
}

TEST_CASE("many random programs on several devices compute the results of an interpreter",
          "[slow]") {
  check_on_devices(1000, 3000);
}

TEST_CASE("many random programs on several tasks compute the results of an interpreter", "[slow]") {
  check_on_tasks(1000, 500);
}

} // namespace troupe::test::frames_random_test
