// Steps whose devices compute collective operations together: on processors and on simulated GPUs,
// concurrently, and with failures.
#include "tests/simulated_gpu/simulated_collectives.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <cmath>
#include <random>
#include <sstream>
#include <thread>

namespace troupe::test::collective_region_test {

using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

enum class kind_of_devices { processors, gpus, on_one_gpu };

std::vector<std::shared_ptr<device>> make_some(kind_of_devices kind, int count,
                                               const gpu::simulation& simulation) {
  if (kind == kind_of_devices::gpus)
    return make_simulated_devices(count, simulation);
  std::vector<std::shared_ptr<device>> devices;
  if (kind == kind_of_devices::processors) {
    for (int i = 0; i < count; ++i)
      devices.push_back(make_cpu_device({.ordinal = i, .intra_op_threads = 2}));
    return devices;
  }
  devices.push_back(make_cpu_device({.intra_op_threads = 1}));
  for (int i = 0; i < count; ++i) {
    auto options = simulation;
    options.seed += static_cast<unsigned>(i) * 100;
    auto member_device = gpu::make_device(gpu::make_simulated_driver_on(0, options),
                                          devices.front(), {.ordinal = i});
    REQUIRE(member_device);
    devices.push_back(*std::move(member_device));
  }
  return devices;
}

std::unique_ptr<client>
make_session(kind_of_devices kind, int count,
             const gpu::simulation& simulation = {.seed = std::random_device{}()},
             const program_options& programs = {}) {
  INFO("seed " << simulation.seed);
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [=] { return make_some(kind, count, simulation); };
  options.inter_op_threads = 2;
  options.passes.fold = false;
  options.programs = programs;
  auto local_client = client::local(options);
  REQUIRE(local_client);
  return *std::move(local_client);
}

// Expands a text: a line with {i} or {d} is repeated for each member, with the member's number and
// its device. Other lines appear once.
std::string repeated(std::string_view text, kind_of_devices kind, int count) {
  std::string expanded;
  auto replace = [](std::string line, std::string_view pattern, const std::string& replacement) {
    for (size_t position; (position = line.find(pattern)) != std::string::npos;)
      line.replace(position, pattern.size(), replacement);
    return line;
  };
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    auto stands_for_member = line.find("{i}") != std::string::npos;
    for (int i = 0; i < (stands_for_member ? count : 1); ++i) {
      auto device = concat(kind == kind_of_devices::processors ? "/cpu:" : "/gpu:", i);
      expanded +=
          replace(replace(replace(line, "{i}", concat(i)), "{d}", device), "{n}", concat(count)) +
          '\n';
    }
  }
  return expanded;
}

text_case switch_case(std::string_view text, kind_of_devices kind, int count) {
  return text_case{repeated(text, kind, count), "test", &simulated_library()};
}

result<std::vector<tensor>> run_one(client& session, const text_case& test_case,
                                    std::chrono::milliseconds timeout = 20s, size_t run_index = 0) {
  const auto& run = test_case.text.runs.at(run_index);
  auto deadline = step_clock::now() + timeout;
  TROUPE_ASSIGN(auto step, session.prepare(*test_case.nodes, signature_of(run), deadline));
  return session.run(*step, feeds_of(run), deadline);
}

bool message_contains(const status& outcome, std::initializer_list<std::string_view> parts) {
  INFO(outcome);
  for (auto part : parts) {
    INFO("expected: " << part);
    CHECK(outcome.message().find(part) != std::string::npos);
  }
  return !outcome;
}

constexpr std::pair<kind_of_devices, int> all_kinds[] = {
    {kind_of_devices::processors, 2}, {kind_of_devices::processors, 4},
    {kind_of_devices::gpus, 2},       {kind_of_devices::gpus, 4},
    {kind_of_devices::on_one_gpu, 2}, {kind_of_devices::on_one_gpu, 3}};

const char* all_sums = R"(
x = Placeholder dtype=f32 shape=[12]
x{i} = Mul(x, f32({i})) @"{d}"
y{i} = Add(x{i}, f32(1)) @"{d}"
sum{i} = CollectiveReduce(y{i}) group_size={n} group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"{d}"
mean{i} = CollectiveReduce(y{i}) group_size={n} group_key=1 instance_key=2 merge_op="Add" final_op="Div" @"{d}"
most{i} = CollectiveReduce(y{i}) group_size={n} group_key=1 instance_key=3 merge_op="Max" final_op="Id" @"{d}"
part{i} = CollectiveReduceScatter(y{i}) group_size={n} group_key=1 instance_key=4 merge_op="Add" final_op="Id" @"{d}"
all{i} = CollectiveGather(part{i}) group_size={n} group_key=1 instance_key=5 @"{d}"
z{i} = Sub(all{i}, sum{i}) @"{d}"
w{i} = Mul(mean{i}, f32(2)) @"{d}"
feed x = f32[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
fetch z{i}
fetch w{i}
fetch most{i}
)";

