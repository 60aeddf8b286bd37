// Random programs of branches, loops, calls, variables and queues, over devices and tasks, against
// an interpreter that knows nothing of these.
#include "tests/ops/every_op.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/evaluate.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/processors.hpp"
#include "tests/support/program_drawer.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/watchdog.hpp"

#include <functional>
#include <sstream>

namespace troupe::test::frames_random_test {
namespace {

std::unique_ptr<client> three_processors(uint64_t seed) {
  return make_session(3, {.region_per_node = seed % 5 == 0, .deterministic = seed % 7 == 0},
                      seed % 4 == 0 ? pass_options::none() : pass_options{}, 1 + seed % 3);
}

// What differs, or nothing.
std::string difference(uint64_t seed, int statements, client& in,
                       const std::vector<std::string>& devices, const registry& ops = library()) {
  graph_builder g{ops};
  auto drawn =
      program_drawer{g, seed, statements, {.devices = devices, .queues = seed % 2 == 0}}.draw();
  evaluator reference{g, small_device()};
  auto* init = g.initializer();
  if (drawn.fill)
    init = g.group({init, drawn.fill});
  if (auto begun = reference.run({}, {}, {init}); !begun)
    return "the interpreter fails: " + begun.status().message();
  auto deadline = [] { return step_clock::now() + std::chrono::seconds{60}; };
  auto run = [&](const step_signature& what,
                 const std::vector<tensor>& feeds) -> result<std::vector<tensor>> {
    TROUPE_ASSIGN(auto step, in.prepare(g, what, deadline()));
    return in.run(*step, feeds, deadline());
  };
  if (auto begun = run({.targets = {init}}, {}); !begun)
    return "the initializer fails: " + begun.status().message();
  step_signature what{.feeds = {drawn.input}, .fetches = drawn.outputs, .targets = drawn.effects};
  step_signature look;
  for (const auto& one : drawn.variables)
    look.fetches.push_back(one.ref);
  auto compare = [](const std::vector<tensor>& got, const std::vector<tensor>& wanted,
                    std::string_view of) -> std::string {
    for (size_t i = 0; i < wanted.size(); ++i)
      if (!identical(got[i], wanted[i])) {
        std::ostringstream text;
        text << of << ' ' << i << " is " << got[i] << ", must be " << wanted[i];
        return std::move(text).str();
      }
    return {};
  };
  for (int64_t turn = 0; turn < 3; ++turn) {
    auto fed = tensor::vector<int64_t>({turn + 1, static_cast<int64_t>(seed % 100)});
    auto wanted = reference.run({{drawn.input, fed}}, drawn.outputs, drawn.effects);
    if (!wanted)
      return "the interpreter fails: " + wanted.status().message();
    auto got = run(what, {fed});
    if (!got)
      return concat("run ", turn, ": ", got.status());
    if (auto wrong = compare(*got, *wanted, "output"); !wrong.empty())
      return concat("run ", turn, ": ", wrong);
    std::vector<tensor> values;
    for (const auto& one : drawn.variables)
      values.push_back(*reference.variable_of(*one.ref.node).read());
    auto seen = run(look, {});
    if (!seen)
      return concat("run ", turn, ": ", seen.status());
    if (auto wrong = compare(*seen, values, "variable"); !wrong.empty())
      return concat("run ", turn, ": ", wrong);
  }
  return {};
}

void check_programs(uint64_t first, uint64_t count,
                    const std::function<std::string(uint64_t, int)>& difference_of) {
  for (auto seed = first; seed < first + count; ++seed) {
    constexpr int size = 24;
    auto wrong = difference_of(seed, size);
    if (wrong.empty())
      continue;
    int least = size;
    for (int fewer = 1; fewer < size; ++fewer) // the shortest program of this seed that fails
      if (auto still = difference_of(seed, fewer); !still.empty()) {
        least = fewer;
        wrong = still;
        break;
      }
    FAIL_CHECK("seed " << seed << " with " << least << " statements: " << wrong);
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

// Some name one GPU alone, so that loops lie there as a whole.
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

TEST_CASE("random programs on several devices do what an interpreter does") {
  watchdog watch;
  check_on_devices(1, 100);
}

TEST_CASE("random programs on several tasks do what an interpreter does") {
  watchdog watch;
  check_on_tasks(1, 30);
}

TEST_CASE("random programs on GPUs do what an interpreter does") {
  watchdog watch;
  check_on_gpus(1, 100);
}

TEST_CASE("many random programs on GPUs do what an interpreter does", "[slow]") {
  check_on_gpus(1000, 2000);
}

TEST_CASE("many random programs on several devices do what an interpreter does", "[slow]") {
  check_on_devices(1000, 3000);
}

TEST_CASE("many random programs on several tasks do what an interpreter does", "[slow]") {
  check_on_tasks(1000, 500);
}

} // namespace troupe::test::frames_random_test
