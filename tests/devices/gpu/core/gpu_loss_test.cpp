// The loss of a GPU: who notices it, what its listeners may do, and GPUs that only fall silent.
#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/gpu/core/collectives.hpp"
#include "troupe/runtime/device/swap_support.hpp"

#include <functional>

namespace troupe::test::gpu_loss_test {

using namespace std::chrono_literals;

namespace {

// A kernel that runs until the gate is opened, which happens at the latest when this is destroyed.
struct blocked_gpu {
  explicit blocked_gpu(simulated_gpu& gpu) { REQUIRE(gpu.block(gate.get_future().share())); }
  ~blocked_gpu() { open(); }
  void open() {
    if (!std::exchange(is_open, true))
      gate.set_value();
  }
  std::promise<void> gate;
  bool is_open = false;
};

swap_support& swapping_of(simulated_gpu& gpu) { return *gpu.device->as_swap_support(); }

tensor uploaded(simulated_gpu& gpu, int64_t count = 1000) {
  auto on_device = gpu.device->upload(filled(count, 1));
  REQUIRE(on_device);
  return *std::move(on_device);
}

// Prepares a GPU, loses it without the knowledge of its device, and lets the device notice the loss
// by one function.
using noticing = std::function<status(simulated_gpu&)>;

status by_download(simulated_gpu& gpu) {
  auto x = uploaded(gpu);
  gpu.driver->lose();
  return gpu.download(x).get().status();
}

status by_swap_out(simulated_gpu& gpu) {
  auto x = uploaded(gpu);
  gpu.driver->lose();
  return swapping_of(gpu).swap_out(x).status();
}

status by_swap_in(simulated_gpu& gpu) {
  auto x = uploaded(gpu);
  TROUPE_ASSIGN(auto saved, swapping_of(gpu).swap_out(x));
  x.reset();
  gpu.driver->lose();
  return swapping_of(gpu).swap_in(saved, gpu.device->memory()).status();
}

// The copy back is behind a kernel, so that it has not ended.
status by_wait(simulated_gpu& gpu) {
  auto x = uploaded(gpu);
  TROUPE_ASSIGN(auto saved, swapping_of(gpu).swap_out(x));
  x.reset();
  const blocked_gpu blocked{gpu};
  TROUPE_ASSIGN(auto back, swapping_of(gpu).swap_in(saved, gpu.device->memory()));
  gpu.driver->lose();
  return swapping_of(gpu).wait_for(back);
}

status by_replay(simulated_gpu& gpu) {
  TROUPE_ASSIGN(auto launches, gpu.device->record());
  recording::output y;
  {
    TROUPE_ASSIGN(auto x, tensor::make(dtype::f32, {10}, gpu.device->memory()));
    TROUPE_ASSIGN(x, gpu.add(x, 1));
    y = {.memory = x.raw(), .type = dtype::f32, .dims = {10}};
  }
  TROUPE_TRY(launches->end());
  REQUIRE(launches->prepare_launch({&y, 1}));
  gpu.driver->lose();
  return launches->launch();
}

// A new tensor gets the memory of one whose copy to the host has not ended.
status by_allocation(simulated_gpu& gpu) {
  auto x = uploaded(gpu);
  const blocked_gpu blocked{gpu};
  TROUPE_ASSIGN(auto saved, swapping_of(gpu).swap_out(x));
  auto* memory = x.raw();
  x.reset();
  gpu.driver->lose();
  TROUPE_ASSIGN(auto y, tensor::make(dtype::f32, {1000}, gpu.device->memory()));
  CHECK(y.raw() == memory);
  return gpu.device->health();
}

const std::pair<const char*, noticing> ways_to_notice[] = {
    {"upload",
     [](simulated_gpu& gpu) {
       gpu.driver->lose();
       return gpu.device->upload(filled(10, 1)).status();
     }},
    {"launch",
     [](simulated_gpu& gpu) {
       auto x = uploaded(gpu), y = uploaded(gpu);
       gpu.driver->lose();
       return gpu.device->memory().space()->copy(y.raw(), x.raw(), x.bytes());
     }},
    {"probe",
     [](simulated_gpu& gpu) {
       gpu.driver->lose();
       return gpu.device->as_collective()->probe();
     }},
    {"completion",
     [](simulated_gpu& gpu) {
       gpu.driver->lose();
       return gpu.finish();
     }},
    {"download", by_download},
    {"swap out", by_swap_out},
    {"swap in", by_swap_in},
    {"wait", by_wait},
    {"replay", by_replay},
    {"allocation", by_allocation}};

} // namespace

TEST_CASE(
    "a listener may use a lost GPU and release its tensors, whichever call notices the loss") {
  watchdog watch;
  for (const auto& [name, notice] : ways_to_notice) {
    INFO(name);
    simulated_gpu gpu;
    std::vector<tensor> held;
    held.push_back(uploaded(gpu, 50));
    std::promise<std::string> promise;
    gpu.device->as_collective()->on_lost([&](const status& reason) {
      held.clear();
      static_cast<void>(gpu.device->statistics());
      static_cast<void>(gpu.device->upload(filled(10, 1)));
      gpu.device->release_cached_memory();
      promise.set_value(reason.message());
    });
    auto outcome = notice(gpu);
    CHECK(outcome.kind() == error_kind::unavailable);
    CHECK(outcome.message().find("gpu:0 is lost") != std::string::npos);
    CHECK(promise.get_future().get() == gpu.device->health().message());
    CHECK(held.empty());
    CHECK(gpu.device->statistics().in_use == 0);
    CHECK(gpu.driver->misuses() == "");
  }
}

TEST_CASE("a listener that is added after the loss is called, too, on the device's thread") {
  watchdog watch;
  simulated_gpu gpu;
  gpu.driver->lose();
  CHECK(gpu.device->as_collective()->probe().kind() == error_kind::unavailable);
  for (int i = 0; i < 3; ++i) {
    std::promise<std::thread::id> promise;
    gpu.device->as_collective()->on_lost(
        [&](const status&) { promise.set_value(std::this_thread::get_id()); });
    CHECK(promise.get_future().get() != std::this_thread::get_id());
  }
}

TEST_CASE("completions of a lost GPU do not wait for launches that never end") {
  watchdog watch;
  simulated_gpu gpu;
  auto x = uploaded(gpu);
  blocked_gpu blocked{gpu};
  auto end = gpu.notify();
  auto download = gpu.download(x);
  CHECK(end.wait_for(20ms) == std::future_status::timeout);
  gpu.driver->lose();
  CHECK(end.wait_for(20ms) == std::future_status::timeout); // the device does not know it yet
  CHECK(gpu.device->as_collective()->probe().kind() == error_kind::unavailable);
  CHECK(end.get().kind() == error_kind::unavailable);
  CHECK(download.get().status().kind() == error_kind::unavailable);
  CHECK(gpu.finish().kind() == error_kind::unavailable);
  CHECK_FALSE(blocked.is_open);
}

TEST_CASE("a GPU that ends no launch within its watchdog's time is lost") {
  watchdog watch;
  simulated_gpu gpu{{.seed = 1}, {}, 50ms};
  auto x = uploaded(gpu);
  std::promise<std::string> promise;
  gpu.device->as_collective()->on_lost(
      [&](const status& reason) { promise.set_value(reason.message()); });
  blocked_gpu blocked{gpu};
  auto y = gpu.add(x, 1);
  REQUIRE(y);
  auto download = gpu.download(*y);
  auto end = gpu.notify();
  auto reason = download.get().status();
  CHECK(reason.kind() == error_kind::unavailable);
  CHECK(
      reason.message() ==
      "gpu:0 is lost: no launch has ended for 50 ms, its watchdog's limit; its contents are lost, "
      "other devices continue");
  CHECK(promise.get_future().get() == reason.message());
  CHECK(end.get().message() == reason.message());
  CHECK(gpu.device->health().message() == reason.message());
  CHECK(gpu.finish().message() == reason.message());
  CHECK(gpu.device->upload(filled(1, 1)).status().message() == reason.message());
  CHECK(gpu.download(x).get().status().message() == reason.message());
  CHECK(gpu.device->record().status().message() == reason.message());
  // The launches may still use their memory, so that it stays.
  x.reset();
  y = tensor{};
  auto cached = gpu.device->statistics().cached;
  CHECK(cached > 0);
  gpu.device->release_cached_memory();
  CHECK(gpu.device->statistics().cached == cached);
  blocked.open();
  for (int i = 0; i < 100; ++i) // it stays lost
    REQUIRE(gpu.finish().message() == reason.message());
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("a watchdog is content with a GPU that is idle, or that ends launches slowly") {
  watchdog watch;
  simulated_gpu gpu{{.seed = 1}, {}, 1000ms};
  auto x = uploaded(gpu);
  std::vector<std::future<status>> ends;
  for (int i = 0; i < 12; ++i) { // together longer than the watchdog's time
    auto y = gpu.add(x, 1, 100ms);
    REQUIRE(y);
    ends.push_back(gpu.notify());
  }
  for (auto& end : ends)
    CHECK(end.get());
  std::this_thread::sleep_for(1200ms);
  CHECK(gpu.finish());
  CHECK(gpu.device->health());
}

TEST_CASE("a silent GPU may be destroyed: its launches keep their memory") {
  watchdog watch;
  auto gpu =
      std::make_unique<simulated_gpu>(gpu::simulation{.seed = 1}, gpu::memory_options{}, 20ms);
  auto x = uploaded(*gpu);
  auto blocked = std::make_unique<blocked_gpu>(*gpu);
  auto y = gpu->add(x, 1); // reads and writes memory of the GPU when the gate is open
  REQUIRE(y);
  auto* written = static_cast<const float*>(y->raw());
  auto ended = std::make_shared<std::promise<float>>();
  REQUIRE(gpu->driver->launch(
      [=]() -> status {
        ended->set_value(*written);
        return {};
      },
      gpu->device->compute()));
  CHECK(gpu->finish().kind() == error_kind::unavailable);
  x.reset();
  y = tensor{};
  gpu.reset();
  blocked->open();
  CHECK(ended->get_future().get() == 2);
}

} // namespace troupe::test::gpu_loss_test
