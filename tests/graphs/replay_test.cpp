// Steps on simulated GPUs give the same results from recordings as from single launches.
#include "tests/graphs/all_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/gpu/core/gpu_device.hpp"

#include <atomic>
#include <cmath>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace troupe::test::replay_test {

using namespace std::chrono_literals;

namespace {

struct replaying_session {
  explicit replaying_session(bool replay = true,
                             gpu::simulation options_of_gpu = {.seed = std::random_device{}()})
      : seed(options_of_gpu.seed) {
    client_options options;
    options.ops = &simulated_library();
    options.make_devices = [=, this] {
      auto simulated = make_simulated_devices(1, options_of_gpu);
      devices = simulated;
      return simulated;
    };
    options.inter_op_threads = 2;
    options.passes = pass_options::none(); // otherwise small nets would be one launch
    options.programs.replay = replay;
    auto started = client::local(options);
    REQUIRE(started);
    client = *std::move(started);
  }

  // Waits until late errors of a failed step have arrived, so that the next step neither reports
  // nor removes them.
  void settle() const {
    std::promise<void> done;
    devices.back()->as_accelerator()->notify_when_done([&](const status&) { done.set_value(); });
    done.get_future().wait();
  }
  int64_t launches() const {
    auto& driver = gpu::gpu_of(*devices.back()).driver();
    return static_cast<gpu::simulated_driver&>(driver).launches();
  }
  replay_statistics replays() const { return devices.back()->as_accelerator()->replays(); }
  result<std::vector<tensor>> run(const text_case& tested, size_t which,
                                  const std::vector<tensor>& feeds) {
    auto deadline = step_clock::now() + 20s;
    TROUPE_ASSIGN(auto step, prepared(tested, which, deadline));
    return client->run(*step, feeds, deadline);
  }
  result<std::vector<tensor>> run(const text_case& tested, size_t which) {
    return run(tested, which, feeds_of(tested.text.runs.at(which)));
  }

  // Prepares each step once: a step that is prepared again has no recordings.
  result<std::shared_ptr<prepared_step>> prepared(const text_case& tested, size_t which,
                                                  step_clock::time_point deadline) {
    std::lock_guard guard{mutex};
    auto& step = steps[{&tested, which}];
    if (!step) {
      const auto& tested_run = tested.text.runs.at(which);
      TROUPE_ASSIGN(step, client->prepare(*tested.nodes, signature_of(tested_run), deadline));
    }
    return step;
  }

  unsigned seed;
  std::vector<std::shared_ptr<device>> devices;
  std::unique_ptr<troupe::client> client;
  std::mutex mutex;
  std::map<std::pair<const text_case*, size_t>, std::shared_ptr<prepared_step>> steps;
};

text_case gpu_case(std::string_view text) { return text_case{text, "test", &simulated_library()}; }

tensor filled(int64_t count, float value) {
  return tensor::vector(std::vector<float>(static_cast<size_t>(count), value));
}

bool all_are(const tensor& values_tensor, float value) {
  return std::ranges::all_of(values_tensor.values<float>(),
                             [=](float element) { return element == value; });
}

// y = ((x + 1) * 2 - x) * 3
const char* chain = R"(
x = Placeholder dtype=f32 shape=[-1]
a = Add(x, f32(1))
b = Mul(a, f32(2))
c = Sub(b, x)
y = Mul(c, f32(3))
feed x = f32[1, 2]
fetch y = f32[9, 12]
)";

// The variable grows by the fed values, whatever it is.
const char* adder = R"(
x = Placeholder dtype=f32 shape=[8]
v = VariableV2 dtype=f32 shape=[8]
init = Assign(v, f32[0, 0, 0, 0, 0, 0, 0, 0])
set = Assign(v, f32[100, 100, 100, 100, 100, 100, 100, 100])
a = Mul(x, f32(2))
b = Add(a, x)
c = Sub(b, a)
d = Neg(c)
add = AssignSub(v, d)
now = Identity(v)
after = Identity(add)
target init
run
feed x = f32[1, 1, 1, 1, 1, 1, 1, 1]
target add
run
fetch now = f32[0, 0, 0, 0, 0, 0, 0, 0]
run
target set
run
feed x = f32[1, 1, 1, 1, 1, 1, 1, 1]
fetch after = f32[0, 0, 0, 0, 0, 0, 0, 0]
)";

