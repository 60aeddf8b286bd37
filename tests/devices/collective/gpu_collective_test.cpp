// Several GPUs compute together what processors would, in whatever order threads ask for it.
#include "tests/simulated_gpu/simulated_collectives.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/collective/exchange.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/core/collectives.hpp"
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/devices/gpu/core/make_device.hpp"
#include "troupe/devices/gpu/cuda/cuda.hpp"
#include "troupe/runtime/device/pending_inputs.hpp"

#include <algorithm>
#include <future>
#include <random>
#include <thread>

namespace troupe::test::gpu_collective_test {

namespace {

using device_list_of = std::vector<std::shared_ptr<device>>;

device_list_of make_simulated(int count, bool on_one_gpu, unsigned seed) {
  auto host = std::shared_ptr<device>{make_cpu_device({.intra_op_threads = 1})};
  device_list_of made;
  for (int i = 0; i < count; ++i) {
    gpu::simulation like{.seed = seed + static_cast<unsigned>(i) * 100};
    auto driver =
        on_one_gpu ? gpu::make_simulated_driver_on(3, like) : gpu::make_simulated_driver(like);
    gpu::memory_options memory;
    if (i % 2 == 1) // pieces that are joined with their neighbours
      memory.reserve = size_t{1} << 20;
    auto one = gpu::make_device(std::move(driver), host, i, memory);
    REQUIRE(one);
    made.push_back(*std::move(one));
  }
  return made;
}

result<tensor> bring_back(accelerator& from, tensor what) {
  std::promise<result<tensor>> promise;
  from.download(std::move(what), [&](result<tensor> got) { promise.set_value(std::move(got)); });
  return promise.get_future().get();
}

// What an exchange has brought.
result<tensor> fetch(device& from, tensor what) {
  TROUPE_TRY(dynamic_cast<pending_inputs&>(from).wait_for(what));
  return bring_back(*from.as_accelerator(), std::move(what));
}

// Whole numbers, so that sums are exact in all types.
tensor some_numbers(dtype type, const shape& dims, std::mt19937& dice) {
  auto wide = *tensor::make(dtype::f32, dims);
  for (int64_t i = 0; i < wide.elements(); ++i)
    wide.data<float>()[i] = static_cast<float>(static_cast<int>(dice() % 9) - 4);
  auto made = *tensor::make(type, dims);
  for (int64_t i = 0; i < wide.elements(); ++i) {
    auto value = wide.data<float>()[i];
    switch (type) {
      case dtype::f16: made.data<float16>()[i] = float16{value}; break;
      case dtype::bf16: made.data<bfloat16>()[i] = bfloat16{value}; break;
      case dtype::f32: made.data<float>()[i] = value; break;
      case dtype::f64: made.data<double>()[i] = static_cast<double>(value); break;
      case dtype::i32: made.data<int32_t>()[i] = static_cast<int32_t>(value); break;
      default: made.data<int64_t>()[i] = static_cast<int64_t>(value); break;
    }
  }
  return made;
}

collective_call random_call(size_t members, std::mt19937& dice) {
  constexpr dtype types[] = {dtype::f16, dtype::bf16, dtype::f32,
                             dtype::f64, dtype::i32,  dtype::i64};
  collective_call what{.kind = static_cast<collective_kind>(dice() % 4),
                       .by = static_cast<reduction>(dice() % 4),
                       .type = types[dice() % std::size(types)],
                       .dims = shape{static_cast<int64_t>(members * (dice() % 40)), 5},
                       .root = dice() % members};
  // A mean of whole numbers by other ways may be rounded otherwise.
  what.average = what.by == reduction::sum && floating.contains(what.type) && members == 2;
  return what;
}

// Empty when all is as on processors.
std::string complaint_about(const collective_call& what, const std::vector<device*>& on,
                            std::mt19937& dice) {
  static const auto host = make_cpu_device({.intra_op_threads = 1});
  std::vector<collective_part> there, here;
  for (size_t i = 0; i < on.size(); ++i) {
    auto input = some_numbers(what.type, what.dims, dice);
    here.push_back({host.get(), input, {}});
    auto uploaded = on[i]->as_accelerator()->upload(input);
    if (!uploaded)
      return uploaded.status().message();
    there.push_back({on[i], *std::move(uploaded), {}});
    if (dice() % 2 == 0) // else the exchange itself does
      if (auto prepared = prepare_collective(what, there.back()); !prepared)
        return prepared.message();
  }
  if (auto outcome = exchange(what, there, nullptr); !outcome)
    return outcome.message();
  if (auto outcome = exchange(what, here, nullptr); !outcome)
    return outcome.message();
  for (size_t i = 0; i < on.size(); ++i) {
    there[i].input.reset(); // its memory may be another's at once
    auto reuse = tensor::make(what.type, what.dims, on[i]->memory());
    if (reuse && reuse->bytes() > 0)
      static_cast<void>(on[i]->memory().space()->fill(reuse->raw(), "\x55", 1,
                                                      static_cast<int64_t>(reuse->bytes())));
  }
  for (size_t i = 0; i < on.size(); ++i) {
    auto got = fetch(*on[i], std::move(there[i].output));
    if (!got)
      return got.status().message();
    if (!identical(*got, here[i].output))
      return concat("kind ", static_cast<int>(what.kind), " by ", static_cast<int>(what.by), " of ",
                    what.type, what.dims, ", member ", i, " of ", on.size(), ": got ", *got,
                    ", expected ", here[i].output);
  }
  return "";
}

void check_exchanges(const device_list_of& all, unsigned seed, int rounds) {
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  std::vector<device*> on;
  for (const auto& one : all)
    on.push_back(one.get());
  for (int i = 0; i < rounds; ++i)
    REQUIRE(complaint_about(random_call(on.size(), dice), on, dice) == "");
}

} // namespace

TEST_CASE("simulated GPUs compute together what processors do") {
  watchdog watch;
  auto seed = std::random_device{}();
  for (auto on_one_gpu : {false, true})
    for (int count : {1, 2, 3, 4}) {
      INFO(count << (on_one_gpu ? " on one GPU" : " GPUs"));
      check_exchanges(make_simulated(count, on_one_gpu, seed), seed, 60);
    }
}

TEST_CASE("threads may exchange among any devices at once, and no two wait in a circle") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  for (auto on_one_gpu : {false, true}) {
    auto all = make_simulated(4, on_one_gpu, seed);
    std::vector<std::string> wrong(4);
    {
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          std::mt19937 dice{seed + t};
          for (int i = 0; i < 60 && wrong[t].empty(); ++i) {
            std::vector<device*> some;
            for (const auto& one : all)
              some.push_back(one.get());
            std::shuffle(some.begin(), some.end(), dice); // orders differ between threads
            some.resize(2 + dice() % 3);
            wrong[t] = complaint_about(random_call(some.size(), dice), some, dice);
          }
        });
    }
    for (const auto& one : wrong)
      CHECK(one == "");
  }
}

