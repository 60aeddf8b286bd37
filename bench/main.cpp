// troupe_bench: registers the benchmarks and runs those that the command line selects.
#include "bench/benchmarks.hpp"
#include "troupe/devices/cpu/cpu_device.hpp"
#include "troupe/devices/gpu/cuda/cuda.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace troupe::bench {

int threads = 0;
int gpus = 0;
int replay = 1;
int launch_threads = 0;
int place_by_cost = 1;
int feed = 1;
int slowest = 0;
std::string_view precision = "f32";

session_options options() {
  session_options result{.threads = {.intra_op = threads, .inter_op = static_cast<size_t>(threads)},
                         .gpu = {.count = gpus,
                                 .tf32 = precision == "tf32",
                                 .replay = replay != 0,
                                 .launch_threads = launch_threads != 0,
                                 .place_by_cost = place_by_cost != 0}};
  if (precision == "bf16" || precision == "f16")
    result.passes.mixed_precision = precision == "f16" ? dtype::f16 : dtype::bf16;
  return result;
}

namespace {

/// Removes the options of this program from the arguments. False if a value is not valid; the error
/// is then printed.
bool take_options(int& argc, char** argv) {
  struct number {
    std::string_view option, expected;
    int& value;
  };
  const number numbers[] = {{"--threads=", "a number of threads, 0 for one per core", threads},
                            {"--gpus=", "a number of GPUs, 0 for none", gpus},
                            {"--replay=", "0 or 1", replay},
                            {"--launch-threads=", "0 or 1", launch_threads},
                            {"--place-by-cost=", "0 or 1", place_by_cost},
                            {"--feed=", "0 or 1", feed},
                            {"--slowest=", "a number of ops", slowest}};
  auto end = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (constexpr std::string_view option = "--precision="; argument.starts_with(option)) {
      precision = argument.substr(option.size());
      if (precision != "f32" && precision != "tf32" && precision != "bf16" && precision != "f16") {
        std::fprintf(stderr, "troupe_bench: %s: expected f32, tf32, bf16 or f16\n", argv[i]);
        return false;
      }
      continue;
    }
    const auto* matching = std::ranges::find_if(
        numbers, [&](const number& known) { return argument.starts_with(known.option); });
    if (matching == std::end(numbers)) {
      argv[end++] = argv[i];
      continue;
    }
    argument.remove_prefix(matching->option.size());
    auto [end_of_number, failed] =
        std::from_chars(argument.begin(), argument.end(), matching->value);
    if (failed != std::errc{} || end_of_number != argument.end() || matching->value < 0) {
      std::fprintf(stderr, "troupe_bench: %s: expected %s\n", argv[i], matching->expected.data());
      return false;
    }
  }
  argc = end;
  argv[argc] = nullptr;
  return true;
}

void register_all() {
  register_dispatch();
  register_run();
  register_elementwise();
  register_bandwidth();
  register_matmul();
  register_conv2d();
  register_int8();
  register_train();
  register_softmax();
  register_control_flow();
  register_queue();
  register_replicas();
  register_exchange();
  register_wire();
  register_cluster();
  register_collective();
  register_placement();
  register_files();
  register_save();
  register_input();
}

int run(int argc, char** argv) {
  if (argc >= 4 && std::strcmp(argv[1], "--serve-task") == 0)
    return serve_task(argv[2], std::atoi(argv[3]), argc == 4 ? "" : argv[4]);
  if (!take_options(argc, argv))
    return 2;
  if (argc == 3 && std::strcmp(argv[1], "--peak-memory") == 0) {
    print_peak_memory(argv[2]);
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "--losses") == 0) {
    print_losses(argv[2]);
    return 0;
  }
  if (gpus > 0) {
    if (auto listed = list_cuda_devices(make_cpu_device(), {.max_gpus = gpus});
        listed.devices.empty()) {
      std::fprintf(stderr, "troupe_bench: --gpus: %s\n", listed.reasons.c_str());
      return 2;
    }
    register_train();
    register_elementwise();
  } else {
    register_all();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

} // namespace
} // namespace troupe::bench

int main(int argc, char** argv) {
  try {
    return troupe::bench::run(argc, argv);
  } catch (const troupe::error& e) {
    std::fprintf(stderr, "troupe_bench: %s\n", e.what());
    return 2;
  }
}