// A line by least squares: y = 2 x + 1, learnt from four points.
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
fetch error = f32[0, 0, 0, 0]
target train_w
target train_b
run
w2 = Identity(w)
b2 = Identity(b)
fetch w2 = f32(0)
fetch b2 = f32(0)
)";

} // namespace

TEST_CASE("a region of the same shapes is launched as a recording from its third run on") {
  watchdog watch;
  for (bool replay : {true, false}) {
    replaying_session session{replay};
    INFO("seed " << session.seed);
    auto text = gpu_case(chain);
    for (int i = 0; i < 20; ++i) {
      auto outcome = session.run(text, 0, {filled(50, static_cast<float>(i))});
      REQUIRE(outcome);
      CHECK(all_are((*outcome)[0], (static_cast<float>(i) + 2) * 3));
    }
    CHECK(session.replays().recordings == (replay ? 1 : 0));
    CHECK(session.replays().replays == (replay ? 18 : 0));
    auto launches_before = session.launches();
    REQUIRE(session.run(text, 0, {filled(50, 1)}));
    // Upload, four kernels, or a copy into the recording and the recording; download.
    CHECK(session.launches() - launches_before == (replay ? 4 : 6));
  }
}

TEST_CASE("each shape of a region has a recording of its own") {
  watchdog watch;
  replaying_session session;
  INFO("seed " << session.seed);
  auto text = gpu_case(chain);
  for (int i = 0; i < 60; ++i) {
    auto value = static_cast<float>(i);
    auto count = 10 + i % 3 * 1000;
    auto outcome = session.run(text, 0, {filled(count, value)});
    REQUIRE(outcome);
    CHECK((*outcome)[0].elements() == count);
    CHECK(all_are((*outcome)[0], (value + 2) * 3));
  }
  CHECK(session.replays().recordings == 3);
  CHECK(session.replays().replays == 54);
  // Shapes that do not repeat are not recorded.
  for (int i = 0; i < 200; ++i)
    REQUIRE(session.run(text, 0, {filled(i + 1, 1)}));
  CHECK(session.replays().recordings == 3);
}

TEST_CASE("a recording that depends on a fed number is replayed for that number only") {
  watchdog watch;
  replaying_session session;
  INFO("seed " << session.seed);
  auto text = gpu_case(R"(
x = Placeholder dtype=f32 shape=[2,3]
axis = Placeholder dtype=i32 shape=[]
next = Add(axis, i32(0))
a = Add(x, f32(1))
b = Mul(a, f32(2))
c = Sub(b, x)
y = Sum(c, next)
feed x = f32[[1, 2, 3], [4, 5, 6]]
feed axis = i32(0)
fetch y = f32[9, 11, 13]
run
feed x = f32[[1, 2, 3], [4, 5, 6]]
feed axis = i32(1)
fetch y = f32[12, 21]
)");
  for (int i = 0; i < 24; ++i) {
    auto which = static_cast<size_t>(i / 3 % 2);
    CHECK(difference_of(text.text.runs[which], session.run(text, which)) == "");
  }
}

TEST_CASE("a replay always uses the current value of a variable") {
  watchdog watch;
  replaying_session session;
  INFO("seed " << session.seed);
  auto text = gpu_case(adder);
  auto now = [&] {
    auto outcome = session.run(text, 2);
    REQUIRE(outcome);
    CHECK(all_are((*outcome)[0], (*outcome)[0].values<float>()[0]));
    return (*outcome)[0].values<float>()[0];
  };
  REQUIRE(session.run(text, 0));
  for (int i = 0; i < 10; ++i)
    REQUIRE(session.run(text, 1));
  CHECK(now() == 10);
  CHECK(session.replays().replays > 4);
  REQUIRE(session.run(text, 3));
  for (int i = 0; i < 20; ++i)
    REQUIRE(session.run(text, 1));
  CHECK(now() == 120);
  auto replays_before = session.replays().replays;
  for (int i = 0; i < 30; ++i) {
    REQUIRE(session.run(text, 1));
    CHECK(now() == 121 + static_cast<float>(i));
  }
  CHECK(session.replays().replays > replays_before + 10);
  float last = now();
  replays_before = session.replays().replays;
  for (int i = 0; i < 30; ++i) { // the variable itself is fetched
    auto outcome = session.run(text, 4);
    REQUIRE(outcome);
    CHECK(all_are((*outcome)[0], last += 1));
  }
  CHECK(session.replays().replays > replays_before + 10);
}

