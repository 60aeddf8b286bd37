// Layers for which both a kernel and a library exist, on a simulated GPU.
#include "troupe/devices/gpu/core/kernel_selection.hpp"

#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/gpu/core/read_word.hpp"

namespace troupe::test::kernel_selection_test {

using namespace troupe::gpu;
using namespace std::chrono_literals;

namespace {

constexpr auto soon = 0ms, late = 40ms;

// A layer with two implementations, each of which writes its name.
struct rivals : simulated_gpu {
  rivals() {
    auto name_cell = tensor::make(dtype::i32, {1}, device->memory());
    REQUIRE(name_cell);
    written_name = *name_cell;
  }

  std::function<status()> way(int name, int& runs, std::chrono::milliseconds takes) {
    return [this, name, &runs, takes, to = written_name.data<int32_t>()]() -> status {
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
  // Returns which implementation computed the layer last.
  int run(const layer& layer_asked, std::chrono::milliseconds our_time,
          std::chrono::milliseconds their_time) {
    our_runs = their_runs = asked = 0;
    auto agree = [this] {
      ++asked;
      return opinion;
    };
    auto done = launch_best(
        *device, layer_asked,
        {way(ours, our_runs, our_time), way(theirs, their_runs, their_time), agree, once});
    INFO(done.message());
    REQUIRE(done);
    if (is_recording_now)
      return 0;
    auto name = read_word(*device, written_name.data<int32_t>(), 10s);
    REQUIRE(name);
    return *name;
  }

  static constexpr int ours = 1, theirs = 2;
  tensor written_name;
  int refused = 0;
  status opinion;
  int our_runs = 0, their_runs = 0, asked = 0;
  bool is_recording_now = false, once = false;
};

// Results are kept for the process, so each test uses a new layer.
layer new_layer() {
  static int64_t rows = 0;
  return softmax_layer{.rows = ++rows, .classes = 7};
}

} // namespace

TEST_CASE("the faster of kernel and library computes a layer after trials of both") {
  watchdog watch;
  rivals gpu;
  INFO("seed " << gpu.seed);
  auto tested = new_layer();
  CHECK(!is_tuned(*gpu.device, tested));
  CHECK(gpu.run(tested, late, soon) == gpu.theirs);
  CHECK((gpu.our_runs == 5 && gpu.their_runs == 6)); // including the run that counts
  CHECK(is_tuned(*gpu.device, tested));
  CHECK(gpu.run(tested, soon, late) == gpu.theirs);
  CHECK((gpu.our_runs == 0 && gpu.their_runs == 1 && gpu.asked == 0));
  auto second = new_layer();
  CHECK(gpu.run(second, soon, late) == gpu.ours);
  CHECK((gpu.our_runs == 6 && gpu.their_runs == 2)); // they are far slower
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("the result of trials holds for other GPUs of the same kind") {
  watchdog watch;
  auto tested = new_layer();
  CHECK(rivals{}.run(tested, late, soon) == rivals::theirs);
  rivals gpu;
  CHECK(gpu.run(tested, soon, soon) == gpu.theirs);
  CHECK(gpu.our_runs == 0);
}

TEST_CASE("a library that refuses a layer, or disagrees, does not compute it") {
  watchdog watch;
  rivals gpu;
  SECTION("because it refuses") { gpu.refused = gpu.theirs; }
  SECTION("because it computes something else") {
    gpu.opinion = failure(error_kind::unimplemented, "the last one is the largest");
  }
  auto tested = new_layer();
  CHECK(gpu.run(tested, late, soon) == gpu.ours);
  CHECK((gpu.asked == 1 && gpu.their_runs == 0));
  gpu.refused = 0;
  gpu.opinion = {};
  CHECK(gpu.run(tested, late, soon) == gpu.ours);
  CHECK((gpu.asked == 0 && gpu.our_runs == 1 && gpu.their_runs == 0));
}

TEST_CASE("our kernel computes a layer that the library refuses later") {
  watchdog watch;
  rivals gpu;
  auto tested = new_layer();
  CHECK(gpu.run(tested, late, soon) == gpu.theirs);
  gpu.refused = gpu.theirs;
  CHECK(gpu.run(tested, late, soon) == gpu.ours);
}

TEST_CASE("an explicit choice of kernels or library is followed") {
  watchdog watch;
  rivals gpu;
  auto tested = new_layer();
  choose_layers(*gpu.device, layers_by::kernels);
  CHECK(is_tuned(*gpu.device, tested));
  CHECK(gpu.run(tested, late, soon) == gpu.ours);
  CHECK((gpu.our_runs == 1 && gpu.their_runs == 0));
  choose_layers(*gpu.device, layers_by::library);
  CHECK(gpu.run(tested, soon, late) == gpu.theirs);
  gpu.opinion = failure(error_kind::unimplemented, "the last one is the largest");
  CHECK(gpu.run(new_layer(), soon, late) == gpu.ours);
  choose_layers(*gpu.device, layers_by::fastest);
  gpu.opinion = {};
  CHECK(gpu.run(tested, soon, late) == gpu.ours);
}

TEST_CASE("layers are not tried while launches are recorded") {
  watchdog watch;
  rivals gpu;
  auto tested = new_layer();
  auto launches = [&] {
    auto recording = gpu.device->record();
    REQUIRE(recording);
    gpu.is_recording_now = true;
    gpu.run(tested, soon, soon);
    gpu.is_recording_now = false;
    CHECK((*recording)->end());
    return std::pair{gpu.our_runs, gpu.their_runs};
  };
  CHECK(launches() == std::pair{1, 0});
  CHECK(!is_tuned(*gpu.device, tested));
  CHECK(gpu.run(tested, late, soon) == gpu.theirs);
  CHECK(launches() == std::pair{0, 1});
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("a layer over its own input is not tried") {
  watchdog watch;
  rivals gpu;
  auto tested = new_layer();
  gpu.once = true;
  CHECK(gpu.run(tested, late, soon) == gpu.ours);
  CHECK((gpu.our_runs == 1 && gpu.their_runs == 0));
  gpu.once = false;
  CHECK(gpu.run(tested, late, soon) == gpu.theirs);
  gpu.once = true;
  CHECK(gpu.run(tested, late, soon) == gpu.theirs);
  CHECK((gpu.our_runs == 0 && gpu.their_runs == 1));
}

TEST_CASE("read_word waits for the value until its timeout") {
  watchdog watch;
  rivals gpu;
  int runs = 0;
  for (int name = 1; name < 20; ++name) {
    REQUIRE(gpu.way(name, runs, 1ms)());
    auto read = read_word(*gpu.device, gpu.written_name.data<int32_t>(), 10s);
    REQUIRE(read);
    CHECK(*read == name);
  }
  REQUIRE(gpu.way(77, runs, 100ms)());
  CHECK(read_word(*gpu.device, gpu.written_name.data<int32_t>(), 1ms).status().kind() ==
        error_kind::deadline_exceeded);
  auto read = read_word(*gpu.device, gpu.written_name.data<int32_t>(), 10s);
  REQUIRE(read);
  CHECK(*read == 77);
}

} // namespace troupe::test::kernel_selection_test
