// Several GPUs compute the same collective results as processors, in any order of threads.
#include "tests/simulated_gpu/simulated_collectives.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/devices/collective/run_collective.hpp"
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
  device_list_of devices;
  for (int i = 0; i < count; ++i) {
    gpu::simulation simulation_options{.seed = seed + static_cast<unsigned>(i) * 100};
    auto driver = on_one_gpu ? gpu::make_simulated_driver_on(3, simulation_options)
                             : gpu::make_simulated_driver(simulation_options);
    gpu::memory_options memory;
    if (i % 2 == 1) // tests pieces that are joined with their neighbours
      memory.reserve = size_t{1} << 20;
    auto new_device = gpu::make_device(std::move(driver), host, i, memory);
    REQUIRE(new_device);
    devices.push_back(*std::move(new_device));
  }
  return devices;
}

result<tensor> bring_back(accelerator& source, tensor on_device) {
  std::promise<result<tensor>> promise;
  source.download(std::move(on_device),
                  [&](result<tensor> downloaded) { promise.set_value(std::move(downloaded)); });
  return promise.get_future().get();
}

// Waits for the output of an exchange and downloads it.
result<tensor> fetch(device& source, tensor on_device) {
  TROUPE_TRY(dynamic_cast<pending_inputs&>(source).wait_for(on_device));
  return bring_back(*source.as_accelerator(), std::move(on_device));
}

// Whole numbers, so that sums are exact in all types.
tensor some_numbers(dtype type, const shape& dims, std::mt19937& dice) {
  auto wide = *tensor::make(dtype::f32, dims);
  for (int64_t i = 0; i < wide.elements(); ++i)
    wide.data<float>()[i] = static_cast<float>(static_cast<int>(dice() % 9) - 4);
  auto converted_values = *tensor::make(type, dims);
  for (int64_t i = 0; i < wide.elements(); ++i) {
    auto value = wide.data<float>()[i];
    switch (type) {
      case dtype::f16: converted_values.data<float16>()[i] = float16{value}; break;
      case dtype::bf16: converted_values.data<bfloat16>()[i] = bfloat16{value}; break;
      case dtype::f32: converted_values.data<float>()[i] = value; break;
      case dtype::f64: converted_values.data<double>()[i] = static_cast<double>(value); break;
      case dtype::i32: converted_values.data<int32_t>()[i] = static_cast<int32_t>(value); break;
      default: converted_values.data<int64_t>()[i] = static_cast<int64_t>(value); break;
    }
  }
  return converted_values;
}

collective_call random_call(size_t members, std::mt19937& dice) {
  constexpr dtype types[] = {dtype::f16, dtype::bf16, dtype::f32,
                             dtype::f64, dtype::i32,  dtype::i64};
  collective_call request{.kind = static_cast<collective_kind>(dice() % 4),
                          .operation = static_cast<reduction>(dice() % 4),
                          .type = types[dice() % std::size(types)],
                          .dims = shape{static_cast<int64_t>(members * (dice() % 40)), 5},
                          .root = dice() % members};
  // A mean of integers may be rounded differently by another method.
  request.average =
      request.operation == reduction::sum && floating.contains(request.type) && members == 2;
  return request;
}

// Empty if the results are those of processors.
std::string difference_of(const collective_call& request, const std::vector<device*>& devices,
                          std::mt19937& dice) {
  static const auto host = make_cpu_device({.intra_op_threads = 1});
  std::vector<collective_part> gpu_parts, cpu_parts;
  for (size_t i = 0; i < devices.size(); ++i) {
    auto input = some_numbers(request.type, request.dims, dice);
    cpu_parts.push_back({host.get(), input, {}});
    auto uploaded = devices[i]->as_accelerator()->upload(input);
    if (!uploaded)
      return uploaded.status().message();
    gpu_parts.push_back({devices[i], *std::move(uploaded), {}});
    if (dice() % 2 == 0) // otherwise the exchange prepares it
      if (auto prepared = prepare_collective(request, gpu_parts.back()); !prepared)
        return prepared.message();
  }
  if (auto outcome = run_collective(request, gpu_parts, nullptr); !outcome)
    return outcome.message();
  if (auto outcome = run_collective(request, cpu_parts, nullptr); !outcome)
    return outcome.message();
  for (size_t i = 0; i < devices.size(); ++i) {
    gpu_parts[i].input.reset(); // its memory may be reused at once
    auto reuse = tensor::make(request.type, request.dims, devices[i]->memory());
    if (reuse && reuse->bytes() > 0)
      static_cast<void>(devices[i]->memory().space()->fill(reuse->raw(), "\x55", 1,
                                                           static_cast<int64_t>(reuse->bytes())));
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    auto result_here = fetch(*devices[i], std::move(gpu_parts[i].output));
    if (!result_here)
      return result_here.status().message();
    if (!identical(*result_here, cpu_parts[i].output))
      return concat("kind ", static_cast<int>(request.kind), " by ",
                    static_cast<int>(request.operation), " of ", request.type, request.dims,
                    ", member ", i, " of ", devices.size(), ": got ", *result_here, ", expected ",
                    cpu_parts[i].output);
  }
  return "";
}

