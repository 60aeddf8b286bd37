// The sources of a GPU's tensor memory: the driver on demand, a reserve, and the host.
#include "tests/devices/gpu/core/simulated_gpu.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/gpu/core/reservation.hpp"
#include "troupe/runtime/device/swap_support.hpp"

#include <map>
#include <thread>

namespace troupe::test::gpu_memory_test {

using namespace std::chrono_literals;

namespace {

constexpr size_t kibibyte = 1024;

swap_support& swapping_of(simulated_gpu& in) { return dynamic_cast<swap_support&>(*in.device); }

// Swaps the tensor out and releases it, as _SwapOut does.
result<tensor> put_away(simulated_gpu& simulated, tensor on_device) {
  return swapping_of(simulated).swap_out(on_device);
}

result<tensor> bring_back(simulated_gpu& in, tensor saved) {
  TROUPE_ASSIGN(auto coming, swapping_of(in).swap_in(saved, in.device->memory()));
  saved.reset();
  TROUPE_TRY(swapping_of(in).wait_for(coming));
  return coming;
}

} // namespace

TEST_CASE("pieces of a reserve never overlap, and merge again when all are free") {
  std::mt19937 dice{std::random_device{}()};
  auto seed = dice();
  dice.seed(seed);
  INFO("seed " << seed);
  std::vector<char> memory(64 * kibibyte);
  gpu::reservation reserve{memory.data(), memory.size()};
  std::map<char*, gpu::block> pieces_taken;
  for (int i = 0; i < 5000; ++i) {
    if (pieces_taken.empty() || dice() % 5 < 3) {
      auto size = gpu::block_cache::class_of(1 + dice() % (8 * kibibyte));
      auto piece = reserve.take(size);
      if (!piece)
        continue;
      REQUIRE(piece->size == size);
      auto* at = static_cast<char*>(piece->memory);
      REQUIRE(reserve.owns(at));
      REQUIRE(reserve.owns(at + size - 1));
      auto next = pieces_taken.lower_bound(at);
      REQUIRE((next == pieces_taken.end() || at + size <= next->first));
      if (next != pieces_taken.begin()) {
        auto previous = std::prev(next);
        REQUIRE(previous->first + previous->second.size <= at);
      }
      pieces_taken[at] = *piece;
    } else {
      auto released = std::next(pieces_taken.begin(),
                                static_cast<std::ptrdiff_t>(dice() % pieces_taken.size()));
      reserve.put(released->second);
      pieces_taken.erase(released);
    }
  }
  for (const auto& [at, piece] : pieces_taken)
    reserve.put(piece);
  CHECK(reserve.pieces() == 1);
  CHECK(reserve.free_bytes() == reserve.bytes());
}

TEST_CASE("a merged piece of a reserve is as old as its youngest part") {
  std::vector<char> memory(1024);
  gpu::reservation reserve{memory.data(), memory.size()};
  auto a = reserve.take(512), b = reserve.take(512);
  REQUIRE(a);
  REQUIRE(b);
  a->freed = 3;
  b->freed = 5;
  b->copied_out = 7;
  a->copied_in = 8;
  b->exchanged = 9;
  reserve.put(*a);
  reserve.put(*b);
  CHECK_FALSE(reserve.take(256, 4));
  auto merged = reserve.take(1024, 5);
  REQUIRE(merged);
  CHECK(merged->freed == 5);
  CHECK(merged->copied_out == 7);
  CHECK(merged->copied_in == 8);
  CHECK(merged->exchanged == 9);
}

TEST_CASE("a reserve allocates tensors of all sizes without new memory from the driver") {
  test::watchdog watch;
  simulated_gpu gpu{{.memory = 256 * kibibyte, .seed = std::random_device{}()},
                    gpu::memory_options{.limit = 256 * kibibyte, .reserve = 256 * kibibyte}};
  INFO("seed " << gpu.seed);
  CHECK(gpu.device->statistics().cached == 256 * kibibyte);
  for (int64_t round = 0; round < 40; ++round) {
    auto count = 1000 + 700 * (round % 23);
    auto x = gpu.device->upload(filled(count, 1));
    REQUIRE(x);
    for (int i = 0; i < 5; ++i) {
      x = gpu.add(*x, 1);
      REQUIRE(x);
    }
    REQUIRE(all_are(gpu.download(*x).get(), 6));
  }
  CHECK(gpu.finish());
  CHECK(gpu.device->statistics().in_use == 0);
  gpu.device->release_cached_memory(); // all except the reserve
  CHECK(gpu.device->statistics().cached == 256 * kibibyte);
  // No other allocation lies in between any more.
  CHECK(tensor::make(dtype::u8, {256 * kibibyte}, gpu.device->memory()));
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("a GPU allocates more than its reserve if the limit allows it") {
  test::watchdog watch;
  simulated_gpu gpu{{.seed = 1},
                    gpu::memory_options{.limit = 256 * kibibyte, .reserve = 64 * kibibyte}};
  auto first = tensor::make(dtype::u8, {60 * kibibyte}, gpu.device->memory());
  CHECK(first);
  CHECK(gpu.device->statistics().cached == 4 * kibibyte);
  auto second = tensor::make(dtype::u8, {128 * kibibyte}, gpu.device->memory());
  CHECK(second);
  CHECK_FALSE(tensor::make(dtype::u8, {128 * kibibyte}, gpu.device->memory()));
  second = tensor{};
  gpu.device->release_cached_memory();
  CHECK(gpu.device->statistics().cached == 4 * kibibyte);
}

TEST_CASE("a reserve that cannot be allocated is an error that says so") {
  auto make = [](const gpu::memory_options& memory) {
    return gpu::make_device(gpu::make_simulated_driver({.memory = 100 * kibibyte}),
                            make_cpu_device({.intra_op_threads = 1}), 0, memory)
        .status();
  };
  auto above = make({.limit = 10'240, .reserve = 20'480});
  CHECK(above.kind() == error_kind::resource_exhausted);
  CHECK(above.message().find("cannot reserve 20480 bytes: its limit is 10240") !=
        std::string::npos);
  CHECK(make({.limit = 102'400, .reserve = 102'400}));
}

TEST_CASE("an idle GPU releases its cached memory") {
  test::watchdog watch;
  simulated_gpu gpu{{.seed = 1}, gpu::memory_options{.give_back_after = 2ms}};
  auto uploaded = gpu.device->upload(filled(1000, 3));
  REQUIRE(uploaded);
  REQUIRE(gpu.add(*uploaded, 1));
  for (int i = 0; i < 5000 && gpu.device->statistics().cached > 0; ++i)
    std::this_thread::sleep_for(1ms);
  CHECK(gpu.device->statistics().cached == 0);
  CHECK(gpu.device->statistics().in_use > 0);
  CHECK(all_are(gpu.download(*uploaded).get(), 3));
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("swapping a tensor out frees its memory at once, and swapping it in restores it") {
  test::watchdog watch;
  simulated_gpu gpu{{.seed = std::random_device{}()}, 100 * kibibyte};
  INFO("seed " << gpu.seed);
  constexpr int64_t count = 10 * kibibyte; // 40 KiB: the limit fits two
  for (int round = 0; round < 50; ++round) {
    auto value = static_cast<float>(round);
    auto x = gpu.device->upload(filled(count, value));
    REQUIRE(x);
    auto y = gpu.add(*x, 1);
    REQUIRE(y);
    REQUIRE_FALSE(gpu.add(*y, 1)); // a third does not fit
    auto saved = put_away(gpu, std::exchange(*x, {}));
    REQUIRE(saved);
    CHECK(saved->bytes() == 0);
    auto z = gpu.add(*y, 1); // may reuse the memory of x, after the copy
    REQUIRE(z);
    y = tensor{};
    auto back = bring_back(gpu, *std::exchange(saved, tensor{}));
    REQUIRE(back);
    auto seen_z = gpu.download(*z), seen_x = gpu.download(*back);
    REQUIRE(all_are(seen_z.get(), value + 2));
    REQUIRE(all_are(seen_x.get(), value));
  }
  CHECK(gpu.finish());
  CHECK(gpu.device->statistics().in_use == 0);
  CHECK(gpu.device->statistics().peak <= 100 * kibibyte);
  CHECK(swapping_of(gpu).swaps().bytes_out == 50 * sizeof(float) * count);
  CHECK(swapping_of(gpu).swaps().bytes_in == 50 * sizeof(float) * count);
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("a tensor with other references is not swapped, because that frees no memory") {
  test::watchdog watch;
  simulated_gpu gpu;
  auto x = gpu.device->upload(filled(1000, 1));
  REQUIRE(x);
  auto second_reference = *x;
  auto saved = swapping_of(gpu).swap_out(*x);
  REQUIRE(saved);
  CHECK(saved->raw() == x->raw());
  auto back = bring_back(gpu, *saved);
  REQUIRE(back);
  CHECK(back->raw() == x->raw());
  CHECK(swapping_of(gpu).swaps().bytes_out == 0);
}

TEST_CASE("tensors may be released at any moment of a transfer") {
  test::watchdog watch;
  simulated_gpu gpu;
  INFO("seed " << gpu.seed);
  std::mt19937 dice{gpu.seed};
  for (int round = 0; round < 300; ++round) {
    auto value = static_cast<float>(round);
    auto x = gpu.device->upload(filled(1000, value));
    REQUIRE(x);
    auto saved = put_away(gpu, std::exchange(*x, {}));
    REQUIRE(saved);
    if (dice() % 3 == 0)
      continue;
    auto coming = swapping_of(gpu).swap_in(*saved, gpu.device->memory());
    REQUIRE(coming);
    saved = tensor{};
    if (dice() % 2 == 0)
      continue; // its memory is reused while it is still written
    REQUIRE(swapping_of(gpu).wait_for(*coming));
    auto y = gpu.add(*coming, 1);
    coming = tensor{};
    REQUIRE(y);
    REQUIRE(all_are(gpu.download(*y).get(), value + 1));
  }
  CHECK(gpu.finish());
  CHECK(gpu.device->statistics().in_use == 0);
  gpu.device->release_cached_memory();
  CHECK(gpu.device->statistics().cached == 0);
  CHECK(gpu.driver->misuses() == "");
}

TEST_CASE("threads may swap on one GPU concurrently, and release it") {
  test::watchdog watch;
  tensor last_tensor;
  {
    simulated_gpu gpu;
    INFO("seed " << gpu.seed);
    std::atomic<int> errors = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int round = 0; round < 40; ++round) {
          auto value = static_cast<float>(100 * t + round);
          auto x = gpu.device->upload(filled(500 + 300 * (round % 3), value));
          auto y = x ? gpu.add(*x, 1) : x;
          x = tensor{};
          auto saved = y ? put_away(gpu, std::exchange(*y, {})) : y;
          auto noise = gpu.device->upload(filled(500 + 300 * (round % 3), -1));
          auto back = saved ? bring_back(gpu, *std::exchange(saved, tensor{})) : saved;
          if (!noise || !back || !all_are(gpu.download(*back).get(), value + 1))
            ++errors;
        }
      });
    threads.clear();
    CHECK(errors == 0);
    auto x = gpu.device->upload(filled(1000, 1));
    REQUIRE(x);
    last_tensor = *put_away(gpu, std::exchange(*x, {}));
    CHECK(gpu.driver->misuses() == "");
  }
  last_tensor.reset(); // the core is destroyed now
}

TEST_CASE("a lost GPU swaps nothing, and nothing hangs") {
  test::watchdog watch;
  for (int64_t launches = 1; launches < 8; ++launches) {
    CAPTURE(launches);
    simulated_gpu gpu{{.seed = 3, .launches_until_lost = launches}};
    for (int i = 0; i < 4; ++i) {
      auto x = gpu.device->upload(filled(1000, 1));
      auto saved = x ? put_away(gpu, std::exchange(*x, {})) : x;
      auto back = saved ? bring_back(gpu, *std::exchange(saved, tensor{})) : saved;
      if (!back)
        CHECK(back.status().kind() == error_kind::unavailable);
    }
    CHECK(gpu.finish().kind() == error_kind::unavailable);
  }
}

} // namespace troupe::test::gpu_memory_test
