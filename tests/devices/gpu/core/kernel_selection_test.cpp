// Layers that kernels and libraries both compute, on a simulated GPU.
#include "troupe/devices/gpu/core/kernel_selection.hpp"

#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/gpu/core/read_word.hpp"

namespace troupe::test::kernel_selection_test {

using namespace troupe::gpu;
using namespace std::chrono_literals;

namespace {

constexpr auto soon = 0ms, late = 40ms;

// A layer that two can compute, each of which writes its name.
struct rivals : simulated_gpu {
  rivals() {
    auto made = tensor::make(dtype::i32, {1}, device->memory());
    REQUIRE(made);
    seen = *made;
  }

  std::function<status()> way(int name, int& runs, std::chrono::milliseconds takes) {
    return [this, name, &runs, takes, to = seen.data<int32_t>()]() -> status {
      if (name == refused)
        return failure(error_kind::internal, "is not supported");
      ++runs;
      return driver->launch(
          [=]() -> status {
            std::this_thread::sleep_for(takes);
            *to = name;
            return {};
          },
          device->compute());
    };
  }
  // Who has computed the layer in the end.
  int run(const layer& what, std::chrono::milliseconds our_time,
          std::chrono::milliseconds their_time) {
    our_runs = their_runs = asked = 0;
    auto agree = [this] {
      ++asked;
      return opinion;
    };
    auto done = launch_best(
        *device, what,
        {way(ours, our_runs, our_time), way(theirs, their_runs, their_time), agree, once});
    INFO(done.message());
    REQUIRE(done);
    if (is_recording_now)
      return 0;
    auto name = read_word(*device, seen.data<int32_t>(), 10s);
    REQUIRE(name);
    return *name;
  }

  static constexpr int ours = 1, theirs = 2;
  tensor seen;
  int refused = 0;
  status opinion;
  int our_runs = 0, their_runs = 0, asked = 0;
  bool is_recording_now = false, once = false;
};

// What was found is the process's, so each test asks something else.
layer another() {
  static int64_t rows = 0;
  return softmax_layer{.rows = ++rows, .classes = 7};
}

} // namespace

TEST_CASE("the faster of kernel and library computes a layer, once both have been tried") {
  watchdog watch;
  rivals gpu;
  INFO("seed " << gpu.seed);
  auto what = another();
  CHECK(!is_tuned(*gpu.device, what));
  CHECK(gpu.run(what, late, soon) == gpu.theirs);
  CHECK((gpu.our_runs == 5 && gpu.their_runs == 6)); // with the one that counts
  CHECK(is_tuned(*gpu.device, what));
  CHECK(gpu.run(what, soon, late) == gpu.theirs);
  CHECK((gpu.our_runs == 0 && gpu.their_runs == 1 && gpu.asked == 0));
  auto other = another();
  CHECK(gpu.run(other, soon, late) == gpu.ours);
  CHECK((gpu.our_runs == 6 && gpu.their_runs == 2)); // they are far slower
  CHECK(gpu.driver->misdeeds() == "");
}

TEST_CASE("what was found holds for other GPUs of the kind") {
  watchdog watch;
  auto what = another();
  CHECK(rivals{}.run(what, late, soon) == rivals::theirs);
  rivals gpu;
  CHECK(gpu.run(what, soon, soon) == gpu.theirs);
  CHECK(gpu.our_runs == 0);
}

TEST_CASE("a library that refuses a layer, or has other opinions, does not compute it") {
  watchdog watch;
  rivals gpu;
  SECTION("because it refuses") { gpu.refused = gpu.theirs; }
  SECTION("because it computes something else") {
    gpu.opinion = failure(error_kind::unimplemented, "the last one is the largest");
  }
  auto what = another();
  CHECK(gpu.run(what, late, soon) == gpu.ours);
  CHECK((gpu.asked == 1 && gpu.their_runs == 0));
  gpu.refused = 0;
  gpu.opinion = {};
  CHECK(gpu.run(what, late, soon) == gpu.ours);
  CHECK((gpu.asked == 0 && gpu.our_runs == 1 && gpu.their_runs == 0));
}

TEST_CASE("what the library refuses later is ours") {
  watchdog watch;
  rivals gpu;
  auto what = another();
  CHECK(gpu.run(what, late, soon) == gpu.theirs);
  gpu.refused = gpu.theirs;
  CHECK(gpu.run(what, late, soon) == gpu.ours);
}

TEST_CASE("who chooses kernels, or the library, gets them") {
  watchdog watch;
  rivals gpu;
  auto what = another();
  choose_layers(*gpu.device, layers_by::kernels);
  CHECK(is_tuned(*gpu.device, what));
  CHECK(gpu.run(what, late, soon) == gpu.ours);
  CHECK((gpu.our_runs == 1 && gpu.their_runs == 0));
  choose_layers(*gpu.device, layers_by::library);
  CHECK(gpu.run(what, soon, late) == gpu.theirs);
  gpu.opinion = failure(error_kind::unimplemented, "the last one is the largest");
  CHECK(gpu.run(another(), soon, late) == gpu.ours);
  choose_layers(*gpu.device, layers_by::fastest);
  gpu.opinion = {};
  CHECK(gpu.run(what, soon, late) == gpu.ours);
}

TEST_CASE("layers are not tried while launches are noted down") {
  watchdog watch;
  rivals gpu;
  auto what = another();
  auto launches = [&] {
    auto recording = gpu.device->record();
    REQUIRE(recording);
    gpu.is_recording_now = true;
    gpu.run(what, soon, soon);
    gpu.is_recording_now = false;
    CHECK((*recording)->end());
    return std::pair{gpu.our_runs, gpu.their_runs};
  };
  CHECK(launches() == std::pair{1, 0});
  CHECK(!is_tuned(*gpu.device, what));
  CHECK(gpu.run(what, late, soon) == gpu.theirs);
  CHECK(launches() == std::pair{0, 1});
  CHECK(gpu.driver->misdeeds() == "");
}

TEST_CASE("a layer over its own input is not tried") {
  watchdog watch;
  rivals gpu;
  auto what = another();
  gpu.once = true;
  CHECK(gpu.run(what, late, soon) == gpu.ours);
  CHECK((gpu.our_runs == 1 && gpu.their_runs == 0));
  gpu.once = false;
  CHECK(gpu.run(what, late, soon) == gpu.theirs);
  gpu.once = true;
  CHECK(gpu.run(what, late, soon) == gpu.theirs);
  CHECK((gpu.our_runs == 0 && gpu.their_runs == 1));
}

TEST_CASE("a number is read when it is there, or not waited for any longer") {
  watchdog watch;
  rivals gpu;
  int runs = 0;
  for (int name = 1; name < 20; ++name) {
    REQUIRE(gpu.way(name, runs, 1ms)());
    auto read = read_word(*gpu.device, gpu.seen.data<int32_t>(), 10s);
    REQUIRE(read);
    CHECK(*read == name);
  }
  REQUIRE(gpu.way(77, runs, 100ms)());
  CHECK(read_word(*gpu.device, gpu.seen.data<int32_t>(), 1ms).status().kind() ==
        error_kind::deadline_exceeded);
  auto read = read_word(*gpu.device, gpu.seen.data<int32_t>(), 10s);
  REQUIRE(read);
  CHECK(*read == 77);
}

} // namespace troupe::test::kernel_selection_test