void check_exchanges(const device_list_of& devices, unsigned seed, int rounds) {
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  std::vector<device*> members;
  for (const auto& member : devices)
    members.push_back(member.get());
  for (int i = 0; i < rounds; ++i)
    REQUIRE(difference_of(random_call(members.size(), dice), members, dice) == "");
}

} // namespace

TEST_CASE("simulated GPUs compute the collective results of processors") {
  watchdog watch;
  auto seed = std::random_device{}();
  for (auto on_one_gpu : {false, true})
    for (int count : {1, 2, 3, 4}) {
      INFO(count << (on_one_gpu ? " on one GPU" : " GPUs"));
      check_exchanges(make_simulated(count, on_one_gpu, seed), seed, 60);
    }
}

TEST_CASE("threads may exchange among any devices at once without deadlocks") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  for (auto on_one_gpu : {false, true}) {
    auto devices = make_simulated(4, on_one_gpu, seed);
    std::vector<std::string> failures(4);
    {
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          std::mt19937 dice{seed + t};
          for (int i = 0; i < 60 && failures[t].empty(); ++i) {
            std::vector<device*> members;
            for (const auto& candidate : devices)
              members.push_back(candidate.get());
            // The order differs between threads.
            std::shuffle(members.begin(), members.end(), dice);
            members.resize(2 + dice() % 3);
            failures[t] = difference_of(random_call(members.size(), dice), members, dice);
          }
        });
    }
    for (const auto& failure : failures)
      CHECK(failure == "");
  }
}

TEST_CASE("a device that is destroyed does not affect its peers") {
  watchdog watch;
  auto seed = std::random_device{}();
  auto devices = make_simulated(3, false, seed);
  for (int round = 0; round < 3; ++round) {
    check_exchanges(devices, seed + static_cast<unsigned>(round), 5);
    devices.back() = make_simulated(1, false, seed).front();
  }
  std::swap(devices.front(), devices.back());
  check_exchanges(devices, seed, 5);
  devices.erase(devices.begin());
  check_exchanges(devices, seed, 5);
}

TEST_CASE("an exchange runs concurrently with launches after its members have arrived") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  for (auto on_one_gpu : {false, true}) {
    auto devices = make_simulated(3, on_one_gpu, seed);
    collective_call request{.type = dtype::f32, .dims = shape{3}};
    std::vector<collective_part> parts;
    std::vector<tensor> inputs;
    std::promise<void> goes_on;
    auto gate = goes_on.get_future().share();
    for (const auto& each_device : devices) {
      auto uploaded = each_device->as_accelerator()->upload(tensor::vector<float>({1, 2, 3}));
      REQUIRE(uploaded);
      parts.push_back({each_device.get(), *uploaded, {}});
      inputs.push_back(*std::move(uploaded));
      REQUIRE(prepare_collective(request, parts.back()).ok());
      auto& gpu = gpu::gpu_of(*each_device);
      REQUIRE(static_cast<gpu::simulated_driver&>(gpu.driver())
                  .launch(
                      [gate]() -> status {
                        gate.wait();
                        return {};
                      },
                      gpu.compute())
                  .ok());
    }
    REQUIRE(run_collective(request, parts, nullptr).ok());
    std::vector<tensor> outputs;
    for (auto& part : parts)
      outputs.push_back(std::move(part.output));
    parts.clear();
    // The device holds an input until it has been read.
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    for (const auto& input : inputs)
      while (!input.unique() && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
    for (const auto& input : inputs)
      CHECK(input.unique());
    goes_on.set_value();
    for (size_t i = 0; i < devices.size(); ++i) {
      auto result_here = fetch(*devices[i], outputs[i]);
      REQUIRE(result_here);
      CHECK(identical(*result_here, tensor::vector<float>({3, 6, 9})));
    }
  }
}

