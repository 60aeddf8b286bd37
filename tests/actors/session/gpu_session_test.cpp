// Steps on simulated GPUs: alone, beside a processor, on other tasks, and with failures.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/core/make_device.hpp"
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/serialization/reports/trace.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace troupe::test::gpu_session_test {

using namespace std::chrono_literals;

namespace {

struct gpu_session {
  explicit gpu_session(gpu::simulation simulation = {.seed = std::random_device{}()}, int gpus = 1,
                       const std::function<void(client_options&)>& change = {})
      : seed(simulation.seed) {
    client_options options;
    options.ops = &simulated_library();
    options.make_devices = [=, this] {
      auto simulated_devices = make_simulated_devices(gpus, simulation);
      devices = simulated_devices;
      return simulated_devices;
    };
    options.inter_op_threads = 2;
    options.passes.fold = false; // otherwise the GPU's nodes would be folded into constants
    if (change)
      change(options);
    auto local_client = client::local(options);
    REQUIRE(local_client);
    client = *std::move(local_client);
  }

  unsigned seed;
  std::vector<std::shared_ptr<device>> devices;
  std::unique_ptr<troupe::client> client;
};

bool message_contains(const status& outcome, std::string_view part) {
  INFO(outcome);
  return outcome.message().find(part) != std::string::npos;
}

text_case gpu_case(std::string_view text) { return text_case{text, "test", &simulated_library()}; }

result<std::vector<tensor>> run_one(client& tested_client, const text_case& test_case,
                                    size_t run_index, std::chrono::milliseconds timeout = 20s) {
  const auto& run = test_case.text.runs.at(run_index);
  auto deadline = step_clock::now() + timeout;
  TROUPE_ASSIGN(auto step, tested_client.prepare(*test_case.nodes, signature_of(run), deadline));
  return tested_client.run(*step, feeds_of(run), deadline);
}

std::string run_all_of(client& tested_client, const text_case& test_case) {
  for (size_t i = 0; i < test_case.text.runs.size(); ++i)
    if (auto run_difference =
            difference_of(test_case.text.runs[i], run_one(tested_client, test_case, i));
        !run_difference.empty())
      return run_difference;
  return "";
}

// Fits a line by least squares: y = 2 x + 1, from four points.
const char* learner = R"(
x = Placeholder dtype=f32 shape=[4]
y = Placeholder dtype=f32 shape=[4]
w = VariableV2 dtype=f32 shape=[]
b = VariableV2 dtype=f32 shape=[]
init_w = Assign(w, f32(0))
init_b = Assign(b, f32(0))
slope = Mul(x, w)
guess = Add(slope, b)
error = Sub(guess, y)
leaning = Mul(error, x)
dw = Mean(leaning, i32[0])
db = Mean(error, i32[0])
train_w = ApplyGradientDescent(w, f32(0.25), dw)
train_b = ApplyGradientDescent(b, f32(0.25), db)
target init_w
target init_b
run
feed x = f32[-1, 0, 1, 2]
feed y = f32[-1, 1, 3, 5]
target train_w
target train_b
run
w2 = Add(w, f32(0))
b2 = Add(b, f32(0))
fetch w2 = f32(0)
fetch b2 = f32(0)
)";

float scalar_of(const tensor& input) { return input.values<float>()[0]; }

} // namespace

TEST_CASE("a model trains on a GPU, and its variables are fetched") {
  watchdog watch;
  gpu_session session;
  INFO("seed " << session.seed);
  auto model = gpu_case(learner);
  REQUIRE(run_one(*session.client, model, 0));
  for (int i = 0; i < 200; ++i)
    REQUIRE(run_one(*session.client, model, 1));
  auto learnt = run_one(*session.client, model, 2);
  REQUIRE(learnt);
  CHECK(std::abs(scalar_of((*learnt)[0]) - 2) < 1e-3f);
  CHECK(std::abs(scalar_of((*learnt)[1]) - 1) < 1e-3f);
  CHECK((*learnt)[0].on_host());
}