TEST_CASE("regions that wait for a processor are replayed, with the tensors between them") {
  watchdog watch;
  replaying_session session;
  INFO("seed " << session.seed);
  auto text = gpu_case(R"(
x = Placeholder dtype=f32 shape=[-1]
a = Add(x, f32(1)) @"/gpu:0"
b = Mul(a, f32(2)) @"/gpu:0"
c = Sub(b, x) @"/gpu:0"
d = Mul(c, f32(3)) @"/gpu:0"
e = Neg(d) @"/cpu:0"
f = Add(e, a) @"/gpu:0"
g = Mul(f, b) @"/gpu:0"
h = Sub(g, a) @"/gpu:0"
i = Mul(h, h) @"/gpu:0"
feed x = f32[0]
fetch i = f32[121]
fetch e = f32[-6]
)");
  for (int round = 0; round < 40; ++round) {
    auto x = static_cast<float>(round % 5);
    auto e = -3 * (x + 2), f = e + x + 1, h = f * 2 * (x + 1) - (x + 1);
    auto outcome = session.run(text, 0, {filled(100, x)});
    REQUIRE(outcome);
    CHECK(all_are((*outcome)[0], h * h));
    CHECK(all_are((*outcome)[1], e));
  }
  CHECK(session.replays().recordings == 2);
  CHECK(session.replays().replays > 60);
}

TEST_CASE("a model learns the same with and without replays") {
  watchdog watch;
  std::vector<std::vector<tensor>> learnt;
  for (bool replay : {true, false}) {
    replaying_session session{replay};
    INFO("seed " << session.seed);
    auto model = gpu_case(learner);
    REQUIRE(session.run(model, 0));
    for (int i = 0; i < 100; ++i) {
      auto outcome = session.run(model, 1);
      REQUIRE(outcome);
      learnt.push_back(*outcome);
    }
    auto outcome = session.run(model, 2);
    REQUIRE(outcome);
    learnt.push_back(*outcome);
    CHECK((session.replays().replays > 80) == replay);
    auto launches_before = session.launches();
    REQUIRE(session.run(model, 1));
    auto launched = session.launches() - launches_before;
    CHECK((replay ? launched == 6 : launched > 10)); // two feeds, as in the first test
  }
  for (size_t i = 0; i < learnt.size() / 2; ++i)
    for (size_t k = 0; k < learnt[i].size(); ++k)
      CHECK(identical(learnt[i][k], learnt[learnt.size() / 2 + i][k]));
}

TEST_CASE("many threads train one model with replays, and no update is lost") {
  watchdog watch{std::chrono::seconds{60}};
  replaying_session session;
  INFO("seed " << session.seed);
  auto text = gpu_case(adder);
  auto model = gpu_case(learner);
  REQUIRE(session.run(text, 0));
  REQUIRE(session.run(model, 0));
  std::atomic<int> failed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) {
          failed += !session.run(text, 1);
          failed += !session.run(model, 1);
        }
      });
  }
  CHECK(failed == 0);
  CHECK(session.replays().replays > 0);
  auto sum = session.run(text, 2);
  REQUIRE(sum);
  CHECK(all_are((*sum)[0], 400));
  auto learnt = session.run(model, 2);
  REQUIRE(learnt);
  CHECK(std::abs((*learnt)[0].values<float>()[0] - 2) < 1e-2f);
}

TEST_CASE("steps run without recordings if captures fail or memory is short") {
  watchdog watch;
  replaying_session without{true, {.seed = 1, .captures_fail = true}};
  auto text = gpu_case(chain);
  for (int i = 0; i < 100; ++i)
    CHECK(difference_of(text.text.runs[0], without.run(text, 0)) == "");
  CHECK(without.replays().replays == 0);

  replaying_session small{true, {.memory = 1 << 20, .seed = 1}};
  for (int i = 0; i < 10; ++i) { // four blocks of this size fit
    auto outcome = small.run(text, 0, {filled(50'000, 1)});
    REQUIRE(outcome);
    CHECK(all_are((*outcome)[0], 9));
  }
}

TEST_CASE("a GPU that is lost during recording or replay fails its steps") {
  watchdog watch;
  for (int64_t launches = 0; launches < 50; launches += 7) {
    CAPTURE(launches);
    replaying_session session{true, {.seed = 1, .launches_until_lost = launches}};
    auto text = gpu_case(chain);
    status last;
    for (int i = 0; i < 20 && last; ++i)
      last = session.run(text, 0).status();
    CHECK(last.kind() == error_kind::unavailable);
  }
}

} // namespace troupe::test::replay_test