TEST_CASE("users of an exchange's output, and of its freed memory, wait for the exchange") {
  watchdog watch;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  auto devices = make_simulated(2, false, seed);
  collective_call request{.type = dtype::f32, .dims = shape{64}};
  for (int round = 0; round < 100; ++round) {
    std::vector<collective_part> parts;
    for (const auto& each_device : devices) {
      auto uploaded = each_device->as_accelerator()->upload(
          tensor::vector(std::vector<float>(64, static_cast<float>(round))));
      REQUIRE(uploaded);
      parts.push_back({each_device.get(), *std::move(uploaded), {}});
      REQUIRE(prepare_collective(request, parts.back()).ok());
    }
    REQUIRE(run_collective(request, parts, nullptr).ok());
    for (auto& part : parts) {
      part.input.reset();
      if (dice() % 2 == 0) { // nobody reads it, and its memory is reused
        part.output.reset();
        auto next = tensor::make(dtype::f32, shape{64}, part.target->memory());
        REQUIRE(next);
        const float fill = 7;
        REQUIRE(part.target->memory().space()->fill(next->raw(), &fill, sizeof fill, 64).ok());
        auto reused_values = bring_back(*part.target->as_accelerator(), *std::move(next));
        REQUIRE(reused_values);
        CHECK(reused_values->values<float>()[63] == 7);
      } else {
        auto result_here = fetch(*part.target, std::move(part.output));
        REQUIRE(result_here);
        CHECK(result_here->values<float>()[63] == 2.0f * static_cast<float>(round));
      }
    }
  }
}

TEST_CASE("devices on one real GPU compute the collective results of processors", "[gpu]") {
  watchdog watch;
  auto listing = list_cuda_devices(make_cpu_device({.intra_op_threads = 1}),
                                   {.max_gpus = 1, .devices_per_gpu = 3});
  if (listing.devices.empty()) {
    WARN("skipped: " << listing.reasons);
    return;
  }
  check_exchanges(listing.devices, std::random_device{}(), 100);
}

TEST_CASE("real GPUs compute the collective results of processors", "[gpu][nccl]") {
  watchdog watch;
  auto listing = list_cuda_devices(make_cpu_device({.intra_op_threads = 1}));
  if (listing.devices.size() < 2) {
    if (listing.devices.empty())
      WARN("skipped: " << listing.reasons);
    else
      WARN("left out: there is one GPU");
    return;
  }
  check_exchanges(listing.devices, std::random_device{}(), 100);
}

TEST_CASE("one real GPU exchanges with itself by NCCL", "[gpu][nccl]") {
  watchdog watch;
  auto listing = list_cuda_devices(make_cpu_device({.intra_op_threads = 1}), {.max_gpus = 1});
  if (listing.devices.empty()) {
    WARN("skipped: " << listing.reasons);
    return;
  }
  auto& on = gpu::gpu_of(*listing.devices.front());
  auto* driver = &on.driver();
  auto communicator =
      dynamic_cast<gpu::collective_driver&>(*driver).make_communicator({&driver, 1});
  REQUIRE(communicator.status().ok());
  std::mt19937 dice{std::random_device{}()};
  for (int i = 0; i < 40; ++i) {
    auto request = random_call(1, dice);
    auto input = some_numbers(request.type, request.dims, dice);
    auto uploaded = on.upload(input);
    auto output = tensor::make(request.type, request.dims, on.memory());
    REQUIRE(uploaded);
    REQUIRE(output);
    gpu::share own{driver, on.compute(), uploaded->raw(), output->raw()};
    REQUIRE((*communicator)->launch(request, {&own, 1}).ok());
    auto result_here = bring_back(on, *std::move(output));
    REQUIRE(result_here);
    CHECK(identical(*result_here, input));
  }
  (*communicator)->abort(failure(error_kind::aborted, "the test is over"));
  gpu::share own{driver, on.compute(), nullptr, nullptr};
  CHECK_FALSE((*communicator)->launch(random_call(1, dice), {&own, 1}).ok());
}

} // namespace troupe::test::gpu_collective_test
