// Branches, loops and calls that run on GPUs (docs/decisions/063).
#include "tests/support/catch.hpp"
#include "tests/support/processors.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/troupe.hpp"

#include <cmath>
#include <future>
#include <random>
#include <thread>

namespace troupe::test::gpu_loops_test {

using namespace std::chrono_literals;

namespace {

struct gpu_session {
  explicit gpu_session(const pass_options& passes = {}, const program_options& programs = {},
                       int gpus = 1) {
    client_options options;
    options.ops = &simulated_library();
    options.passes = passes;
    options.programs = programs;
    options.inter_op_threads = 2;
    options.make_devices = [=, this] {
      return devices = make_simulated_devices(gpus, {.seed = std::random_device{}()});
    };
    auto started = client::local(options);
    REQUIRE(started);
    client = *std::move(started);
  }

  accelerator& gpu() const { return *devices.at(1)->as_accelerator(); }
  int64_t launches() const {
    return static_cast<gpu::simulated_driver&>(gpu::gpu_of(*devices.at(1)).driver()).launches();
  }

  std::vector<std::shared_ptr<device>> devices;
  std::unique_ptr<troupe::client> client;
};

text_case gpu_case(std::string text, const std::string& device = {}) {
  for (size_t at; (at = text.find("{gpu}")) != std::string::npos;)
    text.replace(at, 5, device);
  return text_case{text, "test", &simulated_library()};
}

// Checks the text graph with all options of the compiler.
void check_all_ways(const std::string& text) {
  for (bool deterministic : {false, true})
    for (bool region_per_node : {false, true})
      for (const auto& passes : {pass_options{}, pass_options::none()}) {
        INFO("deterministic: " << deterministic << ", a region per node: " << region_per_node
                               << ", passes: " << passes.fold);
        gpu_session session{passes,
                            {.region_per_node = region_per_node, .deterministic = deterministic}};
        for (int repetition = 0; repetition < 4; ++repetition) // later runs launch recordings
          CHECK(run_all(*session.client, gpu_case(text, "@\"/gpu:0\"")) == "");
      }
}

// x doubles in each iteration.
constexpr const char* counted = R"(
x = Placeholder dtype=f32 shape=[1024]
n = Placeholder dtype=i32 shape=[]
loop = while (i = i32(0), y = x) {
  more = Less(i, n)
  return more
} do {
  i = Add(i, i32(1))
  half = Mul(y, f32(0.5)) {gpu}
  whole = Add(half, half)
  one = Sub(whole, half)
  two = Add(one, one)
  y = Add(two, whole)
  return i, y
}
)";

tensor filled(size_t count, float value) {
  return tensor::vector(std::vector<float>(count, value));
}

} // namespace

TEST_CASE("a loop whose nodes name a GPU runs there, and keeps its variables in GPU memory") {
  watchdog watch;
  gpu_session session{pass_options::none(), {.replay = false}};
  auto text = gpu_case(std::string{counted} + R"(
feed x = f32{1024}[1]
feed n = i32(20)
fetch loop:1
fetch loop
)",
                       "@\"/gpu:0\"");
  auto deadline = [] { return step_clock::now() + patience(); };
  auto step = session.client->prepare(*text.nodes, signature_of(text.text.runs[0]), deadline());
  INFO(step.status());
  REQUIRE(step);
  auto run = [&](int32_t turns) {
    auto outcome =
        session.client->run(**step, {{filled(1024, 1), tensor::scalar(turns)}}, deadline());
    INFO(outcome.status());
    REQUIRE(outcome);
    CHECK(outcome->at(0).values<float>()[1023] == std::pow(2.0f, static_cast<float>(turns)));
    CHECK(*outcome->at(1).data<int32_t>() == turns);
  };
  run(1);
  auto copies_before = session.gpu().copies();
  auto launches = session.launches();
  run(20);
  CHECK(session.launches() - launches >= 100); // five in each iteration
  auto copies_after = session.gpu().copies();
  CHECK(copies_after.uploaded - copies_before.uploaded == 4096);
  CHECK(copies_after.downloaded - copies_before.downloaded == 4096);
}

TEST_CASE("iterations of a loop on a GPU are replayed from recordings") {
  watchdog watch;
  gpu_session session{pass_options::none()};
  auto text = gpu_case(std::string{counted} + R"(
feed x = f32{1024}[1]
feed n = i32(20)
fetch loop:1
)",
                       "@\"/gpu:0\"");
  auto deadline = [] { return step_clock::now() + patience(); };
  auto step = session.client->prepare(*text.nodes, signature_of(text.text.runs[0]), deadline());
  REQUIRE(step);
  auto run = [&] {
    auto outcome = session.client->run(**step, {{filled(1024, 1), tensor::scalar(20)}}, deadline());
    INFO(outcome.status());
    REQUIRE(outcome);
    CHECK(outcome->at(0).values<float>()[0] == 1048576.0f);
  };
  run();
  CHECK(session.gpu().replays().replays >= 10); // those of iterations that do not overlap
  auto replays_before = session.gpu().replays();
  run();
  CHECK(session.gpu().replays().replays >= replays_before.replays + 10);
  CHECK(session.gpu().replays().recordings <= replays_before.recordings + 2);
}