std::string complaint_about_sums(const std::vector<tensor>& got, int count) {
  auto n = static_cast<size_t>(count);
  if (got.size() != 3 * n)
    return concat("there are ", got.size(), " fetches");
  auto sum_of_numbers = static_cast<float>(count * (count - 1) / 2);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < 12; ++k) {
      auto x = static_cast<float>(k + 1);
      auto mean = (x * sum_of_numbers + static_cast<float>(count)) / static_cast<float>(count);
      auto z = got[i].values<float>()[k], w = got[n + i].values<float>()[k],
           most = got[2 * n + i].values<float>()[k];
      if (z != 0 || std::abs(w - 2 * mean) > 1e-4f || most != x * static_cast<float>(count - 1) + 1)
        return concat("element ", k, " of member ", i, ": ", z, ", ", w, ", ", most);
    }
  return "";
}

} // namespace

TEST_CASE("a collective operation gives each device what it would compute from all inputs") {
  watchdog watch;
  for (auto [kind, count] : all_kinds) {
    INFO(count << " of kind " << static_cast<int>(kind));
    auto session = make_session(kind, count);
    auto text = switch_case(all_sums, kind, count);
    for (int i = 0; i < 8; ++i) { // GPUs replay recorded steps
      auto results = run_one(*session, text);
      REQUIRE(results.status().ok());
      REQUIRE(complaint_about_sums(*results, count) == "");
    }
  }
}

TEST_CASE(
    "GPUs of deterministic sessions use the result of a collective only after it is computed") {
  watchdog watch;
  for (auto [kind, count] : all_kinds)
    for (bool replay : {false, true}) {
      INFO(count << " of kind " << static_cast<int>(kind) << ", replay: " << replay);
      auto session = make_session(kind, count, {.seed = std::random_device{}()},
                                  {.deterministic = true, .replay = replay});
      auto text = switch_case(all_sums, kind, count);
      for (int i = 0; i < 8; ++i) {
        auto results = run_one(*session, text);
        REQUIRE(results.status().ok());
        REQUIRE(complaint_about_sums(*results, count) == "");
      }
    }
}

TEST_CASE("a GPU's launches before a collective operation are replayed as one launch") {
  watchdog watch;
  for (auto kind : {kind_of_devices::gpus, kind_of_devices::on_one_gpu}) {
    INFO("kind " << static_cast<int>(kind));
    std::vector<std::shared_ptr<device>> devices;
    client_options options;
    options.ops = &simulated_library();
    options.make_devices = [&] {
      devices = make_some(kind, 2, {.seed = std::random_device{}()});
      return devices;
    };
    options.passes = pass_options::none();
    auto session = client::local(options);
    REQUIRE(session);
    auto text = switch_case(R"(
x = Placeholder dtype=f32 shape=[2]
a{i} = Mul(x, x) @"{d}"
b{i} = Add(a{i}, x) @"{d}"
c{i} = Mul(b{i}, x) @"{d}"
d{i} = Add(c{i}, b{i}) @"{d}"
e{i} = CollectiveReduce(d{i}) group_size={n} group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"{d}"
f{i} = Mul(e{i}, x) @"{d}"
feed x = f32[1, 2]
fetch f{i} = f32[8, 72]
)",
                            kind, 2);
    const auto& run = text.text.runs.at(0);
    auto step = (*session)->prepare(*text.nodes, signature_of(run), step_clock::now() + 10s);
    REQUIRE(step.status().ok());
    for (int i = 0; i < 10; ++i)
      REQUIRE(difference_of(run, (*session)->run(**step, feeds_of(run), step_clock::now() + 20s)) ==
              "");
    for (size_t i = 1; i < devices.size(); ++i)
      CHECK(devices[i]->as_accelerator()->replays().replays > 0);
  }
}