TEST_CASE("a device that goes takes no peers with it") {
  watchdog watch;
  auto seed = std::random_device{}();
  auto all = make_simulated(3, false, seed);
  for (int round = 0; round < 3; ++round) {
    check_exchanges(all, seed + static_cast<unsigned>(round), 5);
    all.back() = make_simulated(1, false, seed).front();
  }
  std::swap(all.front(), all.back());
  check_exchanges(all, seed, 5);
  all.erase(all.begin());
  check_exchanges(all, seed, 5);
}

TEST_CASE("an exchange runs beside what is launched after its members have come") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  for (auto on_one_gpu : {false, true}) {
    auto all = make_simulated(3, on_one_gpu, seed);
    collective_call what{.type = dtype::f32, .dims = shape{3}};
    std::vector<collective_part> parts;
    std::vector<tensor> inputs;
    std::promise<void> goes_on;
    auto gate = goes_on.get_future().share();
    for (const auto& one : all) {
      auto there = one->as_accelerator()->upload(tensor::vector<float>({1, 2, 3}));
      REQUIRE(there);
      parts.push_back({one.get(), *there, {}});
      inputs.push_back(*std::move(there));
      REQUIRE(prepare_collective(what, parts.back()).ok());
      auto& gpu = gpu::gpu_of(*one);
      REQUIRE(static_cast<gpu::simulated_driver&>(gpu.driver())
                  .launch(
                      [gate]() -> status {
                        gate.wait();
                        return {};
                      },
                      gpu.compute())
                  .ok());
    }
    REQUIRE(exchange(what, parts, nullptr).ok());
    std::vector<tensor> outputs;
    for (auto& one : parts)
      outputs.push_back(std::move(one.output));
    parts.clear();
    // The device holds an input until it has been read.
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    for (const auto& one : inputs)
      while (!one.unique() && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
    for (const auto& one : inputs)
      CHECK(one.unique());
    goes_on.set_value();
    for (size_t i = 0; i < all.size(); ++i) {
      auto got = fetch(*all[i], outputs[i]);
      REQUIRE(got);
      CHECK(identical(*got, tensor::vector<float>({3, 6, 9})));
    }
  }
}