TEST_CASE("a predicate that a GPU computes is downloaded once in each iteration") {
  watchdog watch;
  gpu_session session;
  auto text = gpu_case(R"(
x = Placeholder dtype=f32 shape=[1024]
loop = while (y = x) {
  most = Max(y, i32[0])
  more = Less(most, f32(1000))
  return more
} do {
  y = Mul(y, f32(2))
  return y
} @"/gpu:0"
feed x = f32{1024}[1]
fetch loop
)");
  auto deadline = [] { return step_clock::now() + patience(); };
  auto step = session.client->prepare(*text.nodes, signature_of(text.text.runs[0]), deadline());
  INFO(step.status());
  REQUIRE(step);
  auto copies_before = session.gpu().copies();
  auto outcome = session.client->run(**step, {{filled(1024, 1)}}, deadline());
  INFO(outcome.status());
  REQUIRE(outcome);
  CHECK(outcome->at(0).values<float>()[5] == 1024.0f);
  auto copies_after = session.gpu().copies();
  // One boolean for each evaluation.
  CHECK(copies_after.downloaded - copies_before.downloaded == 4096 + 11);
}

TEST_CASE("a loop updates variables on their own device") {
  watchdog watch;
  // A variable without a device is on the GPU in all steps.
  for (const auto* device : {"", "@\"/gpu:0\"", "@\"/cpu:0\""}) {
    INFO(device);
    std::string text = R"(
v = VariableV2 dtype=f32 shape=[2] {device}
init = Assign(v, f32[1, 2])
body less(i: i32[], v: variable f32[2]) {
  y = Less(i, i32(3))
  return y
}
body next(i: i32[], v: variable f32[2]) {
  twice = Mul(v, f32(2))
  more = AssignAdd(v, twice)
  next = Add(i, i32(1))
  return next, v
}
loop = While(i32(0), v) cond=less body=next
after = Identity(v, ^loop)
target init
run
fetch loop = i32(3)
fetch after = f32[27, 54]
run
fetch v = f32[27, 54]
)";
    text.replace(text.find("{device}"), 8, device);
    check_all_ways(text);
  }
}

TEST_CASE("branches and loops may be nested on a GPU") {
  watchdog watch;
  check_all_ways(R"(
body odd(x: f32[3], i: i32[]) {
  y = Mul(x, f32(2)) {gpu}
  return y
}
body even(x: f32[3], i: i32[]) {
  f = Cast(i) DstT=f32
  y = Add(x, f)
  return y
}
body any(x: f32[3], i: i32[]) {
  y = Neg(x)
  return y
}
x = Placeholder dtype=f32 shape=[3]
loop = while (i = i32(0), y = x) {
  more = Less(i, i32(4))
  return more
} do {
  rest = FloorMod(i, i32(2))
  is_odd = Equal(rest, i32(1))
  z = If(is_odd, y, i) then_branch=odd else_branch=even
  inner = while (k = i32(0), u = z) {
    more = Less(k, i)
    return more
  } do {
    k = Add(k, i32(1))
    u = Add(u, f32(1))
    return k, u
  }
  t = Case(rest, inner:1, i) branches=[any, any, odd]
  i = Add(i, i32(1))
  return i, t
} {gpu}
feed x = f32[1, 2, 3]
fetch loop:1 = f32[7, 11, 15]
fetch loop = i32(4)
)");
}

TEST_CASE("a call that stays one node, and a branch whose predicate a GPU computes, run on it") {
  watchdog watch;
  check_all_ways(R"(
body twice(x: f32[2]) {
  y = Mul(x, f32(2)) {gpu}
  return y
}
body negative(x: f32[2]) {
  y = Neg(x)
  return y
}
x = Placeholder dtype=f32 shape=[2]
y = PartitionedCall(x) f=twice _noinline=true
most = Max(y, i32[0])
large = Greater(most, f32(5))
z = If(large, y) then_branch=negative else_branch=twice
feed x = f32[1, 2]
fetch z = f32[4, 8]
run
feed x = f32[1, 3]
fetch z = f32[-2, -6]
)");
}

TEST_CASE("ops without a GPU kernel in a loop on a GPU run on the processor") {
  watchdog watch;
  check_all_ways(R"(
x = Placeholder dtype=f32 shape=[2]
empty = EmptyTensorList(i32[2], i32(-1)) element_dtype=f32
loop = while (i = i32(0), y = x, all = empty) {
  more = Less(i, i32(3))
  return more
} do {
  i = Add(i, i32(1))
  y = Mul(y, f32(2)) {gpu}
  all = TensorListPushBack(all, y)
  return i, y, all
}
stack = TensorListStack(loop:2, i32[2]) element_dtype=f32
feed x = f32[1, 2]
fetch stack = f32[[2, 4], [4, 8], [8, 16]]
)");
}