TEST_CASE("concurrent steps on the same devices do not mix, and no step waits for another") {
  watchdog watch{100s};
  for (auto [kind, count] : all_kinds) {
    INFO(count << " of kind " << static_cast<int>(kind));
    auto session = make_session(kind, count);
    auto text = switch_case(R"(
x = Placeholder dtype=f32 shape=[]
x{i} = Add(x, f32({i})) @"{d}"
sum{i} = CollectiveReduce(x{i}) group_size={n} group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"{d}"
y{i} = Mul(sum{i}, f32(1)) @"{d}"
again{i} = CollectiveReduce(y{i}) group_size={n} group_key=1 instance_key=2 merge_op="Max" final_op="Id" @"{d}"
feed x = f32(0)
fetch again{i}
)",
                            kind, count);
    const auto& run = text.text.runs.at(0);
    auto step = session->prepare(*text.nodes, signature_of(run), step_clock::now() + 10s);
    REQUIRE(step.status().ok());
    std::atomic<int> wrong_results = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t, count = count] {
          for (int i = 0; i < 25; ++i) {
            auto x = static_cast<float>(t * 100 + i);
            auto feed = tensor::scalar(x);
            auto results = session->run(**step, std::span{&feed, 1}, step_clock::now() + 20s);
            auto want = x * static_cast<float>(count) + static_cast<float>(count * (count - 1) / 2);
            if (!results)
              ++wrong_results;
            else
              for (const auto& value : *results)
                wrong_results += value.values<float>()[0] != want;
          }
        });
    }
    CHECK(wrong_results == 0);
  }
}

TEST_CASE("collective groups of different steps that share some devices never deadlock") {
  watchdog watch{100s};
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  auto session = make_session(kind_of_devices::gpus, 3, {.seed = seed});
  std::vector<text_case> texts;
  for (auto [a, b] : {std::pair{0, 1}, {1, 2}, {2, 0}}) {
    std::string text;
    for (int i : {a, b})
      text += concat("x", i, " = Add(f32[1, 2], f32(", i, ")) @\"/gpu:", i, "\"\nsum", i,
                     " = CollectiveReduce(x", i, ") group_size=2 group_key=", a + 1,
                     " instance_key=1 merge_op=\"Add\" final_op=\"Id\" @\"/gpu:", i, "\"\n");
    text += concat("fetch sum", a, " = f32[", a + b + 2, ", ", a + b + 4, "]\nfetch sum", b,
                   " = f32[", a + b + 2, ", ", a + b + 4, "]\n");
    texts.emplace_back(text, "test", &simulated_library());
  }
  std::atomic<int> wrong_results = 0;
  {
    std::vector<std::jthread> threads;
    for (const auto& text : texts)
      threads.emplace_back([&] {
        for (int i = 0; i < 40; ++i)
          wrong_results += !difference_of(text.text.runs.at(0), run_one(*session, text)).empty();
      });
  }
  CHECK(wrong_results == 0);
}

TEST_CASE("a broadcast reaches all devices") {
  watchdog watch;
  for (auto [kind, count] : all_kinds) {
    INFO(count << " of kind " << static_cast<int>(kind));
    auto session = make_session(kind, count);
    auto device = std::string{kind == kind_of_devices::processors ? "/cpu:" : "/gpu:"};
    auto keys = concat(" group_size=", count, " group_key=1 instance_key=1 @\"", device);
    auto text = concat("x = Add(f32[1, 2], f32(3)) @\"", device, "1\"\n",
                       "y1 = CollectiveBcastSend(x)", keys, "1\"\n");
    for (int i = 0; i < count; ++i)
      if (i != 1)
        text += concat("y", i, " = CollectiveBcastRecv T=f32 shape=[2]", keys, i, "\"\n");
    for (int i = 0; i < count; ++i)
      text += concat("z", i, " = Mul(y", i, ", f32(2)) @\"", device, i, "\"\nfetch z", i,
                     " = f32[8, 10]\n");
    text_case test_case{text, "test", &simulated_library()};
    CHECK(difference_of(test_case.text.runs.at(0), run_one(*session, test_case)) == "");
  }
}

TEST_CASE(
    "a step that needs one member runs all members, and is refused where the graph lacks some") {
  watchdog watch;
  auto session = make_session(kind_of_devices::processors, 3);
  for (auto size : {3, 4}) {
    auto source = R"(
x{i} = Add(f32[1], f32({i})) @"{d}"
sum{i} = CollectiveReduce(x{i}) group_size=SIZE group_key=7 instance_key=1 merge_op="Add" final_op="Id" @"{d}"
fetch sum1 = f32[6]
)"s;
    source.replace(source.find("SIZE"), 4, concat(size));
    auto text = switch_case(source, kind_of_devices::processors, 3);
    auto results = run_one(*session, text);
    if (size == 3)
      CHECK(difference_of(text.text.runs.at(0), results) == "");
    else
      CHECK(message_contains(results.status(),
                             {"CollectiveReduce 'sum0'", "group 7, instance 1 has 3 of 4 members",
                              "device:cpu:0", "device:cpu:2"}));
  }
}