TEST_CASE("concurrent threads may train one model on one GPU") {
  watchdog watch;
  auto own_thread = GENERATE(false, true);
  gpu_session session{{.seed = std::random_device{}()}, 1, [=](auto& options) {
                        options.gpu_launch_threads = own_thread;
                      }};
  INFO("seed " << session.seed);
  auto model = gpu_case(learner);
  REQUIRE(run_one(*session.client, model, 0));
  std::vector<std::jthread> threads;
  std::atomic<int> failed = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 60; ++i)
        if (!run_one(*session.client, model, 1))
          ++failed;
    });
  threads.clear();
  CHECK(failed == 0);
  auto learnt = run_one(*session.client, model, 2);
  REQUIRE(learnt);
  CHECK(std::abs(scalar_of((*learnt)[0]) - 2) < 1e-2f);
}

TEST_CASE("a value that a GPU computes may decide a shape: it is copied to the host first") {
  watchdog watch;
  gpu_session session;
  auto text = gpu_case(R"(
x = Placeholder dtype=f32 shape=[4]
best = ArgMax(x, i32(0))
more = Add(best, i64(1))
row = Reshape(more, i32[1])
dims = Cast(row) DstT=i32
zeros = Fill(dims, f32(7))
feed x = f32[0, 5, 9, 1]
fetch zeros = f32[7, 7, 7]
)");
  CHECK(run_all_of(*session.client, text) == "");
}

TEST_CASE("a step may alternate between a processor and two GPUs") {
  watchdog watch;
  auto own_threads = GENERATE(false, true);
  gpu_session session{{.seed = std::random_device{}()}, 2, [=](auto& options) {
                        options.gpu_launch_threads = own_threads;
                      }};
  INFO("seed " << session.seed);
  auto text = gpu_case(R"(
x = Placeholder dtype=f32 shape=[3]
a = Add(x, f32[1, 1, 1]) @"/gpu:0"
b = Mul(a, f32[2, 2, 2]) @"/cpu:0"
c = Sub(b, a) @"/gpu:1"
d = Add(c, b) @"/gpu:0"
e = Neg(d) @"/cpu:0"
feed x = f32[1, 2, 3]
fetch e = f32[-6, -9, -12]
fetch c = f32[2, 3, 4]
)");
  for (int i = 0; i < 50; ++i)
    REQUIRE(run_all_of(*session.client, text) == "");
}

TEST_CASE("transfers between GPUs bypass the host, unless the host reads the value") {
  watchdog watch;
  auto is_remote = GENERATE(false, true);
  gpu_session session{{.seed = std::random_device{}(), .peers_are_out_of_reach = is_remote}, 2};
  INFO("seed " << session.seed << (is_remote ? ", out of reach" : ""));
  auto text = gpu_case(R"(
x = Placeholder dtype=f32 shape=[3]
a = Add(x, f32[1, 1, 1]) @"/gpu:0"
b = Mul(a, f32[2, 2, 2]) @"/gpu:1"
c = Sub(b, a) @"/gpu:0"
best = ArgMax(a, i32(0)) @"/gpu:0"
row = Reshape(best, i32[1]) @"/gpu:0"
dims = Cast(row) DstT=i32 @"/gpu:0"
fours = Fill(dims, f32(4)) @"/gpu:1"
feed x = f32[1, 2, 3]
fetch c = f32[2, 3, 4]
fetch fours = f32[4, 4]
)");
  auto copied = [&](int gpu) {
    return session.devices[static_cast<size_t>(1 + gpu)]->as_accelerator()->copies();
  };
  for (uint64_t i = 1; i <= 20; ++i) {
    REQUIRE(run_all_of(*session.client, text) == "");
    // a; not the input that decides a shape
    CHECK(copied(1).copied_from_devices == (is_remote ? 0 : i * 12));
    CHECK(copied(0).copied_from_devices == (is_remote ? 0 : i * 12)); // b
    CHECK(copied(0).downloaded == i * (is_remote ? 28 : 16));         // c and dims
  }
}