TEST_CASE("who uses what an exchange brings waits for it, and so does who gets its memory") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  auto all = make_simulated(2, false, seed);
  collective_call what{.type = dtype::f32, .dims = shape{64}};
  for (int round = 0; round < 100; ++round) {
    std::vector<collective_part> parts;
    for (const auto& one : all) {
      auto there = one->as_accelerator()->upload(
          tensor::vector(std::vector<float>(64, static_cast<float>(round))));
      REQUIRE(there);
      parts.push_back({one.get(), *std::move(there), {}});
      REQUIRE(prepare_collective(what, parts.back()).ok());
    }
    REQUIRE(exchange(what, parts, nullptr).ok());
    for (auto& one : parts) {
      one.input.reset();
      if (dice() % 2 == 0) { // nobody reads it: its memory is another's
        one.output.reset();
        auto next = tensor::make(dtype::f32, shape{64}, one.on->memory());
        REQUIRE(next);
        const float fill = 7;
        REQUIRE(one.on->memory().space()->fill(next->raw(), &fill, sizeof fill, 64).ok());
        auto got = bring_back(*one.on->as_accelerator(), *std::move(next));
        REQUIRE(got);
        CHECK(got->values<float>()[63] == 7);
      } else {
        auto got = fetch(*one.on, std::move(one.output));
        REQUIRE(got);
        CHECK(got->values<float>()[63] == 2.0f * static_cast<float>(round));
      }
    }
  }
}

TEST_CASE("devices on one real GPU compute together what processors do", "[gpu]") {
  watchdog watch;
  auto all = list_cuda_devices(make_cpu_device({.intra_op_threads = 1}),
                               {.most = 1, .devices_per_gpu = 3});
  if (all.found.empty()) {
    WARN("skipped: " << all.why_fewer);
    return;
  }
  check_exchanges(all.found, std::random_device{}(), 100);
}

TEST_CASE("real GPUs compute together what processors do", "[gpu][nccl]") {
  watchdog watch;
  auto all = list_cuda_devices(make_cpu_device({.intra_op_threads = 1}));
  if (all.found.size() < 2) {
    if (all.found.empty())
      WARN("skipped: " << all.why_fewer);
    else
      WARN("left out: there is one GPU");
    return;
  }
  check_exchanges(all.found, std::random_device{}(), 100);
}

TEST_CASE("one real GPU exchanges with itself by NCCL", "[gpu][nccl]") {
  watchdog watch;
  auto all = list_cuda_devices(make_cpu_device({.intra_op_threads = 1}), {.most = 1});
  if (all.found.empty()) {
    WARN("skipped: " << all.why_fewer);
    return;
  }
  auto& on = gpu::gpu_of(*all.found.front());
  auto* driver = &on.driver();
  auto alone = dynamic_cast<gpu::collective_driver&>(*driver).make_communicator({&driver, 1});
  REQUIRE(alone.status().ok());
  std::mt19937 dice{std::random_device{}()};
  for (int i = 0; i < 40; ++i) {
    auto what = random_call(1, dice);
    auto input = some_numbers(what.type, what.dims, dice);
    auto there = on.upload(input);
    auto output = tensor::make(what.type, what.dims, on.memory());
    REQUIRE(there);
    REQUIRE(output);
    gpu::share own{driver, on.compute(), there->raw(), output->raw()};
    REQUIRE((*alone)->launch(what, {&own, 1}).ok());
    auto got = bring_back(on, *std::move(output));
    REQUIRE(got);
    CHECK(identical(*got, input));
  }
  (*alone)->abort(failure(error_kind::aborted, "the test is over"));
  gpu::share own{driver, on.compute(), nullptr, nullptr};
  CHECK_FALSE((*alone)->launch(random_call(1, dice), {&own, 1}).ok());
}

} // namespace troupe::test::gpu_collective_test