TEST_CASE("processors and GPUs cannot be members of one group, and the error says so") {
  watchdog watch;
  auto session = make_session(kind_of_devices::gpus, 1);
  text_case text{R"(
a = CollectiveGather(f32[1]) group_size=2 group_key=1 instance_key=1 @"/cpu:0"
b = CollectiveGather(f32[2]) group_size=2 group_key=1 instance_key=1 @"/gpu:0"
fetch a
fetch b
)",
                 "test", &simulated_library()};
  CHECK(message_contains(run_one(*session, text).status(),
                         {"put all members on GPUs or all on CPUs"}));
}

TEST_CASE("devices that share a GPU with some members only are refused") {
  watchdog watch;
  client_options options;
  options.ops = &simulated_library();
  options.make_devices = [] {
    auto some_devices = make_some(kind_of_devices::on_one_gpu, 2, {});
    auto other_device =
        gpu::make_device(gpu::make_simulated_driver(), some_devices.front(), {.ordinal = 2});
    some_devices.push_back(*std::move(other_device));
    return some_devices;
  };
  auto session = client::local(options);
  REQUIRE(session);
  auto text = switch_case(R"(
a{i} = CollectiveGather(f32[1]) group_size={n} group_key=1 instance_key=1 @"{d}"
fetch a{i}
)",
                          kind_of_devices::gpus, 3);
  CHECK(message_contains(run_one(**session, text).status(),
                         {"CollectiveGather 'a0'", "devices_per_gpu"}));
}

TEST_CASE("inputs of different shapes fail the step, and the next one works") {
  watchdog watch;
  for (auto [kind, count] : all_kinds) {
    auto session = make_session(kind, count);
    std::string source = R"(
x = Placeholder dtype=f32 shape=?
y = Placeholder dtype=f32 shape=?
a = CollectiveReduce(x) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"D0"
b = CollectiveReduce(y) group_size=2 group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"D1"
feed x = f32[1, 2]
feed y = f32[1, 2, 3]
fetch a
fetch b
run
feed x = f32[1, 2]
feed y = f32[1, 2]
fetch a = f32[2, 4]
fetch b = f32[2, 4]
)";
    for (auto device_name : {"D0", "D1"})
      source.replace(source.find(device_name), 1,
                     kind == kind_of_devices::processors ? "/cpu:" : "/gpu:");
    text_case test_case{source, "test", &simulated_library()};
    CHECK(message_contains(run_one(*session, test_case, 20s, 0).status(),
                           {"CollectiveReduce 'b'", "[3]", "[2]", "one shape"}));
    CHECK(difference_of(test_case.text.runs.at(1), run_one(*session, test_case, 20s, 1)) == "");
  }
}

namespace {

// The last member waits for a queue, which a second step may fill.
std::string late_member(kind_of_devices kind, int count) {
  auto device = kind == kind_of_devices::processors ? "/cpu:" : "/gpu:";
  std::string text = R"(
q = FIFOQueue component_types=[f32] shapes=[[2]]
put = QueueEnqueue(q, f32[10, 20])
)";
  for (int i = 0; i < count; ++i)
    text += concat(
        "x", i, " = ",
        i + 1 < count ? "Add(f32[1, 2], f32(0))" : "QueueDequeue(q) component_types=[f32]",
        i + 1 < count ? concat(" @\"", device, i, '"') : "", "\nsum", i, " = CollectiveReduce(x", i,
        ") group_size=", count, " group_key=4 instance_key=1 merge_op=\"Add\" final_op=\"Id\" @\"",
        device, i, "\"\n");
  text += "target put\nrun\n";
  for (int i = 0; i < count; ++i)
    text += concat("fetch sum", i, '\n');
  return text;
}

} // namespace

TEST_CASE(
    "a member that waits for a missing member names it in its error, and other steps continue") {
  watchdog watch;
  for (auto [kind, count] : all_kinds) {
    INFO(count << " of kind " << static_cast<int>(kind));
    auto session = make_session(kind, count);
    text_case text{late_member(kind, count), "test", &simulated_library()};
    auto device = kind == kind_of_devices::processors ? "cpu:" : "gpu:";
    auto late_outcome = run_one(*session, text, 300ms, 1).status();
    CHECK(late_outcome.kind() == error_kind::deadline_exceeded);
    CHECK(message_contains(
        late_outcome, {"CollectiveReduce 'sum0'", "of group 4",
                       concat(count - 1, " of ", count,
                              " members have arrived, missing: /device:", device, count - 1)}));
    REQUIRE(run_one(*session, text, 20s, 0));
    auto results = run_one(*session, text, 20s, 1);
    REQUIRE(results.status().ok());
    for (const auto& value : *results)
      CHECK(value.values<float>()[1] == static_cast<float>(2 * (count - 1) + 20));
  }
}