TEST_CASE(
    "placement by cost keeps a small step on the processor, and moves a large step to the GPU") {
  watchdog watch;
  gpu_session session{{.seed = std::random_device{}()}, 1, [](auto& options) {
                        options.programs.place_by_cost = true;
                      }};
  INFO("seed " << session.seed);
  for (int extent : {4, 400'000}) {
    auto text = gpu_case(concat("x = Placeholder dtype=f32 shape=[", extent, R"(]
y = Exp(x)
z = Mul(y, f32(2))
fetch z = f32[]
)"));
    auto& run = text.text.runs.at(0);
    run.feeds.clear();
    auto deadline = step_clock::now() + 20s;
    auto signature = signature_of(run);
    signature.feeds = {edge{text.nodes->find("x"), 0}};
    auto step = session.client->prepare(*text.nodes, signature, deadline);
    REQUIRE(step);
    auto& prepared = **step;
    std::vector<float> zeros(static_cast<size_t>(extent));
    auto run_result = session.client->run(prepared, std::array{tensor::vector(zeros)}, deadline);
    REQUIRE(run_result);
    CHECK(scalar_of(run_result->at(0)) == 2.0f);
    CHECK((session.devices[1]->as_accelerator()->copies().uploaded > 0) == (extent > 4));
  }
}

TEST_CASE("statistics contain the times at which a GPU ran the launched kernels") {
  watchdog watch;
  gpu_session session{{.seed = std::random_device{}(), .longest_delay = 2ms}};
  INFO("seed " << session.seed);
  auto test_case = gpu_case(R"(
x = Placeholder dtype=f32 shape=[2,2]
a = MatMul(x, x)
b = Tanh(a)
y = MatMul(b, x)
feed x = f32[[1, 0], [0, 1]]
fetch y
)");
  auto deadline = step_clock::now() + 10s;
  auto step =
      session.client->prepare(*test_case.nodes, signature_of(test_case.text.runs[0]), deadline);
  REQUIRE(step);
  for (int round = 0; round < 3; ++round) {
    step_statistics statistics;
    REQUIRE(session.client->run(**step, feeds_of(test_case.text.runs[0]), deadline,
                                {.statistics = &statistics}));
    std::map<std::string, const step_span*> launched, executed;
    for (const auto& task : statistics.tasks)
      for (const auto& span : task.spans)
        if (const auto& subject = task.subject_of(span); subject.op == "MatMul")
          (span.thread == device_track(0) ? executed : launched)[subject.name] = &span;
    REQUIRE(executed.size() == 2);
    REQUIRE(launched.size() == 2);
    // The GPU's clock is compared with the host's while other threads may have the processor.
    const auto inexact = std::chrono::nanoseconds{50ms}.count();
    for (const auto& [name, span] : executed) {
      CHECK(span->end_ns >= launched[name]->begin_ns - inexact);
      CHECK(span->end_ns <= statistics.end_ns + inexact);
    }
    CHECK(executed["a"]->end_ns <= executed["y"]->begin_ns);
    CHECK(trace_json({&statistics, 1}).find("gpu:0") != std::string::npos);
  }
}

TEST_CASE("a GPU with a launch thread gets its kernels only from this thread") {
  watchdog watch;
  gpu_session session{{.seed = std::random_device{}()}, 1, [](auto& options) {
                        options.gpu_launch_threads = true;
                      }};
  INFO("seed " << session.seed);
  auto test_case = gpu_case(R"(
x = Placeholder dtype=f32 shape=[2,2]
a = MatMul(x, x) @"/gpu:0"
b = Tanh(a) @"/cpu:0"
y = MatMul(b, x) @"/gpu:0"
feed x = f32[[1, 0], [0, 1]]
fetch y
)");
  std::set<uint32_t> launching, computing;
  std::mutex mutex;
  auto run = [&] {
    auto deadline = step_clock::now() + 10s;
    auto step =
        session.client->prepare(*test_case.nodes, signature_of(test_case.text.runs[0]), deadline);
    for (int i = 0; step && i < 10; ++i) {
      step_statistics statistics;
      if (!session.client->run(**step, feeds_of(test_case.text.runs[0]), deadline,
                               {.statistics = &statistics}))
        return;
      std::lock_guard guard{mutex};
      for (const auto& span : statistics.tasks.at(0).spans)
        if (const auto& subject = statistics.tasks[0].subject_of(span);
            span.thread < device_tracks && subject.kind == span_kind::node)
          (subject.device.ends_with("gpu:0") ? launching : computing).insert(span.thread);
    }
  };
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 3; ++i)
      callers.emplace_back(run);
  }
  REQUIRE(launching.size() == 1);
  REQUIRE(!computing.empty());
  CHECK(!computing.contains(*launching.begin()));
}