TEST_CASE("an integer that a GPU computes goes through the host to nodes that need its value") {
  watchdog watch;
  check_all_ways(R"(
x = Placeholder dtype=f32 shape=[4]
loop = while (i = i64(0), y = x) {
  more = Less(i, i64(3))
  return more
} do {
  i = ArgMax(y, i32(0)) {gpu}
  y = Roll(y, i32(1), i32(0))
  return i, y
}
feed x = f32[9, 1, 2, 3]
fetch loop = i64(3)
fetch loop:1 = f32[9, 1, 2, 3]
)");
}

TEST_CASE("a loop on a GPU that fails, or exceeds its deadline, names itself") {
  watchdog watch;
  gpu_session session;
  auto failing = gpu_case(R"(
x = Placeholder dtype=i32 shape=[1024]
loop = while (i = i32(0), y = x) {
  more = Less(i, i32(1000000000))
  return more
} do {
  i = Add(i, i32(1))
  rest = Sub(i32(3), i)
  y = FloorDiv(y, rest) {gpu}
  return i, y
}
feed x = i32{1024}[7]
fetch loop:1
)",
                          "@\"/gpu:0\"");
  auto deadline = step_clock::now() + patience();
  auto step = session.client->prepare(*failing.nodes, signature_of(failing.text.runs[0]), deadline);
  INFO(step.status());
  REQUIRE(step);
  auto failed =
      session.client->run(**step, {{tensor::vector(std::vector<int32_t>(1024, 7))}}, deadline)
          .status();
  INFO(failed);
  CHECK(failed.kind() == error_kind::invalid_argument);
  CHECK(failed.message().find("While 'loop' (test:3) iteration ") != std::string::npos);
  auto endless = gpu_case(std::string{counted} + R"(
feed x = f32{1024}[1]
feed n = i32(2000000000)
fetch loop:1
)",
                          "@\"/gpu:0\"");
  deadline = step_clock::now() + patience();
  step = session.client->prepare(*endless.nodes, signature_of(endless.text.runs[0]), deadline);
  REQUIRE(step);
  auto late = session.client
                  ->run(**step, {{filled(1024, 0), tensor::scalar(2'000'000'000)}},
                        step_clock::now() + 300ms)
                  .status();
  CHECK(late.kind() == error_kind::deadline_exceeded);
  auto retried =
      session.client->run(**step, {{filled(1024, 1), tensor::scalar(3)}}, step_clock::now() + 20s);
  INFO(retried.status());
  REQUIRE(retried);
  CHECK(retried->at(0).values<float>()[0] == 8.0f);
}

TEST_CASE("the gradient of a loop on a GPU equals that on a processor") {
  watchdog watch;
  auto gradient_on = [](client& session, const registry& ops, const std::string& device) {
    graph_builder g{ops};
    auto x = g.placeholder(dtype::f32, {3}, "x");
    auto w = detail::add_variable(g, tensor::vector<float>({0.5f, -0.25f, 1.5f}), "w",
                                  std::source_location::current(), {});
    g.push_device(device);
    auto loop_outputs = while_loop(
        {g.constant(0), x}, [&](auto& v) { return less(v[0], 5); },
        [&](auto& v) {
          return std::vector<edge>{v[0] + 1, tanh(v[1] * w.ref) + v[1]};
        });
    g.pop_device();
    auto gradients_of = g.gradients({loop_outputs[1]}, {x, w.ref});
    auto run = [&](const step_signature& signature, const std::vector<tensor>& feeds) {
      auto deadline = step_clock::now() + patience();
      auto step = value_or_throw(session.prepare(g, signature, deadline));
      return value_or_throw(session.run(*step, feeds, deadline));
    };
    run({.targets = {w.initializer}}, {});
    return run({.feeds = {x}, .fetches = gradients_of},
               {tensor::vector<float>({0.1f, -0.7f, 0.3f})});
  };
  auto processor = make_session(1);
  auto expected = gradient_on(*processor, library(), "");
  gpu_session session;
  for (int repetition = 0; repetition < 3; ++repetition) {
    auto actual = gradient_on(*session.client, simulated_library(), "/gpu:0");
    for (size_t i = 0; i < 2; ++i)
      for (size_t k = 0; k < 3; ++k)
        CHECK(actual[i].values<float>()[k] == Approx(expected[i].values<float>()[k]).epsilon(1e-5));
  }
  CHECK(session.launches() > 30); // five iterations forward, and five back
}

} // namespace troupe::test::gpu_loops_test