TEST_CASE("a member that fails fails the step for all members, and the next step works") {
  watchdog watch;
  for (auto [kind, count] : all_kinds) {
    INFO(count << " of kind " << static_cast<int>(kind));
    auto session = make_session(kind, count);
    auto text = switch_case(R"(
i = Placeholder dtype=i32 shape=[1]
x{i} = Gather(f32[1, 2, 3], i) @"{d}"
sum{i} = CollectiveReduce(x{i}) group_size={n} group_key=1 instance_key=1 merge_op="Add" final_op="Id" @"{d}"
y{i} = Mul(sum{i}, f32(1)) @"{d}"
feed i = i32[7]
fetch y{i}
run
feed i = i32[2]
fetch y{i}
)",
                            kind, count);
    for (int round = 0; round < 6; ++round) {
      CHECK(message_contains(run_one(*session, text, 20s, 0).status(), {"Gather"}));
      auto results = run_one(*session, text, 20s, 1);
      REQUIRE(results.status().ok());
      for (const auto& value : *results)
        CHECK(value.values<float>()[0] == static_cast<float>(3 * count));
    }
  }
}

TEST_CASE("a GPU that is lost during a step fails the step at once, not at the deadline") {
  watchdog watch;
  for (int launches : {0, 1, 2, 5, 9, 14}) {
    INFO("after " << launches << " launches");
    client_options options;
    options.ops = &simulated_library();
    options.make_devices = [=] {
      auto devices = make_simulated_devices(2);
      auto short_lived =
          gpu::make_device(gpu::make_simulated_driver({.launches_until_lost = launches}),
                           devices.front(), {.ordinal = 2});
      devices.push_back(*std::move(short_lived));
      return devices;
    };
    auto session = client::local(options);
    REQUIRE(session);
    auto text = switch_case(all_sums, kind_of_devices::gpus, 3);
    auto begin = step_clock::now();
    bool failed = false;
    for (int i = 0; i < 4; ++i) {
      auto results = run_one(**session, text).status();
      failed |= !results;
      if (failed)
        CHECK(message_contains(results, {"gpu:2"}));
    }
    CHECK(failed);
    // The other members still compute.
    auto other_case = switch_case(R"(
x{i} = Add(f32[1], f32({i})) @"{d}"
sum{i} = CollectiveReduce(x{i}) group_size={n} group_key=2 instance_key=1 merge_op="Add" final_op="Id" @"{d}"
fetch sum{i} = f32[3]
)",
                                  kind_of_devices::gpus, 2);
    CHECK(difference_of(other_case.text.runs.at(0), run_one(**session, other_case)) == "");
    CHECK(step_clock::now() - begin < 15s);
  }
}

TEST_CASE("steps that are stopped at any moment leave no state behind") {
  watchdog watch{100s};
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  for (auto [kind, count] : all_kinds) {
    INFO(count << " of kind " << static_cast<int>(kind));
    auto session = make_session(kind, count, {.seed = seed});
    auto text = switch_case(all_sums, kind, count);
    const auto& run = text.text.runs.at(0);
    auto step = session->prepare(*text.nodes, signature_of(run), step_clock::now() + 10s);
    REQUIRE(step.status().ok());
    std::atomic<int> wrong_results = 0;
    {
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < 3; ++t)
        threads.emplace_back([&, t, count = count] {
          std::mt19937 generator{seed + t};
          for (int i = 0; i < 40; ++i) {
            auto patience = std::chrono::microseconds{generator() % 3000};
            auto results = session->run(**step, feeds_of(run), step_clock::now() + patience);
            wrong_results += results ? !complaint_about_sums(*results, count).empty()
                                     : results.status().kind() != error_kind::deadline_exceeded;
          }
        });
    }
    CHECK(wrong_results == 0);
    auto results = session->run(**step, feeds_of(run), step_clock::now() + 20s);
    REQUIRE(results.status().ok());
    CHECK(complaint_about_sums(*results, count) == "");
  }
}

} // namespace troupe::test::collective_region_test