TEST_CASE("statistics contain downloads, and the memory of a GPU over time") {
  watchdog watch;
  gpu_session session{{.seed = std::random_device{}()}};
  INFO("seed " << session.seed);
  auto test_case = gpu_case(R"(
x = Placeholder dtype=f32 shape=[100,100]
a = MatMul(x, x)
b = Tanh(a)
y = MatMul(b, a)
z = Neg(y) @"/cpu:0"
feed x = f32{100, 100}[1]
fetch y
fetch z
)");
  auto deadline = step_clock::now() + 10s;
  auto step =
      session.client->prepare(*test_case.nodes, signature_of(test_case.text.runs[0]), deadline);
  REQUIRE(step);
  for (int round = 0; round < 3; ++round) {
    step_statistics statistics;
    REQUIRE(session.client->run(**step, feeds_of(test_case.text.runs[0]), deadline,
                                {.statistics = &statistics}));
    const auto& task = statistics.tasks.at(0);
    std::map<std::string, const step_span*> copied;
    const step_span* compute_span = nullptr;
    for (const auto& span : task.spans) {
      const auto& subject = task.subject_of(span);
      if (span.thread == copy_track(0, copy_stream::to_host))
        copied[subject.op] = &span;
      if (span.thread == device_track(0) && subject.name == "y")
        compute_span = &span;
    }
    REQUIRE(compute_span);
    REQUIRE(copied.size() == 2);
    for (const auto* op : {"_Fetch", "_Send"}) {
      REQUIRE(copied[op]);
      CHECK(copied[op]->bytes == 40'000);
      CHECK(copied[op]->end_ns >= compute_span->end_ns);
      CHECK(copied[op]->end_ns <= statistics.end_ns);
    }
    REQUIRE(task.memory.size() == 2);
    for (const auto& device_memory : task.memory) {
      CHECK(device_memory.at_ns.size() == device_memory.bytes.size());
      CHECK(std::ranges::is_sorted(device_memory.at_ns));
      CHECK(device_memory.at_ns.front() >= statistics.begin_ns);
      if (device_memory.device.find("gpu:0") == std::string::npos)
        continue;
      CHECK(*std::ranges::max_element(device_memory.bytes) >= 80'000);
      CHECK(device_memory.bytes.size() >= 3);
    }
    auto trace = trace_json({&statistics, 1});
    CHECK(trace.find("memory of /gpu:0") != std::string::npos);
    CHECK(trace.find("gpu:0 to the host") != std::string::npos);
  }
}

TEST_CASE("the error names a variable that lies on another device than its use") {
  watchdog watch;
  gpu_session session;
  auto text = gpu_case(R"(
v = VariableV2 dtype=f32 shape=[] shared_name="shared" @"/cpu:0"
init = Assign(v, f32(1)) @"/cpu:0"
u = VariableV2 dtype=f32 shape=[] shared_name="shared" @"/gpu:0"
add = AssignAdd(u, f32(1)) @"/gpu:0"
target init
run
target add
)");
  REQUIRE(run_one(*session.client, text, 0));
  auto added = run_one(*session.client, text, 1);
  REQUIRE_FALSE(added);
  CHECK(added.status().kind() == error_kind::failed_precondition);
  CHECK(message_contains(added.status(), "variable 'shared' lies in the memory of the host"));
}

TEST_CASE("a GPU without enough memory fails with the node and its free memory") {
  watchdog watch;
  gpu_session session{
      {.memory = 1 << 20, .seed = 1}, 1, [](auto& options) { options.passes.fuse = false; }};
  auto text = gpu_case(R"(
x = Placeholder dtype=f32 shape=[200000]
y = Add(x, x)
z = Mul(y, x)
w = Sub(z, x)
)");
  auto& nodes = *text.nodes;
  auto step = session.client->prepare(
      nodes, {.feeds = {*nodes.find_edge("x")}, .fetches = {*nodes.find_edge("w")}},
      step_clock::now() + 10s);
  REQUIRE(step);
  auto outcome = session.client->run(
      **step, std::vector{tensor::vector(std::vector<float>(200000))}, step_clock::now() + 10s);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.status().kind() == error_kind::resource_exhausted);
  CHECK(message_contains(outcome.status(), "Add 'y'"));
  CHECK(message_contains(outcome.status(), "gpu:0 has 8"));
}

TEST_CASE("a lost GPU fails its steps, and steps on the processor continue") {
  watchdog watch;
  for (int64_t launches = 0; launches < 20; launches += 3) {
    CAPTURE(launches);
    gpu_session session{{.seed = 1, .launches_until_lost = launches}};
    auto text = gpu_case(R"(
x = Placeholder dtype=f32 shape=[2]
a = Add(x, x) @"/gpu:0"
b = Mul(a, a) @"/gpu:0"
feed x = f32[1, 2]
fetch b = f32[4, 16]
run
c = Neg(x) @"/cpu:0"
feed x = f32[1, 2]
fetch c = f32[-1, -2]
)");
    status last;
    for (int i = 0; i < 10 && last; ++i)
      last = run_one(*session.client, text, 0).status();
    CHECK(last.kind() == error_kind::unavailable);
    CHECK(message_contains(last, "lost"));
    CHECK(difference_of(text.text.runs[1], run_one(*session.client, text, 1)) == "");
  }
}

TEST_CASE("an invalid value fails its own step, and no concurrent step") {
  watchdog watch;
  gpu_session session{{.seed = std::random_device{}()}, 1, [](client_options& options) {
                        options.programs.replay = false;
                      }};
  INFO("seed " << session.seed);
  auto text = gpu_case(R"(
i = Placeholder dtype=i32 shape=[1]
x = Gather(f32[1, 2, 3], i) @"/gpu:0"
y = Mul(x, x) @"/gpu:0"
feed i = i32[7]
fetch y
run
feed i = i32[2]
fetch y = f32[9]
run
feed i = i32[0]
target y
)");
  constexpr int pairs = 1000;
  std::atomic<int> wrong_results = 0;
  auto run_often = [&](size_t run_index, auto is_right) {
    const auto& run = text.text.runs[run_index];
    auto step = session.client->prepare(*text.nodes, signature_of(run), step_clock::now() + 10s);
    for (int i = 0; i < pairs && step; ++i)
      wrong_results +=
          !is_right(session.client->run(**step, feeds_of(run), step_clock::now() + 20s));
    wrong_results += !step;
  };
  {
    std::jthread bad{[&] {
      run_often(0, [](const result<std::vector<tensor>>& outcome) {
        return outcome.status().message().find("Gather") != std::string::npos;
      });
    }};
    std::jthread fetches{[&] {
      run_often(1, [](const result<std::vector<tensor>>& outcome) {
        return outcome && outcome->at(0).values<float>()[0] == 9;
      });
    }};
    std::jthread fetches_nothing{[&] {
      run_often(2, [](const result<std::vector<tensor>>& outcome) { return outcome.ok(); });
    }};
  }
  CHECK(wrong_results == 0);
}

TEST_CASE("a GPU that never ends a launch fails its steps, and the processor continues") {
  watchdog watch;
  std::promise<void> gate;
  auto owned = gpu::make_simulated_driver({.seed = 1});
  auto* driver = owned.get();
  client_options options;
  options.ops = &simulated_library();
  options.passes.fold = false;
  std::shared_ptr<gpu::gpu_device> silent;
  options.make_devices = [&]() -> result<std::vector<std::shared_ptr<device>>> {
    std::vector<std::shared_ptr<device>> devices{make_cpu_device({.intra_op_threads = 1})};
    TROUPE_ASSIGN(silent, gpu::make_device(std::move(owned), devices.front(), 0, {}, 1000ms));
    devices.push_back(silent);
    return devices;
  };
  auto session = client::local(options);
  REQUIRE(session);
  auto text = gpu_case(R"(
x = Placeholder dtype=f32 shape=[2]
a = Add(x, x) @"/gpu:0"
b = Mul(a, a) @"/gpu:0"
feed x = f32[1, 2]
fetch b = f32[4, 16]
run
c = Neg(x) @"/cpu:0"
feed x = f32[1, 2]
fetch c = f32[-1, -2]
)");
  CHECK(difference_of(text.text.runs[0], run_one(**session, text, 0)) == "");
  REQUIRE(driver->launch(
      [opened = gate.get_future().share()]() -> status {
        opened.wait();
        return {};
      },
      silent->compute()));
  for (int i = 0; i < 3; ++i) {
    auto begin = step_clock::now();
    auto outcome = run_one(**session, text, 0, 60s).status();
    CHECK(outcome.kind() == error_kind::unavailable);
    CHECK(message_contains(outcome, "gpu:0 is lost: no launch has ended for 1000 ms"));
    CHECK(step_clock::now() - begin < 30s);
    CHECK(difference_of(text.text.runs[1], run_one(**session, text, 1)) == "");
  }
  gate.set_value();
}

TEST_CASE("a step that is late on a GPU ends at its deadline, and the next steps run") {
  watchdog watch;
  gpu_session session{{.seed = 5, .longest_delay = 40ms}};
  auto model = gpu_case(learner);
  REQUIRE(run_one(*session.client, model, 0));
  int late_runs = 0;
  for (int i = 0; i < 20; ++i) {
    auto outcome = run_one(*session.client, model, 1, 10ms);
    late_runs += outcome.status().kind() == error_kind::deadline_exceeded;
    CHECK((outcome || outcome.status().kind() == error_kind::deadline_exceeded));
  }
  CHECK(late_runs > 0);
  REQUIRE(run_one(*session.client, model, 1));
  REQUIRE(run_one(*session.client, model, 2));
}

TEST_CASE("a client queries the GPUs of its tasks when a node needs one") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto start = [&](int index) {
    auto started = task::start({.ops = &simulated_library(),
                                .make_devices = [] { return make_simulated_devices(1); },
                                .cluster = cluster,
                                .self = {"worker", index},
                                .listen = {},
                                .insecure = false,
                                .inter_op_threads = 2,
                                .peer_timeout = 10s});
    REQUIRE(started);
    return *std::move(started);
  };
  auto first_task = start(0), two = start(1);
  auto client = client::connect(cluster, {.ops = &simulated_library(),
                                          .make_devices = {},
                                          .inter_op_threads = 2,
                                          .container = {},
                                          .programs = {},
                                          .peer_timeout = 10s});
  REQUIRE(client);
  auto text = gpu_case(R"(
v = VariableV2 dtype=f32 shape=[2] @"/job:worker/task:1/gpu:0"
init = Assign(v, f32[1, 2])
more = Mul(f32[10, 10], v) @"/job:worker/task:0/gpu:0"
add = AssignAdd(v, more)
target init
run
fetch add = f32[11, 22]
)");
  CHECK(run_all_of(**client, text) == "");
  auto wrong_case = gpu_case("x = Neg(f32(1)) @\"/job:worker/task:1/gpu:3\"\nfetch x = f32(-1)");
  auto outcome = run_one(**client, wrong_case, 0);
  REQUIRE_FALSE(outcome);
  CHECK(message_contains(outcome.status(), "/job:worker/task:1/device:gpu:0"));
}

} // namespace troupe::test::gpu_session_test
